package eval

import (
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// LowerUpdates converts AttributeUpdates to an update.
func LowerUpdates(updates map[string]api.AttributeValueUpdate) (*Update, error) {
	u := &Update{
		scope:   scope{surface: expr.Update},
		actions: make([]action, 0, len(updates)),
	}
	for _, name := range slices.Sorted(maps.Keys(updates)) {
		a, err := u.lower(name, updates[name])
		if err != nil {
			return nil, err
		}
		u.actions = append(u.actions, a)
	}
	return u, nil
}

// lower converts one attribute's update to an action; the default Action is PUT.
func (u *Update) lower(name string, update api.AttributeValueUpdate) (action, error) {
	if name == "" {
		return action{}, &expr.Error{Kind: expr.KindAttributeNameEmpty}
	}
	verb := "PUT"
	if update.Action != nil {
		verb = *update.Action
	}
	a := action{Action: expr.Action{Verb: expr.Remove, Target: expr.Literal(name)}, legacy: true}
	if update.Value == nil {
		if verb != "DELETE" {
			return action{}, &expr.Error{Kind: expr.KindUpdateWithoutValue}
		}
		return a, nil
	}
	v := *update.Value
	if err := checkFaults(v); err != nil {
		return action{}, err
	}
	switch k := v.Kind(); {
	case verb == "PUT":
		a.Verb = expr.Set
	case verb == "DELETE" && k.IsSet():
		a.Verb = expr.Delete
	case verb == "ADD" && (k == attr.KindNumber || k == attr.KindList || k.IsSet()):
		a.Verb = expr.Add
	case verb == "DELETE":
		return action{}, &expr.Error{Kind: expr.KindDeleteType, Operand: longName(k)}
	default:
		return action{}, &expr.Error{Kind: expr.KindAddType, Operand: longName(k)}
	}
	a.Value = u.placeholder(v)
	return a, nil
}

// LowerAttributesToGet converts AttributesToGet to a projection. Its names are top-level attributes, including any dots.
func LowerAttributesToGet(names []string) (*Projection, error) {
	sorted := slices.Sorted(slices.Values(names))
	paths := make([]*expr.Path, len(sorted))
	for i, name := range sorted {
		if name == "" {
			return nil, &expr.Error{Kind: expr.KindAttributeNameEmpty}
		}
		if i > 0 && name == sorted[i-1] {
			return nil, &expr.Error{Kind: expr.KindDuplicateAttribute, Subject: name}
		}
		paths[i] = expr.Literal(name)
	}
	return &Projection{scope: scope{surface: expr.Projection}, paths: paths}, nil
}
