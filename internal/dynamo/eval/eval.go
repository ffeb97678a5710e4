// Package eval binds expressions (and the legacy parameters, lowered to the same form) to a request's
// names and values, and evaluates them over items.
package eval

import (
	"github.com/monotable/monotable/internal/dynamo/api"
	"github.com/monotable/monotable/internal/dynamo/attr"
	"github.com/monotable/monotable/internal/dynamo/expr"
)

// Binder binds the expressions of one request. All errors it returns are *expr.Error (AWS's sentence).
type Binder struct{}

// NewBinder checks the two maps themselves (empty map, alias syntax, values' faults, lengths).
// hasExpression says whether the request has any expression at all: names or values without one are refused.
func NewBinder(names map[string]string, values attr.Item, hasExpression bool) (*Binder, error) {
	panic("skeleton")
}

func (b *Binder) Condition(s expr.Surface, text string) (*Condition, error) { panic("skeleton") } // Condition or Filter
func (b *Binder) KeyCondition(text string) ([]KeyPredicate, error)          { panic("skeleton") }
func (b *Binder) Projection(text string) (*Projection, error)               { panic("skeleton") }
func (b *Binder) Update(text string) (*Update, error)                       { panic("skeleton") }

// Done reports names and values that no expression used.
func (b *Binder) Done() error { panic("skeleton") }

// Condition is a bound condition or filter. A nil *Condition is always true. Safe for concurrent use.
type Condition struct{}

// Eval decides the condition over an item; a missing item is nil. It fails only where DynamoDB answers a
// ValidationException at run time.
func (c *Condition) Eval(it attr.Item) (bool, error) { panic("skeleton") }

// Attributes are the top-level attribute names it reads, sorted: what Select of itemenc needs.
func (c *Condition) Attributes() []string { panic("skeleton") }

// Operator of a key predicate.
type Operator uint8

// The operators a key condition may have.
const (
	Equal Operator = iota
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
	Between
	BeginsWith
)

// KeyPredicate is one clause of a key condition: Name Op Values (two for Between, else one).
type KeyPredicate struct {
	Name   string
	Op     Operator
	Values []attr.Value
}

// Projection is a bound projection expression (or AttributesToGet).
type Projection struct{}

// Names returns the sorted top-level names when the projection has only those: then the stored form is
// projected without decoding. ok is false where a path goes deeper.
func (p *Projection) Names() (names []string, ok bool) { panic("skeleton") }

// Attributes are the top-level names it reads, sorted, whether or not paths go deeper.
func (p *Projection) Attributes() []string { panic("skeleton") }

// Apply returns the projected item: never nil for a non-nil item.
func (p *Projection) Apply(it attr.Item) attr.Item { panic("skeleton") }

// Update is a bound update expression (or AttributeUpdates).
type Update struct{}

// Targets are the top-level names of its target paths, sorted and unique: keys must not be among them.
func (u *Update) Targets() []string { panic("skeleton") }

// Apply returns the updated item; old is nil where there is none (then it starts from the empty item, and
// the caller adds the key). All right-hand sides read old.
func (u *Update) Apply(old attr.Item) (attr.Item, error) { panic("skeleton") }

// Touched returns the parts of it that the update's target paths reach, rebuilt into their parents: what
// UPDATED_OLD and UPDATED_NEW return. nil where nothing is reached.
func (u *Update) Touched(it attr.Item) attr.Item { panic("skeleton") }

// Legacy parameters, lowered to the same machinery.

func LowerExpected(expected map[string]api.ExpectedAttributeValue, operator *string) (*Condition, error) {
	panic("skeleton")
}
func LowerFilter(field string, filter map[string]api.Condition, operator *string) (*Condition, error) {
	panic("skeleton")
}
func LowerKeyConditions(conditions map[string]api.Condition) ([]KeyPredicate, error) {
	panic("skeleton")
}
func LowerUpdates(updates map[string]api.AttributeValueUpdate) (*Update, error) { panic("skeleton") }
func LowerAttributesToGet(names []string) (*Projection, error)                  { panic("skeleton") }
