package schema

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/decimal"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// The tags of values in their canonical form.
const (
	tagNone   = '-'
	TagText   = 's'
	tagNumber = 'n'
	tagBytes  = 'b'
	TagTrue   = 't'
	TagFalse  = 'f'
	tagNull   = '0'
	tagList   = 'l'
	tagMap    = 'm'
	tagSet    = 'u'
)

// AppendText appends a text with its length, so that adjacent texts stay distinct.
func AppendText(b []byte, tag byte, text string) []byte {
	return append(binary.AppendUvarint(append(b, tag), uint64(len(text))), text...)
}

// AppendValue appends the canonical form of a value: equal values have the same, others have others.
func AppendValue(b []byte, v types.AttributeValue) []byte {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return AppendText(b, TagText, v.Value)
	case *types.AttributeValueMemberN:
		return AppendText(b, tagNumber, canonicalNumber(v.Value))
	case *types.AttributeValueMemberB:
		return AppendText(b, tagBytes, string(v.Value))
	case *types.AttributeValueMemberBOOL:
		if v.Value {
			return append(b, TagTrue)
		}
		return append(b, TagFalse)
	case *types.AttributeValueMemberNULL:
		return append(b, tagNull)
	case *types.AttributeValueMemberL:
		b = binary.AppendUvarint(append(b, tagList), uint64(len(v.Value)))
		for _, e := range v.Value {
			b = AppendValue(b, e)
		}
		return b
	case *types.AttributeValueMemberM:
		b = binary.AppendUvarint(append(b, tagMap), uint64(len(v.Value)))
		for _, name := range slices.Sorted(maps.Keys(v.Value)) {
			b = AppendValue(AppendText(b, TagText, name), v.Value[name])
		}
		return b
	case *types.AttributeValueMemberSS:
		return appendSet(b, TagText, slices.Clone(v.Value))
	case *types.AttributeValueMemberNS:
		return appendSet(b, tagNumber, Each(v.Value, canonicalNumber))
	case *types.AttributeValueMemberBS:
		return appendSet(b, tagBytes, Each(v.Value, func(e []byte) string { return string(e) }))
	default:
		return append(b, tagNone)
	}
}

// appendSet appends a set with its members sorted.
func appendSet(b []byte, tag byte, members []string) []byte {
	slices.Sort(members)
	b = binary.AppendUvarint(append(b, tagSet, tag), uint64(len(members)))
	for _, m := range members {
		b = AppendText(b, tag, m)
	}
	return b
}

// canonicalNumber returns the canonical text of a number; other texts are returned unchanged.
func canonicalNumber(s string) string {
	if d, err := decimal.Parse(s); err == nil {
		return d.String()
	}
	return s
}

// SameValue reports whether two values are equal, regardless of the notation of numbers and the order of sets.
func SameValue(a, b types.AttributeValue) bool {
	return bytes.Equal(AppendValue(nil, a), AppendValue(nil, b))
}

// KeyText is a value of a key attribute as a text; equal values of one type have equal texts.
func KeyText(v types.AttributeValue) (string, bool) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value, true
	case *types.AttributeValueMemberN:
		text, err := keytext.Decimal(v.Value)
		return text, err == nil
	case *types.AttributeValueMemberB:
		return string(v.Value), true
	default:
		return "", false
	}
}

// ValueOf is the inverse of KeyText.
func (a Attribute) ValueOf(text []byte) types.AttributeValue {
	switch a.Type {
	case types.ScalarAttributeTypeN:
		return &types.AttributeValueMemberN{Value: string(text)}
	case types.ScalarAttributeTypeB:
		return &types.AttributeValueMemberB{Value: text}
	default:
		return &types.AttributeValueMemberS{Value: string(text)}
	}
}

// CompareKeys compares two values of one key attribute in DynamoDB's order: numbers by value, everything else by bytes. Absent
// values come first.
func CompareKeys(a, b types.AttributeValue) int {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		if b, ok := b.(*types.AttributeValueMemberS); ok {
			return strings.Compare(a.Value, b.Value)
		}
	case *types.AttributeValueMemberB:
		if b, ok := b.(*types.AttributeValueMemberB); ok {
			return bytes.Compare(a.Value, b.Value)
		}
	case *types.AttributeValueMemberN:
		if b, ok := b.(*types.AttributeValueMemberN); ok {
			x, _ := decimal.Parse(a.Value)
			y, _ := decimal.Parse(b.Value)
			return x.Cmp(y)
		}
	}
	return strings.Compare(StoredAs(a), StoredAs(b))
}

// Identity is a text that keys of one item have in common, and those of others do not.
func (t *Table) Identity(it Item) string {
	b := AppendValue(nil, it[t.PK.Name])
	if t.SK.Name != "" {
		b = AppendValue(b, it[t.SK.Name])
	}
	return string(b)
}

// IdentityOf identifies an item across tables.
func (t *Table) IdentityOf(it Item) string { return t.Name + "\x00" + t.Identity(it) }

// KeyIn is the primary key of an item for people: {PK: "USER#u-1", SK: "PROFILE"} of shop.
func (t *Table) KeyIn(it Item) string {
	parts := make([]string, 0, 2)
	for _, name := range []string{t.PK.Name, t.SK.Name} {
		switch v := it[name].(type) {
		case *types.AttributeValueMemberS:
			parts = append(parts, fmt.Sprintf("%s: %q", name, v.Value))
		case *types.AttributeValueMemberN:
			parts = append(parts, name+": "+v.Value)
		case *types.AttributeValueMemberB:
			parts = append(parts, fmt.Sprintf("%s: %x", name, v.Value))
		}
	}
	return "{" + strings.Join(parts, ", ") + "} of " + t.Name
}
