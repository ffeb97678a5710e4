package lines

import (
	"encoding/json"

	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
)

// Place is the position of a record. A line of a report starts with it.
type Place struct {
	S3Key  string
	Offset int64 // of the record in the decompressed object
}

// Fault is the error of a record that could not be put.
type Fault struct {
	Place
	ErrorCode    string
	ErrorMessage string
}

// AppendFault appends the line of a record that could not be put.
func AppendFault(dst []byte, f Fault) ([]byte, error) {
	text, err := json.Marshal(f)
	return append(append(dst, text...), '\n'), err
}

// AppendRefused appends the line of an item that was not put because its condition was false; existing is the existing item, or
// nil.
func AppendRefused(dst []byte, at Place, it, existing itemenc.Item) ([]byte, error) {
	text, err := json.Marshal(at)
	if err != nil {
		return dst, err
	}
	dst = append(dst, text[:len(text)-1]...)
	dst = append(dst, `,"Item":`...)
	if dst, err = wire.AppendItem(dst, it); err != nil {
		return dst, err
	}
	if existing != nil {
		dst = append(dst, `,"ExistingItem":`...)
		if dst, err = wire.AppendItem(dst, existing); err != nil {
			return dst, err
		}
	}
	return append(dst, '}', '\n'), nil
}
