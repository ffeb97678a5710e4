package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
)

// Invariant is an invariant of a design, ready to be checked against states.
type Invariant struct {
	*design.Invariant
	design *design.Design
	// about are the entities whose items the names refer to, each after one that it is related to.
	about []*design.Entity
	where map[*design.CallOperand]*Condition
	// Transient means that the statement is about a step from one state to the next, not about a state.
	Transient bool
}

// Compile prepares the invariants of a design.
func Compile(d *design.Design) ([]*Invariant, error) {
	out := make([]*Invariant, 0, len(d.Invariants))
	for _, i := range d.Invariants {
		c := &Invariant{Invariant: i, design: d, where: map[*design.CallOperand]*Condition{}, Transient: i.At != "" && i.At != design.AtEnd}
		if e := d.Entity(i.At); e != nil {
			c.about = append(c.about, e)
		}
		for _, o := range i.Statement.Operands() {
			if err := c.part(o); err != nil {
				return nil, fmt.Errorf("invariant %s: %w", i.Name, err)
			}
		}
		c.arrange()
		out = append(out, c)
	}
	return out, nil
}

func (i *Invariant) part(o design.Operand) error {
	switch o := o.(type) {
	case *design.NameOperand:
		i.mention(o.Path)
	case *design.CallOperand:
		if o.Per != "" {
			i.mention(o.Per)
		}
		if o.Function == design.UnchangedFunction {
			i.mention(o.Of)
			i.Transient = true
		}
		bound, err := Bind(i.design, i.entity(o.Of), o.Where, nil)
		if err != nil {
			return err
		}
		i.where[o] = bound
	}
	return nil
}

// entity is the entity that a word of the statement refers to, with or without a field.
func (i *Invariant) entity(word string) *design.Entity {
	word, _, _ = strings.Cut(word, ".")
	return i.design.EntityCalled(word)
}

func (i *Invariant) mention(word string) {
	if e := i.entity(word); !slices.Contains(i.about, e) {
		i.about = append(i.about, e)
	}
}

// arrange puts each entity after one that it is related to, so that joining them one by one never builds a cross
// product.
func (i *Invariant) arrange() {
	for at := 1; at < len(i.about); at++ {
		next := slices.IndexFunc(i.about[at:], func(e *design.Entity) bool {
			return slices.ContainsFunc(i.about[:at], func(other *design.Entity) bool { return len(design.Related(e, other)) > 0 })
		})
		if next > 0 {
			i.about[at], i.about[at+next] = i.about[at+next], i.about[at]
		}
	}
}

// Broken returns the items for which the invariant does not hold after a step from one state to the next; ok is false if
// there are some. A violated statement about numbers of items may have no items. before is nil at the start.
func (i *Invariant) Broken(before, after *State) (items []*Item, ok bool, err error) {
	if i.At == "" || i.At == design.AtEnd {
		return i.join(&itemScope{invariant: i, before: before, after: after}, nil)
	}
	if before == nil {
		return nil, true, nil
	}
	for _, created := range after.Of(i.about[0]) {
		if before.Get(created.Key) != nil {
			continue
		}
		items, ok, err := i.join(&itemScope{invariant: i, before: before, after: after}, []*Item{created})
		if !ok || err != nil {
			return items, ok, err
		}
	}
	return nil, true, nil
}

// join evaluates the statement for all groups of items that start with these.
func (i *Invariant) join(s *itemScope, bound []*Item) ([]*Item, bool, error) {
	if len(bound) == len(i.about) {
		s.bound = bound
		holds, err := Holds(i.Statement, s)
		return bound, holds, err
	}
	next := i.about[len(bound)]
	for _, it := range s.after.Of(next) {
		if slices.ContainsFunc(bound, func(other *Item) bool {
			return !belong(it.Values, other.Values, design.Related(next, other.Entity))
		}) {
			continue
		}
		items, ok, err := i.join(s, append(slices.Clone(bound), it))
		if !ok || err != nil {
			return items, ok, err
		}
	}
	return nil, true, nil
}

// Counted returns the items that the statement counts, sums or looks for, for a group of items.
func (i *Invariant) Counted(s *State, group []*Item) []*Item {
	scope := &itemScope{invariant: i, after: s, bound: group}
	var out []*Item
	for _, o := range i.Statement.Operands() {
		c, is := o.(*design.CallOperand)
		if !is || c.Function == design.UnchangedFunction || len(group) < len(i.about) {
			continue
		}
		for _, it := range scope.owned(c) {
			counts, err := i.where[c].Holds(it.Values)
			if err == nil && counts && !slices.Contains(out, it) {
				out = append(out, it)
			}
		}
	}
	return out
}

// Fields are the fields of an entity that the statement uses.
func (i *Invariant) Fields(e *design.Entity) []string {
	var out []string
	mention := func(path string) {
		word, field, hasField := strings.Cut(path, ".")
		field, _, _ = strings.Cut(field, ".")
		if hasField && i.design.EntityCalled(word) == e && !slices.Contains(out, field) {
			out = append(out, field)
		}
	}
	for _, o := range i.Statement.Operands() {
		switch o := o.(type) {
		case *design.NameOperand:
			mention(o.Path)
		case *design.CallOperand:
			mention(o.Of)
			for _, field := range o.Where.Fields() {
				mention(o.Of + "." + field)
			}
		}
	}
	return out
}

// itemScope is the scope of an invariant: a group of items, and the states.
type itemScope struct {
	invariant     *Invariant
	before, after *State
	bound         []*Item
}

func (s *itemScope) item(e *design.Entity) *Item {
	i := slices.IndexFunc(s.bound, func(it *Item) bool { return it.Entity == e })
	return s.bound[i] // every entity that the statement mentions is bound
}

// Name is a field of an item of the group.
func (s *itemScope) Name(path string) (types.AttributeValue, error) {
	word, field, _ := strings.Cut(path, ".")
	e := s.invariant.entity(word)
	return At(s.item(e).Values, Path(s.invariant.design, e, field)), nil
}

// Param is always absent: an invariant has no parameters.
func (s *itemScope) Param(name string) (types.AttributeValue, error) {
	return nil, fmt.Errorf("an invariant has no :%s", name)
}

// Call evaluates a function of items that belong to the group.
func (s *itemScope) Call(c *design.CallOperand) (types.AttributeValue, error) {
	d := s.invariant.design
	word, field, _ := strings.Cut(c.Of, ".")
	e := s.invariant.entity(word)
	if c.Function == design.UnchangedFunction {
		it := s.item(e)
		was := s.before.Get(it.Key)
		path := Path(d, e, field)
		return Bool(was == nil || same(At(was.Values, path), At(it.Values, path))), nil
	}
	those, err := s.invariant.where[c].Those(valuesOf(s.owned(c)))
	if err != nil {
		return nil, err
	}
	switch c.Function {
	case design.CountFunction:
		return Number(len(those)), nil
	case design.ExistsFunction:
		return Bool(len(those) > 0), nil
	case design.SumFunction:
		return Total(those, Path(d, e, field))
	default:
		return nil, fmt.Errorf("%s() is not a function of invariants", c.Function)
	}
}

// owned are the items that a function covers: those that belong to the group, or to the item after of.
func (s *itemScope) owned(c *design.CallOperand) []*Item {
	e := s.invariant.entity(c.Of)
	owners := s.bound
	if c.Per != "" {
		owners = []*Item{s.item(s.invariant.entity(c.Per))}
	}
	var found []*Item
	for _, it := range s.after.Of(e) {
		if !slices.ContainsFunc(owners, func(owner *Item) bool {
			return !belong(it.Values, owner.Values, design.Related(e, owner.Entity))
		}) {
			found = append(found, it)
		}
	}
	return found
}
