package migrate

import (
	"context"
	"errors"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
)

// finish removes what the transition has beyond the new design. Nobody writes that any more, so that an item only needs to be there.
type finish struct {
	*run
	shape *shape
}

// leftover is what is to go of an item.
type leftover struct {
	whole bool       // the item itself
	parts [][]string // attributes, and paths inside of attributes
}

// left is what the new design does not have of an item.
func (s *shape) left(t string, item table.Item) leftover {
	e, p, _ := table.Recognize(s.entities[t], item)
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
	for _, path := range more.strange[p.Copy] {
		if within(item, path) {
			out.parts = append(out.parts, path)
		}
	}
	return out
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

// without is the item as it is after the clean-up; nil where it goes.
func (l leftover) without(item table.Item) table.Item {
	if l.whole {
		return nil
	}
	for _, path := range l.parts {
		item = remove(item, path)
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
		if !l.whole && len(l.parts) == 0 {
			report(asItShould)
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
			action = x.itself(f.table(t), keyOf(t, item))
		}
		err := f.write(ctx, []types.TransactWriteItem{action})
		if err != nil && !errors.Is(err, errStale) { // else it is gone
			return err
		}
		report(written)
	}
	return nil
}
