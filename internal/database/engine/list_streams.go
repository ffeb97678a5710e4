package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

// streamsPage is the maximum number of streams or shards in a response.
const streamsPage = 100

// ListStreams lists the streams of a table, or of all, in bytewise order of table names and labels. Disabled streams and those of
// deleted tables are listed for a day.
func (e *Engine) ListStreams(ctx context.Context, in *api.ListStreamsInput) (*api.ListStreamsOutput, error) {
	var afterTable, afterLabel string
	if in.ExclusiveStartStreamArn != nil {
		var err error
		if afterTable, afterLabel, err = e.catalog.ParseStreamARN(*in.ExclusiveStartStreamArn); err != nil {
			return nil, err
		}
	}
	all, err := e.streams(ctx)
	if err != nil {
		return nil, err
	}
	limit := pageLimit(in.Limit)
	out := &api.ListStreamsOutput{Streams: []api.Stream{}}
	for _, s := range all {
		if in.TableName != nil && s.TableName != *in.TableName || compareStreams(afterTable, afterLabel, s) >= 0 {
			continue
		}
		if len(out.Streams) == limit {
			out.LastEvaluatedStreamArn = out.Streams[limit-1].StreamArn
			break
		}
		arn := e.catalog.StreamARN(s.TableName, s.Label)
		out.Streams = append(out.Streams, api.Stream{StreamArn: &arn, TableName: &s.TableName, StreamLabel: &s.Label})
	}
	return out, nil
}

func pageLimit(limit *int64) int {
	if limit == nil {
		return streamsPage
	}
	return int(min(*limit, streamsPage))
}
