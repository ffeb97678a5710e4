package trial

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// effect is the effect of one step on one item. old is nil if there is none before, next if there is none after.
type effect struct {
	change

	identity  uint64
	old, next *record
	// refusals are the errors with which the step may fail; empty if it succeeds.
	refusals []error
}

// effect computes the effect of the step on the existing items.
func (c *change) effect(records []*record) (*effect, error) {
	key, err := c.key()
	if err != nil {
		return nil, err
	}
	e := &effect{change: *c}
	target := newRecord(c.program, c.entity())
	target.values = key
	e.identity = target.identity()
	for _, r := range records {
		if r.entity == target.entity && r.identity() == e.identity {
			e.old = r
		}
	}
	switch c.step.Action {
	case design.Create, design.Put:
		err = e.create(key)
	case design.Update, design.Upsert:
		err = e.update(key)
	case design.Delete:
		err = e.remove()
	case design.Check:
		e.next = e.old
		if err = e.ask(false); e.old == nil && len(e.refusals) > 0 {
			e.refusals = append(e.refusals, errorOr(e.run.Entity.NotFound, table.ErrNotFound))
		}
	}
	return e, err
}

// expired reports whether an item has expired and DynamoDB has not removed it yet.
func (r *record) expired(now int64) bool {
	if r == nil || r.entity.TTL == nil {
		return false
	}
	at, err := strconv.ParseInt(scalarText(r.values[r.entity.TTL.Field]), 10, 64)
	return err == nil && at < now
}

// ask evaluates the condition of the step and records the possible errors.
func (e *effect) ask(absent bool) error {
	var values table.Values
	if e.old != nil {
		values = e.old.values
	}
	in, err := holds(e.program.Design, e.entity(), e.step.When, values, e.parameters(e.run.When))
	if err != nil {
		return err
	}
	if in && !absent {
		return nil
	}
	if absent {
		e.refusals = append(e.refusals, errorOr(e.run.Entity.NotFound, table.ErrNotFound))
	}
	for i, x := range e.step.Else {
		so, err := holds(e.program.Design, e.entity(), x.When, values, e.parameters(e.run.Else[i].When))
		if err != nil {
			return err
		}
		if so {
			e.refusals = append(e.refusals, e.run.Else[i].Err)
			return nil
		}
	}
	if len(e.refusals) == 0 {
		e.refusals = append(e.refusals, table.ErrRefused)
	}
	return nil
}

func errorOr(declared, otherwise error) error {
	if declared != nil {
		return declared
	}
	return otherwise
}

// create makes a new item.
func (e *effect) create(key table.Values) error {
	next := newRecord(e.program, e.entity())
	for _, f := range e.entity().Fields {
		v, err := e.beginning(f)
		if err != nil {
			return err
		}
		if v != nil {
			next.values[f.Name] = v
		}
	}
	maps.Copy(next.values, key)
	e.next = next
	if e.step.Action == design.Put {
		return e.ask(false)
	}
	if e.old != nil && !e.old.expired(e.now.Unix()) {
		e.refusals = append(e.refusals, errorOr(e.run.Entity.Exists, table.ErrExists))
		for i := range e.run.Else {
			e.refusals = append(e.refusals, e.run.Else[i].Err)
		}
		return nil
	}
	return e.ask(false)
}

// beginning is the value of a field in a new item.
func (e *effect) beginning(f *design.Field) (types.AttributeValue, error) {
	all := slices.Concat(e.step.By, e.step.Set, e.step.Init, e.step.Add)
	whole, inside := stepFields(all).of(f.Name)
	if whole != nil {
		v, err := e.value(whole, nil)
		if err == nil && v == nil && !f.Optional && !collects(f.Type) {
			err = invalid("%s is missing", f.Name)
		}
		return v, err
	}
	if e.counter(f.Name) {
		return numberValue("0"), nil
	}
	v := copied(e.given(f.Name))
	for _, a := range inside {
		if v == nil {
			v = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}}
		}
		within, err := e.value(a, nil)
		if err != nil {
			return nil, err
		}
		if within == nil {
			continue
		}
		m, is := v.(*types.AttributeValueMemberM)
		if !is {
			return nil, invalid("%s is set, but %s is not a map", a.Field, f.Name)
		}
		_, stored := typeAt(e.program.Design, e.entity(), a.Field)
		lower.Put(m.Value, stored, within)
	}
	ttl := e.entity().TTL
	switch {
	case v != nil:
		return v, nil
	case ttl != nil && ttl.Field == f.Name && ttl.After > 0:
		return timeAs(f.Type, e.now.Add(ttl.After)), nil
	case f.Optional || collects(f.Type):
		return nil, nil //nolint:nilnil // an optional field without a value is absent
	default:
		return nil, invalid("%s is missing", f.Name)
	}
}

// collects reports whether a value of the type can be empty.
func collects(t design.Type) bool {
	return t.Kind == design.KindList || t.Kind == design.KindSet || t.Kind == design.KindMap
}

func (e *effect) counter(field string) bool {
	return slices.ContainsFunc(e.entity().Counters, func(c *design.Counter) bool { return c.Field == field })
}

// update changes an item, or creates it if the step is an upsert and there is none.
func (e *effect) update(key table.Values) error {
	if err := e.distinct(); err != nil {
		return err
	}
	next := newRecord(e.program, e.entity())
	var old table.Values
	if e.old != nil {
		old = e.old.values
		next.values = maps.Clone(old)
	}
	if e.old == nil || e.step.Action == design.Upsert {
		maps.Copy(next.values, key) // the item takes over another spelling of the same key
	}
	e.next = next
	if err := e.ask(e.old == nil && e.step.Action == design.Update); err != nil || len(e.refusals) > 0 {
		return err
	}
	inKey := plan.KeyFields(e.entity())
	for how, list := range [][]*design.Assignment{e.step.Set, e.step.Add, e.step.Init, e.step.Drop, e.step.Append, e.step.Prepend} {
		for _, a := range list {
			if slices.Contains(inKey, a.Field) {
				continue
			}
			if err := e.assign(how, a, old); err != nil {
				return err
			}
		}
	}
	for _, name := range e.step.Patch {
		switch v := e.given(name).(type) {
		case nil:
		case *types.AttributeValueMemberNULL:
			delete(e.next.values, name)
		default:
			e.next.values[name] = v
		}
	}
	gone := slices.Clone(e.step.Remove)
	slices.SortStableFunc(gone, func(a, b string) int { return lastPosition(b) - lastPosition(a) }) // positions refer to the list before the write
	for _, path := range gone {
		if err := e.put(e.next.values, path, nil); err != nil {
			return err
		}
	}
	if e.step.Action == design.Upsert {
		return e.complete(old)
	}
	return nil
}

// unkeyable says why what the step sets cannot be part of a key, "" if it can: numbers must fit the padding. Values
// that depend on the item are not checked, because it has not been read.
func (e *effect) unkeyable() string {
	for _, a := range e.step.Set {
		v, err := e.value(a, nil)
		if err != nil || v == nil {
			continue
		}
		for _, place := range plan.Places(e.program.Design, e.entity()) {
			for _, t := range slices.Concat(place.PK, place.SK) {
				for _, part := range t.Parts {
					if part.Field != a.Field || len(part.Funcs) == 0 {
						continue
					}
					if _, err := keytext.Apply(part.Funcs[0].Name, part.Funcs[0].Arg, scalarText(v)); err != nil {
						return a.Field + ": " + err.Error()
					}
				}
			}
		}
	}
	return ""
}

// assign makes one assignment: how is 0 to set, 1 to add, 2 to set if absent, 3 to remove, 4 to append and 5 to
// prepend.
func (e *effect) assign(how int, a *design.Assignment, old table.Values) error {
	v, err := e.value(a, old)
	if err != nil {
		return err
	}
	stored, err := e.steps(a.Field)
	if err != nil {
		return err
	}
	before := valueIn(old[design.Root(a.Field)], stored)
	switch {
	case how > 0 && v == nil:
		return nil
	case how == 2 && before != nil:
		return nil
	case how > 2 || how == 1 && !isNumber(v):
		if empty(v) {
			return nil
		}
		v = gathered(how, before, v)
	case how == 1:
		sum := decimal.FromInt(0)
		for _, n := range []types.AttributeValue{before, v} {
			if n == nil {
				continue
			}
			d, err := decimal.Parse(scalarText(n))
			if err == nil {
				sum, err = sum.Add(d)
			}
			if err != nil {
				return invalid("%s: %v", a.Field, err)
			}
		}
		v = numberValue(sum.String())
	}
	return e.put(e.next.values, a.Field, v)
}

// lastPosition is the list position at the end of a path; -1 if it ends in a name.
func lastPosition(path string) int {
	steps := design.PathSteps(path)
	return position(steps[len(steps)-1])
}

func isNumber(v types.AttributeValue) bool { _, is := v.(*types.AttributeValueMemberN); return is }

// gathered adds or removes members of a set, or appends or prepends elements to a list; nil for an empty set.
func gathered(how int, before, v types.AttributeValue) types.AttributeValue {
	if list, is := v.(*types.AttributeValueMemberL); is {
		var was []types.AttributeValue
		if old, is := before.(*types.AttributeValueMemberL); is {
			was = old.Value
		}
		if how == 5 {
			return &types.AttributeValueMemberL{Value: slices.Concat(list.Value, was)}
		}
		return &types.AttributeValueMemberL{Value: slices.Concat(was, list.Value)}
	}
	were, others := members(before), members(v)
	out := slices.DeleteFunc(were, func(m types.AttributeValue) bool {
		return slices.ContainsFunc(others, func(o types.AttributeValue) bool { return equal(m, o) })
	})
	if how == 1 {
		out = append(out, others...)
	}
	return setOf(out)
}

// members are the members of a set as values.
func members(v types.AttributeValue) []types.AttributeValue {
	var out []types.AttributeValue
	switch v := v.(type) {
	case *types.AttributeValueMemberSS:
		for _, m := range v.Value {
			out = append(out, textValue(m))
		}
	case *types.AttributeValueMemberNS:
		for _, m := range v.Value {
			out = append(out, numberValue(m))
		}
	case *types.AttributeValueMemberBS:
		for _, m := range v.Value {
			out = append(out, &types.AttributeValueMemberB{Value: m})
		}
	}
	return out
}

// setOf is the set of some members; nil if there are none.
func setOf(list []types.AttributeValue) types.AttributeValue {
	if len(list) == 0 {
		return nil
	}
	var texts []string
	var binary [][]byte
	for _, m := range list {
		if b, is := m.(*types.AttributeValueMemberB); is {
			binary = append(binary, b.Value)
			continue
		}
		texts = append(texts, scalarText(m))
	}
	switch {
	case binary != nil:
		return &types.AttributeValueMemberBS{Value: binary}
	case isNumber(list[0]):
		return &types.AttributeValueMemberNS{Value: texts}
	default:
		return &types.AttributeValueMemberSS{Value: texts}
	}
}

// complete sets the fields without an assignment in an item that an upsert has created.
func (e *effect) complete(old table.Values) error {
	all := stepFields(e.step.Assignments())
	inKey := plan.KeyFields(e.entity())
	for _, f := range e.entity().Fields {
		whole, inside := all.of(f.Name)
		removed := slices.ContainsFunc(e.step.Remove, func(path string) bool { return design.Root(path) == f.Name })
		if slices.Contains(inKey, f.Name) || whole != nil || len(inside) > 0 || removed {
			continue
		}
		ttl := e.entity().TTL
		v := e.given(f.Name)
		switch {
		case e.counter(f.Name):
			if old[f.Name] == nil {
				e.next.values[f.Name] = numberValue("0")
			}
		case v != nil:
			e.next.values[f.Name] = v
		case ttl != nil && ttl.Field == f.Name && ttl.After > 0:
			if old[f.Name] == nil {
				e.next.values[f.Name] = timeAs(f.Type, e.now.Add(ttl.After))
			}
		case f.Optional || collects(f.Type):
		default:
			return invalid("%s is missing", f.Name)
		}
	}
	return nil
}

// remove deletes an item. Without a condition it does not have to exist.
func (e *effect) remove() error {
	if e.step.When == nil {
		return nil
	}
	return e.ask(e.old == nil)
}

// String describes the step.
func (e *effect) String() string {
	out := fmt.Sprintf("step %d", e.at+1)
	if e.line >= 0 {
		out += fmt.Sprintf(" of line %d", e.line+1)
	}
	return out
}

// isInvalid reports whether an error means that nothing can be written with an input.
func isInvalid(err error) bool { return errors.Is(err, errInvalid) }
