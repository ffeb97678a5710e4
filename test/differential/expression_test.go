package differential

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// substitutions generates the expressions of one request and collects their names and values.
type substitutions struct {
	g      *generator
	t      *table
	names  object
	values object
}

func newSubstitutions(g *generator, t *table) *substitutions {
	return &substitutions{g: g, t: t, names: object{}, values: object{}}
}

// into adds names and values to a request; rarely not exactly those used by its expressions.
func (s *substitutions) into(body object) {
	g := s.g
	if g.mistake(3) {
		s.names["#unused"] = "a"
	}
	if g.mistake(3) {
		s.values[":unused"] = object{"S": "a"}
	}
	for _, m := range []object{s.names, s.values} {
		if len(m) > 0 && g.mistake(3) {
			delete(m, pick(g, slices.Sorted(maps.Keys(m))...))
		}
	}
	if len(s.names) > 0 || g.mistake(2) {
		body["ExpressionAttributeNames"] = s.names
	}
	if len(s.values) > 0 || g.mistake(2) {
		body["ExpressionAttributeValues"] = s.values
	}
}

var tokens = regexp.MustCompile(`[#:]?[A-Za-z0-9_]+|<>|<=|>=|[^\sA-Za-z0-9_]`)

// typos damages an expression in a few percent of cases: a token is deleted, duplicated or replaced.
func (g *generator) typos(expression string) string {
	if !g.mistake(4) {
		return expression
	}
	words := tokens.FindAllString(expression, -1)
	if len(words) == 0 {
		return expression
	}
	i := g.r.IntN(len(words))
	switch g.r.IntN(4) {
	case 0:
		words = slices.Delete(words, i, i+1)
	case 1:
		words = slices.Insert(words, i, words[i])
	case 2:
		words[i] = pick(g, "a", "size", ":v9", "#n9", "(", ")", ",", "AND", "OR", "NOT", "=", "<>", "BETWEEN", "IN", "SET", "ADD", ".", "[0]", "[", "1", "contains", "size(a)", "begins_with")
	default:
		j := g.r.IntN(len(words))
		words[i], words[j] = words[j], words[i]
	}
	return strings.Join(words, " ")
}

// name returns a random attribute in a random notation.
func (s *substitutions) name(name string) string {
	if !strings.Contains(name, ".") && name != "name" && s.g.chance(70) || s.g.mistake(2) {
		return name
	}
	alias := "#" + strings.ReplaceAll(name, ".", "")
	s.names[alias] = name
	return alias
}

func (s *substitutions) path() string {
	g := s.g
	name := pick(g, attributes...)
	if g.chance(10) {
		name = pick(g, append(sorted(s.t.types), s.t.keys...)...)
	}
	path := s.name(name)
	for g.chance(25) {
		path += pick(g, ".a", ".b", "[0]", "[1]", "[2]", "[3]", "[4]", ".x")
	}
	return path
}

func (s *substitutions) value(v object) string {
	name := fmt.Sprintf(":v%d", len(s.values))
	s.values[name] = v
	return name
}

// operand returns a value, or rarely a path.
func (s *substitutions) operand() string {
	switch g := s.g; {
	case g.chance(12):
		return s.path()
	case g.chance(8):
		return "size(" + s.path() + ")"
	default:
		return s.value(g.value(1))
	}
}

// condition returns a random condition with a maximum depth.
func (s *substitutions) condition(depth int) string {
	g := s.g
	if depth > 0 && g.chance(35) {
		switch g.r.IntN(4) {
		case 0:
			return "NOT " + s.condition(depth-1)
		case 1:
			return "(" + s.condition(depth-1) + ")"
		default:
			return s.condition(depth-1) + pick(g, " AND ", " OR ", " and ") + s.condition(depth-1)
		}
	}
	switch g.r.IntN(10) {
	case 0:
		return "attribute_exists(" + s.path() + ")"
	case 1:
		return "attribute_not_exists(" + s.path() + ")"
	case 2:
		kind := pick(g, "S", "N", "B", "SS", "NS", "BS", "BOOL", "NULL", "L", "M")
		if g.mistake(10) {
			kind = "X"
		}
		return "attribute_type(" + s.path() + ", " + s.value(object{"S": kind}) + ")"
	case 3:
		return "begins_with(" + s.path() + ", " + s.value(g.scalar(pick(g, "S", "S", "B"))) + ")"
	case 4:
		return "contains(" + s.path() + ", " + s.operand() + ")"
	case 5:
		kind := pick(g, "S", "N", "B")
		low, high := g.scalar(kind), g.scalar(kind)
		if g.mistake(10) {
			high = g.value(0)
		}
		return s.path() + " BETWEEN " + s.value(low) + " AND " + s.value(high)
	case 6:
		operands := s.operand()
		for range g.r.IntN(3) {
			operands += ", " + s.operand()
		}
		return s.path() + " IN (" + operands + ")"
	case 7:
		return "size(" + s.path() + ") " + pick(g, "=", "<", ">=") + " " + s.value(g.scalar("N"))
	default:
		return s.path() + " " + pick(g, "=", "=", "<>", "<", "<=", ">", ">=") + " " + s.operand()
	}
}

// update returns a random update expression.
func (s *substitutions) update() string {
	g := s.g
	var clauses []string
	if g.chance(70) {
		clauses = append(clauses, "SET "+s.several(func() string { return s.path() + " = " + s.assigned() }))
	}
	if g.chance(20) {
		clauses = append(clauses, "REMOVE "+s.several(s.path))
	}
	if g.chance(20) || len(clauses) == 0 {
		clauses = append(clauses, "ADD "+s.several(func() string {
			return s.path() + " " + s.value(pick(g, g.scalar("N"), object{"NS": g.set("N")}, object{"SS": g.set("S")}, g.value(0)))
		}))
	}
	if g.chance(12) {
		clauses = append(clauses, "DELETE "+s.several(func() string {
			return s.path() + " " + s.value(pick(g, object{"NS": g.set("N")}, object{"SS": g.set("S")}, g.value(0)))
		}))
	}
	g.r.Shuffle(len(clauses), func(i, j int) { clauses[i], clauses[j] = clauses[j], clauses[i] })
	return strings.Join(clauses, " ")
}

func (s *substitutions) several(one func() string) string {
	text := one()
	for s.g.chance(30) {
		text += ", " + one()
	}
	return text
}

// assigned returns a random right side of a SET.
func (s *substitutions) assigned() string {
	g := s.g
	switch g.r.IntN(8) {
	case 0:
		return s.path()
	case 1:
		return s.path() + pick(g, " + ", " - ") + s.value(g.scalar("N"))
	case 2:
		return "if_not_exists(" + s.path() + ", " + s.operand() + ")"
	case 3:
		return "list_append(" + s.path() + ", " + s.value(object{"L": list{g.value(0)}}) + ")"
	case 4:
		return "if_not_exists(" + s.path() + ", " + s.value(object{"N": "0"}) + ") + " + s.value(g.scalar("N"))
	default:
		return s.value(g.value(2))
	}
}

func (s *substitutions) projection() string { return s.several(s.path) }

// keyCondition returns a random condition on the keys of a table or an index.
func (s *substitutions) keyCondition(keys []string) string {
	g := s.g
	if g.mistake(4) {
		return s.condition(2)
	}
	types := s.t.types
	text := s.name(keys[0]) + pick(g, " = ", " = ", "=") + s.value(g.keyValue(types[keys[0]]))
	if g.mistake(4) {
		text = s.name(keys[0]) + pick(g, " < ", " <> ") + s.value(g.keyValue(types[keys[0]]))
	}
	if len(keys) == 1 && !g.mistake(5) || g.chance(40) {
		return text
	}
	sortName := keys[len(keys)-1]
	if g.mistake(5) {
		sortName = pick(g, attributes...)
	}
	kind := types[sortName]
	if kind == "" {
		kind = "S"
	}
	var second string
	switch g.r.IntN(5) {
	case 0:
		second = s.name(sortName) + " BETWEEN " + s.value(g.scalar(kind)) + " AND " + s.value(g.scalar(kind))
	case 1:
		second = "begins_with(" + s.name(sortName) + ", " + s.value(g.scalar(kind)) + ")"
	default:
		operator := pick(g, "=", "<", "<=", ">", ">=")
		if g.mistake(5) {
			operator = "<>"
		}
		second = s.name(sortName) + " " + operator + " " + s.value(g.keyValue(kind))
	}
	conjunction := " AND "
	if g.mistake(3) {
		conjunction = " OR "
	}
	if g.chance(15) {
		return second + conjunction + text
	}
	return text + conjunction + second
}
