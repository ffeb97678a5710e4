package lines

import (
	"io"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
)

// Put is a record of a bulk operation: an item, and the condition of the put.
type Put struct {
	Item                      attr.Item
	ConditionExpression       *string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues attr.Item
}

// PutReader reads the records of a bulk operation. Its methods are like those of a Reader. An unknown member makes a record
// invalid, because it might be a misspelled condition.
type PutReader interface {
	NextPut() (Put, error)
	Offset() int64
	SkipTo(offset int64) error
}

// NewJSONPuts reads a file of records in DynamoDB JSON.
func NewJSONPuts(r io.Reader) PutReader { return &itemReader{newText(r)} }

// NextPut implements PutReader.
func (r *itemReader) NextPut() (Put, error) {
	line, err := r.next()
	if err != nil {
		return Put{}, err
	}
	var p Put
	if err := wire.DecodeKnown(line, &p); err != nil {
		return Put{}, &LineError{err}
	}
	if p.Item == nil {
		return Put{}, &LineError{errNoItem}
	}
	return p, nil
}
