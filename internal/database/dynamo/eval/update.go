package eval

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// Update is a bound update expression (or AttributeUpdates). Safe for concurrent use.
type Update struct {
	scope
	actions []action // sorted by target; no target is part of another
}

// action is one change of an update.
type action struct {
	expr.Action
	// legacy marks an action of AttributeUpdates, whose ADD also appends to lists.
	legacy bool
}

// Update binds an UpdateExpression.
func (b *Binder) Update(text string) (*Update, error) {
	e, sc, err := b.bind(expr.Update, text)
	if err != nil {
		return nil, err
	}
	return bindUpdate(sc, e.Actions)
}

func bindUpdate(sc scope, actions []expr.Action) (*Update, error) {
	u := &Update{scope: sc, actions: make([]action, len(actions))}
	for i, a := range actions {
		u.actions[i].Action = a
	}
	if len(u.actions) > 1 {
		targets := u.paths()
		slices.SortFunc(u.actions, func(a, b action) int { return expr.ComparePaths(a.Target, b.Target, u.names) })
		if err := expr.CheckPaths(expr.Update, targets, u.paths(), sc.names); err != nil {
			return nil, err
		}
	}
	for _, a := range actions {
		if err := u.checkAction(a); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// paths returns the targets of the actions, in order.
func (u *Update) paths() []*expr.Path {
	out := make([]*expr.Path, len(u.actions))
	for i := range u.actions {
		out[i] = u.actions[i].Target
	}
	return out
}

// Targets returns the top-level names of the target paths, sorted and unique: keys must not be among them.
func (u *Update) Targets() []string { return u.roots(u.paths()) }

// AssignedKind returns the type of the value that SET or ADD assigns to a top-level attribute, or KindInvalid if neither does or
// the type depends on the item.
func (u *Update) AssignedKind(name string) attr.Kind {
	for i := range u.actions {
		a := &u.actions[i]
		if (a.Verb == expr.Set || a.Verb == expr.Add) && len(a.Target.Steps) == 1 && a.Target.Root(u.names) == name {
			return u.kindOf(a.Value)
		}
	}
	return attr.KindInvalid
}

// Attributes returns the top-level names of everything that Apply reads: targets and operands, sorted and unique. Applying the
// update to an item reduced to these has the same effect.
func (u *Update) Attributes() []string {
	names := make([]string, 0, 2*len(u.actions))
	for i := range u.actions {
		a := &u.actions[i]
		names = append(names, a.Target.Root(u.names))
		if a.Value == nil {
			continue
		}
		expr.Walk(a.Value, func(n expr.Node) {
			if p, ok := n.(*expr.Path); ok {
				names = append(names, p.Root(u.names))
			}
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// checkAction rejects values of a type that is invalid for every item.
func (u *Update) checkAction(a expr.Action) error {
	switch a.Verb {
	case expr.Set:
		return u.checkValue(a.Value)
	case expr.Add:
		return u.checkActionType(a, func(k attr.Kind) bool { return k == attr.KindNumber || k.IsSet() })
	case expr.Delete:
		return u.checkActionType(a, attr.Kind.IsSet)
	default:
		return nil
	}
}

func (u *Update) checkActionType(a expr.Action, allowed func(attr.Kind) bool) error {
	k := u.kindOf(a.Value)
	if allowed(k) {
		return nil
	}
	return &expr.Error{
		Surface: expr.Update, Kind: expr.KindActionType, Pos: a.Target.Pos,
		Subject: a.Verb.String(), Operand: longName(k),
	}
}

func (u *Update) checkValue(n expr.Node) error {
	switch n := n.(type) {
	case *expr.Arithmetic:
		if err := u.checkValue(n.Left); err != nil {
			return err
		}
		if err := u.checkValue(n.Right); err != nil {
			return err
		}
		return u.only(func(k attr.Kind) bool { return k == attr.KindNumber }, string(n.Op), n.Pos, n.Left, n.Right)
	case *expr.Call:
		for _, arg := range n.Args {
			if err := u.checkValue(arg); err != nil {
				return err
			}
		}
		if n.Function == expr.ListAppend {
			return u.only(func(k attr.Kind) bool { return k == attr.KindList }, string(n.Function), n.Pos, n.Args...)
		}
		return u.distinct(string(n.Function), n.Pos, n.Args[0], n.Args[1:]...)
	default:
		return nil
	}
}

// longName returns the name of a type in AWS's messages about actions.
func longName(k attr.Kind) string {
	switch k {
	case attr.KindString:
		return "STRING"
	case attr.KindNumber:
		return "NUMBER"
	case attr.KindBinary:
		return "BINARY"
	case attr.KindBool:
		return "BOOLEAN"
	case attr.KindNull:
		return "NULL"
	case attr.KindList:
		return "LIST"
	case attr.KindMap:
		return "MAP"
	case attr.KindStringSet:
		return "STRING_SET"
	case attr.KindNumberSet:
		return "NUMBER_SET"
	default:
		return "BINARY_SET"
	}
}

// Touched returns the parts of an item that the update's target paths reach, with their parents: for UPDATED_OLD, of the item
// before the update, and for UPDATED_NEW, of the item after it. Paths are taken literally: after the update, REMOVE l[0] reaches
// the element that has moved there, and a SET beyond the end of a list, which appends, reaches nothing. The result is nil if
// nothing is reached.
func (u *Update) Touched(it attr.Item) attr.Item {
	return u.projectItem(it, u.paths(), 0)
}
