package engine

import (
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// shape is the part of a stored item that a response contains. The zero shape is the whole item.
type shape struct {
	projection *eval.Projection // nil: all
	reads      []string         // the top-level attributes it reads, sorted
	flat       bool             // it only has whole top-level attributes, so nothing needs decoding
	nested     []string         // the top-level attributes below which it has paths
}

func shapeOf(p *eval.Projection) shape {
	if p == nil {
		return shape{}
	}
	if names, ok := p.Names(); ok {
		return shape{projection: p, reads: names, flat: true}
	}
	return shape{projection: p, reads: p.Attributes(), nested: p.NestedAttributes()}
}

// of returns the shape's part of an item; nil stays nil. A whole item is returned as it is, otherwise the part is appended to
// dst, which must be empty.
func (s *shape) of(dst []byte, it itemenc.Item) (itemenc.Item, error) {
	switch {
	case it == nil || s.projection == nil:
		return it, nil
	case s.flat:
		return it.Project(dst, s.reads)
	}
	read, err := it.Select(s.reads)
	if err != nil {
		return nil, err
	}
	if read == nil {
		read = attr.Item{} // the item exists even if it has none of the projection's attributes
	}
	return itemenc.Encode(dst, s.projection.Apply(read)), nil
}
