package api

import "github.com/monotable/monotable/internal/database/dynamo/itemenc"

// ListStreamsInput lists the streams of a table, or of all.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_ListStreams.html
type ListStreamsInput struct {
	TableName *string `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	Limit     *int64  `integer:"32" min:"1" max:"100"`
	// ExclusiveStartStreamArn is the LastEvaluatedStreamArn of the page before.
	ExclusiveStartStreamArn *string `min:"37" max:"1024"`
}

// ListStreamsOutput is one page: at most Limit streams, 100 by default.
type ListStreamsOutput struct {
	Streams []Stream
	// LastEvaluatedStreamArn is nil on the last page.
	LastEvaluatedStreamArn *string
}

// Stream is an entry of ListStreams. TableName and StreamLabel together permanently identify the stream.
type Stream struct {
	StreamArn   *string
	TableName   *string
	StreamLabel *string
}

// DescribeStreamInput asks for a stream and a page of its shards.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_DescribeStream.html
type DescribeStreamInput struct {
	StreamArn *string `required:"true" min:"37" max:"1024"`
	Limit     *int64  `integer:"32" min:"1" max:"100"`
	// ExclusiveStartShardId is the LastEvaluatedShardId of the page before.
	ExclusiveStartShardId *string `min:"28" max:"65"` //nolint:revive // the model's name
	ShardFilter           *ShardFilter
}

// ShardFilter restricts the response to the children of a shard.
type ShardFilter struct {
	Type    *string `enum:"CHILD_SHARDS"`
	ShardId *string `min:"28" max:"65"` //nolint:revive // the model's name
}

// DescribeStreamOutput has the description.
type DescribeStreamOutput struct {
	StreamDescription *StreamDescription
}

// StreamDescription is the current state of a stream. Its shards are in the order of opening, parents
// before their children.
type StreamDescription struct {
	StreamArn   *string
	StreamLabel *string
	// StreamStatus is ENABLING, ENABLED, DISABLING or DISABLED.
	StreamStatus            *string
	StreamViewType          *string
	CreationRequestDateTime *Timestamp
	TableName               *string
	KeySchema               []KeySchemaElement
	Shards                  []Shard
	LastEvaluatedShardId    *string //nolint:revive // the model's name
}

// Shard is a part of a stream.
type Shard struct {
	ShardId             *string //nolint:revive // the model's name
	SequenceNumberRange *SequenceNumberRange
	// ParentShardId may name a shard that is gone.
	ParentShardId *string //nolint:revive // the model's name
}

// SequenceNumberRange is the numbers that a shard's records can have; the end is absent while it is open.
type SequenceNumberRange struct {
	StartingSequenceNumber *string
	EndingSequenceNumber   *string
}

// GetShardIteratorInput asks for a position in a shard.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetShardIterator.html
type GetShardIteratorInput struct {
	StreamArn         *string `required:"true" min:"37" max:"1024"`
	ShardId           *string `required:"true" min:"28" max:"65"` //nolint:revive // the model's name
	ShardIteratorType *string `required:"true" enum:"AFTER_SEQUENCE_NUMBER|LATEST|AT_TIMESTAMP|AT_SEQUENCE_NUMBER|TRIM_HORIZON"`
	// SequenceNumber goes with AT_SEQUENCE_NUMBER and AFTER_SEQUENCE_NUMBER, Timestamp with AT_TIMESTAMP.
	SequenceNumber *string `min:"21" max:"40"`
	Timestamp      *Timestamp
}

// GetShardIteratorOutput has an iterator, which is good for 15 minutes.
type GetShardIteratorOutput struct {
	ShardIterator *string
}

// GetRecordsInput reads records from a position on.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetRecords.html
type GetRecordsInput struct {
	ShardIterator *string `required:"true" min:"1" max:"2048"`
	// Limit is at most 1000; more is a LimitExceededException, so the engine looks at it.
	Limit *int64 `integer:"32" min:"1"`
}

// GetRecordsOutput is one page, which may be empty though others follow.
type GetRecordsOutput struct {
	Records []Record
	// NextShardIterator is nil when the shard is closed and read to its end.
	NextShardIterator *string
}

// Record is one change of one item.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_Record.html
type Record struct {
	EventID *string `as:"eventID"`
	// EventName is INSERT, MODIFY or REMOVE.
	EventName    *string       `as:"eventName"`
	EventVersion *string       `as:"eventVersion"`
	EventSource  *string       `as:"eventSource"`
	AwsRegion    *string       `as:"awsRegion"`
	Dynamodb     *StreamRecord `as:"dynamodb"`
	// UserIdentity is present if the item expired, not if a client made the change.
	UserIdentity *Identity `as:"userIdentity"`
}

// StreamRecord is a record's view of the item, by the stream's view type.
type StreamRecord struct {
	// ApproximateCreationDateTime is in whole seconds.
	ApproximateCreationDateTime *Timestamp
	Keys                        itemenc.Item
	NewImage                    itemenc.Item
	OldImage                    itemenc.Item
	SequenceNumber              *string
	// SizeBytes is the size of Keys, NewImage and OldImage together.
	SizeBytes      *int64
	StreamViewType *string
}

// Identity is the author of a change.
type Identity struct {
	PrincipalId *string //nolint:revive // the model's name
	Type        *string
}
