package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/schema"
	"github.com/monotable/monotable/internal/database/engine/stream"
)

// DescribeStream describes a stream and a page of its readable shards, parents first.
func (e *Engine) DescribeStream(ctx context.Context, in *api.DescribeStreamInput) (*api.DescribeStreamOutput, error) {
	if err := checkShardFilter(in.ShardFilter); err != nil {
		return nil, err
	}
	after := valueOf(in.ExclusiveStartShardId)
	if after != "" && !stream.ValidShardID(after) {
		return nil, apierr.InvalidShardID.With(after)
	}
	id, err := e.findStream(ctx, *in.StreamArn)
	if err != nil {
		return nil, err
	}
	s, _, err := e.streamState(ctx, id)
	if err != nil {
		return nil, err
	}
	shards := s.After(after)
	if f := in.ShardFilter; f != nil {
		shards = stream.ChildrenOf(*f.ShardId, shards)
	}
	status, view := string(s.Status(e.options.Now())), string(s.View)
	out := &api.StreamDescription{
		StreamArn: new(e.catalog.StreamARN(s.TableName, s.Label)), StreamLabel: &s.Label, StreamStatus: &status, StreamViewType: &view,
		CreationRequestDateTime: api.TimestampOf(s.Created), TableName: &s.TableName, KeySchema: schema.DescribeKeys(s.Keys),
	}
	if limit := pageLimit(in.Limit); len(shards) > limit {
		shards = shards[:limit]
		out.LastEvaluatedShardId = &shards[limit-1].ID
	}
	out.Shards = describeShards(shards)
	return &api.DescribeStreamOutput{StreamDescription: out}, nil
}

// checkShardFilter rejects a filter without one of its two members.
func checkShardFilter(f *api.ShardFilter) error {
	switch {
	case f == nil:
		return nil
	case f.Type == nil || f.ShardId == nil:
		return apierr.ShardFilterIncomplete.With()
	case !stream.ValidShardID(*f.ShardId):
		return apierr.InvalidShardID.With(*f.ShardId)
	default:
		return nil
	}
}

func describeShards(shards []stream.Shard) []api.Shard {
	out := make([]api.Shard, len(shards))
	for i := range shards {
		x := &shards[i]
		numbers := &api.SequenceNumberRange{StartingSequenceNumber: new(stream.SequenceNumber(x.Start))}
		if !x.Open() {
			numbers.EndingSequenceNumber = new(stream.SequenceNumber(x.Last()))
		}
		out[i] = api.Shard{ShardId: &x.ID, SequenceNumberRange: numbers}
		if x.Parent != "" {
			out[i].ParentShardId = &x.Parent
		}
	}
	return out
}
