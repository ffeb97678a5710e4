package wire

import (
	"bytes"
	"encoding/base64"
	"fmt"

	"github.com/go-faster/jx"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// item reads a JSON object as an item. depth is the number of documents around its values.
func (d *decoder) item(depth int, want *target) (attr.Item, error) {
	entries, err := d.object(want)
	if err != nil {
		return nil, err
	}
	start := len(d.fields)
	for entries.Next() {
		name := d.keep(entries.Key())
		v, err := d.value(depth, targetValue)
		if err != nil {
			return nil, err
		}
		d.fields = append(d.fields, attr.Field{Name: name, Value: v})
	}
	if err := entries.Err(); err != nil {
		return nil, err
	}
	fields := make([]attr.Field, len(d.fields)-start)
	copy(fields, d.fields[start:])
	clear(d.fields[start:])
	d.fields = d.fields[:start]
	it, ok := attr.NewItem(fields)
	if !ok {
		it = lastOfEach(fields)
	}
	return it, nil
}

// lastOfEach keeps only the last of the fields with the same name. fields are sorted by name, and those with the same name in the
// original order, as NewItem leaves them.
func lastOfEach(fields []attr.Field) attr.Item {
	kept := fields[:0]
	for i, f := range fields {
		if i+1 == len(fields) || fields[i+1].Name != f.Name {
			kept = append(kept, f)
		}
	}
	return kept
}

// value reads an attribute value: an object with one member, the type. Null and an object without a type become a faulty value.
func (d *decoder) value(depth int, want *target) (attr.Value, error) {
	if isNull, err := d.null(); isNull || err != nil {
		return attr.Faulty(attr.Fault{Code: attr.FaultNoType}), err
	}
	types, err := d.object(want)
	if err != nil {
		return attr.Value{}, err
	}
	var result attr.Value
	kind, several := attr.KindInvalid, false
	for types.Next() {
		k := attr.KindOf(string(types.Key()))
		if k == attr.KindInvalid {
			if err := d.jx.Skip(); err != nil {
				return attr.Value{}, err
			}
			continue
		}
		if isNull, err := d.null(); isNull || err != nil {
			if err != nil {
				return attr.Value{}, err
			}
			continue
		}
		several = several || kind != attr.KindInvalid && kind != k
		kind = k
		if result, err = d.content(k, depth); err != nil {
			return attr.Value{}, err
		}
	}
	switch {
	case several:
		result = attr.Faulty(attr.Fault{Code: attr.FaultManyTypes})
	case kind == attr.KindInvalid:
		result = attr.Faulty(attr.Fault{Code: attr.FaultNoType})
	}
	return result, types.Err()
}

// content reads the content after a type's name.
func (d *decoder) content(k attr.Kind, depth int) (attr.Value, error) {
	switch k {
	case attr.KindString, attr.KindNumber, attr.KindBinary:
		return d.scalar(k)
	case attr.KindBool:
		b, err := d.boolean()
		return attr.Bool(b), err
	case attr.KindNull:
		b, err := d.boolean()
		if !b {
			return attr.Faulty(attr.Fault{Code: attr.FaultNull, Kind: attr.KindNull}), err
		}
		return attr.Null(), err
	case attr.KindStringSet:
		return d.set(k, attr.KindString)
	case attr.KindNumberSet:
		return d.set(k, attr.KindNumber)
	case attr.KindBinarySet:
		return d.set(k, attr.KindBinary)
	default:
		return d.document(k, depth+1)
	}
}

// scalar reads the JSON string of an S, N or B.
func (d *decoder) scalar(k attr.Kind) (attr.Value, error) {
	if k == attr.KindBinary {
		raw, err := d.binary()
		return attr.Binary(raw), err
	}
	s, err := d.str(targetString)
	if err != nil {
		return attr.Value{}, err
	}
	if k == attr.KindNumber {
		return attr.ParseNumber(d.keep(s)), nil
	}
	return attr.String(d.keep(s)), nil
}

// set reads the members of a set of kind k. A null member is a value without a type.
func (d *decoder) set(k, memberKind attr.Kind) (attr.Value, error) {
	return d.gather(func() (attr.Value, error) {
		if isNull, err := d.null(); isNull || err != nil {
			return attr.Faulty(attr.Fault{Code: attr.FaultNoType}), err
		}
		return d.scalar(memberKind)
	}, func(members []attr.Value) attr.Value { return attr.NewSet(k, members) })
}

// document reads a list or map; depth is the number of documents around its elements, including itself.
func (d *decoder) document(k attr.Kind, depth int) (attr.Value, error) {
	switch {
	case depth > attr.MaxDepth:
		return d.tooDeep(k)
	case k == attr.KindList:
		return d.gather(func() (attr.Value, error) { return d.value(depth, targetValue) }, attr.List)
	default:
		it, err := d.item(depth, targetFields)
		return attr.Map(it), err
	}
}

// tooDeep skips a document.
func (d *decoder) tooDeep(k attr.Kind) (attr.Value, error) {
	switch is := d.jx.Next(); {
	case k == attr.KindMap && is != jx.Object:
		return attr.Value{}, d.mismatch(targetFields)
	case k == attr.KindList && is != jx.Array:
		return attr.Value{}, d.mismatch(targetElements)
	}
	return attr.Faulty(attr.Fault{Code: attr.FaultTooDeep, Kind: k}), d.jx.Skip()
}

// gather reads the elements of a JSON array and builds a value from them.
func (d *decoder) gather(read func() (attr.Value, error), build func([]attr.Value) attr.Value) (attr.Value, error) {
	elements, err := d.array(targetElements)
	if err != nil {
		return attr.Value{}, err
	}
	start := len(d.values)
	for elements.Next() {
		v, err := read()
		if err != nil {
			return attr.Value{}, err
		}
		d.values = append(d.values, v)
	}
	if err := elements.Err(); err != nil {
		return attr.Value{}, err
	}
	values := make([]attr.Value, len(d.values)-start)
	copy(values, d.values[start:])
	clear(d.values[start:])
	d.values = d.values[:start]
	return build(values), nil
}

// strict is base64 with its padding and without stray bits in the last character.
var strict = base64.StdEncoding.Strict()

// binary reads a base64 string as its raw bytes.
func (d *decoder) binary() (string, error) {
	s, err := d.str(targetBlob)
	if err != nil {
		return "", err
	}
	if len(s)%4 != 0 {
		return "", apierr.Serialization(fmt.Sprintf(base64Length, len(s)))
	}
	d.raw, err = strict.AppendDecode(d.raw[:0], s)
	if err != nil || bytes.ContainsAny(s, "\r\n") {
		return "", badBase64(s)
	}
	return d.keep(d.raw), nil
}

// badBase64 returns the error for an invalid text of the right length. AWS ignores misplaced padding and fails at the end.
func badBase64(s []byte) error {
	for _, c := range s {
		if !inBase64(c) && c != '=' {
			return apierr.Serialization(fmt.Sprintf(base64Character, c))
		}
	}
	return apierr.Serialization(base64End)
}

func inBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/'
}
