package engine

import (
	"slices"

	"github.com/monotable/monotable/internal/dynamo/attr"
	"github.com/monotable/monotable/internal/dynamo/eval"
	"github.com/monotable/monotable/internal/dynamo/itemenc"
)

// shape says which part of a stored item an answer carries. The zero shape is the whole item.
type shape struct {
	projection *eval.Projection // nil: all
	reads      []string         // the top-level attributes it reads, sorted
	flat       bool             // it names whole top-level attributes only: no need to decode
}

func shapeOf(p *eval.Projection) shape {
	if p == nil {
		return shape{}
	}
	if names, ok := p.Names(); ok {
		return shape{projection: p, reads: names, flat: true}
	}
	return shape{projection: p, reads: p.Attributes()}
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

// arena keeps the items of one page in few pieces of memory. Pieces are never moved, so an item's slice
// stays good.
type arena struct {
	piece []byte
}

// The first piece of an arena is for a few items: most pages have no more. Pieces grow up to a size that is
// still cheap if the page ends with the next item.
const (
	firstPieceItems = 8
	maxPieceBytes   = 128 << 10
)

// room returns an empty slice with room for n bytes. At most more items can come, this one counted; 0 is
// unknown.
func (a *arena) room(n, more int) []byte {
	if cap(a.piece)-len(a.piece) < n {
		size := 2 * cap(a.piece)
		switch {
		case size == 0:
			size = n * firstPieceItems
			if more > 0 {
				size = n * min(more, firstPieceItems)
			}
		case more > 0:
			size = n * min(more, maxPieceBytes)
		}
		a.piece = make([]byte, 0, max(n, min(size, maxPieceBytes)))
	}
	return a.piece[len(a.piece):]
}

// keep makes an item that was appended to room's slice permanent.
func (a *arena) keep(it itemenc.Item) itemenc.Item {
	if n := len(a.piece) + len(it); n <= cap(a.piece) && len(it) > 0 && &a.piece[:n][len(a.piece)] == &it[0] {
		a.piece = a.piece[:n]
	}
	return slices.Clip(it)
}
