package write

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// Operation is what a request does to one item.
type Operation struct {
	Kind  operationKind
	role  role
	of    *effect // from which it comes
	Table *schema.Table
	// noun says what it is about, for errors that count operations: "create of Order".
	noun string
	// Item is what is put, and the key of what is updated, deleted or checked.
	Item      schema.Item
	Update    string
	Condition string
	names     map[string]string
	values    schema.Item
	// marker is the one that is taken or given back.
	marker *schema.Marker
}

type operationKind uint8

// The kinds of operations.
const (
	Putting operationKind = iota
	updating
	Deleting
	Checking
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
func (o *Operation) identity() string { return o.Table.IdentityOf(o.Item) }

// keeps sets the condition with the names and values that it shares with the update.
func (o *Operation) keeps(x *expression, conditions ...string) {
	o.Condition = conjunction(conditions...)
	o.names, o.values = x.names, x.values
}

// Text is an expression of a request, nil for none.
func Text(expression string) *string {
	if expression == "" {
		return nil
	}
	return aws.String(expression)
}

// RequestNames are the names of a request, in which they must not be empty.
func (o *Operation) RequestNames() map[string]string {
	if len(o.names) == 0 {
		return nil
	}
	return o.names
}

// RequestValues are the values of a request, in which they must not be empty.
func (o *Operation) RequestValues() schema.Item {
	if len(o.values) == 0 {
		return nil
	}
	return o.values
}

// TransactItem is the operation as a part of a transaction.
func (o *Operation) TransactItem(table *string) types.TransactWriteItem {
	const old = types.ReturnValuesOnConditionCheckFailureAllOld
	condition, names, values := Text(o.Condition), o.RequestNames(), o.RequestValues()
	switch o.Kind {
	case Putting:
		return types.TransactWriteItem{Put: &types.Put{
			TableName: table, Item: o.Item, ConditionExpression: condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			ReturnValuesOnConditionCheckFailure: old,
		}}
	case Deleting:
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: table, Key: o.Item, ConditionExpression: condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			ReturnValuesOnConditionCheckFailure: old,
		}}
	case updating:
		if o.Update == "" {
			break // a transaction has no update of nothing: only the condition is asked
		}
		return types.TransactWriteItem{Update: &types.Update{
			TableName: table, Key: o.Item, UpdateExpression: Text(o.Update), ConditionExpression: condition,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: old,
		}}
	default:
	}
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: table, Key: o.Item, ConditionExpression: condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: old,
	}}
}

// BatchItem is the operation as a part of a batch, which asks no condition.
func (o *Operation) BatchItem() types.WriteRequest {
	if o.Kind == Deleting {
		return types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: o.Item}}
	}
	return types.WriteRequest{PutRequest: &types.PutRequest{Item: o.Item}}
}

// Line is the line that the operation comes from.
func (o *Operation) Line() int { return o.of.line }

// Identity tells the item apart from all others.
func (o *Operation) Identity() string { return o.identity() }
