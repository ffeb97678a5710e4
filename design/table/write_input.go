package table

import (
	"fmt"
	"strings"
	"time"
)

// writing is one call of a write: its input, and what its steps come to as far as no item must be known for it. It is the
// same in all attempts, so that ids that were made stay what they are.
type writing struct {
	w   *Write
	in  Input
	now time.Time
	ids *idSource
	// changes are the steps with the items that they are about: the idempotency record first, then in the design's order.
	changes []*change
	learned *learned
}

// learned is what attempts have found of items that cannot be known before, by their identity.
type learned struct {
	foreign map[string]bool // markers that are other items' by now: they are not deleted
	lost    map[string]bool // copies that are not there: they are put
}

// resolve makes the changes of a call. All inputs have been checked when it returns.
func resolve(w *Write, in Input, now time.Time, newID func(Kind) string) (*writing, error) {
	r := &writing{w: w, in: in, now: now, ids: newIDSource(now, newID), learned: &learned{map[string]bool{}, map[string]bool{}}}
	if err := r.checkLines(); err != nil {
		return nil, err
	}
	if err := r.checkParams(); err != nil {
		return nil, err
	}
	for i := range w.Steps {
		if !w.Steps[i].Each {
			if err := r.resolveStep(i, -1); err != nil {
				return nil, err
			}
			continue
		}
		for line := range in.Lines {
			if err := r.resolveStep(i, line); err != nil {
				return nil, err
			}
		}
	}
	if w.Idempotent != nil {
		record, err := r.record()
		if err != nil {
			return nil, err
		}
		r.changes = append([]*change{record}, r.changes...)
	}
	return r, r.distinct()
}

func (r *writing) resolveStep(number, line int) error {
	c, err := r.newChange(number, line)
	if err != nil {
		return err
	}
	r.changes = append(r.changes, c)
	return nil
}

// checkLines refuses a number of lines that the write does not take.
func (r *writing) checkLines() error {
	n := len(r.in.Lines)
	switch {
	case !r.w.Lines && n > 0:
		return fmt.Errorf("%w: the write takes none, and was given %d", ErrLines, n)
	case r.w.Lines && n == 0:
		return fmt.Errorf("%w: there are none", ErrLines)
	case r.w.MaxLines > 0 && n > r.w.MaxLines:
		return fmt.Errorf("%w: there are %d, and the write takes %d", ErrLines, n, r.w.MaxLines)
	}
	return nil
}

// checkParams refuses params that are missing or none of their types.
func (r *writing) checkParams() error {
	for i := range r.w.Params {
		p := &r.w.Params[i]
		if err := p.check(p.Name, r.in.Values[p.Name]); err != nil {
			return err
		}
	}
	for n, line := range r.in.Lines {
		for i := range r.w.LineParams {
			p := &r.w.LineParams[i]
			if err := p.check(lineName(n, p.Name), line[p.Name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// param is the param of a name, nil where there is none.
func param(list []Param, name string) *Param {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// lineName is a line's input in errors.
func lineName(line int, name string) string { return fmt.Sprintf("lines[%d].%s", line, name) }

// checkCondition refuses inputs of a condition, before a request would have them.
func (c *change) checkCondition(condition *Condition) error {
	_, err := condition.bind(c.in, map[string]string{}, Item{})
	if fault, ok := err.(*ValueError); ok && c.line >= 0 { //nolint:errorlint // bind returns it as it is
		if name, ofLine := strings.CutPrefix(fault.Field, "line."); ofLine {
			return &ValueError{Field: lineName(c.line, name), Reason: fault.Reason}
		}
	}
	return err
}
