// Package eval binds expressions to a request's names and values and evaluates them on items.
//
// # Vocabulary
//
// A Binder represents one request (one action of a transaction, one table of a batch): it has the request's names and values,
// binds the texts of its expressions, and finally reports the names and values that none of them used. Bound expressions
// (Condition, KeyPredicate, Projection, Update) can be evaluated any number of times. The legacy parameters (Expected,
// QueryFilter, AttributeUpdates …) are lowered to the same bound forms, by building the tree that package expr would have parsed.
//
// # Model
//
//	text ──expr.Load──▶ tree, shared by all requests
//	                      │ aliases and placeholders are slots
//	names, values ──────▶ scope: slot ▶ name, slot ▶ value
//	                      │ checks of types, bounds, paths
//	                      ▼
//	                    Condition, Projection, Update ──on an item──▶ bool, item, item
//
// Binding costs a slice of names, a slice of values and the bound object; the tree is not copied.
//
// Projections and updates keep their paths sorted, step by step. Paths with a common prefix are then adjacent, so that an item
// and the paths are walked together (group), and everything that no path reaches is shared with the old item.
//
// # Invariants
//
//	I1  Eval, Apply and Touched never modify their item.
//	I2  The right-hand sides of an update all read the old item: they are evaluated before anything is built.
//	I3  Evaluation recurses as deep as an expression or a path, which package expr limits.
//
// # Concurrency
//
// A Binder is not safe for concurrent use. Bound expressions are immutable and safe for concurrent use.
//
// # Errors
//
// All errors are *expr.Error. Whether one is returned bare or in an envelope depends on the operation, which the engine knows.
package eval

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// Binder binds the expressions of one request. All its errors are *expr.Error (with AWS's message).
type Binder struct {
	names  map[string]string
	values attr.Item
	// tooDeep means that a value is nested too deeply, which AWS checks last.
	tooDeep bool
	bound   []*expr.Expression
	room    [3]*expr.Expression // memory for bound: no request has more expressions
}

// CheckAlone rejects names and values in a request without an expression; a nil map is a missing parameter. possible are the
// expressions that the operation can have.
func CheckAlone(names map[string]string, values attr.Item, possible ...string) error {
	switch {
	case names != nil:
		return &expr.Error{Kind: expr.KindNamesAlone}
	case values != nil:
		return &expr.Error{Kind: expr.KindValuesAlone, Subject: areNull(possible)}
	default:
		return nil
	}
}

// NewBinder checks the two maps themselves (empty map, alias syntax, invalid values, lengths); a nil map is a missing parameter.
func NewBinder(names map[string]string, values attr.Item) (*Binder, error) {
	b := &Binder{names: names, values: values}
	b.bound = b.room[:0]
	if names != nil {
		if err := checkNames(names); err != nil {
			return nil, err
		}
	}
	if values != nil {
		if err := b.checkValues(); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func checkNames(names map[string]string) error {
	if len(names) == 0 {
		return &expr.Error{Kind: expr.KindNamesEmpty}
	}
	first, size := "", 0
	var fault *expr.Error
	for key, name := range names {
		size += len(key) + len(name)
		if kind := nameFault(key, name); kind != expr.KindNone && (fault == nil || key < first) {
			first, fault = key, &expr.Error{Kind: kind, Subject: key}
		}
	}
	switch {
	case fault != nil:
		return fault
	case size > expr.MaxSubstitutionBytes:
		return &expr.Error{Kind: expr.KindNamesTooLarge}
	default:
		return nil
	}
}

func nameFault(key, name string) expr.Kind {
	switch {
	case len(key) > expr.MaxAliasBytes:
		return expr.KindNamesKeyTooLong
	case !expr.ValidReference(key, '#'):
		return expr.KindNamesKey
	case name == "":
		return expr.KindNameEmpty
	case len(name) > attr.MaxNameBytes:
		return expr.KindNameTooLong
	default:
		return expr.KindNone
	}
}

func (b *Binder) checkValues() error {
	if len(b.values) == 0 {
		return &expr.Error{Kind: expr.KindValuesEmpty}
	}
	for i := range b.values {
		key, v := b.values[i].Name, b.values[i].Value
		switch {
		case len(key) > expr.MaxAliasBytes:
			return &expr.Error{Kind: expr.KindValuesKeyTooLong, Subject: key}
		case !expr.ValidReference(key, ':'):
			return &expr.Error{Kind: expr.KindValuesKey, Subject: key}
		}
		f, faulty := v.Fault()
		switch {
		case faulty && f.Code == attr.FaultTooDeep, v.Depth() > attr.MaxDepth:
			b.tooDeep = true
		case faulty:
			return &expr.Error{Kind: expr.KindFaultyValue, Subject: key, Near: apierr.InvalidExpressionValue("", key, f).Message, Fault: f}
		}
	}
	if b.values.Size() > expr.MaxSubstitutionBytes {
		return &expr.Error{Kind: expr.KindValuesTooLarge}
	}
	return nil
}

// areNull returns the end of the message about values without an expression.
func areNull(expressions []string) string {
	switch len(expressions) {
	case 0:
		return ""
	case 1:
		return ": " + expressions[0] + " is null"
	default:
		return ": " + strings.Join(expressions, " and ") + " are null"
	}
}

// CheckMixed rejects a request that has both expressions and legacy parameters. The arguments are the names of the request's
// parameters; the caller omits combinations that AWS accepts.
func CheckMixed(expression, legacy []string) error {
	if len(expression) == 0 || len(legacy) == 0 {
		return nil
	}
	return &expr.Error{
		Kind:    expr.KindMixed,
		Subject: strings.Join(expression, ", "),
		Operand: strings.Join(legacy, ", "),
	}
}

// scope maps the slots of a tree to the names and values of one request.
type scope struct {
	surface expr.Surface
	names   []string
	values  []attr.Value
	nested  []*expr.Path // the paths with more than one step, in the order of the text
}

// bind parses text and fills its slots.
func (b *Binder) bind(s expr.Surface, text string) (*expr.Expression, scope, error) {
	e, err := expr.Load(s, text)
	if err != nil {
		return nil, scope{}, err
	}
	sc, err := b.resolve(e)
	if err != nil {
		return nil, scope{}, err
	}
	b.bound = append(b.bound, e)
	return e, sc, nil
}

// resolve fills the slots of e. Of undefined names and values the first in the text is reported.
func (b *Binder) resolve(e *expr.Expression) (scope, error) {
	sc := scope{surface: e.Surface, nested: e.Nested}
	var undefined *expr.Error
	if n := len(e.Aliases); n > 0 {
		sc.names = make([]string, n)
		for i, a := range e.Aliases {
			name, ok := b.names[a.Name]
			if !ok {
				undefined = &expr.Error{Surface: e.Surface, Kind: expr.KindUndefinedName, Pos: a.Pos, Subject: a.Name}
				break
			}
			sc.names[i] = name
		}
	}
	if n := len(e.Placeholders); n > 0 {
		sc.values = make([]attr.Value, n)
		for i, p := range e.Placeholders {
			v, ok := b.values.Get(p.Name)
			if !ok {
				if undefined == nil || p.Pos < undefined.Pos {
					undefined = &expr.Error{Surface: e.Surface, Kind: expr.KindUndefinedValue, Pos: p.Pos, Subject: p.Name}
				}
				break
			}
			sc.values[i] = v
		}
	}
	if undefined != nil {
		return scope{}, undefined
	}
	return sc, nil
}

// Done reports names and values that no expression used, and then a value that is nested too deeply.
func (b *Binder) Done() error {
	mentioned := b.mentioned()
	var unused []string
	for key := range b.names {
		if !mentioned(key) {
			unused = append(unused, key)
		}
	}
	if unused != nil {
		slices.Sort(unused)
		return &expr.Error{Kind: expr.KindNamesUnused, Subject: strings.Join(unused, ", ")}
	}
	for i := range b.values {
		if key := b.values[i].Name; !mentioned(key) {
			unused = append(unused, key)
		}
	}
	if unused != nil {
		return &expr.Error{Kind: expr.KindValuesUnused, Subject: strings.Join(unused, ", ")}
	}
	if b.tooDeep {
		return &expr.Error{Kind: expr.KindValueTooDeep}
	}
	return nil
}

// mentioned returns a function that reports what the bound expressions mention; sigils distinguish names and values.
func (b *Binder) mentioned() func(string) bool {
	if len(b.names)+len(b.values) <= smallSet {
		return func(key string) bool {
			return slices.ContainsFunc(b.bound, func(e *expr.Expression) bool {
				return expr.Mentions(e.Aliases, key) || expr.Mentions(e.Placeholders, key)
			})
		}
	}
	keys := map[string]struct{}{}
	for _, e := range b.bound {
		for _, refs := range [...][]expr.Reference{e.Aliases, e.Placeholders} {
			for i := range refs {
				keys[refs[i].Name] = struct{}{}
			}
		}
	}
	return func(key string) bool {
		_, ok := keys[key]
		return ok
	}
}

// value returns the value of a placeholder.
func (sc *scope) value(p *expr.Placeholder) attr.Value { return sc.values[p.Slot] }

// NestedAttributes returns the top-level attributes below which the expression has paths, in the order of the text: key
// attributes must not be among them.
func (sc *scope) NestedAttributes() []string {
	if len(sc.nested) == 0 {
		return nil
	}
	names := make([]string, len(sc.nested))
	for i, p := range sc.nested {
		names[i] = p.Root(sc.names)
	}
	return names
}

// find returns the value at the end of a path.
func (sc *scope) find(p *expr.Path, it attr.Item) (attr.Value, bool) {
	v, ok := it.Get(p.Root(sc.names))
	for i := 1; ok && i < len(p.Steps); i++ {
		v, ok = sc.down(v, &p.Steps[i])
	}
	return v, ok
}

// down takes one step into a document.
func (sc *scope) down(v attr.Value, s *expr.Step) (attr.Value, bool) {
	if s.Kind != expr.StepIndex {
		return v.Item().Get(s.Resolve(sc.names))
	}
	if v.Kind() != attr.KindList || s.Number >= len(v.Elems()) {
		return attr.Value{}, false
	}
	return v.Elems()[s.Number], true
}
