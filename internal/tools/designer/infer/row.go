package infer

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/keytext"
	"github.com/monotable/monotable/internal/tools/designer/source"
)

// row is an item with the texts of its values.
type row struct {
	item source.Item
	// leaves are the scalars outside keys, by path; the steps of a path are attribute names.
	leaves map[string]leaf
	// known are the texts of the leaves, and their |lower and |fold forms.
	known map[string]bool
	kind  string // the value of the type attribute
}

// leaf is a scalar value with the text that it has in keys.
type leaf struct {
	kind string // S, N or BOOL
	text string
}

// step separates the steps of a path; no name contains it.
const step = "\x1f"

// maxDepth is the depth to which maps are searched for values in keys.
const maxDepth = 3

// rowsOf converts a table's items, ordered by key.
func rowsOf(t *Table) []*row {
	rows := make([]*row, 0, len(t.Items))
	for _, item := range t.Items {
		r := &row{item: item, leaves: map[string]leaf{}, known: map[string]bool{}}
		r.spread("", item, 1)
		delete(r.leaves, t.PK.Name)
		delete(r.leaves, t.SK.Name)
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b *row) int {
		return cmp.Or(cmp.Compare(keyText(a.item[t.PK.Name]), keyText(b.item[t.PK.Name])), cmp.Compare(keyText(a.item[t.SK.Name]), keyText(b.item[t.SK.Name])))
	})
	return rows
}

// spread collects the scalars of a map.
func (r *row) spread(prefix string, m source.Item, depth int) {
	for name, v := range m {
		if !storable(name) || depth > 1 && strings.Contains(name, ".") {
			continue // no template can refer to it
		}
		path := prefix + name
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			r.leaves[path] = leaf{"S", v.Value}
		case *types.AttributeValueMemberN:
			if text, err := keytext.Decimal(v.Value); err == nil {
				r.leaves[path] = leaf{"N", text}
			}
		case *types.AttributeValueMemberBOOL:
			r.leaves[path] = leaf{"BOOL", strconv.FormatBool(v.Value)}
		case *types.AttributeValueMemberM:
			if depth < maxDepth {
				r.spread(path+step, v.Value, depth+1)
			}
		default:
		}
	}
}

// learn sets known from the leaves, except for attributes that say nothing about the item itself.
func (r *row) learn(except func(path string) bool) {
	for path, l := range r.leaves {
		if l.text == "" || except(path) {
			continue
		}
		r.known[l.text] = true
		r.known[strings.ToLower(l.text)] = true
		if folded, err := keytext.Apply("fold", "", l.text); err == nil {
			r.known[folded] = true
		}
	}
}

// keyText is the text of a key attribute's value; "" if it has none.
func keyText(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return string(v.Value)
	default:
		return ""
	}
}

// at is the value at a path; nil if it is absent or NULL.
func at(item source.Item, path string) types.AttributeValue {
	for {
		name, rest, deeper := strings.Cut(path, step)
		v := item[name]
		if !deeper {
			if _, null := v.(*types.AttributeValueMemberNULL); null {
				return nil
			}
			return v
		}
		m, ok := v.(*types.AttributeValueMemberM)
		if !ok {
			return nil
		}
		item, path = m.Value, rest
	}
}

// attributes are the names of attributes in rows, with the number of rows that have them.
func attributes(rows []*row) map[string]int {
	out := map[string]int{}
	for _, r := range rows {
		for name := range r.item {
			out[name]++
		}
	}
	return out
}

// sorted are the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
