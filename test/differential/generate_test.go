package differential

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// object and list are JSON values under construction.
type (
	object = map[string]any
	list   = []any
)

// generator generates the requests of one sequence. It remembers which tables it has requested, not whether they exist.
type generator struct {
	r      *rand.Rand
	tables []*table
	// clean sequences have no mistakes, so that long sequences make progress.
	clean bool
}

// table is a table as requested.
type table struct {
	name    string
	keys    []string
	types   map[string]string // types of the key attributes of the table and its indexes
	indexes []index
}

type index struct {
	name  string
	keys  []string
	local bool
}

// attributes are the names used by items and expressions; keys are among them.
var attributes = []string{"a", "b", "c", "d", "e", "m", "l", "s", "name", "x.y"}

func newGenerator(seed uint64) *generator {
	r := rand.New(rand.NewPCG(seed, 0))
	return &generator{r: r, clean: r.IntN(3) == 0}
}

func (g *generator) chance(percent int) bool { return g.r.IntN(100) < percent }

// mistake is like chance, for cases in which the request is invalid.
func (g *generator) mistake(percent int) bool { return !g.clean && g.chance(percent) }

func pick[T any](g *generator, from ...T) T { return from[g.r.IntN(len(from))] }

// sequence generates n requests, the first of which creates a table.
func (g *generator) sequence(n int) []request {
	requests := []request{g.createTable()}
	for len(requests) < n {
		q := g.request()
		if g.mistake(8) {
			q.body = g.corrupt(q.clone().body)
		}
		requests = append(requests, q)
	}
	return requests
}

func (g *generator) request() request {
	t := pick(g, g.tables...)
	switch w := g.r.IntN(100); {
	case w < 2:
		return g.createTable()
	case w < 5:
		return g.updateTable(t)
	case w < 6:
		return request{"DescribeTable", object{"TableName": t.name}}
	case w < 23:
		return g.putItem(t)
	case w < 43:
		return g.updateItem(t)
	case w < 49:
		return g.deleteItem(t)
	case w < 54:
		return g.getItem(t)
	case w < 64:
		return g.query(t)
	case w < 72:
		return g.scan(t)
	case w < 75:
		return g.batchGet(t)
	case w < 79:
		return g.batchWrite(t)
	case w < 85:
		return g.transactWrite(t)
	case w < 87:
		return g.transactGet(t)
	case w < 97:
		return g.executeStatement(t)
	default:
		return g.statements(t)
	}
}

// Tables.

func (g *generator) createTable() request {
	t := &table{name: pick(g, "Tab1", "Tab2"), types: map[string]string{}}
	t.keys = append(t.keys, g.keyName(t, "pk"))
	if g.chance(60) {
		t.keys = append(t.keys, g.keyName(t, "sk"))
	}
	body := object{"TableName": t.name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": keySchema(t.keys)}
	var locals, globals list
	for i := range g.r.IntN(3) {
		globals = append(globals, g.newIndex(t, "gsi"+strconv.Itoa(i), false))
	}
	if len(t.keys) == 2 {
		for i := range g.r.IntN(2) {
			locals = append(locals, g.newIndex(t, "lsi"+strconv.Itoa(i), true))
		}
	}
	if globals != nil {
		body["GlobalSecondaryIndexes"] = globals
	}
	if locals != nil {
		body["LocalSecondaryIndexes"] = locals
	}
	body["AttributeDefinitions"] = t.definitions()
	if g.chance(20) {
		delete(body, "BillingMode")
		body["ProvisionedThroughput"] = object{"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
		for _, x := range globals {
			x.(object)["ProvisionedThroughput"] = object{"ReadCapacityUnits": 5, "WriteCapacityUnits": 5} //nolint:forcetypeassert // made above
		}
	}
	q := request{"CreateTable", body}
	if len(g.tables) > 0 && g.mistake(50) {
		q = q.clone()
		q.body = g.corrupt(q.body)
	}
	if i := slices.IndexFunc(g.tables, func(other *table) bool { return other.name == t.name }); i < 0 {
		g.tables = append(g.tables, t)
	} // otherwise the table already exists
	return q
}

// keyName gives an attribute a type that a key can have.
func (g *generator) keyName(t *table, name string) string {
	if t.types[name] == "" {
		t.types[name] = pick(g, "S", "S", "S", "N", "N", "B")
	}
	return name
}

func keySchema(keys []string) list {
	schema := list{}
	for i, name := range keys {
		schema = append(schema, object{"AttributeName": name, "KeyType": []string{"HASH", "RANGE"}[min(i, 1)]})
	}
	return schema
}

func (t *table) definitions() list {
	definitions := list{}
	for _, name := range sorted(t.types) {
		definitions = append(definitions, object{"AttributeName": name, "AttributeType": t.types[name]})
	}
	return definitions
}

func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func (g *generator) newIndex(t *table, name string, isLocal bool) object {
	x := index{name: name, local: isLocal}
	if isLocal {
		x.keys = []string{t.keys[0], g.keyName(t, pick(g, "a", "b", "c"))}
	} else {
		x.keys = []string{g.keyName(t, pick(g, "a", "b", "c", t.keys[len(t.keys)-1]))}
		if second := pick(g, "", "d", "e", "pk"); second != "" && second != x.keys[0] {
			x.keys = append(x.keys, g.keyName(t, second))
		}
	}
	t.indexes = append(t.indexes, x)
	projection := object{"ProjectionType": pick(g, "ALL", "ALL", "KEYS_ONLY")}
	if g.chance(25) {
		projection = object{"ProjectionType": "INCLUDE", "NonKeyAttributes": list{"m", "name"}}
	}
	return object{"IndexName": name, "KeySchema": keySchema(x.keys), "Projection": projection}
}

func (g *generator) updateTable(t *table) request {
	body := object{"TableName": t.name}
	switch {
	case g.chance(60):
		before := len(t.indexes)
		created := g.newIndex(t, fmt.Sprintf("gsi%d", 2+g.r.IntN(2)), false)
		body["AttributeDefinitions"] = t.definitions()
		body["GlobalSecondaryIndexUpdates"] = list{object{"Create": created}}
		if slices.ContainsFunc(t.indexes[:before], func(x index) bool { return x.name == created["IndexName"] }) {
			t.indexes = t.indexes[:before]
		}
	case len(t.indexes) > 0:
		body["GlobalSecondaryIndexUpdates"] = list{object{"Delete": object{"IndexName": pick(g, t.indexes...).name}}}
	default:
		body["BillingMode"] = "PAY_PER_REQUEST"
	}
	return request{"UpdateTable", body}
}

// Items and values.

var (
	strs    = []string{"a", "b", "ab", "é", "0", "a.b", "longer text"}
	numbers = []string{"0", "1", "2", "-1", "1.5", "10", "1e2", "007", "-0.0", "1E-5", "12345678901234567890123456789012345678"}
	// badNumbers are invalid numbers.
	badNumbers = []string{"", "abc", "1e126", "1e-131", "123456789012345678901234567890123456789", "0x10", "1 ", "NaN", "--1"}
	binaries   = []string{"YQ==", "YWI=", "AA==", "/w=="}
)

// scalar returns a random value of a key type.
func (g *generator) scalar(kind string) object {
	var text string
	switch {
	case g.mistake(2):
		text = ""
	case kind == "N" && g.mistake(3):
		text = pick(g, badNumbers...)
	case kind == "N":
		text = pick(g, numbers...)
	case kind == "B":
		text = pick(g, binaries...)
	default:
		text = pick(g, strs...)
	}
	return object{kind: text}
}

// keyValue returns a random value for a key attribute, rarely of a wrong type. Keys often collide.
func (g *generator) keyValue(kind string) object {
	if g.mistake(3) {
		return g.value(1)
	}
	if g.chance(85) {
		return object{kind: map[string][]string{"S": {"a", "b"}, "N": {"1", "2"}, "B": {"YQ==", "YWI="}}[kind][g.r.IntN(2)]}
	}
	return g.scalar(kind)
}

// value returns a random attribute value with a maximum depth.
func (g *generator) value(depth int) object {
	kind := pick(g, "S", "S", "N", "N", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M")
	if depth == 0 && (kind == "L" || kind == "M") {
		kind = "S"
	}
	switch kind {
	case "BOOL":
		return object{"BOOL": g.chance(50)}
	case "NULL":
		return object{"NULL": !g.mistake(10)}
	case "SS", "NS", "BS":
		return object{kind: g.set(kind[:1])}
	case "L":
		elements := list{}
		for range g.r.IntN(5) {
			elements = append(elements, g.value(depth-1))
		}
		return object{"L": elements}
	case "M":
		members := object{}
		for range g.r.IntN(3) {
			members[pick(g, "a", "b", "x")] = g.value(depth - 1)
		}
		return object{"M": members}
	}
	return g.scalar(kind)
}

func (g *generator) set(kind string) list {
	texts := map[string]bool{}
	elements := list{}
	for range g.r.IntN(3) + 1 {
		text := g.scalar(kind)[kind].(string) //nolint:forcetypeassert // scalars are strings
		if !texts[text] || g.mistake(20) {
			elements = append(elements, text)
		}
		texts[text] = true
	}
	if g.mistake(4) {
		return list{}
	}
	return elements
}

func (g *generator) key(t *table) object {
	key := object{}
	for _, name := range t.keys {
		key[name] = g.keyValue(t.types[name])
	}
	if g.mistake(3) {
		delete(key, pick(g, t.keys...))
	}
	if g.mistake(3) {
		key[pick(g, attributes...)] = g.value(1)
	}
	return key
}

func (g *generator) item(t *table) object {
	item := g.key(t)
	for _, name := range sorted(t.types) {
		if !slices.Contains(t.keys, name) && g.chance(70) {
			item[name] = g.keyValue(t.types[name])
		}
	}
	for range g.r.IntN(5) {
		if name := pick(g, attributes...); t.types[name] == "" || g.mistake(5) {
			item[name] = g.value(2)
		}
	}
	return item
}

// Single items.

func (g *generator) putItem(t *table) request {
	body := object{"TableName": t.name, "Item": g.item(t)}
	g.maybeCondition(t, body)
	g.returns(body, "NONE", "ALL_OLD")
	return request{"PutItem", body}
}

func (g *generator) deleteItem(t *table) request {
	body := object{"TableName": t.name, "Key": g.key(t)}
	g.maybeCondition(t, body)
	g.returns(body, "NONE", "ALL_OLD")
	return request{"DeleteItem", body}
}

func (g *generator) updateItem(t *table) request {
	body := object{"TableName": t.name, "Key": g.key(t)}
	if g.chance(12) {
		updates := object{}
		for range g.r.IntN(3) + 1 {
			action := pick(g, "PUT", "PUT", "ADD", "DELETE")
			update := object{"Action": action}
			if action != "DELETE" || g.chance(50) {
				update["Value"] = g.value(1)
			}
			updates[pick(g, attributes...)] = update
		}
		updates["f"] = object{"Action": "PUT", "Value": object{"N": "1"}} // see onlyRemoves
		body["AttributeUpdates"] = updates
		if g.chance(30) {
			g.expected(t, body)
		}
	} else {
		s := newSubstitutions(g, t)
		g.update(s, body)
	}
	g.returns(body, "NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW")
	return request{"UpdateItem", body}
}

// update adds an update expression, and often a condition.
func (g *generator) update(s *substitutions, body object) {
	update := s.update()
	body["UpdateExpression"] = g.typos(update)
	if onlyRemoves(update) {
		body["ConditionExpression"] = "attribute_exists(" + s.t.keys[0] + ")"
	} else if g.chance(30) {
		body["ConditionExpression"] = g.typos(s.condition(2))
	}
	s.into(body)
}

// onlyRemoves reports whether an update has no effect on a missing item. DynamoDB Local then creates an item with only the key;
// AWS does not (AttributeValueUpdate in the API reference: "Nothing happens"). The responses do not show the difference.
func onlyRemoves(update string) bool {
	return !strings.Contains(update, "SET ") && !strings.Contains(update, "ADD ")
}

func (g *generator) returns(body object, choice ...string) {
	if g.chance(50) {
		body["ReturnValues"] = pick(g, choice...)
		if g.mistake(3) {
			body["ReturnValues"] = pick(g, "ALL_NEW", "UPDATED_OLD", "all_old", "")
		}
	}
	if g.chance(10) {
		body["ReturnValuesOnConditionCheckFailure"] = pick(g, "NONE", "ALL_OLD")
	}
	if g.chance(5) {
		body["ReturnConsumedCapacity"] = pick(g, "NONE", "TOTAL", "INDEXES")
	}
}

func (g *generator) maybeCondition(t *table, body object) {
	switch {
	case g.chance(25):
		s := newSubstitutions(g, t)
		body["ConditionExpression"] = g.typos(s.condition(2))
		s.into(body)
	case g.chance(8):
		g.expected(t, body)
	}
}

// expected adds legacy conditions, the predecessors of condition expressions.
func (g *generator) expected(t *table, body object) {
	conditions := object{}
	for range g.r.IntN(2) + 1 {
		name := pick(g, append(slices.Clone(attributes), t.keys...)...)
		switch g.r.IntN(3) {
		case 0:
			conditions[name] = object{"Exists": false}
		case 1:
			conditions[name] = object{"Value": g.value(0)}
		default:
			conditions[name] = g.comparison()
		}
	}
	body["Expected"] = conditions
	if g.chance(20) {
		body["ConditionalOperator"] = pick(g, "AND", "OR")
	}
}

// comparison returns a random condition of the legacy parameters.
func (g *generator) comparison() object {
	operator := pick(g, "EQ", "NE", "IN", "LE", "LT", "GE", "GT", "BETWEEN", "NOT_NULL", "NULL", "CONTAINS", "NOT_CONTAINS", "BEGINS_WITH")
	n := map[string]int{"BETWEEN": 2, "NOT_NULL": 0, "NULL": 0, "IN": 1 + g.r.IntN(2)}
	count, found := n[operator]
	if !found {
		count = 1
	}
	if g.mistake(8) {
		count = g.r.IntN(4)
	}
	kind := pick(g, "S", "N", "B")
	operands := list{}
	for range count {
		if g.mistake(10) {
			operands = append(operands, g.value(1))
		} else {
			operands = append(operands, g.scalar(kind))
		}
	}
	condition := object{"ComparisonOperator": operator}
	if len(operands) > 0 || g.chance(50) {
		condition["AttributeValueList"] = operands
	}
	return condition
}

func (g *generator) getItem(t *table) request {
	body := object{"TableName": t.name, "Key": g.key(t)}
	g.projection(t, body)
	if g.chance(30) {
		body["ConsistentRead"] = g.chance(50)
	}
	return request{"GetItem", body}
}

func (g *generator) projection(t *table, body object) {
	switch {
	case g.chance(30):
		s := newSubstitutions(g, t)
		body["ProjectionExpression"] = g.typos(s.projection())
		s.into(body)
	case g.chance(8):
		body["AttributesToGet"] = list{pick(g, attributes...), pick(g, append(slices.Clone(attributes), t.keys...)...)}
	}
}

// Queries and scans.

func (g *generator) query(t *table) request {
	body := object{"TableName": t.name}
	keys := g.source(t, body)
	s := newSubstitutions(g, t)
	if g.chance(88) {
		body["KeyConditionExpression"] = g.typos(s.keyCondition(keys))
		if g.chance(30) {
			body["FilterExpression"] = g.typos(s.condition(2))
		}
		if g.chance(20) {
			body["ProjectionExpression"] = g.typos(s.projection())
		}
		s.into(body)
	} else {
		g.keyConditions(t, body, keys)
	}
	if g.chance(30) {
		body["ScanIndexForward"] = g.chance(50)
	}
	g.page(t, body, keys)
	return request{"Query", body}
}

// keyConditions adds the legacy parameters that KeyConditionExpression and FilterExpression have replaced.
func (g *generator) keyConditions(t *table, body object, keys []string) {
	conditions := object{keys[0]: object{"ComparisonOperator": "EQ", "AttributeValueList": list{g.keyValue(t.types[keys[0]])}}}
	if len(keys) > 1 && g.chance(60) {
		conditions[keys[1]] = g.comparison()
	}
	body["KeyConditions"] = conditions
	if g.chance(30) {
		body["QueryFilter"] = object{pick(g, attributes...): g.comparison()}
	}
}

func (g *generator) scan(t *table) request {
	body := object{"TableName": t.name}
	keys := t.keys
	if g.chance(40) {
		keys = g.source(t, body)
	}
	switch {
	case g.chance(60):
		s := newSubstitutions(g, t)
		body["FilterExpression"] = g.typos(s.condition(3))
		if g.chance(20) {
			body["ProjectionExpression"] = g.typos(s.projection())
		}
		s.into(body)
	case g.chance(30):
		body["ScanFilter"] = object{pick(g, attributes...): g.comparison()}
	}
	g.page(t, body, keys)
	if g.chance(5) {
		body["Segment"], body["TotalSegments"] = g.r.IntN(3), g.r.IntN(3)+1
	}
	return request{"Scan", body}
}

// source chooses the table or one of its indexes, and returns its keys.
func (g *generator) source(t *table, body object) (keys []string) {
	if len(t.indexes) == 0 || g.chance(50) {
		if g.mistake(2) {
			body["IndexName"] = "gsi9"
		}
		return t.keys
	}
	x := pick(g, t.indexes...)
	body["IndexName"] = x.name
	return x.keys
}

func (g *generator) page(t *table, body object, keys []string) {
	if g.chance(15) {
		body["Limit"] = g.r.IntN(4)
	}
	if g.chance(15) {
		body["ConsistentRead"] = g.chance(50)
	}
	if g.chance(12) {
		body["Select"] = pick(g, "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES")
	}
	if g.chance(6) {
		start := g.key(t)
		for _, name := range keys {
			start[name] = g.keyValue(t.types[name])
		}
		body["ExclusiveStartKey"] = start
	}
}

// Several items.

func (g *generator) batchGet(t *table) request {
	var keys list
	for range g.r.IntN(3) + 1 {
		keys = append(keys, g.key(t))
	}
	if !g.mistake(15) {
		keys = distinct(keys)
	}
	one := object{"Keys": keys}
	g.projection(t, one)
	return request{"BatchGetItem", object{"RequestItems": object{t.name: one}}}
}

func distinct(keys list) list {
	seen := map[string]bool{}
	return slices.DeleteFunc(keys, func(key any) bool {
		text := compact(key)
		defer func() { seen[text] = true }()
		return seen[text]
	})
}

func (g *generator) batchWrite(t *table) request {
	var writes list
	for range g.r.IntN(3) + 1 {
		if g.chance(60) {
			writes = append(writes, object{"PutRequest": object{"Item": g.item(t)}})
		} else {
			writes = append(writes, object{"DeleteRequest": object{"Key": g.key(t)}})
		}
	}
	return request{"BatchWriteItem", object{"RequestItems": object{t.name: writes}}}
}

func (g *generator) transactWrite(t *table) request {
	var actions list
	for range g.r.IntN(3) + 1 {
		var q request
		kind := pick(g, "Put", "Update", "Delete", "ConditionCheck")
		switch kind {
		case "Put":
			q = request{body: object{"TableName": t.name, "Item": g.item(t)}}
		case "Update":
			s := newSubstitutions(g, t)
			body := object{"TableName": t.name, "Key": g.key(t)}
			g.update(s, body)
			q = request{body: body}
		default:
			q = request{body: object{"TableName": t.name, "Key": g.key(t)}}
		}
		if kind == "ConditionCheck" || kind != "Update" && g.chance(25) {
			s := newSubstitutions(g, t)
			body := q.body.(object) //nolint:forcetypeassert // made above
			body["ConditionExpression"] = g.typos(s.condition(1))
			s.into(body)
		}
		if g.chance(20) {
			q.body.(object)["ReturnValuesOnConditionCheckFailure"] = pick(g, "ALL_OLD", "NONE") //nolint:forcetypeassert // made above
		}
		actions = append(actions, object{kind: q.body})
	}
	body := object{"TransactItems": actions}
	if g.chance(10) {
		body["ClientRequestToken"] = pick(g, "one", "two")
	}
	return request{"TransactWriteItems", body}
}

func (g *generator) transactGet(t *table) request {
	var gets list
	for range g.r.IntN(3) + 1 {
		one := object{"TableName": t.name, "Key": g.key(t)}
		if g.chance(20) {
			s := newSubstitutions(g, t)
			one["ProjectionExpression"] = g.typos(s.projection())
			s.into(one)
		}
		gets = append(gets, object{"Get": one})
	}
	return request{"TransactGetItems", object{"TransactItems": gets}}
}

// corrupt changes one place of a body: a member is deleted, or gets an invalid value.
func (g *generator) corrupt(body any) any {
	places := 0
	walk(body, func(any) { places++ })
	at := g.r.IntN(places)
	return replace(body, &at, func(old any) (any, bool) {
		switch g.r.IntN(10) {
		case 0, 1, 2:
			return nil, false
		case 3:
			return nil, true
		case 4:
			return pick[any](g, "", 0, true, list{}, object{}), true
		case 5:
			return strings.Repeat("x", pick(g, 1, 256, 2049)), true
		case 6:
			return pick[any](g, -1, 0, 1, 101, 1.5, 1<<40), true
		case 7:
			return list{old, old}, true
		case 8:
			return pick[any](g, "HASH", "RANGE", "N", "S", "BOOL", "#n", ":v", "pk", "sk", "Tab1", "NoSuchTable"), true
		default:
			return object{"S": old}, true
		}
	})
}

// walk visits a value and everything in it.
func walk(v any, visit func(any)) {
	visit(v)
	switch v := v.(type) {
	case object:
		for _, inner := range v {
			walk(inner, visit)
		}
	case list:
		for _, inner := range v {
			walk(inner, visit)
		}
	}
}

// replace changes the value with index at, counting like walk but with names in order. change also reports whether to keep a
// member or element.
func replace(v any, at *int, change func(any) (any, bool)) any {
	*at--
	if *at < 0 {
		changed, _ := change(v)
		return changed
	}
	switch v := v.(type) {
	case object:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if *at == 0 {
				if changed, stays := change(v[name]); stays {
					v[name] = changed
				} else {
					delete(v, name)
				}
				*at = -1
				return v
			}
			v[name] = replace(v[name], at, change)
			if *at < 0 {
				return v
			}
		}
	case list:
		for i := range v {
			if *at == 0 {
				if changed, stays := change(v[i]); stays {
					v[i] = changed
				} else {
					v = slices.Delete(v, i, i+1)
				}
				*at = -1
				return v
			}
			v[i] = replace(v[i], at, change)
			if *at < 0 {
				return v
			}
		}
	}
	return v
}
