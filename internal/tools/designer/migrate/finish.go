package migrate

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
)

// finish removes what the transition has beyond the new design. No program writes that any more, so the only condition is that
// an item exists.
type finish struct {
	*run
	shape *shape
}

// leftover is what must be removed from an item.
type leftover struct {
	whole bool       // the whole item
	parts [][]string // attributes, and paths inside attributes
	// keys are key attributes of removed entries. Programs of the new design write them too, for other entries.
	keys []string
}

// left is what an item has beyond the new design.
func (s *shape) left(t string, item table.Item) leftover {
	e, p, v := table.Recognize(s.entities[t], item)
	if e == nil {
		return leftover{}
	}
	more := s.surplus[e]
	if more.has(p) {
		return leftover{whole: true}
	}
	var out leftover
	if p.Kind == table.MarkerPlace {
		return out
	}
	for _, path := range more.unmatched[p.Copy] {
		if within(item, path) {
			out.parts = append(out.parts, path)
		}
	}
	if p.Kind == table.KeyPlace {
		out.keys = more.stale(item, out.parts, v)
	}
	return out
}

// stale are the attributes of index keys that an item of the new design would not have.
func (s *surplus) stale(item table.Item, gone [][]string, v table.Values) []string {
	if !slices.ContainsFunc(s.entered, func(name string) bool { return item[name] != nil }) {
		return nil
	}
	items, err := table.Items(s.base, v)
	if err != nil {
		return nil // verify reports invalid values
	}
	return slices.DeleteFunc(slices.Clone(s.entered), func(name string) bool {
		parted := slices.ContainsFunc(gone, func(path []string) bool { return len(path) == 1 && path[0] == name })
		return item[name] == nil || items[0][name] != nil || parted
	})
}

func within(item table.Item, path []string) bool {
	v := item[path[0]]
	for _, step := range path[1:] {
		m, is := v.(*types.AttributeValueMemberM)
		if !is {
			return false
		}
		v = m.Value[step]
	}
	return v != nil
}

// without is the item after the clean-up; nil if it is deleted.
func (l leftover) without(item table.Item) table.Item {
	if l.whole {
		return nil
	}
	for _, path := range l.parts {
		item = remove(item, path)
	}
	for _, name := range l.keys {
		item = remove(item, []string{name})
	}
	return item
}

func remove(item map[string]types.AttributeValue, path []string) map[string]types.AttributeValue {
	out := maps.Clone(item)
	if len(path) == 1 {
		delete(out, path[0])
	} else if m, is := out[path[0]].(*types.AttributeValueMemberM); is {
		out[path[0]] = &types.AttributeValueMemberM{Value: remove(m.Value, path[1:])}
	}
	return out
}

func (f *finish) page(ctx context.Context, t *table.Table, items []table.Item, report func(outcome)) error {
	for _, item := range items {
		l := f.shape.left(t.Name, item)
		if !l.whole && len(l.parts)+len(l.keys) == 0 {
			report(unchanged)
			continue
		}
		x := newExpressions()
		x.exists(t.PK.Name)
		var action types.TransactWriteItem
		if l.whole {
			if t.TypeAttr != "" {
				x.is(t.TypeAttr, item[t.TypeAttr])
			}
			action = x.delete(f.table(t), keyOf(t, item))
		} else {
			for _, path := range l.parts {
				x.remove = append(x.remove, x.path(path...))
			}
			for _, name := range l.keys {
				x.is(name, item[name])
				x.remove = append(x.remove, x.path(name))
			}
			action = x.itself(f.table(t), keyOf(t, item))
		}
		err := f.write(ctx, []types.TransactWriteItem{action})
		if err != nil && !errors.Is(err, errStale) { // otherwise it is gone, or has the key of another entry
			return err
		}
		report(written)
	}
	return nil
}
