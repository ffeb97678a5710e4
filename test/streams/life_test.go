package streams

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable"
)

// TestExpired tests that the record of an expired item says so, with the values that AWS documents for filters.
func TestExpired(t *testing.T) {
	d := inMemory(t, monotable.Options{})
	arn := d.create(t, "Sessions")
	_, err := d.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String("Sessions"),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{Enabled: aws.Bool(true), AttributeName: aws.String("exp")},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Sessions"), Item: map[string]types.AttributeValue{
		"id":  &types.AttributeValueMemberS{Value: "s"},
		"exp": &types.AttributeValueMemberN{Value: "1795176060"}, // a minute after the clock's start
	}})
	if err != nil {
		t.Fatal(err)
	}
	d.clock.advance(2 * time.Minute)
	it, err := d.iterator(t, arn, 0, streamtypes.ShardIteratorTypeTrimHorizon)
	if err != nil {
		t.Fatal(err)
	}
	var all []streamtypes.Record
	eventually(t, func() bool {
		var records []streamtypes.Record
		records, it = d.records(t, it)
		all = append(all, records...)
		return len(all) >= 2
	})
	put, removed := all[0], all[1]
	if put.UserIdentity != nil || put.EventName != streamtypes.OperationTypeInsert {
		t.Errorf("the put: %+v", put)
	}
	if u := removed.UserIdentity; u == nil || *u.Type != "Service" || *u.PrincipalId != "dynamodb.amazonaws.com" {
		t.Errorf("the expiry's identity: %+v", u)
	}
	if r := removed; r.EventName != streamtypes.OperationTypeRemove || *r.EventSource != "aws:dynamodb" || *r.EventVersion != "1.1" ||
		*r.AwsRegion != "us-east-1" || r.Dynamodb.NewImage != nil || len(r.Dynamodb.OldImage) != 2 ||
		!r.Dynamodb.ApproximateCreationDateTime.Equal(d.clock.now().Truncate(time.Second)) {
		t.Errorf("the expiry: %+v", r)
	}
}

// TestTrimmed tests that records can be read for a day, and iterators used for a quarter of an hour.
func TestTrimmed(t *testing.T) {
	d := inMemory(t, monotable.Options{StreamShardRotation: -1})
	arn := d.create(t, "Counters")
	d.countUp(t, "Counters", "a")
	first, err := d.iterator(t, arn, 0, streamtypes.ShardIteratorTypeTrimHorizon)
	if err != nil {
		t.Fatal(err)
	}
	records, _ := d.records(t, first)
	d.clock.advance(15*time.Minute + time.Second)
	_, err = d.streams.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: first})
	refused(t, err, "ExpiredIteratorException")

	d.clock.advance(23*time.Hour + 40*time.Minute)
	d.countUp(t, "Counters", "a")
	old, err := d.iterator(t, arn, 0, streamtypes.ShardIteratorTypeTrimHorizon)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := d.records(t, old); len(got) != 2 {
		t.Errorf("%d records before a day has passed", len(got))
	}
	d.clock.advance(10 * time.Minute)
	_, err = d.streams.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: old})
	refused(t, err, "TrimmedDataAccessException")
	_, err = d.iterator(t, arn, 0, streamtypes.ShardIteratorTypeAtSequenceNumber, func(in *dynamodbstreams.GetShardIteratorInput) {
		in.SequenceNumber = records[0].Dynamodb.SequenceNumber
	})
	refused(t, err, "TrimmedDataAccessException")
	now, err := d.iterator(t, arn, 0, streamtypes.ShardIteratorTypeTrimHorizon)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := d.records(t, now); len(got) != 1 {
		t.Errorf("%d records after a day", len(got))
	}
	at, err := d.iterator(t, arn, 0, streamtypes.ShardIteratorTypeAtTimestamp, func(in *dynamodbstreams.GetShardIteratorInput) {
		in.Timestamp = aws.Time(d.clock.now().Add(-48 * time.Hour))
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := d.records(t, at); len(got) != 1 {
		t.Errorf("%d records from two days ago on", len(got))
	}
	_, err = d.streams.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: aws.String("x")})
	refused(t, err, "ValidationException")
	_, err = d.streams.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: now, Limit: aws.Int32(1001)})
	refused(t, err, "LimitExceededException")
}

// TestDisabledAndDeleted reads a disabled stream to its end, together with one that is enabled after it, and both after the
// table is deleted, for a day.
func TestDisabledAndDeleted(t *testing.T) {
	d := inMemory(t, monotable.Options{})
	first := d.create(t, "Counters")
	d.countUp(t, "Counters", "a")
	d.clock.advance(time.Hour)
	d.update(t, &types.StreamSpecification{StreamEnabled: aws.Bool(false)})
	d.countUp(t, "Counters", "a")
	second := d.update(t, streamOn())
	if *first == *second {
		t.Error("the stream that is enabled later is the same")
	}
	d.countUp(t, "Counters", "a")
	d.clock.advance(time.Hour)
	if _, err := d.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("Counters")}); err != nil {
		t.Fatal(err)
	}
	for _, stream := range []*string{first, second} {
		it, err := d.iterator(t, stream, 0, streamtypes.ShardIteratorTypeTrimHorizon)
		if err != nil {
			t.Fatal(err)
		}
		if got, next := d.records(t, it); len(got) != 1 || next != nil {
			t.Errorf("%s has %d records, next %v", *stream, len(got), next)
		}
		out, err := d.streams.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: stream})
		if err != nil || out.StreamDescription.StreamStatus != streamtypes.StreamStatusDisabled || len(out.StreamDescription.KeySchema) != 1 {
			t.Errorf("%+v, %v", out, err)
		}
	}
	third := d.create(t, "Counters") // another table with the same name
	if got := d.list(t, "Counters"); len(got) != 3 || got[0] != *first || got[1] != *second || got[2] != *third {
		t.Errorf("streams %v", got)
	}
	d.clock.advance(24*time.Hour - time.Second)
	if got := d.list(t, ""); len(got) != 2 {
		t.Errorf("a day after the first was disabled: %v", got)
	}
	d.clock.advance(time.Second)
	if got := d.list(t, ""); len(got) != 1 || got[0] != *third {
		t.Errorf("a day after the table was deleted: %v", got)
	}
	_, err := d.streams.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: second})
	refused(t, err, "ResourceNotFoundException")
}

// update changes the stream of the counters' table and returns the ARN of the latest one.
func (d *database) update(t *testing.T, s *types.StreamSpecification) *string {
	t.Helper()
	out, err := d.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: aws.String("Counters"), StreamSpecification: s})
	if err != nil {
		t.Fatal(err)
	}
	return out.TableDescription.LatestStreamArn
}

// list returns the ARNs of a table's streams, or of all, in pages of one.
func (d *database) list(t *testing.T, table string) (arns []string) {
	t.Helper()
	in := &dynamodbstreams.ListStreamsInput{Limit: aws.Int32(1)}
	if table != "" {
		in.TableName = &table
	}
	for {
		out, err := d.streams.ListStreams(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range out.Streams {
			arns = append(arns, *s.StreamArn)
		}
		if in.ExclusiveStartStreamArn = out.LastEvaluatedStreamArn; in.ExclusiveStartStreamArn == nil {
			return arns
		}
	}
}
