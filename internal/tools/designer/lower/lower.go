// Package lower compiles designs to programs: descriptors that package design/table executes. Generated code contains
// these descriptors, and the commands that run a design without generated code execute them directly.
//
// # Model
//
//	design ──plan──▶ place and request of each pattern ──lower──▶ table.Entity, table.Read, table.Collection, table.Write
//	                                                         ╰──▶ inputs with their types, for signatures
//
// Names, paths and conditions are resolved here: descriptors refer to stored attributes, and state the type of every
// input.
//
// # Invariants
//
//	I1  Lowering is a pure function of the design; lists keep its order.
//	I2  A pattern that cannot be run (a Scan, an input of unknown type) is rejected here, with its
//	    position in the design, never at run time.
package lower

import (
	"errors"
	"fmt"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// Program is a design that can be run.
type Program struct {
	Design      *design.Design
	Tables      []*table.Table
	Entities    []*table.Entity
	Reads       []*Read
	Collections []*Collection
	Writes      []*Write
	// Person is how a person's items are exported and erased; nil if the design has no persons.
	Person *table.Person
	// Errors are the errors that writes declare or can end in, in the order of their first use.
	Errors []*Error
}

// Read is a read that can be run.
type Read struct {
	Design *design.Read
	Plan   *plan.Plan
	Run    *table.Read
	// Inputs are the inputs other than bounds: by, the prefix, the owner, the filter's parameters.
	Inputs []Input
	// Range is the field with given bounds; nil if there is none.
	Range *design.Field
	// Fields are the fields of a result. Whole means all fields of the entity.
	Fields []*design.Field
	Whole  bool
}

// Collection is a collection that can be run.
type Collection struct {
	Design  *design.Collection
	Plan    plan.CollectionPlan
	Run     *table.Collection
	Inputs  []Input
	Members []Member
}

// Member is an entity of a collection, with those of its fields that are found.
type Member struct {
	Entity *design.Entity
	Fields []*design.Field
	Whole  bool
}

// Write is a write that can be run.
type Write struct {
	Design *design.Write
	Plan   plan.WritePlan
	Run    *table.Write
	// Inputs are passed once, Lines for each line.
	Inputs, Lines []Input
}

// Input is a value that a caller passes.
type Input struct {
	Name     string
	Doc      string
	Type     design.Type
	Optional bool
	MaxBytes int
	MinBytes int
	// Removable means that the caller may ask to remove the value instead.
	Removable bool
	// Emptied means that an empty set removes the value: the input is the new value of a set that is not optional.
	Emptied bool
	// Of is the input's purpose in messages: Order.total.
	Of string
}

// Error is an error of the program: its value, and what it wraps ("ErrNotFound", "ErrExists", "ErrReused" of package
// table, or "").
type Error struct {
	Name    string // ErrOutOfStock
	Message string
	Wraps   string
	Err     error
}

// Known are the errors that any write can return, by the names that a design has for them.
var Known = []struct { //nolint:gochecknoglobals // a table
	Name string
	Err  error
}{
	{"NotFound", table.ErrNotFound},
	{"Exists", table.ErrExists},
	{"Conflict", table.ErrConflict},
	{"Reused", table.ErrReused},
	{"Refused", table.ErrRefused},
	{"Lines", table.ErrLines},
}

// FaultError is a pattern that cannot be run.
type FaultError struct {
	Pattern string
	Message string
	Pos     design.Pos
}

func (f *FaultError) Error() string {
	if f.Pos.Line == 0 {
		return fmt.Sprintf("%s %s", f.Pattern, f.Message)
	}
	return fmt.Sprintf("%d:%d: %s %s", f.Pos.Line, f.Pos.Column, f.Pattern, f.Message)
}

// Lower compiles a design. Its error joins a *FaultError for each pattern that cannot be run; the program then has the
// others.
func Lower(d *design.Design) (*Program, error) {
	l := newLowerer(d)
	l.items()
	for _, r := range d.Reads {
		l.read(r)
	}
	for _, c := range d.Collections {
		l.collection(c)
	}
	for _, w := range d.Writes {
		l.write(w)
	}
	l.person()
	return l.program, errors.Join(l.faults...)
}

func newLowerer(d *design.Design) *lowerer {
	return &lowerer{
		program: &Program{Design: d}, tables: map[string]*table.Table{}, entities: map[string]*table.Entity{},
		structs: map[string]*[]table.Field{}, errors: map[string]*Error{},
	}
}

// items compiles the tables and entities.
func (l *lowerer) items() {
	d := l.program.Design
	for _, t := range d.Tables {
		l.table(t)
	}
	for _, e := range d.Entities { // first, because counters refer to them
		l.entities[e.Name] = &table.Entity{Name: e.Name}
		l.program.Entities = append(l.program.Entities, l.entities[e.Name])
	}
	l.undeclared()
	for _, e := range d.Entities {
		l.entity(e)
		l.exclusive(e)
	}
}

// Entity returns the descriptor of an entity, or nil if there is none.
func (p *Program) Entity(name string) *table.Entity {
	for _, e := range p.Entities {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// lowerer compiles a design.
type lowerer struct {
	program  *Program
	tables   map[string]*table.Table
	entities map[string]*table.Entity
	structs  map[string]*[]table.Field
	errors   map[string]*Error
	asked    []plan.Place // the entries that reads use and the design does not declare
	faults   []error
	silent   bool // errors of the pattern being compiled are never returned to a caller
}

func (l *lowerer) fault(pattern string, at design.Pos, format string, args ...any) {
	l.faults = append(l.faults, &FaultError{Pattern: pattern, Message: fmt.Sprintf(format, args...), Pos: at})
}

// declare returns the error with a name, creating it if needed. Without a message, the name is used as the message.
func (l *lowerer) declare(name, message, wraps string) error {
	if e := l.errors[name]; e != nil {
		return e.Err
	}
	if message == "" {
		message = words(strings.TrimPrefix(name, "Err"))
	}
	e := &Error{Name: name, Message: message, Wraps: wraps}
	switch wraps {
	case "ErrNotFound":
		e.Err = fmt.Errorf("%s: %w", message, table.ErrNotFound)
	case "ErrExists":
		e.Err = fmt.Errorf("%s: %w", message, table.ErrExists)
	case "ErrReused":
		e.Err = fmt.Errorf("%s: %w", message, table.ErrReused)
	default:
		e.Err = errors.New(message)
	}
	l.errors[name] = e
	l.program.Errors = append(l.program.Errors, e)
	return e.Err
}

// words is a name in lower-case words: OutOfStock, out of stock.
func words(name string) string {
	var out strings.Builder
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			if i > 0 {
				out.WriteByte(' ')
			}
			c += 'a' - 'A'
		}
		out.WriteRune(c)
	}
	return out.String()
}
