package api

import (
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// effect is a part of the outputs of operations that read or write, as their statements say.
type effect struct{ reads bool }

// SetReads says that the operation has changed nothing.
func (e *effect) SetReads(reads bool) { e.reads = reads }

// Reads reports whether the operation has changed nothing.
func (e *effect) Reads() bool { return e.reads }

// ExecuteStatementInput executes one statement of PartiQL.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ExecuteStatement.html
type ExecuteStatementInput struct {
	Statement *string `required:"true" min:"1" max:"8192"`
	// Parameters are the values of the statement's question marks, in their order.
	Parameters     []attr.Value `min:"1"`
	ConsistentRead *bool
	// NextToken is that of the page before, of the same statement and parameters.
	NextToken              *string `min:"1" max:"32768"`
	ReturnConsumedCapacity *string `enum:"INDEXES|TOTAL|NONE"`
	// Limit counts the items that are evaluated, before the filter.
	Limit                               *int64  `integer:"32" min:"1"`
	ReturnValuesOnConditionCheckFailure *string `enum:"ALL_OLD|NONE"`
}

// ExecuteStatementOutput is the output of ExecuteStatement: of a SELECT, one page.
type ExecuteStatementOutput struct {
	lent
	effect
	// Items are those of a SELECT, or what RETURNING asks for; never nil.
	Items []itemenc.Item
	// NextToken is nil on the last page.
	NextToken        *string
	ConsumedCapacity *ConsumedCapacity
	LastEvaluatedKey attr.Item
}

// BatchExecuteStatementInput executes up to 25 statements, each by itself: all read one item, or all write one.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchExecuteStatement.html
type BatchExecuteStatementInput struct {
	Statements             []BatchStatementRequest `required:"true" min:"1" max:"25"`
	ReturnConsumedCapacity *string                 `enum:"INDEXES|TOTAL|NONE"`
}

// BatchStatementRequest is one statement of a batch.
type BatchStatementRequest struct {
	Statement                           *string      `required:"true" min:"1" max:"8192"`
	Parameters                          []attr.Value `min:"1"`
	ConsistentRead                      *bool
	ReturnValuesOnConditionCheckFailure *string `enum:"ALL_OLD|NONE"`

	refused error
}

// Refuse records why the sender may not execute the statement. The others of the batch are executed.
func (r *BatchStatementRequest) Refuse(why error) { r.refused = why }

// Refused returns why the sender may not execute the statement, or nil.
func (r *BatchStatementRequest) Refused() error { return r.refused }

// BatchExecuteStatementOutput is the output of BatchExecuteStatement.
type BatchExecuteStatementOutput struct {
	effect
	// Responses are in the order of the request's Statements.
	Responses        []BatchStatementResponse
	ConsumedCapacity []ConsumedCapacity
}

// BatchStatementResponse is what became of one statement.
type BatchStatementResponse struct {
	Error     *BatchStatementError
	TableName *string
	// Item is the item that the statement selects or returns, if any.
	Item itemenc.Item
}

// BatchStatementError is why one statement of a batch failed.
type BatchStatementError struct {
	Code    *string
	Message *string
	// Item is the current item, if the statement has ALL_OLD and its condition failed.
	Item itemenc.Item
}

// ExecuteTransactionInput executes up to 100 statements as one transaction: all read one item, or all write one.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ExecuteTransaction.html
type ExecuteTransactionInput struct {
	TransactStatements []ParameterizedStatement `required:"true" min:"1" max:"100"`
	// ClientRequestToken makes writes idempotent for ten minutes.
	ClientRequestToken     *string `min:"1" max:"36"`
	ReturnConsumedCapacity *string `enum:"INDEXES|TOTAL|NONE"`
}

// ParameterizedStatement is one statement of a transaction.
type ParameterizedStatement struct {
	Statement                           *string      `required:"true" min:"1" max:"8192"`
	Parameters                          []attr.Value `min:"1"`
	ReturnValuesOnConditionCheckFailure *string      `enum:"ALL_OLD|NONE"`
}

// ExecuteTransactionOutput is the output of ExecuteTransaction.
type ExecuteTransactionOutput struct {
	effect
	// Responses are in the order of the request's statements if these read; a transaction that writes has none.
	Responses        []ItemResponse
	ConsumedCapacity []ConsumedCapacity
}
