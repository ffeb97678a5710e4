package engine

import (
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// shape says which part of a stored item an answer carries. The zero shape is the whole item.
type shape struct {
	projection *eval.Projection // nil: all
	reads      []string         // the top-level attributes it reads, sorted
	flat       bool             // it names whole top-level attributes only: no need to decode
	nested     []string         // the top-level attributes below which it reads
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

// of returns the part of it; nil stays nil. Where the shape is the whole item it is returned as it is,
// otherwise the part is appended to dst, which must be empty.
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
		read = attr.Item{} // the item is there even where nothing the projection names is
	}
	return itemenc.Encode(dst, s.projection.Apply(read)), nil
}
