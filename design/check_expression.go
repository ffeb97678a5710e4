package design

import (
	"cmp"
	"slices"
	"strings"

	"github.com/monotable/monotable/design/internal/syntax"
)

// EntityCalled returns the entity that a word of a statement means: the one with that name, or with that name capitalized
// (user is User). It returns nil if there is none.
func (d *Design) EntityCalled(word string) *Entity {
	if e := d.Entity(word); e != nil || word == "" {
		return e
	}
	return d.Entity(strings.ToUpper(word[:1]) + word[1:])
}

// class is the class of an operand, which determines with what it can be compared.
type class uint8

const (
	unknownClass class = iota // an error has been reported, or the class is unknown
	numberClass
	textClass
	boolClass
	otherClass // a list, a structure, bytes
)

func (k class) String() string {
	return [...]string{"something", "a number", "a text", "a boolean", "a list, a struct or bytes"}[k]
}

func classOf(t Type) class {
	switch {
	case t.Numeric():
		return numberClass
	case t.Kind == KindBool:
		return boolClass
	case !t.Scalar() || t.Kind == KindBytes:
		return otherClass
	default:
		return textClass
	}
}

// scope resolves the names, parameters and functions of an expression.
type scope interface {
	name(n *NameOperand, p Pos) class
	param(n *ParamOperand, p Pos) class
	call(n *CallOperand, e *Expression, p Pos) class
}

// statement checks an expression that must be boolean.
func (c *checker) statement(e *Expression, s scope) {
	if k := c.expression(e, s); k != boolClass && k != unknownClass {
		c.Hint(e.Pos, "compare it with something", "%q is %s, not a condition", e.Text, k)
	}
}

// expression checks an expression and returns its class.
func (c *checker) expression(e *Expression, s scope) class { return c.operand(e.Root, e, s) }

func (c *checker) operand(o Operand, e *Expression, s scope) class {
	p := c.Source.Within(e.Pos, e.Text, o.Start())
	switch o := o.(type) {
	case *ConstantOperand:
		return map[ConstantKind]class{StringConstant: textClass, NumberConstant: numberClass, BoolConstant: boolClass}[o.Constant.Kind]
	case *NameOperand:
		return s.name(o, p)
	case *ParamOperand:
		return s.param(o, p)
	case *CallOperand:
		return s.call(o, e, p)
	case *Negation:
		c.is(o.Operand, boolClass, "NOT", e, s)
		return boolClass
	case *Operation:
		return c.operation(o, e, s)
	default:
		return unknownClass
	}
}

func (c *checker) operation(o *Operation, e *Expression, s scope) class {
	switch o.Operator {
	case And, Or:
		c.is(o.Left, boolClass, string(o.Operator), e, s)
		c.is(o.Right, boolClass, string(o.Operator), e, s)
		return boolClass
	case Plus, Minus:
		c.is(o.Left, numberClass, string(o.Operator), e, s)
		c.is(o.Right, numberClass, string(o.Operator), e, s)
		return numberClass
	default:
	}
	left, right := c.operand(o.Left, e, s), c.operand(o.Right, e, s)
	p := c.Source.Within(e.Pos, e.Text, o.At)
	ordered := o.Operator != Equal && o.Operator != NotEqual
	switch {
	case left == unknownClass || right == unknownClass:
	case left != right:
		c.Fault(p, "%s cannot be compared with %s", left, right)
	case left == otherClass:
		c.Fault(p, "%s cannot be compared", left)
	case ordered && left == boolClass:
		c.Fault(p, "booleans have no order: compare them with = or <>")
	}
	return boolClass
}

// is checks that an operand of an operator is of a class.
func (c *checker) is(o Operand, want class, word string, e *Expression, s scope) {
	if got := c.operand(o, e, s); got != want && got != unknownClass {
		c.Fault(c.Source.Within(e.Pos, e.Text, o.Start()), "%s needs %s, not %s", word, want, got)
	}
}

// classAt is the class of a field or nested field; an error if it does not exist.
func (c *checker) classAt(e *Entity, path string, p Pos) class {
	before := len(c.List)
	c.path(e, path, p)
	if len(c.List) > before {
		return unknownClass
	}
	names := syntax.Steps(path)
	f := e.Field(names[0])
	for _, name := range names[1:] {
		s := c.design.Struct(f.Type.Name)
		if s == nil {
			return unknownClass // a map, whose values have one type, or a list
		}
		f = find(s.Fields, func(f *Field) bool { return f.Name == name })
	}
	return classOf(f.Type)
}

// invariant checks an invariant's statement, and when it applies.
func (c *checker) invariant(i *Invariant) {
	if i.At != "" && i.At != AtEnd && c.design.Entity(i.At) == nil {
		known := append(namesIn(c.design.Entities, func(e *Entity) string { return e.Name }), AtEnd)
		c.Hint(c.At(&i.At, i.Pos), cmp.Or(syntax.Suggestion(i.At, known), "use end, or the name of the entity whose creation it follows"), "there is no time %q at which an invariant can hold", i.At)
	}
	if i.Text == "" {
		c.missing(i.Pos, "invariant %s has no condition", i.Name)
		return
	}
	p := c.At(&i.Text, i.Pos)
	e, err := ParseExpression(i.Text)
	if !c.Parsed(p, err) {
		return
	}
	e.Pos, i.Statement = p, e
	s := &itemScope{checker: c}
	c.statement(e, s)
	s.joined(i, p)
}

// itemScope is the scope of invariants: names are fields of all items of an entity.
type itemScope struct {
	*checker
	items []*Entity // to which the names refer
}

// entity finds the entity that a word means, and records that the statement is about its items.
func (s *itemScope) entity(word string, p Pos, named bool) *Entity {
	e := s.design.EntityCalled(word)
	switch {
	case e == nil:
		known := namesIn(s.design.Entities, func(e *Entity) string {
			if strings.ToLower(word[:1]) == word[:1] {
				return strings.ToLower(e.Name[:1]) + e.Name[1:]
			}
			return e.Name
		})
		s.Hint(p, cmp.Or(syntax.Suggestion(word, known), "use an entity's name in lower case for each of its items: user.limit"), "there is no entity %q", word)
	case named && !slices.Contains(s.items, e):
		s.items = append(s.items, e)
	}
	return e
}

func (s *itemScope) name(n *NameOperand, p Pos) class {
	word, path, hasField := strings.Cut(n.Path, ".")
	e := s.entity(word, p, true)
	switch {
	case e == nil:
		return unknownClass
	case !hasField:
		s.Hint(p, word+".field, or exists("+e.Name+")", "%q is an item, not one of its values", word)
		return unknownClass
	}
	return s.classAt(e, path, p)
}

func (s *itemScope) param(n *ParamOperand, p Pos) class {
	s.Fault(p, "an invariant has no inputs: :%s has no value", n.Name)
	return unknownClass
}

func (s *itemScope) call(n *CallOperand, e *Expression, p Pos) class {
	if n.Function == NowFunction || n.Function == NewIDFunction {
		s.Fault(p, "an invariant cannot use %s(): it describes stored items only", n.Function)
		return unknownClass
	}
	word, path, _ := strings.Cut(n.Of, ".")
	ofPos := s.Source.Within(e.Pos, e.Text, n.OfAt)
	of := s.entity(word, ofPos, n.Function == UnchangedFunction)
	if n.Per != "" {
		perPos := s.Source.Within(e.Pos, e.Text, n.PerAt)
		per := s.entity(n.Per, perPos, true)
		switch {
		case of == nil || per == nil:
		case n.Function == UnchangedFunction:
			s.Fault(perPos, "unchanged applies to each item by itself: leave out of")
		case len(Related(of, per)) == 0:
			s.Fault(perPos, "no field tells which %s belong to a %s: %s", of.Name, per.Name, unrelated(of, per))
		}
	}
	if n.Where != nil {
		n.Where.Pos = s.Source.Within(e.Pos, e.Text, n.WhereAt)
		if n.Function == UnchangedFunction {
			s.Fault(n.Where.Pos, "unchanged applies to every item: leave out where")
		}
		s.condition(of, n.Where, noParams)
	}
	switch {
	case of == nil:
		return unknownClass
	case n.Function == CountFunction:
		return numberClass
	case n.Function == SumFunction:
		if k := s.classAt(of, path, ofPos); k != numberClass && k != unknownClass {
			s.Fault(ofPos, "%s.%s is %s and cannot be summed", of.Name, path, k)
		}
		return numberClass
	case n.Function == UnchangedFunction:
		s.classAt(of, path, ofPos)
	}
	return boolClass
}

// joined checks that the items of a statement are related, because a cross product is never intended.
func (s *itemScope) joined(i *Invariant, p Pos) {
	if created := s.design.Entity(i.At); created != nil && !slices.Contains(s.items, created) && len(s.items) > 0 {
		s.items = append(s.items, created)
	}
	if len(s.items) == 0 {
		return
	}
	reached, rest := s.items[:1:1], slices.Clone(s.items[1:])
	for len(rest) > 0 {
		next := slices.IndexFunc(rest, func(e *Entity) bool {
			return slices.ContainsFunc(reached, func(other *Entity) bool { return len(Related(e, other)) > 0 })
		})
		if next < 0 {
			s.Hint(p, "write two invariants, or count(… of …)", "no field tells which %s belongs to a %s: %s", rest[0].Name, reached[0].Name, unrelated(rest[0], reached[0]))
			return
		}
		reached, rest = append(reached, rest[next]), slices.Delete(rest, next, next+1)
	}
}
