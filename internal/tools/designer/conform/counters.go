package conform

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// counters compute the correct values of counters.
type counters struct {
	all []*counterState
	// tallies are those of the first pass: the counter's value minus the count.
	tallies map[id]tally // nil after the first pass
	open    map[id]*recount
	// seen is the number of open counters seen, examples the number of them kept as examples.
	seen, examples int
}

// counterState is a counter of the design with the entity that has it and the counted entity.
type counterState struct {
	*design.Counter
	owner, counted *design.Entity
	shown          int // number of examples kept
}

// tally is a counter of one item. It contains no pointers except the digits of a nonzero number.
type tally struct {
	difference, said decimal.Decimal
	// met is set when the item with the counter has been read: counted items may refer to a missing one.
	met   bool
	sound trust
}

// recount is what a later pass finds about a counter that was wrong in the one before.
type recount struct {
	counter                   *counterState
	said, counted             decimal.Decimal
	saidBefore, countedBefore decimal.Decimal // in the pass before
	order                     int
	sound                     trust
	example                   *Example
}

func newCounters(d *design.Design, given func(table string) bool, examples int) *counters {
	c := &counters{tallies: map[id]tally{}, examples: examples}
	for _, e := range d.Entities {
		for _, one := range e.Counters {
			if of := d.Entity(one.Of); given(e.Table) && given(of.Table) {
				c.all = append(c.all, &counterState{Counter: one, owner: e, counted: of})
			}
		}
	}
	return c
}

// observe returns the descriptor with two additional entries for each counter that counts the entity's items. Whether a
// counter counts an item depends on a condition, like an index entry, and the key of the counter's item comes from
// templates: table.Items evaluates both.
func (c *counters) observe(e *table.Entity) *table.Entity {
	if len(e.Counts) == 0 {
		return e
	}
	whole := *e
	whole.Entries = slices.Clone(e.Entries)
	for i := range e.Counts {
		whole.Entries = append(whole.Entries, table.Entry{
			PK: []table.KeyAttribute{{
				Attribute: table.Attribute{Name: countedAttribute(i), Type: types.ScalarAttributeTypeS},
				Template:  table.Template{{Literal: "counted"}},
			}},
			Where: e.Counts[i].Where,
		})
		var key []table.KeyAttribute
		for n, k := range e.Counts[i].Entity.Key {
			template := slices.Clone(k.Template)
			for p := range template {
				template[p].Field = cmp.Or(e.Counts[i].By[template[p].Field], template[p].Field)
			}
			key = append(key, table.KeyAttribute{Attribute: table.Attribute{Name: holderAttribute(i, n), Type: k.Type}, Template: template})
		}
		whole.Entries = append(whole.Entries, table.Entry{PK: key})
	}
	return &whole
}

// countedAttribute is the name of an attribute that no item has.
func countedAttribute(n int) string { return "\x00counted by " + strconv.Itoa(n) }

// holderAttribute is another such name, for a part of the key of the counter's item.
func holderAttribute(n, part int) string { return countedAttribute(n) + " " + strconv.Itoa(part) }

// enter adds an item: as a counted item, and as an item with counters. made is what its values make.
func (c *counters) enter(t *tableState, e *entityState, created, item table.Item, values table.Values, is trust) {
	for i := range e.table.Counts {
		count := &e.table.Counts[i]
		n := c.counter(count.Entity.Name, count.Field)
		if n < 0 || is == sound && created[countedAttribute(i)] == nil {
			continue
		}
		amount := decimal.FromInt(1)
		if count.Sum != "" {
			amount = number(values[count.Sum])
		}
		var key []types.AttributeValue
		for part := range count.Entity.Key {
			key = append(key, created[holderAttribute(i, part)])
		}
		if is == sound && slices.Contains(key, nil) {
			continue // an optional reference is absent
		}
		c.add(idOfValues(n, key), n, amount, false, is, t, item)
	}
	for n, one := range c.all {
		if one.owner == e.design {
			var key []types.AttributeValue
			for _, k := range e.table.Key {
				key = append(key, created[k.Name])
			}
			c.add(idOfValues(n, key), n, number(values[one.Field]), true, is, t, item)
		}
	}
}

// counter is the number of a counter; -1 if it is not checked.
func (c *counters) counter(entity, field string) int {
	return slices.IndexFunc(c.all, func(s *counterState) bool { return s.owner.Name == entity && s.Field == field })
}

// add enters an amount: the counter's value, or a counted amount.
func (c *counters) add(key id, n int, amount decimal.Decimal, says bool, is trust, t *tableState, item table.Item) {
	if c.tallies == nil {
		c.again(key, n, amount, says, is, t, item)
		return
	}
	one, met := c.tallies[key]
	if !met {
		one.sound = sound
	}
	var err error
	if says {
		one.met = true
		one.said = amount
		one.difference, err = one.difference.Add(amount)
	} else {
		one.difference, err = one.difference.Sub(amount)
	}
	one.sound = one.sound && is && trust(err == nil)
	c.tallies[key] = one
}

// settle ends the first pass and returns the number of counters to check again.
func (c *counters) settle() int {
	c.open = map[id]*recount{}
	for key, one := range c.tallies {
		if one.met && one.sound == sound && !one.difference.IsZero() {
			counted, err := one.said.Sub(one.difference)
			c.open[key] = &recount{saidBefore: one.said, countedBefore: counted, sound: trust(err == nil)}
		}
	}
	c.tallies = nil
	return len(c.open)
}

func (c *counters) again(key id, n int, amount decimal.Decimal, says bool, is trust, t *tableState, item table.Item) {
	r := c.open[key]
	if r == nil {
		return
	}
	r.counter = c.all[n]
	r.sound = r.sound && is
	var err error
	if says {
		c.seen++
		r.order, r.said = c.seen, amount
		if r.counter.shown < 2*c.examples { // some may have settled meanwhile
			r.counter.shown++
			r.example = &Example{Table: t.design.Name, Key: t.keyOf(item), PrimaryKey: t.primaryKey(item)}
		}
	} else {
		r.counted, err = r.counted.Add(amount)
	}
	r.sound = r.sound && trust(err == nil)
}

// compareCounters reports the counters that are wrong in the same way as in the pass before. It returns the number of those that
// are wrong in another way, which stay open for the next pass.
func (c *checker) compareCounters() (open int) {
	var wrong []*recount
	for key, r := range c.counters.open {
		switch {
		case r.order == 0 || r.sound != sound || r.said == r.counted:
			delete(c.counters.open, key)
		case r.said == r.saidBefore && r.counted == r.countedBefore:
			delete(c.counters.open, key)
			wrong = append(wrong, r)
		default:
			*r = recount{saidBefore: r.said, countedBefore: r.counted, sound: sound}
		}
	}
	for _, one := range c.counters.all {
		one.shown = 0
	}
	slices.SortFunc(wrong, func(a, b *recount) int { return a.order - b.order })
	for _, r := range wrong {
		if r.example == nil {
			c.add(WrongCount, r.counter.owner.Name+"."+r.counter.Field, 1, nil)
			continue
		}
		what := fmt.Sprintf("there are %s %s items to count", r.counted, r.counter.Of)
		if r.counter.Sum != "" {
			what = fmt.Sprintf("the sum of %s.%s is %s", r.counter.Of, r.counter.Sum, r.counted)
		}
		r.example.Message = fmt.Sprintf("%s is %s, but %s", r.counter.Field, r.said, what)
		c.add(WrongCount, r.counter.owner.Name+"."+r.counter.Field, 1, r.example)
	}
	return len(c.counters.open)
}

// number is a value as a number; 0 if it is not one.
func number(v types.AttributeValue) decimal.Decimal {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return decimal.Decimal{}
	}
	d, err := decimal.Parse(n.Value)
	if err != nil {
		return decimal.Decimal{}
	}
	return d
}
