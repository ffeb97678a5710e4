package conform

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// id is a hash of a key.
type id [16]byte

// idOf is the hash of an item's primary key.
func (t *tableState) idOf(item table.Item) id {
	h := sha256.New()
	write(h, t.table.Name)
	encode(h, item[t.table.PK.Name])
	if t.table.SK.Name != "" {
		encode(h, item[t.table.SK.Name])
	}
	return id(h.Sum(nil)[:16])
}

// idOfValues is the hash of the key of the item that has the counter with a number.
func idOfValues(n int, key []types.AttributeValue) id {
	h := sha256.New()
	_ = binary.Write(h, binary.BigEndian, int64(n))
	for _, v := range key {
		encode(h, v)
	}
	return id(h.Sum(nil)[:16])
}

// contentOf is a hash of the parts of an item that the design determines at a place.
func contentOf(p *placeState, item table.Item) uint64 {
	h := sha256.New()
	for _, path := range p.parts {
		encode(h, at(item, path))
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// partsOf are the paths of what an entity's item has at a place by the design: keys, type, fields, index keys.
func partsOf(e *table.Entity, p table.Place) [][]string {
	key, entries, held := e.Key, e.Entries, []string(nil)
	typed := true
	switch p.Kind {
	case table.CopyPlace:
		c := e.Copies[slices.IndexFunc(e.Copies, func(c table.Copy) bool { return c.Name == p.Copy })]
		key, entries = c.Key, c.Entries
		if c.Fields != nil {
			held = append(slices.Clone(c.Fields), fieldsOf(c.Key)...)
			for _, x := range c.Entries {
				held = append(held, fieldsOf(x.PK, x.SK)...)
			}
		}
	case table.MarkerPlace:
		m := e.Markers[slices.IndexFunc(e.Markers, func(m table.Marker) bool { return m.Name == p.Marker })]
		key, entries, typed = m.Key, nil, false
		held = fieldsOf(e.Key, m.Key)
	default:
	}
	var out [][]string
	add := func(path ...string) {
		if !slices.ContainsFunc(out, func(known []string) bool { return slices.Equal(known, path) }) {
			out = append(out, path)
		}
	}
	for _, a := range key {
		add(a.Name)
	}
	if typed && e.Table.TypeAttr != "" {
		add(e.Table.TypeAttr)
	}
	for _, f := range e.Fields {
		if held == nil || slices.Contains(held, f.Name) || e.TTL != nil && e.TTL.Field == f.Name {
			add(f.Path...)
		}
	}
	for _, x := range entries {
		for _, a := range slices.Concat(x.PK, x.SK) {
			add(a.Name)
		}
	}
	return out
}

// fieldsOf are the fields that keys contain.
func fieldsOf(keys ...[]table.KeyAttribute) []string {
	var out []string
	for _, a := range slices.Concat(keys...) {
		for _, part := range a.Template {
			if part.Field != "" && !slices.Contains(out, part.Field) {
				out = append(out, part.Field)
			}
		}
	}
	return out
}

// at is the value at the end of a path; nil if it is absent or NULL.
func at(m map[string]types.AttributeValue, path []string) types.AttributeValue {
	for i, step := range path {
		v := m[step]
		if i == len(path)-1 {
			if _, null := v.(*types.AttributeValueMemberNULL); null {
				return nil
			}
			return v
		}
		inner, ok := v.(*types.AttributeValueMemberM)
		if !ok {
			return nil
		}
		m = inner.Value
	}
	return nil
}

// same reports whether two values are equal as DynamoDB compares them.
func same(a, b types.AttributeValue) bool {
	x, y := sha256.New(), sha256.New()
	encode(x, a)
	encode(y, b)
	return slices.Equal(x.Sum(nil), y.Sum(nil))
}

// encode writes a value so that exactly equal values have equal encodings: numbers in normal form, sets and maps
// sorted.
func encode(h hash.Hash, v types.AttributeValue) {
	switch v := v.(type) {
	case nil:
		write(h, "-")
	case *types.AttributeValueMemberS:
		write(h, "S", v.Value)
	case *types.AttributeValueMemberN:
		write(h, "N", canonical(v.Value))
	case *types.AttributeValueMemberB:
		write(h, "B", string(v.Value))
	case *types.AttributeValueMemberBOOL:
		if v.Value {
			write(h, "BOOL", "true")
		} else {
			write(h, "BOOL", "false")
		}
	case *types.AttributeValueMemberNULL:
		write(h, "NULL")
	case *types.AttributeValueMemberSS:
		writeSet(h, "SS", v.Value, func(s string) string { return s })
	case *types.AttributeValueMemberNS:
		writeSet(h, "NS", v.Value, canonical)
	case *types.AttributeValueMemberBS:
		writeSet(h, "BS", v.Value, func(b []byte) string { return string(b) })
	case *types.AttributeValueMemberL:
		writeSize(h, "L", len(v.Value))
		for _, elem := range v.Value {
			encode(h, elem)
		}
	case *types.AttributeValueMemberM:
		writeSize(h, "M", len(v.Value))
		for _, name := range slices.Sorted(maps.Keys(v.Value)) {
			write(h, name)
			encode(h, v.Value[name])
		}
	}
}

// write writes texts with their lengths.
func write(h hash.Hash, texts ...string) {
	for _, s := range texts {
		writeSize(h, "", len(s))
		h.Write([]byte(s))
	}
}

func writeSize(h hash.Hash, kind string, n int) {
	h.Write([]byte(kind))
	_ = binary.Write(h, binary.BigEndian, int64(n))
}

func writeSet[T any](h hash.Hash, kind string, members []T, text func(T) string) {
	texts := make([]string, len(members))
	for i, m := range members {
		texts[i] = text(m)
	}
	slices.Sort(texts)
	writeSize(h, kind, len(texts))
	write(h, texts...)
}

// canonical is a number in its normal form.
func canonical(s string) string {
	n, err := decimal.Parse(s)
	if err != nil {
		return s
	}
	return n.String()
}

// maxShown is the maximum size of a shown value.
const maxShown = 100

// shown formats a value as readable text.
func shown(v types.AttributeValue) string {
	text := "a value of several parts"
	switch v := v.(type) {
	case nil:
		return "absent"
	case *types.AttributeValueMemberS:
		text = v.Value
		if text == "" || strings.TrimSpace(text) != text {
			text = `"` + text + `"`
		}
	case *types.AttributeValueMemberN:
		text = v.Value
	case *types.AttributeValueMemberBOOL:
		text = "false"
		if v.Value {
			text = "true"
		}
	case *types.AttributeValueMemberB:
		text = base64.StdEncoding.EncodeToString(v.Value)
	default:
	}
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown]) + "…"
	}
	return text
}
