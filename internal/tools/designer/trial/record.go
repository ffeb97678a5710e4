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

// record is an entity's item as plain values: the truth that results are compared with. Once it has been used, its values only
// change through give.
type record struct {
	entity *design.Entity
	home   *design.Table
	run    *table.Entity
	values table.Values
	decoy  bool // made to be confused with another
	// tokens are the tokens of its key and markers, and stored is the result of table.Items; nil until first used.
	tokens []uint64
	stored []table.Item
}

// items are the stored item, its copies and its markers. Callers must not change them.
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

// give sets a field of a record.
func (r *record) give(field string, v types.AttributeValue) {
	r.values[field] = v
	r.tokens, r.stored = nil, nil
}

func newRecord(p *lower.Program, e *design.Entity) *record {
	return &record{entity: e, home: p.Design.TableOf(e), run: p.Entity(e.Name), values: table.Values{}}
}

// identity identifies the item by its key fields; values that lower, fold, slug and date make equal count as equal.
func (r *record) identity() uint64 {
	r.tokenise()
	return r.tokens[0]
}

// markers identify the item's unique values in the same way.
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

// token identifies a key with the values of its fields.
func (r *record) token(name string, k design.Key) uint64 { return tokenOf(r.entity, name, k, r.values) }

// tokenOf is the token of an entity's item whose key is made from values, which may be those of another entity's item.
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
				text(meaningText(part, values[part.Field]))
			}
		}
	}
	return h.Sum64()
}
