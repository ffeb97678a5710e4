package consumer_test

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/consumer"
)

const streamARN = "arn:aws:dynamodb:us-east-1:000000000000:table/t/stream/2026-11-21T12:00:00.000"

// stream is a stream as documented by AWS, with splits, faults and trimming controlled by a test.
type stream struct {
	mu       sync.Mutex
	shards   []*shard
	next     int // sequence number
	disabled bool
	pageSize int                     // of DescribeStream
	fault    func(call string) error // of the current call; nil for none
	calls    []string
	// emptyPages is the number of empty pages of GetRecords before one with records.
	emptyPages int
}

type shard struct {
	id, parent string
	first      int
	records    []types.Record
	closed     bool
	trimmed    int // number of trimmed records
	removed    bool
}

func newStream(shards int) *stream {
	s := &stream{next: 1, pageSize: 2}
	for range shards {
		s.open("")
	}
	return s
}

// sequence is a number as AWS forms them: 21 digits.
func sequence(n int) string { return fmt.Sprintf("1%020d", n) }

func (s *stream) open(parent string) *shard {
	h := &shard{id: fmt.Sprintf("shardId-%020d-%08x", len(s.shards), len(s.shards)), parent: parent, first: s.next}
	s.shards = append(s.shards, h)
	return h
}

// write appends a change of an item to an open shard and returns its sequence number.
func (s *stream) write(shard int, item string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	number := sequence(s.next)
	s.next++
	h := s.shards[shard]
	h.records = append(h.records, types.Record{
		EventID: aws.String(number), EventName: types.OperationTypeInsert,
		Dynamodb: &types.StreamRecord{
			SequenceNumber: &number, ApproximateCreationDateTime: aws.Time(time.Now().Truncate(time.Second)),
			Keys: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: item}},
		},
	})
	return number
}

// split closes a shard and opens n children; it returns the number of the first.
func (s *stream) split(shard, n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shards[shard].closed = true
	s.next++
	for range n {
		s.open(s.shards[shard].id)
	}
	return len(s.shards) - n
}

// trim forgets the first n records of a shard.
func (s *stream) trim(shard, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shards[shard].trimmed = n
}

// remove forgets a shard.
func (s *stream) remove(shard int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shards[shard].removed = true
}

// disable closes the stream and its open shards.
func (s *stream) disable() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disabled = true
	for _, h := range s.shards {
		h.closed = true
	}
}

// failNext makes the next n of those calls fail.
func (s *stream) failNext(n int, call string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = func(next string) error {
		if n > 0 && next == call {
			n--
			return err
		}
		return nil
	}
}

// begin notes a call; the caller holds the lock.
func (s *stream) begin(call string) error {
	s.calls = append(s.calls, call)
	if s.fault == nil {
		return nil
	}
	return s.fault(call)
}

func (s *stream) DescribeStream(_ context.Context, in *dynamodbstreams.DescribeStreamInput, _ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.begin("DescribeStream"); err != nil {
		return nil, err
	}
	out := &types.StreamDescription{StreamArn: in.StreamArn, StreamStatus: types.StreamStatusEnabled}
	if s.disabled {
		out.StreamStatus = types.StreamStatusDisabled
	}
	for _, h := range s.shards {
		if h.removed || h.id <= aws.ToString(in.ExclusiveStartShardId) {
			continue
		}
		if len(out.Shards) == s.pageSize {
			out.LastEvaluatedShardId = out.Shards[len(out.Shards)-1].ShardId
			break
		}
		listed := types.Shard{ShardId: &h.id, SequenceNumberRange: &types.SequenceNumberRange{StartingSequenceNumber: aws.String(sequence(h.first))}}
		if h.parent != "" {
			listed.ParentShardId = &h.parent
		}
		if h.closed {
			last := sequence(h.first)
			if n := len(h.records); n > 0 {
				last = *h.records[n-1].Dynamodb.SequenceNumber
			}
			listed.SequenceNumberRange.EndingSequenceNumber = &last
		}
		out.Shards = append(out.Shards, listed)
	}
	return &dynamodbstreams.DescribeStreamOutput{StreamDescription: out}, nil
}

func (s *stream) find(id string) (*shard, error) {
	for _, h := range s.shards {
		if h.id == id && !h.removed {
			return h, nil
		}
	}
	return nil, &types.ResourceNotFoundException{Message: aws.String("Requested resource not found: Shard does not exist")}
}

func (s *stream) GetShardIterator(_ context.Context, in *dynamodbstreams.GetShardIteratorInput, _ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.begin("GetShardIterator"); err != nil {
		return nil, err
	}
	h, err := s.find(*in.ShardId)
	if err != nil {
		return nil, err
	}
	at := h.trimmed
	switch in.ShardIteratorType {
	case types.ShardIteratorTypeLatest:
		at = len(h.records)
	case types.ShardIteratorTypeAtTimestamp:
		at = h.trimmed
		for at < len(h.records) && h.records[at].Dynamodb.ApproximateCreationDateTime.Before(*in.Timestamp) {
			at++
		}
	case types.ShardIteratorTypeAfterSequenceNumber:
		at = 0
		for at < len(h.records) && cmp.Compare(*h.records[at].Dynamodb.SequenceNumber, *in.SequenceNumber) <= 0 {
			at++
		}
		if at < h.trimmed {
			return nil, &types.TrimmedDataAccessException{}
		}
	case types.ShardIteratorTypeAtSequenceNumber: // only of the shard's first number
		if at > 0 {
			return nil, &types.TrimmedDataAccessException{}
		}
	default:
	}
	return &dynamodbstreams.GetShardIteratorOutput{ShardIterator: iteratorAt(h, at)}, nil
}

func iteratorAt(h *shard, at int) *string { return aws.String(h.id + ":" + strconv.Itoa(at)) }

func (s *stream) GetRecords(_ context.Context, in *dynamodbstreams.GetRecordsInput, _ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.begin("GetRecords"); err != nil {
		return nil, err
	}
	id, position, _ := strings.Cut(*in.ShardIterator, ":")
	h, err := s.find(id)
	if err != nil {
		return nil, err
	}
	at, err := strconv.Atoi(position)
	if err != nil {
		return nil, err
	}
	if at < h.trimmed {
		return nil, &types.TrimmedDataAccessException{}
	}
	end := min(at+int(*in.Limit), len(h.records))
	if s.emptyPages > 0 {
		s.emptyPages--
		end = at
	}
	out := &dynamodbstreams.GetRecordsOutput{Records: h.records[at:end]}
	if !h.closed || end < len(h.records) {
		out.NextShardIterator = iteratorAt(h, end)
	}
	return out, nil
}

// The SDK's client implements the interfaces.
var (
	_ consumer.Streams = (*dynamodbstreams.Client)(nil)
	_ consumer.Tables  = (*dynamodb.Client)(nil)
)
