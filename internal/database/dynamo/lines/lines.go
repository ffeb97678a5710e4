// Package lines reads and writes the lines of export and import files, one item or change on each; and writes the lines of the
// reports of bulk operations.
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
// The output is deterministic. Input may come from anywhere, so a Reader limits the length of a line and reports an invalid line
// as an error of that line.
//
// The functions are pure. A Reader is not safe for concurrent use.
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

// Change is the net change of an item between two moments.
type Change struct {
	Micros   int64        // time of the last write, since the epoch
	Keys     itemenc.Item // the attributes of its key
	Old, New itemenc.Item // nil if the item did not exist, or if the export does not include this image
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
