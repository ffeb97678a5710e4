package generate

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
)

// literals prints descriptors as Go. A descriptor with its own variable is printed as that variable, so literals are
// never recursive.
type literals struct {
	entities map[*table.Entity]string
	tables   map[*table.Table]string
	fields   map[*[]table.Field]string
	errors   map[error]string
}

// literalWidth is the maximum length of a literal on one line.
const literalWidth = 100

// of formats a value as an expression. elided omits its type, which the enclosing literal states.
func (l *literals) of(v reflect.Value, elided bool) string {
	switch x := v.Interface().(type) {
	case *table.Entity:
		return l.entities[x]
	case *table.Table:
		return l.tables[x]
	case *[]table.Field:
		return "&" + l.fields[x]
	case types.AttributeValue:
		return attributeValue(x)
	case error:
		return l.errors[x]
	case time.Duration:
		return duration(x)
	}
	if text := l.short(v.Interface()); text != "" {
		return text
	}
	name := strings.ReplaceAll(v.Type().String(), "schema.", "table.") // generated code uses the names in package table
	if elided {
		name = ""
	}
	switch v.Kind() {
	case reflect.Pointer:
		if elided {
			return l.of(v.Elem(), true)
		}
		return "&" + l.of(v.Elem(), false)
	case reflect.Struct:
		var parts []string
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				parts = append(parts, v.Type().Field(i).Name+": "+l.of(f, false))
			}
		}
		return composite(name, parts)
	case reflect.Slice:
		var parts []string
		for i := range v.Len() {
			parts = append(parts, l.of(v.Index(i), true))
		}
		return composite(name, parts)
	case reflect.Map:
		var parts []string
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
			parts = append(parts, strconv.Quote(key.String())+": "+l.of(v.MapIndex(key), true))
		}
		return composite(name, parts)
	case reflect.String:
		return strconv.Quote(v.String())
	default:
		return fmt.Sprint(v.Interface())
	}
}

// short is a constant of the runtime, or a call that makes the descriptor; "" for others.
func (l *literals) short(descriptor any) string {
	quoted := func(t table.Template) (string, bool) {
		return strconv.Quote(t.String()), len(t) > 0 && reflect.DeepEqual(t, table.TemplateOf(t.String()))
	}
	switch x := descriptor.(type) {
	case table.Action:
		return "table." + []string{"", "Create", "Put", "Update", "Upsert", "Delete", "Check"}[x]
	case table.PlaceKind:
		return "table." + []string{"KeyPlace", "CopyPlace", "EntryPlace", "MarkerPlace"}[x]
	case table.Comparison:
		return "table." + []string{"Equal", "BeginsWith", "Between", "Within"}[x]
	case table.TermKind:
		return "table." + []string{"", "ConstantTerm", "InputTerm", "LineTerm", "FieldTerm", "NowTerm", "NewIDTerm", "SumTerm", "CountTerm"}[x]
	case table.Template:
		if text, same := quoted(x); same {
			return "table.TemplateOf(" + text + ")"
		}
	case table.KeyAttribute:
		if reflect.DeepEqual(x, table.FieldKey(x.Name, x.Type, x.Field)) {
			return fmt.Sprintf("table.FieldKey(%q, %q, %q)", x.Name, x.Type, x.Field)
		}
		if text, same := quoted(x.Template); same && x.Field == "" && x.Type == types.ScalarAttributeTypeS {
			return fmt.Sprintf("table.TextKey(%q, %s)", x.Name, text)
		}
	case table.SortCondition:
		text, same := quoted(x.Known)
		switch name := x.Name; {
		case same && reflect.DeepEqual(x, table.SortIs(name, x.Known.String())):
			return fmt.Sprintf("table.SortIs(%q, %s)", name, text)
		case same && reflect.DeepEqual(x, table.SortBegins(name, x.Known.String())):
			return fmt.Sprintf("table.SortBegins(%q, %s)", name, text)
		}
	case []table.Term:
		return value(x)
	case *table.Read:
		rest := *x
		rest.Pattern, rest.Entity, rest.Many, rest.By, rest.Page = "", nil, false, nil, 0
		if len(x.By) == 1 && reflect.DeepEqual(x, table.PersonalRead(x.Entity, x.By[0], rest)) { //nolint:govet // the errors of an entity are variables
			return fmt.Sprintf("table.PersonalRead(%s, %q, %s)", l.entities[x.Entity], x.By[0], l.literal(rest))
		}
	case *table.Write:
		if e := x.Steps[0].Entity; reflect.DeepEqual(x, table.EraseByKey(e)) { //nolint:govet // the same
			return "table.EraseByKey(" + l.entities[e] + ")"
		}
	}
	return ""
}

// value is a call of the runtime that makes a value of one term; "" for others.
func value(terms []table.Term) string {
	if len(terms) != 1 {
		return ""
	}
	name := terms[0].Name
	s, _ := terms[0].Constant.(*types.AttributeValueMemberS)
	n, _ := terms[0].Constant.(*types.AttributeValueMemberN)
	switch is := func(v []table.Term) bool { return reflect.DeepEqual(terms, v) }; {
	case s != nil && is(table.TextValue(s.Value)):
		return fmt.Sprintf("table.TextValue(%q)", s.Value)
	case n != nil && is(table.NumberValue(n.Value)):
		return fmt.Sprintf("table.NumberValue(%q)", n.Value)
	case is(table.InputValue(name)):
		return fmt.Sprintf("table.InputValue(%q)", name)
	case is(table.LineValue(name)):
		return fmt.Sprintf("table.LineValue(%q)", name)
	case is(table.NowValue()):
		return "table.NowValue()"
	}
	return ""
}

// composite is a composite literal, on one line if it fits.
func composite(name string, parts []string) string {
	line := name + "{" + strings.Join(parts, ", ") + "}"
	if len(line) <= literalWidth && !strings.Contains(line, "\n") {
		return line
	}
	return name + "{\n" + strings.Join(parts, ",\n") + ",\n}"
}

func attributeValue(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return fmt.Sprintf("&types.AttributeValueMemberS{Value: %q}", v.Value)
	case *types.AttributeValueMemberN:
		return fmt.Sprintf("&types.AttributeValueMemberN{Value: %q}", v.Value)
	case *types.AttributeValueMemberBOOL:
		return fmt.Sprintf("&types.AttributeValueMemberBOOL{Value: %t}", v.Value)
	default:
		return "&types.AttributeValueMemberNULL{Value: true}"
	}
}

// duration is a duration in its largest whole unit.
func duration(d time.Duration) string {
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{"Hour", time.Hour}, {"Minute", time.Minute}} {
		if d%unit.of == 0 {
			return fmt.Sprintf("%d * time.%s", d/unit.of, unit.name)
		}
	}
	return fmt.Sprintf("%d * time.Second", d/time.Second)
}

// literals prints descriptors with the model's variables.
func (m *model) literals() *literals {
	l := &literals{
		entities: map[*table.Entity]string{}, tables: map[*table.Table]string{}, fields: map[*[]table.Field]string{},
		errors: m.errorNames,
	}
	for _, t := range m.tables {
		l.tables[t.run] = t.variable
	}
	for _, s := range m.structs {
		l.fields[s.run] = s.fields
	}
	for _, e := range m.entities {
		l.entities[e.run] = e.variable
	}
	return l
}

// literal formats a descriptor as an expression.
func (l *literals) literal(descriptor any) string { return l.of(reflect.ValueOf(descriptor), false) }
