package write

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// errUnread means that related items depend on unknown fields: the item must be read first.
var errUnread = errors.New("depends on an item that was not read")

// existence says whether an item is known to exist before a change.
type existence uint8

const (
	unknown existence = iota
	present           // otherwise the change fails
	absent            // otherwise the change fails
)

// effect is a change in one attempt: what is known of its item, and what it does to the item and to everything that belongs
// to it.
//
// Fields are known from the input, from the condition, or because the item was read. If something is derived from a field
// that was read, the transaction relies on it: it is conditional on the field's old value.
type effect struct {
	*change
	assigned []assignment // the change's, and those of its counters
	// counters is set if only counters change, in an item that is not the item of a step.
	counters bool

	read bool
	old  schema.Item // as read; nil if there is none
	// was and will are the fields of old, and of the result of an update or upsert.
	was, will schema.Values
	relied    map[string]bool
	// rejected is set if the item that was read shows that the change will fail.
	rejected bool
	// created is set if an upsert creates an item, because there was none when it was read.
	created bool

	// moved is set if a counter of the item changes. The amount was computed from other items, which may have been read at
	// other times.
	moved   bool
	counted bool // the counters that it changes have been determined
	planned bool // ops reflect everything that is known now
	ops     []*Operation
	shared  *learned
}

func newEffect(c *change, shared *learned) *effect {
	return &effect{change: c, assigned: c.assigned, relied: map[string]bool{}, shared: shared}
}

// UnsettledError is a fault that may result from reading items at different times, with a write in between. It counts as
// ErrAgain; the last attempt fails with its cause.
type UnsettledError struct{ Cause error }

func (e *UnsettledError) Error() string { return e.Cause.Error() }

// Is makes it an ErrAgain.
func (e *UnsettledError) Is(target error) bool { return target == ErrAgain }

// fault adds the effect's location to an error.
func (e *effect) fault(err error) error {
	if err == nil || errors.Is(err, errUnread) {
		return err
	}
	if err = e.call.fault(err); e.moved {
		return &UnsettledError{err}
	}
	return err
}

// creates reports whether the whole item is put.
func (e *effect) creates() bool {
	return e.action == schema.Create || e.action == schema.Put || e.created
}

// exists says whether the item is known to exist before the change.
func (e *effect) exists() existence {
	switch {
	case e.creates(), e.read && e.old == nil:
		return absent
	case e.read, e.action == schema.Update, e.action == schema.Delete && e.when != nil:
		return present
	default:
		return unknown
	}
}

// changed reports whether a field is assigned. An upsert also assigns the fields of its key, which matters where another spelling
// of one makes another key.
func (e *effect) changed(field string) bool {
	return e.action == schema.Upsert && e.entity.Respells(field) || slices.ContainsFunc(e.assigned, func(a assignment) bool { return a.field.Name == field })
}

// changes reports whether any of some fields is assigned.
func (e *effect) changes(fields []string) bool { return slices.ContainsFunc(fields, e.changed) }

// before is a field before the change, nil if it is absent.
func (e *effect) before(field string) (v types.AttributeValue, known bool) {
	if v, ok := e.values[field]; ok && !e.creates() {
		switch { // a key field: the item may have another spelling of it
		case e.read && e.was[field] != nil:
			return e.was[field], true
		case !e.read && e.entity.Respells(field):
			return nil, false
		}
		return v, true
	}
	if e.exists() == absent {
		return nil, true
	}
	if e.read {
		return e.was[field], true
	}
	v, known = e.pinned[field]
	return v, known
}

// after is a field after the change, nil if it is absent.
func (e *effect) after(field string) (v types.AttributeValue, known bool) {
	switch {
	case e.creates():
		return e.values[field], true
	case !e.changed(field) && e.exists() == present && (e.action != schema.Upsert || e.values[field] == nil):
		return e.before(field)
	case e.read:
		return e.will[field], true
	}
	if v, ok := e.values[field]; ok {
		return v, true
	}
	for _, a := range e.assigned {
		if a.field.Name == field && a.whole && a.how == setting && len(a.operands) == 0 {
			return a.value, true
		}
	}
	return nil, false
}

// relyBefore makes the change conditional on the old values of fields that were read.
func (e *effect) relyBefore(fields ...string) {
	if !e.read || e.old == nil {
		return
	}
	for _, name := range fields {
		_, ofKey := e.values[name]
		if _, pinned := e.pinned[name]; (!ofKey || e.entity.Folds(name)) && !pinned {
			e.relied[name] = true
		}
	}
}

// relyAfter makes the change conditional on everything from which fields were computed.
func (e *effect) relyAfter(fields ...string) {
	for _, name := range fields {
		if !e.changed(name) {
			e.relyBefore(name)
		}
		for _, a := range e.assigned {
			if a.field.Name != name {
				continue
			}
			if !a.whole || a.how != setting {
				e.relyBefore(name)
			}
			for _, o := range a.operands {
				e.relyBefore(o.field.Name)
			}
		}
	}
}

// add changes a counter of the item. The counter starts at 0, so if an upsert would initialize it, it is only added to.
func (e *effect) add(f *schema.Field, by decimal.Decimal) error {
	for i := range e.assigned {
		a := &e.assigned[i]
		n, _ := schema.DecimalOf(a.value)
		begins := a.how == initialising && n.IsZero()
		if a.field != f || a.how != adding && !begins || len(a.operands) > 0 {
			continue
		}
		sum, err := n.Add(by)
		if err != nil {
			return &schema.ValueError{Field: f.Name, Reason: "changes by more than DynamoDB can store: " + err.Error()}
		}
		e.assigned = slices.Clone(e.assigned) // all attempts share the change
		e.assigned[i].how, e.assigned[i].value = adding, schema.NumberOf(sum)
		return nil
	}
	whole := target{field: f, path: f.Path, member: *f, whole: true}
	e.assigned = append(slices.Clone(e.assigned), assignment{target: whole, how: adding, value: schema.NumberOf(by)})
	return nil
}

// begin adds a change of a counter to the values of an item that the same write creates.
func (e *effect) begin(f *schema.Field, by decimal.Decimal) error {
	n, _ := schema.DecimalOf(e.values[f.Name])
	sum, err := n.Add(by)
	if err != nil {
		return &schema.ValueError{Field: f.Name, Reason: "changes by more than DynamoDB can store: " + err.Error()}
	}
	own := *e.change // all attempts share the change
	own.values = maps.Clone(own.values)
	own.values[f.Name] = schema.NumberOf(sum)
	e.change = &own
	return nil
}

// see takes the item that was read, nil for none, and computes its new state.
func (e *effect) see(old schema.Item) error {
	e.read, e.old, e.planned = true, old, false
	e.was = e.entity.Counted(e.entity.ValuesOf(old))
	if refused, err := e.refuses(old); err != nil || refused {
		e.rejected = refused
		return err
	}
	if e.action == schema.Update || e.action == schema.Upsert {
		return e.compute()
	}
	return nil
}

// refuses reports whether a change fails for an item.
func (e *effect) refuses(old schema.Item) (bool, error) {
	if old == nil && (e.action == schema.Update || e.action == schema.Check || e.action == schema.Delete && e.when != nil) {
		return true, nil
	}
	holds, err := e.when.Holds(old, e.in)
	return !holds, err
}

// compute computes the new item by evaluating the request's own expression.
func (e *effect) compute() error {
	if err := e.settle(); err != nil {
		return err
	}
	x := newExpression()
	for i := range e.assigned {
		a := &e.assigned[i]
		x.assign(a)
		if a.how != adding {
			continue
		}
		n, _ := schema.DecimalOf(schema.At(e.old, a.path))
		by, _ := schema.DecimalOf(a.value)
		if _, err := sumOf(a.member.Name, n, by, false); err != nil {
			return err
		}
	}
	base := e.old
	if base == nil {
		base = e.entity.EmptyMaps()
	}
	next, err := x.apply(base)
	if err != nil {
		return fmt.Errorf("compute the new item of %s: %w", e.entity.Name, err)
	}
	for i := range e.assigned {
		a := &e.assigned[i]
		if v := schema.At(next, a.path); v != nil && a.member.Type.Kind.Numeric() {
			if err := a.member.Type.CheckValue(a.member.Name, v, 0, 0); err != nil {
				return err
			}
		}
	}
	e.will = e.entity.Counted(e.entity.ValuesOf(next))
	for name, v := range e.values {
		if e.action == schema.Upsert || e.will[name] == nil { // an update leaves the item's spelling of its key
			e.will[name] = v
		}
	}
	if e.old == nil {
		own := *e.change
		own.values = e.will
		e.change, e.created = &own, true
	}
	return nil
}

// settle computes the sums that DynamoDB cannot express. The item was read.
func (e *effect) settle() error {
	own := slices.Clone(e.assigned)
	for i := range own {
		a := &own[i]
		if a.native() {
			continue
		}
		sum, _ := schema.DecimalOf(a.value)
		if a.value == nil {
			sum = decimal.Decimal{}
		}
		operands := a.operands
		if a.how == adding {
			operands = append(slices.Clone(operands), operand{field: a.field, path: a.path, zero: true})
		}
		for _, o := range operands {
			e.relyBefore(o.field.Name)
			v := schema.At(e.old, o.path)
			if v == nil && o.zero {
				continue
			}
			n, ok := schema.DecimalOf(v)
			if !ok {
				return &schema.ValueError{Field: a.member.Name, Reason: "is computed of " + o.field.Name + ", which is not a number in the item"}
			}
			var err error
			if sum, err = sumOf(a.member.Name, sum, n, o.negative); err != nil {
				return err
			}
		}
		if a.how == adding {
			a.how = setting
		}
		a.value, a.operands = schema.NumberOf(sum), nil
	}
	e.assigned = own
	return nil
}
