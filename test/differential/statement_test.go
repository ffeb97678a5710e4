package differential

import (
	"maps"
	"slices"
	"strings"
)

// statement generates a PartiQL statement and its parameters.
type statement struct {
	g          *generator
	t          *table
	parameters list
	depth      int // nesting of lists and maps
}

func (g *generator) executeStatement(t *table) request {
	s := &statement{g: g, t: t}
	text := pick(g, s.selects, s.selects, s.insert, s.update, s.remove)()
	body := object{"Statement": g.typos(text)}
	if s.parameters != nil || g.mistake(2) {
		body["Parameters"] = s.parameters
	}
	if g.mistake(2) && s.parameters != nil {
		body["Parameters"] = append(s.parameters, object{"S": "a"})
	}
	if g.chance(10) {
		body["ConsistentRead"] = g.chance(50)
	}
	if g.chance(10) {
		body["Limit"] = g.r.IntN(4)
	}
	if g.chance(10) {
		body["ReturnValuesOnConditionCheckFailure"] = pick(g, "ALL_OLD", "NONE")
	}
	return request{"ExecuteStatement", body}
}

// statements generates a batch or a transaction of statements.
func (g *generator) statements(t *table) request {
	op, members := "BatchExecuteStatement", "Statements"
	if g.chance(50) {
		op, members = "ExecuteTransaction", "TransactStatements"
	}
	var all list
	reads := g.chance(50)
	for range g.r.IntN(3) + 1 {
		s := &statement{g: g, t: t}
		one := object{}
		if reads != g.mistake(5) {
			one["Statement"] = g.typos("SELECT " + s.columns() + " FROM " + t.name + " WHERE " + s.key())
		} else {
			one["Statement"] = g.typos(pick(g, s.insert, s.update, s.remove)())
		}
		if s.parameters != nil {
			one["Parameters"] = s.parameters
		}
		all = append(all, one)
	}
	return request{op, object{members: all}}
}

// from returns the table, or rarely one of its indexes.
func (s *statement) from() string {
	g := s.g
	quoted := `"` + s.t.name + `"`
	if len(s.t.indexes) > 0 && g.chance(30) {
		return quoted + `."` + pick(g, s.t.indexes...).name + `"`
	}
	return pick(g, quoted, s.t.name)
}

func (s *statement) selects() string {
	g := s.g
	text := "SELECT " + s.columns() + " FROM " + s.from()
	switch {
	case g.chance(50):
		text += " WHERE " + s.key()
		if g.chance(30) {
			text += pick(g, " AND ", " OR ") + s.condition(1)
		}
	case g.chance(60):
		text += " WHERE " + s.condition(2)
	}
	if g.chance(8) {
		text += " ORDER BY " + pick(g, append(slices.Clone(s.t.keys), "a")...) + pick(g, "", " DESC", " ASC")
	}
	return text
}

func (s *statement) columns() string {
	g := s.g
	if g.chance(60) {
		return "*"
	}
	text := s.path()
	for g.chance(40) {
		text += ", " + s.path()
	}
	return text
}

func (s *statement) insert() string {
	g := s.g
	item := g.item(s.t)
	return "INSERT INTO " + pick(g, s.t.name, `"`+s.t.name+`"`) + " VALUE " + s.object(item)
}

func (s *statement) update() string {
	g := s.g
	text := "UPDATE " + pick(g, s.t.name, `"`+s.t.name+`"`)
	for more := true; more; more = g.chance(30) {
		switch g.r.IntN(6) {
		case 0:
			text += " REMOVE " + s.path()
		case 1:
			text += " SET " + s.path() + " = " + s.path() + pick(g, " + ", " - ") + s.value(g.scalar("N"))
		case 2:
			path := s.path()
			text += " SET " + path + " = " + pick(g, "set_add", "list_append", "set_delete") + "(" + path + ", " + s.value(g.value(1)) + ")"
		default:
			text += " SET " + s.path() + " = " + s.value(g.value(1))
		}
	}
	text += " WHERE " + s.key()
	if g.chance(25) {
		text += " AND " + s.condition(1)
	}
	if g.chance(25) {
		text += " RETURNING " + pick(g, "ALL", "MODIFIED") + pick(g, " OLD *", " NEW *")
	}
	return text
}

func (s *statement) remove() string {
	g := s.g
	text := "DELETE FROM " + pick(g, s.t.name, `"`+s.t.name+`"`) + " WHERE " + s.key()
	if g.chance(25) {
		text += " AND " + s.condition(1)
	}
	if g.chance(25) {
		text += " RETURNING ALL OLD *"
	}
	return text
}

// key returns a condition on the whole key, rarely on less.
func (s *statement) key() string {
	g := s.g
	var conditions []string
	for _, name := range s.t.keys {
		if !g.mistake(4) {
			conditions = append(conditions, name+" = "+s.value(g.keyValue(s.t.types[name])))
		}
	}
	if conditions == nil {
		return s.condition(1)
	}
	return strings.Join(conditions, " AND ")
}

func (s *statement) path() string {
	g := s.g
	name := pick(g, append(slices.Clone(attributes), s.t.keys...)...)
	if strings.Contains(name, ".") || name == "name" || g.chance(30) {
		name = `"` + name + `"`
	}
	for g.chance(12) {
		name += pick(g, ".a", ".b", "[0]", "[1]")
	}
	return name
}

func (s *statement) condition(depth int) string {
	g := s.g
	if depth > 0 && g.chance(30) {
		switch g.r.IntN(4) {
		case 0:
			return "NOT " + s.condition(depth-1)
		case 1:
			return "(" + s.condition(depth-1) + ")"
		default:
			return s.condition(depth-1) + pick(g, " AND ", " OR ") + s.condition(depth-1)
		}
	}
	switch g.r.IntN(8) {
	case 0:
		return s.path() + pick(g, " IS MISSING", " IS NOT MISSING", " IS NULL", " IS NOT NULL")
	case 1:
		return "begins_with(" + s.path() + ", " + s.value(g.scalar("S")) + ")"
	case 2:
		return "contains(" + s.path() + ", " + s.value(g.value(0)) + ")"
	case 3:
		return s.path() + " BETWEEN " + s.value(g.scalar("N")) + " AND " + s.value(g.scalar("N"))
	case 4:
		return s.path() + " IN [" + s.value(g.scalar("S")) + ", " + s.value(g.scalar("N")) + "]"
	case 5:
		return "size(" + s.path() + ") " + pick(g, "=", ">") + " " + s.value(g.scalar("N"))
	default:
		return s.path() + " " + pick(g, "=", "=", "<>", "!=", "<", "<=", ">", ">=") + " " + s.value(g.value(1))
	}
}

// value writes a value as a literal or as a parameter. DynamoDB Local fails on parameters in lists and maps.
func (s *statement) value(v object) string {
	if s.depth == 0 && s.g.chance(40) {
		s.parameters = append(s.parameters, v)
		return "?"
	}
	return s.literal(v)
}

func (s *statement) object(members object) string {
	names := slices.Sorted(maps.Keys(members))
	for i, name := range names {
		names[i] = "'" + name + "' : " + s.value(members[name].(object)) //nolint:forcetypeassert // items hold values
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// literal writes a value as a PartiQL literal. Binary values have no literal: they become a parameter, or a string where
// parameters are not possible.
func (s *statement) literal(v object) string {
	for kind, inner := range v {
		switch kind {
		case "S":
			return "'" + strings.ReplaceAll(inner.(string), "'", "''") + "'" //nolint:forcetypeassert // generated
		case "N":
			return inner.(string) //nolint:forcetypeassert // generated
		case "BOOL":
			return compact(inner)
		case "NULL":
			return "NULL"
		case "SS", "NS":
			var texts []string
			for _, element := range inner.(list) { //nolint:forcetypeassert // generated
				texts = append(texts, s.literal(object{kind[:1]: element}))
			}
			return "<<" + strings.Join(texts, ", ") + ">>"
		case "L":
			s.depth++
			defer func() { s.depth-- }()
			var texts []string
			for _, element := range inner.(list) { //nolint:forcetypeassert // generated
				texts = append(texts, s.value(element.(object))) //nolint:forcetypeassert // generated
			}
			return "[" + strings.Join(texts, ", ") + "]"
		case "M":
			s.depth++
			defer func() { s.depth-- }()
			return s.object(inner.(object)) //nolint:forcetypeassert // generated
		}
	}
	if s.depth > 0 {
		return "'bytes'"
	}
	s.parameters = append(s.parameters, v)
	return "?"
}
