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

// errUnread says that what belongs to an item depends on fields that are not known: it must be read first.
var errUnread = errors.New("depends on an item that was not read")

// existence is what is known of whether an item is there before a change.
type existence uint8

const (
	unknown existence = iota
	present           // or the change is refused
	absent            // or the change is refused
)

// effect is a change in one attempt: what is known of its item, and what it does to it and to all that belongs to it.
//
// Fields are known from the input, from the condition, or because the item was read. What rests on a field that was
// read makes the transaction depend on it (relied): it is held to the value that it had.
type effect struct {
	*change
	assigned []assignment // the change's, and what its counters are moved by
	// counters is set where nothing but counters is changed, in an item that no step is about.
	counters bool

	read bool
	old  schema.Item // as read; nil if there is none
	next schema.Item // what an update or upsert makes of it
	// was and will are the fields of old and next.
	was, will schema.Values
	relied    map[string]bool
	// rejected is set where the item that was read shows that the change will be refused.
	rejected bool
	// created is set where an upsert makes an item, for there was none when it was read.
	created bool

	// moved is set where a counter of the item is moved. By how much has been told from other items, which may have been read
	// at other times.
	moved   bool
	counted bool // what counters it moves has been told
	planned bool // ops are those of all that is known now
	ops     []*Operation
	shared  *learned
}

func newEffect(c *change, shared *learned) *effect {
	return &effect{change: c, assigned: c.assigned, relied: map[string]bool{}, shared: shared}
}

// UnsettledError is a fault that may come from items that were read at different times, between which one was written. It
// counts as ErrAgain; the last attempt fails with its cause.
type UnsettledError struct{ Cause error }

func (e *UnsettledError) Error() string { return e.Cause.Error() }

// Is makes it an ErrAgain.
func (e *UnsettledError) Is(target error) bool { return target == ErrAgain }

// fault is an error of the effect's own.
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

// exists is what is known of the item before the change.
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

// changed reports whether a field is assigned.
func (e *effect) changed(field string) bool {
	return slices.ContainsFunc(e.assigned, func(a assignment) bool { return a.field.Name == field })
}

// changes reports whether any of some fields is assigned.
func (e *effect) changes(fields []string) bool { return slices.ContainsFunc(fields, e.changed) }

// before is a field before the change, nil for an absent one.
func (e *effect) before(field string) (v types.AttributeValue, known bool) {
	if v, ok := e.values[field]; ok && !e.creates() {
		return v, true // of the key
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

// after is a field after the change, nil for an absent one.
func (e *effect) after(field string) (v types.AttributeValue, known bool) {
	switch {
	case e.creates():
		return e.values[field], true
	case !e.changed(field) && e.exists() == present:
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

// relyBefore makes the change depend on fields being as they were read.
func (e *effect) relyBefore(fields ...string) {
	if !e.read || e.old == nil {
		return
	}
	for _, name := range fields {
		_, ofKey := e.values[name]
		if _, pinned := e.pinned[name]; !ofKey && !pinned {
			e.relied[name] = true
		}
	}
}

// relyAfter makes the change depend on all that fields have been computed of.
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

// add moves a counter of the item. What is added to begins with 0, as a counter does: one that an upsert would begin is only
// added to.
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
		e.assigned = slices.Clone(e.assigned) // the change is of all attempts
		e.assigned[i].how, e.assigned[i].value = adding, schema.NumberOf(sum)
		return nil
	}
	whole := target{field: f, path: f.Path, member: *f, whole: true}
	e.assigned = append(slices.Clone(e.assigned), assignment{target: whole, how: adding, value: schema.NumberOf(by)})
	return nil
}

// begin takes what a counter is moved by into the values of an item that is made in the same write.
func (e *effect) begin(f *schema.Field, by decimal.Decimal) error {
	n, _ := schema.DecimalOf(e.values[f.Name])
	sum, err := n.Add(by)
	if err != nil {
		return &schema.ValueError{Field: f.Name, Reason: "changes by more than DynamoDB can store: " + err.Error()}
	}
	own := *e.change // the change is of all attempts
	own.values = maps.Clone(own.values)
	own.values[f.Name] = schema.NumberOf(sum)
	e.change = &own
	return nil
}

// see takes the item that was read, nil for none, and computes what becomes of it.
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

// refuses reports whether a change is refused for an item.
func (e *effect) refuses(old schema.Item) (bool, error) {
	if old == nil && (e.action == schema.Update || e.action == schema.Check || e.action == schema.Delete && e.when != nil) {
		return true, nil
	}
	holds, err := e.when.Holds(old, e.in)
	return !holds, err
}

// compute makes the new item by the very expression that the request has.
func (e *effect) compute() error {
	if err := e.settle(); err != nil {
		return err
	}
	x := newExpression()
	for i := range e.assigned {
		x.assign(&e.assigned[i])
	}
	base := e.old
	if base == nil {
		base = e.entity.EmptyMaps()
	}
	next, err := x.apply(base)
	if err != nil {
		return fmt.Errorf("compute the new item of %s: %w", e.entity.Name, err)
	}
	e.next, e.will = next, e.entity.Counted(e.entity.ValuesOf(next))
	maps.Copy(e.will, e.values)
	if e.old == nil {
		own := *e.change
		own.values = e.will
		e.change, e.created = &own, true
	}
	return nil
}

// settle computes the sums that DynamoDB has no expression for. The item was read.
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
			if sum, err = plus(sum, n, o.negative); err != nil {
				return &schema.ValueError{Field: a.member.Name, Reason: "is a sum that DynamoDB cannot store: " + err.Error()}
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
