package workbench

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/design"
)

// minSamples is the minimum number of items of an entity: enough to show how its keys are made.
const minSamples = 8

// sample makes up the values of an item. Fields with the same name have the same values in all entities, so that the items
// are related; fields with different names have different values, which shows from which one a key is made.
func (w *writer) sample(e *design.Entity, n int) map[string]design.Literal {
	out := map[string]design.Literal{}
	for _, f := range e.Fields {
		if !slices.ContainsFunc(e.Counters, func(c *design.Counter) bool { return c.Field == f.Name }) {
			out[f.Name] = w.field(f, n, 0)
		}
	}
	return out
}

// field makes up a value of a field: a text is cut at its start, where the number is not, or extended there, to fit min and max.
func (w *writer) field(f *design.Field, n, depth int) design.Literal {
	out := w.value(f.Name, f.Type, n, depth)
	switch f.Type.Kind {
	case design.KindText, design.KindSecret, design.KindID, design.KindSlug:
		if f.MaxBytes > 0 && len(out.Text) > f.MaxBytes {
			out.Text = out.Text[len(out.Text)-f.MaxBytes:]
		}
		text := strings.TrimLeft(out.Text, " ") // which |fold drops
		out.Text = strings.Repeat("x", max(f.MinBytes, len(out.Text))-len(text)) + text
	default:
	}
	return out
}

// value makes up a value of a type.
func (w *writer) value(name string, t design.Type, n, depth int) design.Literal {
	if depth > 8 { // a recursive structure
		return design.Literal{Null: true}
	}
	switch t.Kind {
	case design.KindList, design.KindSet:
		return design.Literal{List: []design.Literal{w.value(name, *t.Elem, n, depth+1)}}
	case design.KindMap:
		return design.Literal{Map: map[string]design.Literal{"key": w.value(name, *t.Elem, n, depth+1)}}
	case design.KindStruct:
		members := map[string]design.Literal{}
		for _, f := range w.design.Struct(t.Name).Fields {
			if depth == 0 || !f.Optional {
				members[f.Name] = w.field(f, n, depth+1)
			}
		}
		return design.Literal{Map: members}
	default:
		return design.Literal{Text: w.scalar(name, t, n)}
	}
}

// scalar makes up the text of a value.
func (w *writer) scalar(name string, t design.Type, n int) string {
	sum := 0 // distinguishes fields whose values have no room for the name
	for _, c := range name {
		sum = (sum*31 + int(c)) % 997
	}
	at := time.Date(2024, 1, 1+sum%28, sum%24, n, 0, 0, time.UTC)
	switch t.Kind {
	case design.KindUUID:
		return fmt.Sprintf("00000000-0000-4000-8%03d-00000000000%d", sum, n)
	case design.KindULID:
		return fmt.Sprintf("01HQ3Z5K7N9PBRDTFVGXJ0%03d%d", sum, n)
	case design.KindKSUID:
		return fmt.Sprintf("2aDzhYWvXk5T1mR8cQ3nL7p%03d%d", sum, n)
	case design.KindSlug:
		return fmt.Sprintf("s%d-%d", sum, n)
	case design.KindEmail:
		return fmt.Sprintf("%s%d@Example.com", name, n) // with a capital, to show |lower
	case design.KindInt, design.KindMoney, design.KindDecimal:
		return fmt.Sprint(sum%90 + n)
	case design.KindBool:
		return fmt.Sprint(n%2 == 1)
	case design.KindTime:
		return at.Format("2006-01-02T15:04:05.000Z")
	case design.KindDate:
		return at.AddDate(0, n, 0).Format(time.DateOnly)
	case design.KindTTL:
		return fmt.Sprint(at.AddDate(100, 0, 0).Unix())
	case design.KindBytes:
		return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s%d", name, n))
	case design.KindEnum:
		if values := w.design.Enum(t.Name).Values; len(values) > 0 {
			return values[(n-1)%len(values)]
		}
		return ""
	case design.KindID:
		return fmt.Sprintf("%s%d", name, n)
	default:
		return fmt.Sprintf("The  %s of %d", name, n) // with a capital and two spaces, to show |lower and |fold
	}
}
