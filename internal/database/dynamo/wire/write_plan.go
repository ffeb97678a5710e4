package wire

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// writePlan describes how to write a struct.
type writePlan []writeMember

type writeMember struct {
	index int
	key   string // the name in quotes, with its colon
	write writeFunc
}

// writeFunc appends a value that is not nil.
type writeFunc func(dst []byte, v reflect.Value) ([]byte, error)

// writePlans caches the results of compileWrite; it is limited by the number of shapes.
var writePlans sync.Map // reflect.Type → writePlan

func writePlanOf(t reflect.Type) writePlan {
	if p, ok := writePlans.Load(t); ok {
		return p.(writePlan)
	}
	p, _ := writePlans.LoadOrStore(t, compileWrite(t))
	return p.(writePlan)
}

func compileWrite(t reflect.Type) writePlan {
	p := make(writePlan, 0, t.NumField())
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			name := f.Name
			if spelled := f.Tag.Get("as"); spelled != "" {
				name = spelled
			}
			p = append(p, writeMember{index: i, key: `"` + name + `":`, write: writerOf(f.Type)})
		}
	}
	return p
}

// members appends the members that are present, without braces.
func (p writePlan) members(dst []byte, v reflect.Value) ([]byte, error) {
	var err error
	first := true
	for i := range p {
		m := &p[i]
		f := v.Field(m.index)
		if f.IsNil() {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, m.key...)
		if dst, err = m.write(dst, f); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// writerOf returns how to write a member of a type. Shapes have no types other than these.
func writerOf(t reflect.Type) writeFunc {
	switch t {
	case reflect.TypeFor[string]():
		return func(dst []byte, v reflect.Value) ([]byte, error) { return appendText(dst, []byte(v.String())), nil }
	case reflect.TypeFor[api.Timestamp]():
		return writeTimestamp
	case reflect.TypeFor[itemenc.Item]():
		return func(dst []byte, v reflect.Value) ([]byte, error) { return AppendItem(dst, v.Bytes()) }
	case reflect.TypeFor[attr.Item]():
		return writeItem
	case reflect.TypeFor[attr.Value]():
		return writeValue
	}
	switch t.Kind() {
	case reflect.Pointer:
		write := writerOf(t.Elem())
		return func(dst []byte, v reflect.Value) ([]byte, error) { return write(dst, v.Elem()) }
	case reflect.Int64:
		return func(dst []byte, v reflect.Value) ([]byte, error) { return strconv.AppendInt(dst, v.Int(), 10), nil }
	case reflect.Float64:
		return func(dst []byte, v reflect.Value) ([]byte, error) { return appendFloat(dst, v.Float()), nil }
	case reflect.Bool:
		return func(dst []byte, v reflect.Value) ([]byte, error) { return strconv.AppendBool(dst, v.Bool()), nil }
	case reflect.Struct:
		return writeStruct(t)
	case reflect.Slice:
		return writeList(t)
	case reflect.Map:
		return writeMap(t)
	default:
		panic("wire: no way to write " + t.String())
	}
}

func writeItem(dst []byte, v reflect.Value) ([]byte, error) {
	it, _ := reflect.TypeAssert[attr.Item](v)
	return AppendAttributes(dst, it), nil
}

func writeValue(dst []byte, v reflect.Value) ([]byte, error) {
	value, _ := reflect.TypeAssert[attr.Value](v)
	return appendValue(dst, value), nil
}

// writeTimestamp writes seconds since the epoch; whole seconds have no fraction.
func writeTimestamp(dst []byte, v reflect.Value) ([]byte, error) {
	return strconv.AppendFloat(dst, v.Float(), 'f', -1, 64), nil
}

func writeStruct(t reflect.Type) writeFunc {
	p := compileWrite(t)
	return func(dst []byte, v reflect.Value) ([]byte, error) {
		dst = append(dst, '{')
		dst, err := p.members(dst, v)
		if err != nil {
			return nil, err
		}
		return append(dst, '}'), nil
	}
}

func writeList(t reflect.Type) writeFunc {
	write := writerOf(t.Elem())
	return func(dst []byte, v reflect.Value) ([]byte, error) {
		var err error
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = write(dst, v.Index(i)); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	}
}

// writeMap writes a map in the order of its keys.
func writeMap(t reflect.Type) writeFunc {
	write := writerOf(t.Elem())
	return func(dst []byte, v reflect.Value) ([]byte, error) {
		var err error
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		dst = append(dst, '{')
		for i, key := range keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendText(dst, []byte(key.String()))
			dst = append(dst, ':')
			if dst, err = write(dst, v.MapIndex(key)); err != nil {
				return nil, err
			}
		}
		return append(dst, '}'), nil
	}
}

// appendFloat writes a number of capacity units or gigabytes: 0.5, 1.0.
func appendFloat(dst []byte, f float64) []byte {
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if slices.Contains(dst[start:], '.') {
		return dst
	}
	return append(dst, ".0"...)
}
