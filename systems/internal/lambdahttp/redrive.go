package lambdahttp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/consumer"
)

// failedBatch is Lambda's message about a failed batch. It has the location of the records, but not the records.
// https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
type failedBatch struct {
	Batch struct {
		Stream string `json:"streamArn"`
		Shard  string `json:"shardId"`
		First  string `json:"startSequenceNumber"`
		Last   string `json:"endSequenceNumber"`
	} `json:"DDBStreamBatchInfo"`
}

// emptyPages limits the number of consecutive empty pages before the end of a batch, because an open shard always has a next
// page.
const emptyPages = 20

// Errors for unusable messages about failed batches.
var (
	errNoBatch   = errors.New("lambdahttp: the message is not about a failed batch of DynamoDB Streams")
	errTrimmed   = errors.New("lambdahttp: a stream keeps records for 24 hours: some or all records of the batch have expired")
	errNoEnd     = errors.New("lambdahttp: the shard has no record at the batch's end")
	errNoStreams = errors.New("lambdahttp: there is no client to read streams with")
)

// Redriving lets a Handler read the records of failed batches with a client.
func (h *Handler) Redriving(client consumer.Streams) *Handler {
	h.client = client
	return h
}

// redrive handles the batches that a queue's messages name. After an error all messages are redelivered, which handlers tolerate.
func (h *Handler) redrive(ctx context.Context, event events.SQSEvent) error {
	var faults []error
	for _, message := range event.Records {
		if err := h.again(ctx, message.Body); err != nil {
			faults = append(faults, fmt.Errorf("message %s: %w", message.MessageId, err))
		}
	}
	return errors.Join(faults...)
}

// again reads the records of a failed batch and passes them to the handlers, page by page. The range includes records that the
// function's filter had excluded. If the first records have expired, the remaining ones are handled, and the error is still
// returned.
func (h *Handler) again(ctx context.Context, body string) error {
	var failed failedBatch
	if err := json.Unmarshal([]byte(body), &failed); err != nil {
		return errors.Join(errNoBatch, err)
	}
	b := failed.Batch
	first, last := sequence(b.First), sequence(b.Last)
	switch {
	case b.Stream == "" || b.Shard == "" || first == nil || last == nil || first.Cmp(last) > 0:
		return errNoBatch
	case h.client == nil:
		return errNoStreams
	}
	if _, err := h.followers(b.Stream); err != nil {
		return err
	}
	at, gone, err := h.iterator(ctx, b.Stream, b.Shard, b.First)
	for empty := 0; err == nil; {
		page, failure := h.client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: at})
		if failure != nil {
			return fmt.Errorf("lambdahttp: %s of %s: %w", b.Shard, b.Stream, failure)
		}
		list, end, failure := until(page.Records, last)
		if len(list) > 0 {
			failure = cmp.Or(failure, h.handle(ctx, consumer.Batch{Stream: b.Stream, Shard: b.Shard, Records: list}))
		}
		if empty++; len(page.Records) > 0 {
			empty = 0
		}
		switch at = page.NextShardIterator; {
		case failure != nil:
			return failure
		case end:
			return gone
		case at == nil || empty > emptyPages:
			return cmp.Or(gone, errNoEnd)
		}
	}
	return err
}

// iterator starts at a record or, together with errTrimmed, at the first one remaining.
func (h *Handler) iterator(ctx context.Context, stream, shard, first string) (at *string, gone, err error) {
	in := &dynamodbstreams.GetShardIteratorInput{
		StreamArn: &stream, ShardId: &shard, ShardIteratorType: types.ShardIteratorTypeAtSequenceNumber, SequenceNumber: &first,
	}
	out, err := h.client.GetShardIterator(ctx, in)
	if _, trimmed := errors.AsType[*types.TrimmedDataAccessException](err); trimmed {
		gone = errTrimmed
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeTrimHorizon, nil
		out, err = h.client.GetShardIterator(ctx, in)
	}
	if _, closed := errors.AsType[*types.ResourceNotFoundException](err); closed {
		return nil, nil, errors.Join(errTrimmed, err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("lambdahttp: %s of %s: %w", shard, stream, err)
	}
	return out.ShardIterator, gone, nil
}

// until returns the records up to a sequence number, and whether it was reached.
func until(list []types.Record, last *big.Int) (before []types.Record, end bool, err error) {
	for i, r := range list {
		if r.Dynamodb == nil || r.Dynamodb.SequenceNumber == nil {
			return nil, false, errNoBatch
		}
		n := sequence(*r.Dynamodb.SequenceNumber)
		if n == nil {
			return nil, false, errNoBatch
		}
		switch n.Cmp(last) {
		case 0:
			return list[:i+1], true, nil
		case 1:
			return list[:i], true, nil
		}
	}
	return list, false, nil
}

// sequenceDigits is the maximum length of a sequence number.
const sequenceDigits = 40

// sequence parses a sequence number, and returns nil if it is invalid.
func sequence(text string) *big.Int {
	if len(text) == 0 || len(text) > sequenceDigits || text[0] < '0' || text[0] > '9' {
		return nil
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return nil
	}
	return n
}
