package schema

import (
	"errors"
	"fmt"
)

// The errors that patterns fail with; test for them with errors.Is.
var (
	// ErrNotFound is for an item that is not there, or is another owner's.
	ErrNotFound = errors.New("not found")
	// ErrExists is for an item, or a unique value, that is there already.
	ErrExists = errors.New("already exists")
	// ErrConflict is for a write that met other writes of the same items at each of its attempts.
	ErrConflict = errors.New("conflicts with other writes")
	// ErrCursor is for a cursor that is damaged, or of another pattern, input, owner or caller.
	ErrCursor = errors.New("invalid cursor")
	// ErrReused is for a request key that was used with another request.
	ErrReused = errors.New("request key was used with another request")
	// ErrRefused is for a condition that does not hold and for which the design declares no error.
	ErrRefused = errors.New("condition does not hold")
	// ErrOverlap is for a transaction of several writes of which two touch the same item, so that it matters which comes first.
	ErrOverlap = errors.New("writes touch the same item")
	// ErrLines is for a write with no lines, with more than it takes, or with two lines for one item; and for a read with more keys than
	// it takes.
	ErrLines = errors.New("invalid lines")
)

// ValueError is a value that is none of its field's type.
type ValueError struct {
	Field  string // with steps into it: address.city, lines[2].price
	Reason string
}

func (e *ValueError) Error() string { return e.Field + " " + e.Reason }

// Refusal says which step of a write was refused and what it found.
type Refusal struct { //nolint:errname // what is refused has an error of its own, which it wraps
	Pattern string
	Step    int    // in the design's order; -1 for the idempotency record
	Name    string // of the step, where it has one
	Line    int    // of a step for each line; -1 otherwise
	// Err is what the design declares for it, or the entity's NotFound or Exists, or the marker's Taken.
	Err error
	// Old is the item as it was; nil if there was none.
	Old Item
}

func (e *Refusal) Error() string {
	where := e.Pattern
	if e.Name != "" {
		where += ", " + e.Name
	}
	if e.Line >= 0 {
		where += fmt.Sprintf(", line %d", e.Line+1)
	}
	return fmt.Sprintf("%s: %v", where, e.Err)
}

// Unwrap is the declared error.
func (e *Refusal) Unwrap() error { return e.Err }

// Named is an error with the pattern that failed.
func Named(pattern string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", pattern, err)
}

// UnfinishedError says which lines of a batch are not known to be done. All others are, and a line may be given again: what a batch
// does twice is as if it were done once.
type UnfinishedError struct {
	Lines []int // from 0, in their order
	Err   error // why
}

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("%d lines may not be done, starting with line %d: %v", len(e.Lines), e.Lines[0]+1, e.Err)
}

// Unwrap is why they are not done.
func (e *UnfinishedError) Unwrap() error { return e.Err }
