package eval

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// change is an action with its right-hand side evaluated.
type change struct {
	*action
	value attr.Value
}

// Apply returns the result of the update on an existing item. All right-hand sides read old. Parts that no target reaches are
// shared with old.
func (u *Update) Apply(old attr.Item) (attr.Item, error) { return u.applyActions(u.actions, old) }

// Create returns the item that the update creates if none exists. It starts from an item with only the key attributes, which
// right-hand sides can read. There is nothing to remove, including nested paths.
func (u *Update) Create(key attr.Item) (attr.Item, error) {
	isRemove := func(a action) bool { return a.Verb == expr.Remove }
	if !slices.ContainsFunc(u.actions, isRemove) {
		return u.applyActions(u.actions, key)
	}
	return u.applyActions(slices.DeleteFunc(slices.Clone(u.actions), isRemove), key)
}

func (u *Update) applyActions(actions []action, old attr.Item) (attr.Item, error) {
	if err := u.checkTargets(actions, old); err != nil {
		return nil, err
	}
	changes := make([]change, len(actions))
	for i := range actions {
		a := &actions[i]
		changes[i].action = a
		if a.Value == nil {
			continue
		}
		v, err := u.evaluate(a.Value, old)
		if err != nil {
			return nil, err
		}
		changes[i].value = v
	}
	out, err := u.applyItem(old, changes, 0)
	if err != nil {
		return nil, err
	}
	if deepens(changes) && out.Depth() > attr.MaxDepth {
		return nil, updateError(expr.KindResultTooDeep)
	}
	return out, nil
}

// checkTargets rejects nested targets whose parents the item lacks. As in DynamoDB Local, that comes before faults of operands: SET
// m.n = m.n + :one on an item without m has an invalid path, rather than a missing attribute.
func (u *Update) checkTargets(actions []action, it attr.Item) error {
	for i := range actions {
		steps := actions[i].Target.Steps
		last := len(steps) - 1
		if last == 0 {
			continue
		}
		needs := attr.KindMap
		if steps[last].Kind == expr.StepIndex {
			needs = attr.KindList
		}
		if parent, _ := u.find(&expr.Path{Steps: steps[:last]}, it); parent.Kind() != needs {
			return updateError(expr.KindUpdatePath)
		}
	}
	return nil
}

// deepens reports whether the changes can make the item deeper than its attributes and the values already are.
func deepens(changes []change) bool {
	for i := range changes {
		k := changes[i].value.Kind()
		if len(changes[i].Target.Steps) > 1 && (k == attr.KindList || k == attr.KindMap) {
			return true
		}
	}
	return false
}

func updateError(kind expr.Kind) error { return &expr.Error{Surface: expr.Update, Kind: kind} }

// groupChanges returns how many of the sorted changes start with the same step at depth as the first.
func (u *Update) groupChanges(changes []change, depth int) int {
	first := &changes[0].Target.Steps[depth]
	for n := 1; n < len(changes); n++ {
		if !u.sameStep(first, &changes[n].Target.Steps[depth]) {
			return n
		}
	}
	return len(changes)
}

// applyItem merges a map with its changes, both ordered by name.
func (u *Update) applyItem(it attr.Item, changes []change, depth int) (attr.Item, error) {
	out := make(attr.Item, 0, len(it)+len(changes))
	for len(changes) > 0 {
		n := u.groupChanges(changes, depth)
		name := changes[0].Target.Steps[depth].Resolve(u.names)
		before := it
		for len(it) > 0 && it[0].Name < name {
			it = it[1:]
		}
		out = append(out, before[:len(before)-len(it)]...)
		var old attr.Value
		if len(it) > 0 && it[0].Name == name {
			old, it = it[0].Value, it[1:]
		}
		v, err := u.apply(old, changes[:n], depth+1)
		if err != nil {
			return nil, err
		}
		if !v.IsZero() {
			out = append(out, attr.Field{Name: name, Value: v})
		}
		changes = changes[n:]
	}
	return append(out, it...), nil
}

// applyList changes a list: first elements at their old indexes; then elements beyond the end are appended in the order of their
// indexes; finally removed elements are closed up.
func (u *Update) applyList(elems []attr.Value, changes []change, depth int) ([]attr.Value, error) {
	out := make([]attr.Value, len(elems), len(elems)+len(changes))
	copy(out, elems)
	removed := false
	for len(changes) > 0 {
		n := u.groupChanges(changes, depth)
		step := &changes[0].Target.Steps[depth]
		var old attr.Value
		inside := step.Number < len(elems)
		if inside {
			old = elems[step.Number]
		}
		v, err := u.apply(old, changes[:n], depth+1)
		if err != nil {
			return nil, err
		}
		switch {
		case inside:
			out[step.Number] = v
			removed = removed || v.IsZero()
		case !v.IsZero():
			out = append(out, v)
		}
		changes = changes[n:]
	}
	if !removed {
		return out, nil
	}
	kept := out[:0]
	for _, v := range out {
		if !v.IsZero() {
			kept = append(kept, v)
		}
	}
	return kept, nil
}

// apply changes the value that the changes reach at depth; the zero Value means a missing value, before and after. Where the paths
// go on, checkTargets has found a map or a list.
func (u *Update) apply(old attr.Value, changes []change, depth int) (attr.Value, error) {
	if len(changes[0].Target.Steps) == depth {
		return changes[0].apply(old)
	}
	if old.Kind() == attr.KindMap {
		out, err := u.applyItem(old.Item(), changes, depth)
		return attr.Map(out), err
	}
	out, err := u.applyList(old.Elems(), changes, depth)
	return attr.List(out), err
}

// apply returns the changed value at the end of the change's path.
func (c *change) apply(old attr.Value) (attr.Value, error) {
	switch c.Verb {
	case expr.Set:
		return c.value, nil
	case expr.Add:
		return c.add(old)
	case expr.Delete:
		return c.subtract(old)
	default:
		return attr.Value{}, nil
	}
}

func (c *change) add(old attr.Value) (attr.Value, error) {
	switch {
	case old.IsZero():
		return c.value, nil
	case old.Kind() != c.value.Kind():
		return attr.Value{}, c.typeError()
	case old.Kind() == attr.KindNumber:
		return sum(expr.Plus, old, c.value)
	case old.Kind().IsSet():
		return union(old, c.value), nil
	case c.legacy && old.Kind() == attr.KindList:
		return concat(old, c.value), nil
	default:
		return attr.Value{}, c.typeError()
	}
}

func (c *change) subtract(old attr.Value) (attr.Value, error) {
	switch {
	case old.IsZero():
		return old, nil
	case old.Kind() != c.value.Kind():
		return attr.Value{}, c.typeError()
	default:
		return difference(old, c.value), nil
	}
}

// typeError returns the error of an ADD or DELETE whose operand does not fit the type of its target.
func (c *change) typeError() error {
	if c.legacy {
		return updateError(expr.KindLegacyUpdateType)
	}
	return updateError(expr.KindUpdateType)
}
