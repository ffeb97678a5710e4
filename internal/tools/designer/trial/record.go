package trial

import (
	"hash/fnv"
	"io"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// record is an entity's item as plain values: the truth that answers are compared with. Its values change by give only, once it
// has been asked for anything.
type record struct {
	entity *design.Entity
	home   *design.Table
	run    *table.Entity
	values table.Values
	bait   bool // made to be taken for another
	// tokens are those of its key and markers, and stored what table.Items makes of it; nil until they are asked for.
	tokens []uint64
	stored []table.Item
}

// items are the item itself, its copies and its markers, as they are stored. They are not changed.
func (r *record) items() ([]table.Item, error) {
	if r.stored == nil {
		items, err := table.Items(r.run, r.values)
		if err != nil {
			return nil, err
		}
		r.stored = items
	}
	return r.stored, nil
}

// give gives a field of a record another value than it had.
func (r *record) give(field string, v types.AttributeValue) {
	r.values[field] = v
	r.tokens, r.stored = nil, nil
}

func newRecord(p *lower.Program, e *design.Entity) *record {
	return &record{entity: e, home: p.Design.TableOf(e), run: p.Entity(e.Name), values: table.Values{}}
}

// identity stands for the fields by which the item is told from others, as they are meant to be told: what lower, fold, slug and
// date make equal is meant to be one.
func (r *record) identity() uint64 {
	r.tokenise()
	return r.tokens[0]
}

// markers stand in the same way for what is unique of the item.
func (r *record) markers() []uint64 {
	r.tokenise()
	return r.tokens[1:]
}

func (r *record) tokenise() {
	if r.tokens != nil {
		return
	}
	r.tokens = append(r.tokens, r.token("key", r.entity.Key))
	for _, m := range r.entity.Unique {
		r.tokens = append(r.tokens, r.token(m.Name, m.Key))
	}
}

// token stands for the fields of a key with their values.
func (r *record) token(name string, k design.Key) uint64 { return tokenOf(r.entity, name, k, r.values) }

// tokenOf is the token that an entity's item has whose key is made of values, which may be those of another entity's item.
func tokenOf(e *design.Entity, name string, k design.Key, values table.Values) uint64 {
	h := fnv.New64a()
	text := func(s string) {
		_, _ = io.WriteString(h, strconv.Itoa(len(s))+":"+s)
	}
	text(e.Name)
	text(name)
	for _, t := range []*design.Template{k.PK, k.SK} {
		if t == nil {
			continue
		}
		for _, part := range t.Parts {
			if part.Field != "" {
				text(part.Field)
				text(meant(part, values[part.Field]))
			}
		}
	}
	return h.Sum64()
}
