package engine_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
)

// streamDirective runs the directives on streams:
//
//	stream table           reads the table's latest stream to its end, shard by shard, and prints the records in short form
//	iterator table shard=0 type=TRIM_HORIZON [seq=N] [at=T]
//	                       gets an iterator in the shard with that index; it is the script's iterator until the next
//	records [limit=N]      reads from the script's iterator and prints the whole records; the next iterator replaces it
//	reshard n              replaces each open shard by n children
func (s *script) streamDirective(ctx context.Context, d *datadriven.TestData) (string, error) {
	switch d.Cmd {
	case "stream":
		return s.readStream(ctx, argument(d))
	case "iterator":
		return "", s.getIterator(ctx, d)
	case "records":
		return s.getRecords(ctx, d)
	default:
		pieces, err := strconv.Atoi(argument(d))
		if err != nil {
			return "", err
		}
		return "", s.engine.Reshard(ctx, pieces)
	}
}

func (s *script) latestStream(ctx context.Context, table string) (*api.StreamDescription, error) {
	described, err := s.engine.DescribeTable(ctx, &api.DescribeTableInput{TableName: &table})
	if err != nil {
		return nil, err
	}
	out, err := s.engine.DescribeStream(ctx, &api.DescribeStreamInput{StreamArn: described.Table.LatestStreamArn})
	if err != nil {
		return nil, err
	}
	return out.StreamDescription, nil
}

func (s *script) readStream(ctx context.Context, table string) (string, error) {
	stream, err := s.latestStream(ctx, table)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, shard := range stream.Shards {
		got, err := s.engine.GetShardIterator(ctx, &api.GetShardIteratorInput{
			StreamArn: stream.StreamArn, ShardId: shard.ShardId, ShardIteratorType: new("TRIM_HORIZON"),
		})
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "shard %d, %s\n", i, lineage(stream.Shards, &shard))
		for next := got.ShardIterator; next != nil; {
			page, err := s.engine.GetRecords(ctx, &api.GetRecordsInput{ShardIterator: next})
			if err != nil {
				return "", err
			}
			for i := range page.Records {
				printRecord(&b, &page.Records[i])
			}
			if next = page.NextShardIterator; len(page.Records) == 0 && next != nil {
				break
			}
		}
	}
	return b.String(), nil
}

func lineage(shards []api.Shard, shard *api.Shard) string {
	state := "open"
	if shard.SequenceNumberRange.EndingSequenceNumber != nil {
		state = "closed"
	}
	if shard.ParentShardId == nil {
		return state
	}
	for i := range shards {
		if *shards[i].ShardId == *shard.ParentShardId {
			return fmt.Sprintf("child of %d, %s", i, state)
		}
	}
	return "parent gone, " + state
}

func printRecord(b *strings.Builder, r *api.Record) {
	by := ""
	if r.UserIdentity != nil {
		by = fmt.Sprintf(" by %s %s", *r.UserIdentity.Type, *r.UserIdentity.PrincipalId)
	}
	fmt.Fprintf(b, "  %s %s: %s → %s, %d bytes%s\n", *r.EventName, printItem(r.Dynamodb.Keys), printItem(r.Dynamodb.OldImage),
		printItem(r.Dynamodb.NewImage), *r.Dynamodb.SizeBytes, by)
}

func (s *script) getIterator(ctx context.Context, d *datadriven.TestData) error {
	stream, err := s.latestStream(ctx, argument(d))
	if err != nil {
		return err
	}
	in := &api.GetShardIteratorInput{StreamArn: stream.StreamArn}
	for _, a := range d.CmdArgs[1:] {
		switch value := a.Vals[0]; a.Key {
		case "shard":
			i, err := strconv.Atoi(value)
			if err != nil || i >= len(stream.Shards) {
				return fmt.Errorf("there is no shard %s", value)
			}
			in.ShardId = stream.Shards[i].ShardId
		case "type":
			in.ShardIteratorType = &value
		case "seq":
			in.SequenceNumber = &value
		case "at":
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return err
			}
			in.Timestamp = new(api.Timestamp(seconds))
		}
	}
	out, err := s.engine.GetShardIterator(ctx, in)
	if err != nil {
		return err
	}
	s.iterator = out.ShardIterator
	return nil
}

func (s *script) getRecords(ctx context.Context, d *datadriven.TestData) (string, error) {
	in := &api.GetRecordsInput{ShardIterator: s.iterator}
	if d.HasArg("limit") {
		limit, err := strconv.ParseInt(d.CmdArgs[0].Vals[0], 10, 64)
		if err != nil {
			return "", err
		}
		in.Limit = &limit
	}
	out, err := s.engine.GetRecords(ctx, in)
	if err != nil {
		return "", err
	}
	more := "no more iterators\n"
	if s.iterator = out.NextShardIterator; s.iterator != nil {
		more = ""
	}
	out.NextShardIterator = nil
	response, err := wire.Append(nil, out)
	return pretty(response) + "\n" + more, err
}
