package table

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// Constructors of descriptors for generated code.

// TemplateOf parses a template in the design's notation: "ORDER#{createdAt}#{orderId|lower}".
func TemplateOf(text string) Template { return schema.TemplateOf(text) }

// TextKey is a key attribute of type S that exists only for the key, with its template.
func TextKey(name, template string) KeyAttribute { return schema.TextKey(name, template) }

// FieldKey is a key attribute that a field is stored in.
func FieldKey(name string, of types.ScalarAttributeType, field string) KeyAttribute {
	return schema.FieldKey(name, of, field)
}

// PersonalRead finds the items of a person by one field, at the place of r.
func PersonalRead(e *Entity, by string, r Read) *Read { return schema.PersonalRead(e, by, r) }

// EraseByKey deletes items without dependents, many at once.
func EraseByKey(e *Entity) *Write { return schema.EraseByKey(e) }

// SortIs is the condition that a key attribute of type S equals a template.
func SortIs(name, template string) SortCondition {
	return SortCondition{Attribute: Attribute{Name: name, Type: types.ScalarAttributeTypeS}, Known: TemplateOf(template)}
}

// SortBegins is the condition that a key attribute of type S starts with a template and is longer.
func SortBegins(name, template string) SortCondition {
	c := SortIs(name, template)
	c.Comparison, c.Open = BeginsWith, true
	return c
}

// TextValue is a constant text.
func TextValue(s string) []Term {
	return []Term{{Kind: ConstantTerm, Constant: &types.AttributeValueMemberS{Value: s}}}
}

// NumberValue is a constant number.
func NumberValue(n string) []Term {
	return []Term{{Kind: ConstantTerm, Constant: &types.AttributeValueMemberN{Value: n}}}
}

// InputValue is an input of the caller.
func InputValue(name string) []Term { return []Term{{Kind: InputTerm, Name: name}} }

// LineValue is a value of the line.
func LineValue(name string) []Term { return []Term{{Kind: LineTerm, Name: name}} }

// NowValue is the time of the call.
func NowValue() []Term { return []Term{{Kind: NowTerm}} }
