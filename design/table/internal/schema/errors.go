package schema

import (
	"errors"
	"fmt"
)

// The errors that patterns fail with; test for them with errors.Is.
var (
	// ErrNotFound is for an item that is not there, or is another owner's.
	ErrNotFound = errors.New("not found")
	// ErrExists means that an item, or a unique value, already exists.
	ErrExists = errors.New("already exists")
	// ErrConflict means that a write conflicted with others in each of its attempts.
	ErrConflict = errors.New("conflicts with other writes")
	// ErrCursor is for a cursor that is damaged, or of another pattern, input, owner or caller.
	ErrCursor = errors.New("invalid cursor")
	// ErrReused is for a request key that was used with another request.
	ErrReused = errors.New("request key was used with another request")
	// ErrRefused means that a condition failed for which the design declares no error.
	ErrRefused = errors.New("condition does not hold")
	// ErrOverlap means that two writes of a transaction touch the same item, so their order would matter.
	ErrOverlap = errors.New("writes touch the same item")
	// ErrLines is for a write with no lines, with more than it takes, or with two lines for one item; and for a read with more keys than
	// it takes.
	ErrLines = errors.New("invalid lines")
)

// ValueError is a value of the wrong type for its field.
type ValueError struct {
	Field  string // with steps into it: address.city, lines[2].price
	Reason string
}

func (e *ValueError) Error() string { return e.Field + " " + e.Reason }

// Refusal is a rejected step of a write, with the item that it found.
type Refusal struct { //nolint:errname // what is refused has an error of its own, which it wraps
	Pattern string
	Step    int    // in the design's order; -1 for the idempotency record
	Name    string // of the step, if it has one
	Line    int    // of a step for each line; -1 otherwise
	// Err is the error that the design declares, or the entity's NotFound or Exists, or the marker's Taken.
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

// UnfinishedError lists the lines of a batch that may not be done. All others are done. Lines can be repeated: repeating a line
// of a batch has no further effect.
type UnfinishedError struct {
	Lines []int // from 0, in their order
	Err   error // why
}

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("%d lines may not be done, starting with line %d: %v", len(e.Lines), e.Lines[0]+1, e.Err)
}

// Unwrap is why they are not done.
func (e *UnfinishedError) Unwrap() error { return e.Err }
