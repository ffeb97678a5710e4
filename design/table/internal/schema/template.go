package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// Field returns the entity's field with a name, or nil.
func (e *Entity) Field(name string) *Field {
	for i := range e.Fields {
		if e.Fields[i].Name == name {
			return &e.Fields[i]
		}
	}
	return nil
}

// KeyOf renders the attributes of a key from an entity's values, checking the values that it uses. Attributes that are
// fields as they are (KeyAttribute.Field) are rendered too.
func (e *Entity) KeyOf(attributes []KeyAttribute, v Values) (Item, error) {
	out := make(Item, len(attributes))
	for _, a := range attributes {
		text, err := e.Render(a.Template, v)
		if err != nil {
			return nil, err
		}
		if text == "" {
			return nil, &ValueError{Field: a.Subject(), Reason: "makes the key " + a.Name + " empty"}
		}
		if err := e.hasRoom(a, text, v); err != nil {
			return nil, err
		}
		value, err := a.KeyValue(text)
		if err != nil {
			return nil, err
		}
		out[a.Name] = value
	}
	return out, nil
}

// Subject is the name for errors of a whole key: its first field, or the attribute if it has none.
func (a KeyAttribute) Subject() string {
	if fields := a.Template.Fields(); len(fields) > 0 {
		return fields[0]
	}
	return a.Name
}

// DynamoDB's limits of keys, for all attributes of one together. Longer values are rejected in conditions, too.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
const (
	maxPartitionKeyBytes = 2048
	MaxSortKeyBytes      = 1024
)

// hasRoom rejects a text that is too long for its attribute, and names the field that contributes most.
func (e *Entity) hasRoom(a KeyAttribute, text string, v Values) error {
	if len(text) <= MaxSortKeyBytes || a.Type == types.ScalarAttributeTypeN {
		return nil
	}
	room := e.room(a.Name)
	if len(text) <= room {
		return nil
	}
	field, longest := a.Subject(), 0
	for _, p := range a.Template {
		if part, err := e.TextOf(p, v[p.Field]); p.Field != "" && err == nil && len(part) > longest {
			field, longest = p.Field, len(part)
		}
	}
	return &ValueError{Field: field, Reason: fmt.Sprintf("makes the key %s %d bytes long: DynamoDB's maximum is %d", a.Name, len(text), room)}
}

// room is the maximum number of bytes of an attribute as a key of the table and of every index.
func (e *Entity) room(attribute string) int {
	room := maxPartitionKeyBytes
	sorts := func(keys []KeyAttribute) {
		if slices.ContainsFunc(keys, func(a KeyAttribute) bool { return a.Name == attribute }) {
			room = MaxSortKeyBytes
		}
	}
	sorts(e.Key[min(1, len(e.Key)):])
	for _, entry := range e.Entries {
		sorts(entry.SK)
	}
	for i := range e.Copies {
		for _, entry := range e.Copies[i].Entries {
			sorts(entry.SK)
		}
	}
	return room
}

// Render is a template's text with values.
func (e *Entity) Render(t Template, v Values) (string, error) {
	var out strings.Builder
	for _, p := range t {
		if p.Field == "" {
			out.WriteString(p.Literal)
			continue
		}
		value := v[p.Field]
		if value == nil {
			return "", &ValueError{Field: p.Field, Reason: "is missing"}
		}
		if f := e.Field(p.Field); f != nil {
			if err := f.Type.CheckValue(f.Name, value, f.MinBytes, f.MaxBytes); err != nil {
				return "", err
			}
		}
		text, err := e.textOf(p, value, true)
		if err != nil {
			return "", err
		}
		out.WriteString(text)
	}
	return out.String(), nil
}

// TextOf returns the text of a part's value after its functions. The value may be a prefix: it is checked against the field's
// MaxBytes and the functions' requirements, not against its type's language.
func (e *Entity) TextOf(p Part, v types.AttributeValue) (string, error) {
	return e.textOf(p, v, false)
}

// textOf is TextOf; a whole value is also checked against MinBytes.
func (e *Entity) textOf(p Part, v types.AttributeValue, whole bool) (string, error) {
	f := e.Field(p.Field)
	if f == nil {
		return "", &ValueError{Field: p.Field, Reason: "is not a field of " + e.Name}
	}
	text, err := f.Type.Text(f.Name, v)
	if err != nil {
		return "", err
	}
	least := 0
	if whole {
		least = f.MinBytes
	}
	if err := fits(f.Name, text, "", least, f.MaxBytes); err != nil {
		return "", err
	}
	for _, fn := range p.Funcs {
		applied, err := keytext.Apply(fn.Name, fn.Arg, text)
		if err != nil {
			return "", &ValueError{Field: f.Name, Reason: "cannot be used in a key: " + err.Error()}
		}
		text = applied
		switch fn.Name {
		case "lower", "fold", "slug": // these can make a text longer, or empty
			if err := fits(f.Name, text, " in a key", least, f.MaxBytes); err != nil {
				return "", err
			}
		default:
		}
	}
	return text, nil
}

// KeyValue is a rendered text as the value of a key attribute: S, N in shortest form, or B.
func (a Attribute) KeyValue(text string) (types.AttributeValue, error) {
	switch a.Type {
	case types.ScalarAttributeTypeN:
		number, err := keytext.Decimal(text)
		if err != nil {
			return nil, &ValueError{Field: a.Name, Reason: "cannot be computed: " + err.Error()}
		}
		return &types.AttributeValueMemberN{Value: number}, nil
	case types.ScalarAttributeTypeB:
		return &types.AttributeValueMemberB{Value: []byte(text)}, nil
	default:
		if !utf8.ValidString(text) {
			return nil, &ValueError{Field: a.Name, Reason: "cannot contain bytes that are not valid UTF-8"}
		}
		return &types.AttributeValueMemberS{Value: text}, nil
	}
}

// Fields are the names of the fields in a template, each once.
func (t Template) Fields() []string {
	var names []string
	for _, p := range t {
		if p.Field != "" && !slices.Contains(names, p.Field) {
			names = append(names, p.Field)
		}
	}
	return names
}

// FieldsOf returns the names of the fields in keys, each once.
func FieldsOf(keys ...[]KeyAttribute) []string {
	var names []string
	for _, key := range keys {
		for _, a := range key {
			for _, name := range a.Template.Fields() {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// int returns the argument as a number; 0 if it is not one.
func (f Func) int() int {
	n, _ := strconv.Atoi(f.Arg)
	return n
}
