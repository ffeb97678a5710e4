// Package lines is the text of the files that exports write and imports read: an item or a change on each line; and the lines of
// the reports of bulk operations.
//
//	{"Item":{"pk":{"S":"a"},"n":{"N":"1"}}}
//	{"Metadata":{"WriteTimestampMicros":{"N":"1680109764000000"}},"Keys":{…},"OldImage":{…},"NewImage":{…}}
//
// In Amazon Ion:
//
//	$ion_1_0 {Item:{pk:"a",n:1.}}
//	$ion_1_0 {Record:{Metadata:{WriteTimestampMicros:1680109764000000.},Keys:{…},OldImage:{…},NewImage:{…}}}
//
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html
//
// What is written is the same for the same items; what is read may come from anywhere, so that a Reader bounds the
// length of a line and reports what is wrong with one as an error of that line.
//
// The functions are pure. A Reader is for one goroutine.
package lines

import (
	"strconv"

	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
)

// The formats of files, as the API calls them.
const (
	JSON = "DYNAMODB_JSON"
	CSV  = "CSV"
	Ion  = "ION"
)

// Change is what happened to an item between two moments.
type Change struct {
	Micros   int64        // when it was written last, since the epoch
	Keys     itemenc.Item // the attributes of its key
	Old, New itemenc.Item // nil where it was not there, or where the export does not have this image
}

// AppendItem appends the line of an item.
func AppendItem(dst []byte, it itemenc.Item) ([]byte, error) {
	dst = append(dst, `{"Item":`...)
	dst, err := wire.AppendItem(dst, it)
	return append(dst, '}', '\n'), err
}

// AppendChange appends the line of a change.
func AppendChange(dst []byte, c Change) ([]byte, error) {
	dst = append(dst, `{"Metadata":{"WriteTimestampMicros":{"N":"`...)
	dst = strconv.AppendInt(dst, c.Micros, 10)
	dst = append(dst, `"}},"Keys":`...)
	dst, err := wire.AppendItem(dst, c.Keys)
	for _, image := range [...]struct {
		name string
		item itemenc.Item
	}{{"OldImage", c.Old}, {"NewImage", c.New}} {
		if err != nil {
			return dst, err
		}
		if image.item == nil {
			continue
		}
		dst = append(dst, `,"`...)
		dst = append(dst, image.name...)
		dst = append(dst, `":`...)
		dst, err = wire.AppendItem(dst, image.item)
	}
	return append(dst, '}', '\n'), err
}
