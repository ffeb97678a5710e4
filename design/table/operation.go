package table

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// operation is what a request does to one item.
type operation struct {
	kind  operationKind
	role  role
	of    *effect // from which it comes
	table *Table
	// noun says what it is about, for errors that count operations: "create of Order".
	noun string
	// item is what is put, and the key of what is updated, deleted or checked.
	item      Item
	update    string
	condition string
	names     map[string]string
	values    Item
	// marker is the one that is taken or given back.
	marker *Marker
}

type operationKind uint8

const (
	putting operationKind = iota
	updating
	deleting
	checking
)

// role is what an operation's refusal means.
type role uint8

const (
	itself    role = iota // the change is refused, or its item is not as it was read
	elsewhere             // a copy or marker is not as the item lets expect: the item must be read again
	occupying             // a new copy has another item's place
	taking                // a marker is taken
	releasing             // a marker is another item's by now
	nothing               // an item that was not there, and so needed not be deleted, has come
)

// identity tells the item apart from all others.
func (o *operation) identity() string { return o.table.identityOf(o.item) }

// keeps sets the condition with the names and values that it shares with the update.
func (o *operation) keeps(x *expression, conditions ...string) {
	o.condition = conjunction(conditions...)
	o.names, o.values = x.names, x.values
}

// text is an expression of a request, nil for none.
func text(expression string) *string {
	if expression == "" {
		return nil
	}
	return aws.String(expression)
}

// requestNames and requestValues are those of a request, in which they must not be empty.
func (o *operation) requestNames() map[string]string {
	if len(o.names) == 0 {
		return nil
	}
	return o.names
}

func (o *operation) requestValues() Item {
	if len(o.values) == 0 {
		return nil
	}
	return o.values
}

// transactItem is the operation as a part of a transaction.
func (o *operation) transactItem(table *string) types.TransactWriteItem {
	const old = types.ReturnValuesOnConditionCheckFailureAllOld
	condition, names, values := text(o.condition), o.requestNames(), o.requestValues()
	switch o.kind {
	case putting:
		return types.TransactWriteItem{Put: &types.Put{
			TableName: table, Item: o.item, ConditionExpression: condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			ReturnValuesOnConditionCheckFailure: old,
		}}
	case deleting:
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: table, Key: o.item, ConditionExpression: condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			ReturnValuesOnConditionCheckFailure: old,
		}}
	case updating:
		if o.update == "" {
			break // a transaction has no update of nothing: only the condition is asked
		}
		return types.TransactWriteItem{Update: &types.Update{
			TableName: table, Key: o.item, UpdateExpression: text(o.update), ConditionExpression: condition,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: old,
		}}
	default:
	}
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: table, Key: o.item, ConditionExpression: condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: old,
	}}
}
