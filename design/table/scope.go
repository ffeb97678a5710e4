package table

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// The tags of values in their canonical form.
const (
	tagNone   = '-'
	tagText   = 's'
	tagNumber = 'n'
	tagBytes  = 'b'
	tagTrue   = 't'
	tagFalse  = 'f'
	tagNull   = '0'
	tagList   = 'l'
	tagMap    = 'm'
	tagSet    = 'u'
)

// scope is the canonical form of what a cursor is bound to: no two questions have the same. It has the pattern, where it
// asks and in which direction, and all inputs that say what the answer is; of names, those that are used.
func (s *source) scope(table string, in Input, names []string) []byte {
	b := []byte{cursorVersion}
	for _, text := range []string{s.pattern, table, s.index} {
		b = appendText(b, tagText, text)
	}
	direction := byte(tagFalse)
	if s.reverse {
		direction = tagTrue
	}
	b = append(b, direction)
	for _, attributes := range [][]Attribute{s.positioned, s.sort} {
		b = binary.AppendUvarint(b, uint64(len(attributes)))
		for _, a := range attributes {
			b = appendText(appendText(b, tagText, a.Name), tagText, string(a.Type))
		}
	}
	b = appendValue(appendValue(b, in.From), in.To)
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	b = binary.AppendUvarint(b, uint64(len(names)))
	for _, name := range names {
		b = appendValue(appendText(b, tagText, name), in.Values[name])
	}
	return b
}

// appendText appends a text with its length, so that what follows cannot be taken for a part of it.
func appendText(b []byte, tag byte, text string) []byte {
	return append(binary.AppendUvarint(append(b, tag), uint64(len(text))), text...)
}

// appendValue appends the canonical form of a value: equal values have the same, others have others.
func appendValue(b []byte, v types.AttributeValue) []byte {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return appendText(b, tagText, v.Value)
	case *types.AttributeValueMemberN:
		return appendText(b, tagNumber, canonicalNumber(v.Value))
	case *types.AttributeValueMemberB:
		return appendText(b, tagBytes, string(v.Value))
	case *types.AttributeValueMemberBOOL:
		if v.Value {
			return append(b, tagTrue)
		}
		return append(b, tagFalse)
	case *types.AttributeValueMemberNULL:
		return append(b, tagNull)
	case *types.AttributeValueMemberL:
		b = binary.AppendUvarint(append(b, tagList), uint64(len(v.Value)))
		for _, e := range v.Value {
			b = appendValue(b, e)
		}
		return b
	case *types.AttributeValueMemberM:
		b = binary.AppendUvarint(append(b, tagMap), uint64(len(v.Value)))
		for _, name := range slices.Sorted(maps.Keys(v.Value)) {
			b = appendValue(appendText(b, tagText, name), v.Value[name])
		}
		return b
	case *types.AttributeValueMemberSS:
		return appendSet(b, tagText, slices.Clone(v.Value))
	case *types.AttributeValueMemberNS:
		return appendSet(b, tagNumber, each(v.Value, canonicalNumber))
	case *types.AttributeValueMemberBS:
		return appendSet(b, tagBytes, each(v.Value, func(e []byte) string { return string(e) }))
	default:
		return append(b, tagNone)
	}
}

// appendSet appends a set, of which it sorts the members.
func appendSet(b []byte, tag byte, members []string) []byte {
	slices.Sort(members)
	b = binary.AppendUvarint(append(b, tagSet, tag), uint64(len(members)))
	for _, m := range members {
		b = appendText(b, tag, m)
	}
	return b
}

func each[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, e := range list {
		out[i] = f(e)
	}
	return out
}

// canonicalNumber is the one text of a number; a text that is none stays.
func canonicalNumber(s string) string {
	if d, err := decimal.Parse(s); err == nil {
		return d.String()
	}
	return s
}

// equal reports whether two values are the same value, whatever the form of their numbers and the order of their sets.
func equal(a, b types.AttributeValue) bool {
	return bytes.Equal(appendValue(nil, a), appendValue(nil, b))
}
