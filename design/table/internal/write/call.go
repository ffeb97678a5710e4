// Package write plans writes. A Call is a write with its input: one change per step and line. A Transaction has one or
// more calls that are executed atomically. An Attempt turns each change into an effect (the known state of the item
// before and after), and effects into Operations on the item, its copies, index entries, markers and counters. If these
// depend on stored values, the attempt reads the item through a callback. The package sends no requests: package table
// sends the operations, and has the attempt interpret failed conditions.
//
// Invariants: an operation that derives values from a read field is conditional on that field; no two operations are on
// the same item; generated IDs stay the same in all attempts of a call.
//
// A Call and its attempts are not safe for concurrent use.
package write

import (
	"fmt"
	"strings"
	"time"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// Call is one call of a write: its input, and the changes of its steps as far as they do not depend on items. It is the
// same in all attempts, so that generated IDs stay the same.
type Call struct {
	Write *schema.Write
	Input schema.Input
	now   time.Time
	ids   *idSource
	// changes are the steps with their items: the idempotency record first, then in the design's order.
	changes []*change
}

// NewCall makes the changes of a call. All inputs have been checked when it returns.
func NewCall(w *schema.Write, in schema.Input, now time.Time, newID func(schema.Kind) string) (*Call, error) {
	r := &Call{Write: w, Input: in, now: now, ids: newIDSource(now, newID)}
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
	return r, distinct(r.changes)
}

func (r *Call) resolveStep(number, line int) error {
	c, err := r.newChange(number, line)
	if err != nil {
		return err
	}
	r.changes = append(r.changes, c)
	return nil
}

// checkLines rejects a number of lines that the write does not accept.
func (r *Call) checkLines() error {
	n := len(r.Input.Lines)
	switch {
	case !r.Write.Lines && n > 0:
		return fmt.Errorf("%w: the write takes none, but got %d", schema.ErrLines, n)
	case r.Write.Lines && n == 0:
		return fmt.Errorf("%w: there are none", schema.ErrLines)
	case r.Write.MaxLines > 0 && n > r.Write.MaxLines:
		return fmt.Errorf("%w: there are %d, but the write takes at most %d", schema.ErrLines, n, r.Write.MaxLines)
	}
	return nil
}

// checkParams rejects missing parameters and those of the wrong type.
func (r *Call) checkParams() error {
	for i := range r.Write.Params {
		p := &r.Write.Params[i]
		if err := p.Check(p.Name, r.Input.Values[p.Name]); err != nil {
			return err
		}
	}
	for n, line := range r.Input.Lines {
		for i := range r.Write.LineParams {
			p := &r.Write.LineParams[i]
			if err := p.Check(lineName(n, p.Name), line[p.Name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// param is the parameter with a name, or nil if there is none.
func param(list []schema.Param, name string) *schema.Param {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// lineName is the name of a line's input in errors.
func lineName(line int, name string) string { return fmt.Sprintf("lines[%d].%s", line, name) }

// checkCondition rejects invalid inputs of a condition before a request is made.
func (c *change) checkCondition(condition *schema.Condition) error {
	_, err := condition.Bind(c.in, map[string]string{}, schema.Item{})
	if fault, ok := err.(*schema.ValueError); ok && c.line >= 0 { //nolint:errorlint // bind returns it unwrapped
		if name, ofLine := strings.CutPrefix(fault.Field, "line."); ofLine {
			return &schema.ValueError{Field: lineName(c.line, name), Reason: fault.Reason}
		}
	}
	return err
}
