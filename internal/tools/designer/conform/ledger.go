package conform

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
)

// ledger compares the items that others require with those that exist.
type ledger struct {
	claims map[id]claim // nil after the first pass
	// open are the claims that did not match in the pass before, collected again in this one.
	open     map[id]*balance
	examples int
	// shown is the number of claims of a kind that were kept with their items, sightings the number of open ones seen.
	shown     map[placeSide]int
	sightings int
}

// claim is one item's statement about a key. It contains no pointers, because there may be many.
type claim struct {
	content uint64
	seen    uint64 // see weight
	place   uint16
	side    side
	sound   trust
}

// side says whether an item is required or exists.
type side uint8

const (
	wanted side = 1
	there  side = 2
	// conflict means both but not equal, or required twice.
	conflict side = 3
)

type placeSide struct {
	place int
	side  side
}

// balance is what a later pass finds about a key.
type balance struct {
	side                       side   // in the first pass
	before, seen               uint64 // of all claims, in the pass before and in this one; see weight
	place                      *placeState
	order                      int // of the first sighting
	wanted, there              int
	wantedContent, realContent uint64
	doubtful                   bool
	shown                      bool
	sides                      []reference // where it is shown
}

// reference is a required item, with the item that requires it, or an existing one.
type reference struct {
	table *tableState
	item  table.Item
	owner table.Item // nil for an existing item
}

func newLedger(examples int) *ledger {
	return &ledger{claims: map[id]claim{}, examples: examples, shown: map[placeSide]int{}}
}

// shouldBe records that an item requires another.
func (l *ledger) shouldBe(t *tableState, p *placeState, item, owner table.Item, is trust) {
	l.enter(wanted, p, reference{t, item, owner}, is)
}

// isThere records that an item exists.
func (l *ledger) isThere(t *tableState, p *placeState, item table.Item, is trust) {
	l.enter(there, p, reference{t, item, nil}, is)
}

func (l *ledger) enter(s side, p *placeState, of reference, is trust) {
	key := of.table.idOf(of.item)
	if l.claims == nil {
		l.again(key, s, p, of, is)
		return
	}
	content := contentOf(p, of.item)
	c := claim{content: content, seen: weight(s, content), place: uint16(p.number), side: s, sound: is} //nolint:gosec // a design of 256 KB has fewer places
	other, met := l.claims[key]
	switch {
	case !met:
		l.claims[key] = c
	case other.side == conflict, other.side == s && is == sound && other.sound == sound:
		other.side = conflict
		other.seen += c.seen
		l.claims[key] = other
	case other.side == s: // at most one of them is reliable
		if is == sound {
			l.claims[key] = c
		}
	case is == doubtful, other.sound == doubtful, other.content == c.content:
		delete(l.claims, key)
	default:
		other.side = conflict
		other.seen += c.seen
		l.claims[key] = other
	}
}

// weight is a claim's part of a sum over the claims about a key, which is the same in two passes only if they are.
func weight(s side, content uint64) uint64 {
	if s == wanted {
		return content*0x9E3779B97F4A7C15 + 1
	}
	return content*0xC2B2AE3D27D4EB4F + 1
}

// settle ends the first pass. Claims of doubtful items alone are dropped. It returns the number of claims to check
// again.
func (l *ledger) settle() int {
	l.open = map[id]*balance{}
	for key, c := range l.claims {
		if c.sound {
			l.open[key] = &balance{side: c.side, before: c.seen}
		}
	}
	l.claims = nil
	return len(l.open)
}

// again records a claim in a later pass, if it is one of the open ones.
func (l *ledger) again(key id, s side, p *placeState, of reference, is trust) {
	b := l.open[key]
	if b == nil {
		return
	}
	if b.wanted+b.there == 0 {
		l.sightings++
		b.order = l.sightings
		// Some of the shown claims may have settled meanwhile; twice as many as needed are kept.
		if kind := (placeSide{p.number, b.side}); l.shown[kind] < 2*l.examples {
			l.shown[kind]++
			b.shown = true
		}
	}
	content := contentOf(p, of.item)
	b.seen += weight(s, content)
	if s == wanted {
		b.place = p
		b.wanted++
		b.wantedContent = content
	} else {
		if b.place == nil {
			b.place = p
		}
		b.there++
		b.realContent = content
	}
	b.doubtful = b.doubtful || is == doubtful
	if b.shown {
		b.sides = append(b.sides, of)
	}
}

// matches reports whether a pass has found nothing wrong with a key.
func (b *balance) matches() bool {
	return b.wanted+b.there == 0 || b.doubtful || b.wanted == 1 && b.there > 0 && b.wantedContent == b.realContent
}

// compareClaims reports the claims that do not match in the same way as in the pass before. It returns the number of those that
// do not match in another way, which stay open for the next pass.
func (c *checker) compareClaims() (open int) {
	var wrong []*balance
	for key, b := range c.ledger.open {
		switch {
		case b.matches():
			delete(c.ledger.open, key)
		case b.seen == b.before:
			delete(c.ledger.open, key)
			wrong = append(wrong, b)
		default:
			*b = balance{side: b.side, before: b.seen}
		}
	}
	clear(c.ledger.shown)
	slices.SortFunc(wrong, func(a, b *balance) int { return a.order - b.order })
	for _, b := range wrong {
		marker := b.place.place.Kind == table.MarkerPlace
		kind := func(ofCopy, ofMarker Kind) Kind {
			if marker {
				return ofMarker
			}
			return ofCopy
		}
		switch {
		case b.there == 0:
			c.claimFinding(kind(CopyMissing, MarkerMissing), b, b.wanted)
		case b.wanted == 0:
			c.claimFinding(kind(CopyOrphan, MarkerOrphan), b, 1)
		default:
			c.claimFinding(kind(CopyDiverged, MarkerForeign), b, 1)
		}
	}
	return len(c.ledger.open)
}

func (c *checker) claimFinding(k Kind, b *balance, items int) {
	subject := b.place.entity.design.Name + "." + b.place.name
	if len(b.sides) == 0 {
		c.add(k, subject, int64(items), nil)
		return
	}
	for i := range items {
		example := b.example(k, min(i, len(b.sides)-1))
		c.add(k, subject, 1, &example)
	}
}

// example describes the defect; n is the index of the item that requires the key.
func (b *balance) example(k Kind, n int) Example {
	entity := b.place.entity.design.Name
	first := b.sides[n]
	t := first.table
	out := Example{Table: t.design.Name, Key: t.keyOf(first.item), PrimaryKey: t.primaryKey(first.item)}
	switch k {
	case CopyMissing, MarkerMissing:
		what := "copy"
		if k == MarkerMissing {
			what = "marker"
		}
		out.Key, out.PrimaryKey, out.Message = t.keyOf(first.owner), t.primaryKey(first.owner), "has no "+what+" at "+t.keyOf(first.item)
	case CopyOrphan:
		out.Message = "no " + entity + " has it: the item was deleted or has other values"
	case MarkerOrphan:
		out.Message = "no " + entity + " has it: the item was deleted or has another value, and the marker blocks this one"
	default:
		out.Message = b.differences()
	}
	return out
}

// differences describes how the existing item differs from the required one.
func (b *balance) differences() string {
	var have, want table.Item
	var owners []string
	for _, s := range b.sides {
		if s.owner == nil {
			have = s.item
			continue
		}
		owners = append(owners, s.table.keyOf(s.owner))
		if want == nil || contentOf(b.place, want) == b.realContent {
			want = s.item // one that differs
		}
	}
	var out []string
	if len(owners) > 1 {
		out = append(out, "belongs to "+strings.Join(owners, " and to "))
	}
	for _, path := range b.place.parts {
		is, should := at(have, path), at(want, path)
		if same(is, should) {
			continue
		}
		name := strings.Join(path, ".")
		if secret(b.place.entity.design, path) {
			out = append(out, name+" differs")
			continue
		}
		out = append(out, name+" is "+shown(is)+", but by its item it should be "+shown(should))
	}
	return strings.Join(out, "; ")
}

// secret reports whether a path belongs to a field whose values must not be shown.
func secret(e *design.Entity, path []string) bool {
	return slices.ContainsFunc(e.Fields, func(f *design.Field) bool {
		return f.Type.Kind == design.KindSecret && slices.Equal(f.Path, path)
	})
}
