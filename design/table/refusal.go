package table

import (
	"errors"
)

// errAgain says that an attempt failed for what other writes did meanwhile.
var errAgain = errors.New("met another write")

// refused tells what the refusal of an operation means, by the item that refused.
func (a *attempt) refused(o *operation, old Item) (Outcome, error) {
	if len(old) == 0 {
		old = nil
	}
	e := o.of
	switch o.role {
	case nothing:
		return Outcome{}, errAgain
	case releasing:
		a.learned.foreign[o.identity()] = true
		return Outcome{}, errAgain
	case elsewhere:
		if o.kind == updating && old == nil {
			a.learned.lost[o.identity()] = true
		}
		return Outcome{}, errAgain
	case taking:
		return Outcome{}, a.refusal(e, errorOr(o.marker.Taken, ErrExists), old)
	case occupying:
		return Outcome{}, a.refusal(e, errorOr(e.entity.Exists, ErrExists), old)
	default:
	}
	if e.number < 0 && e.action == Create {
		if old == nil || e.entity.expired(old, a.now.Unix()) {
			return Outcome{}, errAgain
		}
		return a.replay(e, old)
	}
	return Outcome{}, a.refusedItself(e, old)
}

// refusedItself is the error of a change that its own item refused, nil for none. It is errAgain where the item fulfils all that
// the change asks: then it was not as it had been read, or no longer is.
func (a *attempt) refusedItself(e *effect, old Item) error {
	if e.refusedAs == Create && old != nil && !e.entity.expired(old, a.now.Unix()) {
		return a.declared(e, old, errorOr(e.entity.Exists, ErrExists))
	}
	holds, err := e.when.holds(old, e.in)
	if err != nil {
		return err
	}
	missing := errorOr(e.entity.NotFound, ErrNotFound)
	switch {
	case old == nil && e.refusedAs == Update && e.when != nil:
		return a.refusal(e, missing, nil)
	case old == nil && (e.refusedAs == Update || e.refusedAs == Check || e.refusedAs == Delete && e.when != nil):
		return a.declared(e, nil, missing)
	case holds:
		return errAgain
	default:
		return a.declared(e, old, ErrRefused)
	}
}

// declared is the first declared error whose condition holds for the item that refused.
func (a *attempt) declared(e *effect, old Item, otherwise error) error {
	for i := range e.refusals {
		holds, err := e.refusals[i].When.holds(old, e.in)
		if err != nil {
			return err
		}
		if holds {
			return a.refusal(e, e.refusals[i].Err, old)
		}
	}
	return a.refusal(e, otherwise, old)
}

func (a *attempt) refusal(e *effect, err error, old Item) error {
	return &Refusal{Pattern: a.w.Pattern, Step: e.number, Line: e.line, Err: err, Old: old}
}

// errorOr is a declared error, or the one that stands for it where none is.
func errorOr(declared, otherwise error) error {
	if declared != nil {
		return declared
	}
	return otherwise
}
