package policy

import "strings"

// condition is one key with one operator and its operands, of which any may match.
type condition struct {
	key      string // in lower case
	of       quantifier
	ifExists bool
	operator *operator
	operands []operand
}

// quantifier determines for which values of a key the operator must be true.
type quantifier uint8

const (
	unquantified quantifier = iota
	forAllValues
	forAnyValue
)

func (p *parser) conditions(n *node, s *Statement) *Error {
	m, ok := n.member("Condition")
	if !ok {
		return nil
	}
	if m.value.kind != objectNode {
		return p.fault(ConditionInvalid, m.value.offset, "")
	}
	s.Conditional = true
	for i := range m.value.members {
		of := &m.value.members[i]
		shape, known := operatorOf(of.name)
		if !known {
			return p.fault(OperatorInvalid, of.offset, of.name)
		}
		if of.value.kind != objectNode {
			return p.fault(ConditionInvalid, of.value.offset, "")
		}
		for j := range of.value.members {
			key := &of.value.members[j]
			c := shape
			c.key = lower(key.name)
			if !strings.Contains(c.key, ":") {
				return p.fault(KeyInvalid, key.offset, key.name)
			}
			if err := p.operands(&c, key); err != nil {
				return err
			}
			s.conditions = append(s.conditions, c)
		}
	}
	return nil
}

// operatorOf parses the name of an operator: ForAllValues:StringEqualsIfExists.
func operatorOf(name string) (c condition, ok bool) {
	if rest, is := strings.CutPrefix(name, "ForAllValues:"); is {
		name, c.of = rest, forAllValues
	} else if rest, is := strings.CutPrefix(name, "ForAnyValue:"); is {
		name, c.of = rest, forAnyValue
	}
	name, c.ifExists = strings.CutSuffix(name, "IfExists")
	c.operator, ok = operators[name]
	return c, ok && (c.operator.family != nullFamily || !c.ifExists && c.of == unquantified)
}

func (p *parser) operands(c *condition, key *member) *Error {
	for _, v := range key.value.oneOrMany() {
		if v.kind != textNode && v.kind != numberNode && v.kind != boolNode {
			return p.fault(ValueInvalid, v.offset, key.name)
		}
		o, bad, ok := c.operator.compile(v.text, p.syntax)
		switch {
		case bad != "":
			return p.fault(VariableInvalid, v.offset, bad)
		case !ok:
			return p.fault(ValueInvalid, v.offset, v.text)
		}
		c.operands = append(c.operands, o)
	}
	return nil
}

// holds reports whether the condition is true for a request, in a statement that denies or allows.
func (c *condition) holds(keys *lookup, deny bool) bool {
	v := keys.value(c.key)
	if c.operator.family == nullFamily {
		absent := len(v.Texts) == 0
		for i := range c.operands {
			if c.operands[i].yes == absent {
				return true
			}
		}
		return false
	}
	if v.Unbounded {
		return deny
	}
	if len(v.Texts) == 0 {
		switch {
		case c.ifExists:
			return true
		case c.of == unquantified:
			return c.operator.negated
		default:
			return c.of == forAllValues
		}
	}
	all := c.of == forAllValues || c.of == unquantified && !deny
	for _, text := range v.Texts {
		if c.holdsOf(text, keys, deny) != all {
			return !all
		}
	}
	return all
}

// holdsOf reports whether the operator is true for one value: for any operand or, if negated, for none. A comparison with an
// unresolved variable does not allow anything.
func (c *condition) holdsOf(text string, keys *lookup, deny bool) bool {
	keys.unresolved = false
	for i := range c.operands {
		if c.operator.test(text, &c.operands[i], keys) {
			return !c.operator.negated
		}
	}
	return c.operator.negated && (deny || !keys.unresolved)
}
