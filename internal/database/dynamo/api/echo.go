package api

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// quoted echoes a member's value as the older layer does, which prints Java objects: null, 'text', '[a, b]', '{k=v}'.
// Structs and attribute values print as an object's identity, as they do there.
func quoted(v reflect.Value) string {
	if v.IsNil() {
		return "null"
	}
	var b strings.Builder
	b.WriteByte('\'')
	echo(&b, v)
	b.WriteByte('\'')
	return b.String()
}

func echo(b *strings.Builder, v reflect.Value) {
	switch {
	case v.Type() == valueType:
		echoAttributeValue(b, v)
		return
	case v.Type() == itemType:
		echoItem(b, v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			b.WriteString("null")
			return
		}
		echo(b, v.Elem())
	case reflect.String:
		b.WriteString(v.String())
	case reflect.Bool:
		b.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.Int64:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Slice:
		echoList(b, v)
	case reflect.Map:
		echoMap(b, v)
	case reflect.Struct:
		echoStruct(b, v)
	default:
		fmt.Fprint(b, v.Interface())
	}
}

func echoList(b *strings.Builder, v reflect.Value) {
	if v.IsNil() {
		b.WriteString("null")
		return
	}
	b.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			b.WriteString(", ")
		}
		echo(b, v.Index(i))
	}
	b.WriteByte(']')
}

func echoMap(b *strings.Builder, v reflect.Value) {
	if v.IsNil() {
		b.WriteString("null")
		return
	}
	b.WriteByte('{')
	for i, key := range sortedKeys(v) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(key.String())
		b.WriteByte('=')
		echo(b, v.MapIndex(key))
	}
	b.WriteByte('}')
}

// echoStruct prints a struct's identity, which is the same for equal ones.
func echoStruct(b *strings.Builder, v reflect.Value) {
	var members strings.Builder
	for field, member := range v.Fields() {
		if !field.IsExported() {
			continue // not the request's
		}
		echo(&members, member)
		members.WriteByte(0)
	}
	echoIdentity(b, v.Type().Name(), members.String())
}

// echoItem prints an attr.Item, whose elements are named fields, as a map.
func echoItem(b *strings.Builder, v reflect.Value) {
	if v.IsNil() {
		b.WriteString("null")
		return
	}
	b.WriteByte('{')
	for i := range v.Len() {
		if i > 0 {
			b.WriteString(", ")
		}
		field := v.Index(i)
		b.WriteString(field.Field(0).String())
		b.WriteByte('=')
		echoAttributeValue(b, field.Field(1))
	}
	b.WriteByte('}')
}

func echoAttributeValue(b *strings.Builder, v reflect.Value) {
	echoIdentity(b, "AttributeValue", fmt.Sprint(v.Interface()))
}

func echoIdentity(b *strings.Builder, class, contents string) {
	identity := fnv.New32a()
	_, _ = identity.Write([]byte(contents))
	fmt.Fprintf(b, "com.amazonaws.dynamodb.v20120810.%s@%x", class, identity.Sum32())
}

func sortedKeys(v reflect.Value) []reflect.Value {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	return keys
}
