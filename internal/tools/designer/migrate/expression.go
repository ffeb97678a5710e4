package migrate

import (
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
)

// expressions collects the expressions of one action.
type expressions struct {
	names  map[string]string
	values map[string]types.AttributeValue
	set    []string
	remove []string
	conds  []string
}

func newExpressions() *expressions {
	return &expressions{names: map[string]string{}, values: map[string]types.AttributeValue{}}
}

func (x *expressions) path(steps ...string) string {
	out := make([]string, len(steps))
	for i, s := range steps {
		for alias, name := range x.names {
			if name == s {
				out[i] = alias
			}
		}
		if out[i] == "" {
			out[i] = "#n" + strconv.Itoa(len(x.names))
			x.names[out[i]] = s
		}
	}
	return strings.Join(out, ".")
}

func (x *expressions) value(v types.AttributeValue) string {
	alias := ":v" + strconv.Itoa(len(x.values))
	x.values[alias] = v
	return alias
}

// is requires an attribute to have a value; nil means absent.
func (x *expressions) is(name string, v types.AttributeValue) {
	if v == nil {
		x.conds = append(x.conds, "attribute_not_exists("+x.path(name)+")")
		return
	}
	x.conds = append(x.conds, x.path(name)+" = "+x.value(v))
}

func (x *expressions) exists(name string) {
	x.conds = append(x.conds, "attribute_exists("+x.path(name)+")")
}

// sameOwner requires a copy or marker to exist and to belong to the same item of an entity as when it was read.
func (x *expressions) sameOwner(t *table.Table, e *table.Entity, item table.Item) {
	x.exists(t.PK.Name)
	for _, name := range fieldsOf(e.Key) {
		attribute := fieldOf(e, name).Path[0]
		x.is(attribute, item[attribute])
	}
}

// as requires the item to exist with these attributes as they were read.
func (x *expressions) as(t *table.Table, item table.Item, attributes []string) {
	if item == nil {
		x.is(t.PK.Name, nil)
		return
	}
	x.exists(t.PK.Name)
	for _, name := range attributes {
		x.is(name, item[name])
	}
}

func (x *expressions) update() string {
	var out []string
	if len(x.set) > 0 {
		out = append(out, "SET "+strings.Join(x.set, ", "))
	}
	if len(x.remove) > 0 {
		out = append(out, "REMOVE "+strings.Join(x.remove, ", "))
	}
	return strings.Join(out, " ")
}

func (x *expressions) condition() *string {
	if len(x.conds) == 0 {
		return nil
	}
	return aws.String(strings.Join(x.conds, " AND "))
}

// bound are the values; nil if there are none, because DynamoDB rejects an empty map.
func (x *expressions) bound() map[string]types.AttributeValue {
	if len(x.values) == 0 {
		return nil
	}
	return x.values
}

func (x *expressions) aliases() map[string]string {
	if len(x.names) == 0 {
		return nil
	}
	return x.names
}

// itself is the update of an item or, if nothing in it changes, a check that it is unchanged since the
// read.
func (x *expressions) itself(name *string, key table.Item) types.TransactWriteItem {
	if update := x.update(); update != "" {
		return types.TransactWriteItem{Update: &types.Update{
			TableName: name, Key: key, UpdateExpression: &update, ConditionExpression: x.condition(), ExpressionAttributeNames: x.aliases(), ExpressionAttributeValues: x.bound(),
		}}
	}
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: name, Key: key, ConditionExpression: x.condition(), ExpressionAttributeNames: x.aliases(), ExpressionAttributeValues: x.bound(),
	}}
}

func (x *expressions) put(name *string, item table.Item) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName: name, Item: item, ConditionExpression: x.condition(), ExpressionAttributeNames: x.aliases(), ExpressionAttributeValues: x.bound(),
	}}
}

func (x *expressions) delete(name *string, key table.Item) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName: name, Key: key, ConditionExpression: x.condition(), ExpressionAttributeNames: x.aliases(), ExpressionAttributeValues: x.bound(),
	}}
}
