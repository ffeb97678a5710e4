package conform

import (
	"fmt"
	"iter"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
)

// Judge checks single items of one table. It finds what Check finds in an item alone: copies, markers and counters are not
// compared with related items. A Judge is safe for concurrent use.
type Judge struct {
	checker *checker
	table   *tableState
}

// NewJudge returns the Judge of a table by its name in the design; nil if the design has no such table.
func NewJudge(d *design.Design, tableName string) *Judge {
	c := newChecker(d, map[string]Pass{tableName: Of(nil)}, Options{Examples: 1})
	if len(c.tables) == 0 {
		return nil
	}
	return &Judge{c, c.tables[0]}
}

// Of is a Pass over items in memory.
func Of(items []table.Item) Pass {
	return func() iter.Seq2[table.Item, error] {
		return func(yield func(table.Item, error) bool) {
			for _, it := range items {
				if !yield(it, nil) {
					return
				}
			}
		}
	}
}

// Item returns the findings of an item, each with the item as its example; none for a valid item.
func (j *Judge) Item(item table.Item) []*Finding {
	c := &checker{design: j.checker.design, options: j.checker.options, persons: j.checker.persons, findings: map[findingKey]*Finding{}}
	t := j.table
	e, p, values := table.Recognize(t.descriptors, item)
	switch {
	case e == nil:
		if like := t.mostSimilar(item); like != nil {
			c.explain(t, like, item, valuesOf(like.place.entity.table, item))
		} else {
			c.find(Unknown, t.design.Name, t, item, "no entity has such a key")
		}
	case p.Kind == table.KeyPlace:
		c.values(t, t.placeOf(e, p).entity, item, values)
	default:
		c.held(t, t.placeOf(e, p).entity, item, values)
	}
	return c.report().Findings
}

// held checks the values in a copy or marker. It need not have all fields.
func (c *checker) held(t *tableState, e *entityState, item table.Item, values table.Values) {
	for i := range e.table.Fields {
		f := &e.table.Fields[i]
		if values[f.Name] == nil {
			continue
		}
		if fault := valueFault(e.table, f, values[f.Name]); fault != nil {
			c.find(WrongValue, e.design.Name+"."+f.Name, t, item, fault.Error())
		}
	}
}

// Fault returns the findings of one item as an error; nil for a valid item.
func (j *Judge) Fault(item table.Item) error {
	findings := j.Item(item)
	if len(findings) == 0 {
		return nil
	}
	texts := make([]string, 0, len(findings))
	for _, f := range findings {
		entity, _, _ := strings.Cut(f.Subject, ".")
		text := f.Examples[0].Message
		if f.Kind != Unknown {
			text = entity + ": " + text
		}
		texts = append(texts, text)
	}
	return fmt.Errorf("%s: %s", j.table.keyOf(item), strings.Join(texts, "; "))
}
