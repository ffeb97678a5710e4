package write

import (
	"errors"
	"slices"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// ErrAgain means that an attempt failed because of concurrent writes.
var ErrAgain = errors.New("met another write")

// Refused interprets the failed condition of an operation, given its item.
func (a *Attempt) Refused(o *Operation, old schema.Item) ([]schema.Outcome, error) {
	if len(old) == 0 {
		old = nil
	}
	e := o.of
	switch o.role {
	case missingItem:
		return nil, ErrAgain
	case releasing:
		a.learned.foreign[o.identity()] = true
		return nil, ErrAgain
	case relatedItem:
		if o.Kind == updating && old == nil {
			a.learned.lost[o.identity()] = true
		}
		return nil, ErrAgain
	case taking:
		return nil, a.refusal(e, errorOr(o.marker.Taken, schema.ErrExists), old)
	case occupying:
		return nil, a.refusal(e, errorOr(e.entity.Exists, schema.ErrExists), old)
	default:
	}
	if e.isRecord() {
		if old == nil || e.entity.Expired(old, a.now.Unix()) {
			return nil, ErrAgain
		}
		return a.repeats(e, old)
	}
	return nil, a.ownRefusal(e, old)
}

// repeats is the outcome of a repetition, whose record already existed. Records of other calls were created with it, and are
// read.
func (a *Attempt) repeats(e *effect, old schema.Item) ([]schema.Outcome, error) {
	if err := a.replay(e, old); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(a.effects, func(o *effect) bool { return o != e && o.isRecord() }) {
		if err := a.look(nil); err != nil {
			return nil, err
		}
	}
	return a.repetition(), nil
}

// ownRefusal is the error of a change whose own item failed the condition, nil for none. It is ErrAgain if the item
// satisfies the whole condition: then it was not as it had been read, or has changed since.
func (a *Attempt) ownRefusal(e *effect, old schema.Item) error {
	if e.refusedAs == schema.Create && old != nil && !e.entity.Expired(old, a.now.Unix()) {
		return a.declared(e, old, errorOr(e.entity.Exists, schema.ErrExists))
	}
	holds, err := e.when.Holds(old, e.in)
	if err != nil {
		return err
	}
	missing := errorOr(e.entity.NotFound, schema.ErrNotFound)
	switch {
	case old == nil && e.refusedAs == schema.Update && e.when != nil:
		return a.refusal(e, missing, nil)
	case old == nil && (e.refusedAs == schema.Update || e.refusedAs == schema.Check || e.refusedAs == schema.Delete && e.when != nil):
		return a.declared(e, nil, missing)
	case holds:
		if err := e.beyond(old); err != nil {
			return e.call.fault(err)
		}
		return ErrAgain
	default:
		return a.declared(e, old, schema.ErrRefused)
	}
}

// declared is the first declared error whose condition holds for the item.
func (a *Attempt) declared(e *effect, old schema.Item, otherwise error) error {
	for i := range e.refusals {
		holds, err := e.refusals[i].When.Holds(old, e.in)
		if err != nil {
			return err
		}
		if holds {
			return a.refusal(e, e.refusals[i].Err, old)
		}
	}
	return a.refusal(e, otherwise, old)
}

func (a *Attempt) refusal(e *effect, err error, old schema.Item) error {
	name := ""
	if e.number >= 0 {
		name = e.call.Write.Steps[e.number].Name
	}
	return e.call.fault(&schema.Refusal{Pattern: e.call.Write.Pattern, Step: e.number, Name: name, Line: e.line, Err: err, Old: old})
}

// errorOr is the declared error, or the default if there is none.
func errorOr(declared, otherwise error) error {
	if declared != nil {
		return declared
	}
	return otherwise
}
