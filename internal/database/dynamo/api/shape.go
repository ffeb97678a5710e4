package api

import (
	"reflect"
	"sync"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// shape is what Validate knows of a struct: the members that have constraints, or contain some.
type shape struct {
	name      string
	members   []member
	operation *Operation // of an input, else nil
}

type member struct {
	index       int
	name        string
	form        form
	required    bool
	older       string // older:"…"
	tableName   bool   // name:"table"
	self        []constraint
	parts       []constraint // of the strings of a list, or the values of a map
	keys        []constraint
	keyNames    bool   // key_name:"table"
	inner       *shape // of the struct that the member points to or contains
	unsupported string
}

// form is how a member's value is looked at.
type form uint8

const (
	formOther     form = iota // no constraint but required
	formString                // *string
	formNumber                // *int64
	formStruct                // *struct
	formList                  // []struct, []string, []attr.Item …
	formMap                   // map[string]struct, map[string]string …
	formMapOfList             // map[string][]struct
)

// shapes caches what compile finds; it is bounded by the number of shapes.
var shapes sync.Map // reflect.Type → *shape

// shapeOf returns the shape of an input.
func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := compile(t)
	s.operation = operationOf(t)
	actual, _ := shapes.LoadOrStore(t, s)
	return actual.(*shape)
}

func compile(t reflect.Type) *shape {
	s := &shape{name: t.Name()}
	for i := range t.NumField() {
		if m, ok := compileMember(t.Field(i), i); ok {
			s.members = append(s.members, m)
		}
	}
	return s
}

// compileMember returns the checks of a member; ok is false if there are none.
func compileMember(f reflect.StructField, index int) (m member, ok bool) {
	m = member{
		index: index, name: f.Name, form: formOf(f.Type),
		required:    f.Tag.Get("required") == "true",
		older:       f.Tag.Get("older"),
		tableName:   f.Tag.Get("name") == "table",
		keyNames:    f.Tag.Get("key_name") == "table",
		unsupported: f.Tag.Get("unsupported"),
	}
	m.self = parseConstraints(f.Tag, "", m.form == formNumber)
	m.keys = parseConstraints(f.Tag, "key_", false)
	m.parts = append(parseConstraints(f.Tag, "each_", false), parseConstraints(f.Tag, "value_", false)...)
	if inner := innerStruct(f.Type); inner != nil {
		if s := compile(inner); len(s.members) > 0 {
			m.inner = s
		}
	}
	ok = m.required || m.unsupported != "" || m.inner != nil || len(m.self)+len(m.keys)+len(m.parts) > 0
	return m, ok
}

func formOf(t reflect.Type) form {
	switch t.Kind() {
	case reflect.Pointer:
		switch t.Elem().Kind() {
		case reflect.String:
			return formString
		case reflect.Int64:
			return formNumber
		case reflect.Struct:
			return formStruct
		default:
			return formOther
		}
	case reflect.Slice:
		if t == itemType {
			return formOther
		}
		return formList
	case reflect.Map:
		if t.Elem().Kind() == reflect.Slice {
			return formMapOfList
		}
		return formMap
	default:
		return formOther
	}
}

var (
	itemType  = reflect.TypeFor[attr.Item]()
	valueType = reflect.TypeFor[attr.Value]()
)

// innerStruct returns the shape in a member, or nil.
func innerStruct(t reflect.Type) reflect.Type {
	if t == itemType || t == valueType {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return t
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return innerStruct(t.Elem())
	default:
		return nil
	}
}
