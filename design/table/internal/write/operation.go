package write

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// Operation is the part of a request that concerns one item.
type Operation struct {
	Kind  operationKind
	role  role
	of    *effect // its source
	Table *schema.Table
	// noun describes it in errors that count operations: "create of Order".
	noun string
	// Item is the item to put, or the key for an update, delete or check.
	Item      schema.Item
	Update    string
	Condition string
	names     map[string]string
	values    schema.Item
	// marker is the marker that is taken or released.
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

// role determines the meaning of a failed condition.
type role uint8

const (
	ownItem     role = iota // the change fails, or its item is not as it was read
	relatedItem             // a copy or marker does not match its item: the item must be read again
	occupying               // another item has the place of a new copy
	taking                  // a marker is taken
	releasing               // a marker belongs to another item by now
	missingItem             // an item that did not exist, and need not be deleted, now exists
)

// identity identifies the item.
func (o *Operation) identity() string { return o.Table.IdentityOf(o.Item) }

// keeps sets the condition with the names and values that it shares with the update.
func (o *Operation) keeps(x *expression, conditions ...string) {
	o.Condition = conjunction(conditions...)
	o.names, o.values = x.names, x.values
}

// Text is a pointer to an expression of a request, nil if it is empty.
func Text(expression string) *string {
	if expression == "" {
		return nil
	}
	return aws.String(expression)
}

// RequestNames are the names for a request; nil instead of empty, which is invalid.
func (o *Operation) RequestNames() map[string]string {
	if len(o.names) == 0 {
		return nil
	}
	return o.names
}

// RequestValues are the values for a request; nil instead of empty, which is invalid.
func (o *Operation) RequestValues() schema.Item {
	if len(o.values) == 0 {
		return nil
	}
	return o.values
}

// TransactItem is the operation in a transaction.
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
			break // a transaction cannot update nothing, so only the condition is checked
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

// BatchItem is the operation in a batch, which has no conditions.
func (o *Operation) BatchItem() types.WriteRequest {
	if o.Kind == Deleting {
		return types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: o.Item}}
	}
	return types.WriteRequest{PutRequest: &types.PutRequest{Item: o.Item}}
}

// Line is the line from which the operation results.
func (o *Operation) Line() int { return o.of.line }

// Identity identifies the item.
func (o *Operation) Identity() string { return o.identity() }
