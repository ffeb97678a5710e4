package access

import (
	"encoding/base64"
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// The values of Select.
const (
	selectAll       = "ALL_ATTRIBUTES"
	selectProjected = "ALL_PROJECTED_ATTRIBUTES"
	selectSpecific  = "SPECIFIC_ATTRIBUTES"
	selectCount     = "COUNT"
)

const none = "NONE"

func valueOr(text *string, otherwise string) string {
	if text == nil {
		return otherwise
	}
	return *text
}

// keyText returns a key's value as written in policies: base64 for a binary one.
func keyText(v attr.Value) (text string, ok bool) {
	if v.Kind() == attr.KindBinary {
		return base64.StdEncoding.EncodeToString([]byte(v.Text())), true
	}
	return v.Text(), v.Kind().IsKey()
}

func (f *facts) key1(v attr.Value) {
	text, ok := keyText(v)
	f.keys, f.everyKey = append(f.keys, text), f.everyKey || !ok
}

// item adds an item, or an item's key: its partition key and the names of its attributes.
func (f *facts) item(t *catalog.Table, it attr.Item) {
	for _, field := range it {
		f.attributes = append(f.attributes, field.Name)
	}
	if t == nil {
		f.everyKey = true
		return
	}
	if v, ok := it.Get(t.PK.Name); ok {
		f.key1(v)
	} else {
		f.everyKey = true
	}
}

// expressions are the expressions of a request, or of a part of one.
type expressions struct {
	names                                 map[string]string
	values                                attr.Item
	projection, condition, filter, update *string
	keyCondition, search                  *string
	attributesToGet                       []string
	expected                              map[string]api.ExpectedAttributeValue
	filters, keyConditions                map[string]api.Condition
	updates                               map[string]api.AttributeValueUpdate
}

// read adds the attributes of all expressions, and returns the clauses of the key condition. An invalid expression will be
// rejected later; until then it may name anything.
func (f *facts) read(x *expressions) []eval.KeyPredicate {
	clauses, err := f.bound(x)
	if err != nil {
		f.everyKey, f.everyAttribute = true, true
	}
	f.attributes = append(f.attributes, x.attributesToGet...)
	f.attributes = slices.AppendSeq(f.attributes, maps.Keys(x.expected))
	f.attributes = slices.AppendSeq(f.attributes, maps.Keys(x.filters))
	f.attributes = slices.AppendSeq(f.attributes, maps.Keys(x.updates))
	if x.keyConditions != nil && clauses == nil {
		if clauses, err = eval.LowerKeyConditions(x.keyConditions); err != nil {
			f.everyKey, f.everyAttribute = true, true
		}
	}
	for _, c := range clauses {
		f.attributes = append(f.attributes, c.Name)
	}
	return clauses
}

func (f *facts) bound(x *expressions) (clauses []eval.KeyPredicate, err error) {
	b, err := eval.NewBinder(x.names, x.values)
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		text    *string
		surface expr.Surface
	}{{x.condition, expr.Condition}, {x.filter, expr.Filter}} {
		if c.text == nil {
			continue
		}
		bound, err := b.Condition(c.surface, *c.text)
		if err != nil {
			return nil, err
		}
		f.attributes = append(f.attributes, bound.Attributes()...)
	}
	if x.update != nil {
		bound, err := b.Update(*x.update)
		if err != nil {
			return nil, err
		}
		f.attributes = append(f.attributes, bound.Attributes()...)
	}
	if x.projection != nil {
		bound, err := b.Projection(*x.projection)
		if err != nil {
			return nil, err
		}
		f.attributes = append(f.attributes, bound.Attributes()...)
	}
	if x.search != nil {
		return f.searched(b, *x.search)
	}
	if x.keyCondition != nil {
		return b.KeyCondition(*x.keyCondition)
	}
	return nil, nil
}

// searched adds the attributes of a search's condition, and returns its required equalities, including that on the partition key.
func (f *facts) searched(b *eval.Binder, text string) (clauses []eval.KeyPredicate, err error) {
	bound, err := b.SearchCondition(text)
	if err != nil {
		return nil, err
	}
	f.attributes = append(f.attributes, bound.Attributes()...)
	for _, c := range bound.Clauses {
		if c.Pinned {
			clauses = append(clauses, eval.KeyPredicate{Name: c.Name, Op: eval.Equal, Values: c.Values})
		}
	}
	return clauses, nil
}

// write is the write or the condition check of an item.
type write struct {
	action         string
	table          *string
	item           attr.Item // or its key
	returns, shows *string   // ReturnValues, ReturnValuesOnConditionCheckFailure
	expressions
}

func (c *call) write(w *write, consumed *string, enclosing string) need {
	n := need{action: w.action, resource: c.resource(*w.table)}
	n.facts = facts{consumed: valueOr(consumed, none), enclosing: enclosing, returns: []string{valueOr(w.returns, none)}}
	if w.shows != nil {
		n.facts.returns = append(n.facts.returns, *w.shows)
	}
	t := n.resource.table
	n.facts.bind = func(f *facts) {
		f.item(t, w.item)
		f.read(&w.expressions)
		for _, r := range f.returns {
			if r == "ALL_OLD" || r == "ALL_NEW" {
				f.everyAttribute = true
			}
		}
	}
	return n
}

func (c *call) putItem() []need {
	in := c.in.(*api.PutItemInput)
	return []need{c.write(&write{
		action: "PutItem", table: in.TableName, item: in.Item, returns: in.ReturnValues, shows: in.ReturnValuesOnConditionCheckFailure,
		expressions: expressions{
			names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues, condition: in.ConditionExpression, expected: in.Expected,
		},
	}, in.ReturnConsumedCapacity, "")}
}

func (c *call) updateItem() []need {
	in := c.in.(*api.UpdateItemInput)
	return []need{c.write(&write{
		action: "UpdateItem", table: in.TableName, item: in.Key, returns: in.ReturnValues, shows: in.ReturnValuesOnConditionCheckFailure,
		expressions: expressions{
			names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues, condition: in.ConditionExpression, update: in.UpdateExpression,
			expected: in.Expected, updates: in.AttributeUpdates,
		},
	}, in.ReturnConsumedCapacity, "")}
}

func (c *call) deleteItem() []need {
	in := c.in.(*api.DeleteItemInput)
	return []need{c.write(&write{
		action: "DeleteItem", table: in.TableName, item: in.Key, returns: in.ReturnValues, shows: in.ReturnValuesOnConditionCheckFailure,
		expressions: expressions{
			names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues, condition: in.ConditionExpression, expected: in.Expected,
		},
	}, in.ReturnConsumedCapacity, "")}
}

func (c *call) transactWrite() []need {
	in := c.in.(*api.TransactWriteItemsInput)
	var needs []need
	add := func(w write) { needs = append(needs, c.write(&w, in.ReturnConsumedCapacity, c.operation)) }
	for i := range in.TransactItems {
		item := &in.TransactItems[i]
		if x := item.ConditionCheck; x != nil {
			add(write{
				action: "ConditionCheckItem", table: x.TableName, item: x.Key, shows: x.ReturnValuesOnConditionCheckFailure,
				expressions: expressions{names: x.ExpressionAttributeNames, values: x.ExpressionAttributeValues, condition: x.ConditionExpression},
			})
		}
		if x := item.Put; x != nil {
			add(write{
				action: "PutItem", table: x.TableName, item: x.Item, shows: x.ReturnValuesOnConditionCheckFailure,
				expressions: expressions{names: x.ExpressionAttributeNames, values: x.ExpressionAttributeValues, condition: x.ConditionExpression},
			})
		}
		if x := item.Delete; x != nil {
			add(write{
				action: "DeleteItem", table: x.TableName, item: x.Key, shows: x.ReturnValuesOnConditionCheckFailure,
				expressions: expressions{names: x.ExpressionAttributeNames, values: x.ExpressionAttributeValues, condition: x.ConditionExpression},
			})
		}
		if x := item.Update; x != nil {
			add(write{
				action: "UpdateItem", table: x.TableName, item: x.Key, shows: x.ReturnValuesOnConditionCheckFailure,
				expressions: expressions{
					names: x.ExpressionAttributeNames, values: x.ExpressionAttributeValues, condition: x.ConditionExpression, update: x.UpdateExpression,
				},
			})
		}
	}
	return needs
}

func (c *call) batchWrite() []need {
	in := c.in.(*api.BatchWriteItemInput)
	var needs []need
	for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
		n := need{action: c.operation, resource: c.resource(name), facts: facts{consumed: valueOr(in.ReturnConsumedCapacity, none)}}
		t := n.resource.table
		n.facts.bind = func(f *facts) {
			for _, w := range in.RequestItems[name] {
				if w.PutRequest != nil {
					f.item(t, w.PutRequest.Item)
				}
				if w.DeleteRequest != nil {
					f.item(t, w.DeleteRequest.Key)
				}
			}
		}
		needs = append(needs, n)
	}
	return needs
}

// get is the read of items by their keys.
func (c *call) get(action, table string, keys []attr.Item, consumed *string, enclosing string, x expressions) need {
	n := need{action: action, resource: c.resource(table), facts: facts{consumed: valueOr(consumed, none), enclosing: enclosing, selects: selectSpecific}}
	whole := x.projection == nil && x.attributesToGet == nil
	if whole {
		n.facts.selects = selectAll
	}
	t := n.resource.table
	n.facts.bind = func(f *facts) {
		for _, key := range keys {
			f.item(t, key)
		}
		f.read(&x)
		f.everyAttribute = f.everyAttribute || whole
	}
	return n
}

func (c *call) getItem() []need {
	in := c.in.(*api.GetItemInput)
	return []need{c.get("GetItem", *in.TableName, []attr.Item{in.Key}, in.ReturnConsumedCapacity, "", expressions{
		names: in.ExpressionAttributeNames, projection: in.ProjectionExpression, attributesToGet: in.AttributesToGet,
	})}
}

func (c *call) batchGet() []need {
	in := c.in.(*api.BatchGetItemInput)
	var needs []need
	for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
		k := in.RequestItems[name]
		needs = append(needs, c.get("BatchGetItem", name, k.Keys, in.ReturnConsumedCapacity, "", expressions{
			names: k.ExpressionAttributeNames, projection: k.ProjectionExpression, attributesToGet: k.AttributesToGet,
		}))
	}
	return needs
}

func (c *call) transactGet() []need {
	in := c.in.(*api.TransactGetItemsInput)
	var needs []need
	for _, item := range in.TransactItems {
		if g := item.Get; g != nil {
			needs = append(needs, c.get("GetItem", *g.TableName, []attr.Item{g.Key}, in.ReturnConsumedCapacity, c.operation, expressions{
				names: g.ExpressionAttributeNames, projection: g.ProjectionExpression,
			}))
		}
	}
	return needs
}

// page is the read of a table or an index. Without key conditions it reads all of it.
func (c *call) page(table string, index, selects, consumed *string, x expressions) need {
	n := need{action: c.operation, resource: c.resource(table).index(index), facts: facts{consumed: valueOr(consumed, none)}}
	otherwise := selectAll
	switch {
	case x.projection != nil || x.attributesToGet != nil:
		otherwise = selectSpecific
	case index != nil:
		otherwise = selectProjected
	}
	n.facts.selects = valueOr(selects, otherwise)
	t := n.resource.table
	n.facts.bind = func(f *facts) {
		clauses := f.read(&x)
		if t == nil {
			f.everyKey, f.everyAttribute = true, true
			return
		}
		leading := f.position(t, index)
		named := false
		for _, k := range clauses {
			if k.Name == leading && k.Op == eval.Equal && leading != "" {
				f.key1(k.Values[0])
				named = true
			}
		}
		f.everyKey = f.everyKey || !named
		f.returned(t, index)
	}
	return n
}

// position adds the attributes of LastEvaluatedKey, and those that scores reveal. It returns the first attribute of the source's
// partition key, or "".
func (f *facts) position(t *catalog.Table, index *string) (leading string) {
	f.attributes = append(f.attributes, t.PK.Name)
	if t.SK.Name != "" {
		f.attributes = append(f.attributes, t.SK.Name)
	}
	if index == nil {
		return t.PK.Name
	}
	x := t.Index(*index)
	if x == nil {
		return ""
	}
	for _, k := range slices.Concat(x.PK, x.SK) {
		f.attributes = append(f.attributes, k.Name)
	}
	if x.Vector != nil {
		f.attributes = append(f.attributes, x.Vector.Attribute)
	}
	if len(x.PK) == 0 {
		return ""
	}
	return x.PK[0].Name
}

// returned adds the attributes of a page in addition to those that the request names.
func (f *facts) returned(t *catalog.Table, index *string) {
	switch f.selects {
	case selectSpecific, selectCount:
		return
	case selectProjected:
		if index != nil {
			if x := t.Index(*index); x != nil && !x.All {
				f.attributes = append(f.attributes, x.Projected...)
				return
			}
		}
	}
	f.everyAttribute = true
}

func (c *call) query() []need {
	in := c.in.(*api.QueryInput)
	return []need{c.page(*in.TableName, in.IndexName, in.Select, in.ReturnConsumedCapacity, expressions{
		names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues, projection: in.ProjectionExpression, filter: in.FilterExpression,
		keyCondition: in.KeyConditionExpression, attributesToGet: in.AttributesToGet, filters: in.QueryFilter, keyConditions: in.KeyConditions,
	})}
}

func (c *call) scan() []need {
	in := c.in.(*api.ScanInput)
	return []need{c.page(*in.TableName, in.IndexName, in.Select, in.ReturnConsumedCapacity, expressions{
		names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues, projection: in.ProjectionExpression, filter: in.FilterExpression,
		attributesToGet: in.AttributesToGet, filters: in.ScanFilter,
	})}
}

// search compares all vectors of the index, or of the partition that its condition names.
func (c *call) search() []need {
	in := c.in.(*api.SearchVectorsInput)
	return []need{c.page(*in.TableName, in.IndexName, nil, in.ReturnConsumedCapacity, expressions{
		names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues, projection: in.ProjectionExpression, search: in.SearchConditionExpression,
	})}
}
