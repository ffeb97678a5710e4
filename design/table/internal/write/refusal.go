package write

import (
	"errors"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// ErrAgain says that an attempt failed for what other writes did meanwhile.
var ErrAgain = errors.New("met another write")

// Refused tells what the refusal of an operation means, by the item that refused.
func (a *Attempt) Refused(o *Operation, old schema.Item) (schema.Outcome, error) {
	if len(old) == 0 {
		old = nil
	}
	e := o.of
	switch o.role {
	case nothing:
		return schema.Outcome{}, ErrAgain
	case releasing:
		a.learned.foreign[o.identity()] = true
		return schema.Outcome{}, ErrAgain
	case elsewhere:
		if o.Kind == updating && old == nil {
			a.learned.lost[o.identity()] = true
		}
		return schema.Outcome{}, ErrAgain
	case taking:
		return schema.Outcome{}, a.refusal(e, errorOr(o.marker.Taken, schema.ErrExists), old)
	case occupying:
		return schema.Outcome{}, a.refusal(e, errorOr(e.entity.Exists, schema.ErrExists), old)
	default:
	}
	if e.number < 0 && e.action == schema.Create {
		if old == nil || e.entity.Expired(old, a.now.Unix()) {
			return schema.Outcome{}, ErrAgain
		}
		return a.replay(e, old)
	}
	return schema.Outcome{}, a.refusedItself(e, old)
}

// refusedItself is the error of a change that its own item refused, nil for none. It is ErrAgain where the item fulfils all that
// the change asks: then it was not as it had been read, or no longer is.
func (a *Attempt) refusedItself(e *effect, old schema.Item) error {
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
		return ErrAgain
	default:
		return a.declared(e, old, schema.ErrRefused)
	}
}

// declared is the first declared error whose condition holds for the item that refused.
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
		name = a.Write.Steps[e.number].Name
	}
	return &schema.Refusal{Pattern: a.Write.Pattern, Step: e.number, Name: name, Line: e.line, Err: err, Old: old}
}

// errorOr is a declared error, or the one that stands for it where none is.
func errorOr(declared, otherwise error) error {
	if declared != nil {
		return declared
	}
	return otherwise
}
