package write

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// movement is a change of a counter.
type movement struct {
	count *schema.Count
	key   schema.Values // of the counter's item
	by    decimal.Decimal
}

// movements are an effect's changes of counters. The error is errUnread if they depend on an item that was not read.
func (e *effect) movements() ([]movement, error) {
	if e.rejected || e.action == schema.Check || e.action == schema.Put || e.action == schema.Delete && e.exists() == absent {
		return nil, nil
	}
	var out []movement
	for i := range e.entity.Counts {
		moved, err := e.moves(&e.entity.Counts[i])
		if err != nil {
			return nil, err
		}
		out = append(out, moved...)
	}
	return out, nil
}

// moves are an effect's changes of one counter: two if the item moves from one counter's item to another's.
func (e *effect) moves(c *schema.Count) ([]movement, error) {
	switch {
	case e.creates():
		after, err := e.tally(c, e.after, e.relyAfter)
		return nonzero(movement{c, after.key, after.n}), err
	case e.action == schema.Delete:
		if e.exists() == unknown {
			return nil, errUnread
		}
		before, err := e.tally(c, e.before, e.relyBefore)
		if err != nil {
			return nil, err
		}
		return e.negated(c, before)
	case e.exists() == unknown:
		return nil, errUnread
	}
	key := c.KeyFields()
	where := e.entity.ReadBy(c.Where)
	if !e.changes(key) && !e.changes(where) && (c.Sum == "" || !e.changed(c.Sum)) {
		return nil, nil
	}
	if by, ok := e.added(c.Sum); ok && c.Where == nil && !e.changes(key) {
		v, err := e.valuesBefore(key)
		e.relyBefore(key...)
		if owner := c.Owner(v); owner != nil {
			return nonzero(movement{c, owner, by}), err
		}
		return nil, err
	}
	before, err := e.tally(c, e.before, e.relyBefore)
	if err != nil {
		return nil, err
	}
	after, err := e.tally(c, e.after, e.relyAfter)
	if err != nil {
		return nil, err
	}
	if before.counts && after.counts && sameCounter(c, before.key, after.key) {
		by, err := sumOf(c.Field, after.n, before.n, true)
		return nonzero(movement{c, after.key, by}), err
	}
	out, err := e.negated(c, before)
	return append(out, nonzero(movement{c, after.key, after.n})...), err
}

// sameCounter reports whether values make the same key of the counter's item: the key matters, because lower and fold map
// several values to one.
func sameCounter(c *schema.Count, a, b schema.Values) bool {
	x, err := c.Entity.KeyOf(c.Entity.Key, a)
	if err != nil {
		return false
	}
	y, err := c.Entity.KeyOf(c.Entity.Key, b)
	return err == nil && c.Entity.Table.IdentityOf(x) == c.Entity.Table.IdentityOf(y)
}

func (e *effect) negated(c *schema.Count, t tally) ([]movement, error) {
	by, err := decimal.Decimal{}.Sub(t.n)
	return nonzero(movement{c, t.key, by}), err
}

func nonzero(m movement) []movement {
	if m.by.IsZero() {
		return nil
	}
	return []movement{m}
}

// added is what an update adds to a field without reading it.
func (e *effect) added(field string) (decimal.Decimal, bool) {
	var sum decimal.Decimal
	met := false
	for i := range e.assigned {
		a := &e.assigned[i]
		if a.field.Name != field {
			continue
		}
		n, ok := schema.DecimalOf(a.value)
		if met || !ok || a.how != adding || !a.whole || len(a.operands) > 0 {
			return sum, false
		}
		sum, met = n, true
	}
	return sum, met
}

// tally is the amount that an item adds to a counter, before or after a change.
type tally struct {
	counts bool
	key    schema.Values
	n      decimal.Decimal
}

// tally computes the amount, and relies on the fields it is computed from.
func (e *effect) tally(c *schema.Count, value func(string) (types.AttributeValue, bool), rely func(...string)) (tally, error) {
	holds, known, relies, err := e.entity.Truth(c.Where, value)
	if err != nil {
		return tally{}, err
	}
	if !known {
		return tally{}, errUnread
	}
	rely(relies...)
	if !holds {
		return tally{}, nil
	}
	fields := c.KeyFields()
	if c.Sum != "" {
		fields = append(fields, c.Sum)
	}
	v, err := collect(fields, value)
	if err != nil {
		return tally{}, err
	}
	rely(fields...)
	owner := c.Owner(v)
	if owner == nil {
		return tally{}, nil
	}
	if c.Sum == "" {
		return tally{true, owner, decimal.FromInt(1)}, nil
	}
	n, ok := schema.DecimalOf(v[c.Sum])
	if !ok && v[c.Sum] != nil {
		return tally{}, &schema.ValueError{Field: c.Sum, Reason: "is not a number and cannot be summed"}
	}
	return tally{true, owner, n}, nil
}

// count adds the changes of counters to the effects: each to the one on the counter's item, if there is one. Effects whose own
// items are counted come before those whose counters they change.
func (a *Attempt) count() error {
	for {
		e := a.uncounted()
		if e == nil {
			return nil
		}
		moved, err := e.movements()
		if errors.Is(err, errUnread) && !e.read {
			if err := a.look([]*effect{e}); err != nil || a.isRepetition() {
				return err
			}
			continue
		}
		if err != nil {
			return e.fault(err)
		}
		e.counted = true
		for _, m := range moved {
			if err := a.move(e, m); err != nil {
				return err
			}
		}
	}
}

// uncounted is the next effect to be counted: one whose counters no remaining effect can still change.
func (a *Attempt) uncounted() *effect {
	var next *effect
	deepest := 0
	for _, e := range a.effects {
		if depth := countDepth(e.entity, 0); !e.counted && (next == nil || depth > deepest) {
			next, deepest = e, depth
		}
	}
	return next
}

// maxCountDepth bounds chains of counters that are summed into other counters.
const maxCountDepth = 8

// countDepth is the length of the chain of counters for an entity's items.
func countDepth(e *schema.Entity, above int) int {
	depth := above
	for i := range e.Counts {
		if above < maxCountDepth {
			depth = max(depth, countDepth(e.Counts[i].Entity, above+1))
		}
	}
	return depth
}

// move changes a counter.
func (a *Attempt) move(by *effect, m movement) error {
	c := m.count
	f := c.Entity.Field(c.Field)
	primary, err := c.Entity.KeyOf(c.Entity.Key, m.key)
	if err != nil {
		return err
	}
	if f == nil {
		return fmt.Errorf("entity %s has no field %s, which counts %s", c.Entity.Name, c.Field, by.entity.Name)
	}
	id := c.Entity.Table.IdentityOf(primary)
	i := slices.IndexFunc(a.effects, func(e *effect) bool { return e.entity == c.Entity && e.entity.Table.IdentityOf(e.primary) == id })
	if i < 0 {
		own := &change{call: by.call, number: by.number, line: by.line, action: schema.Update, refusedAs: schema.Update, entity: c.Entity, values: m.key, primary: primary, in: by.in}
		e := newEffect(own, a.learned)
		e.counters, e.moved = true, true
		a.effects = append(a.effects, e)
		return e.add(f, m.by)
	}
	e := a.effects[i]
	if err := a.merge(by, e); err != nil {
		return err
	}
	if e.counted && len(e.entity.Counts) > 0 {
		return fmt.Errorf("counter %s.%s is counted by the entity that it counts", c.Entity.Name, c.Field)
	}
	e.planned, e.moved = false, true
	if e.counters && e.line != by.line {
		own := *e.change
		own.line = -1 // of several lines
		e.change = &own
	}
	switch {
	case e.rejected || e.action == schema.Delete:
		return nil // the change fails anyway, or the counter is deleted with its item
	case e.creates():
		return e.fault(e.begin(f, m.by))
	case e.action == schema.Check:
		own := *e.change
		own.action = schema.Update // its failures keep the meaning of a check
		e.change = &own
	}
	if err := e.add(f, m.by); err != nil || !e.read {
		return e.fault(err)
	}
	return e.fault(e.compute())
}
