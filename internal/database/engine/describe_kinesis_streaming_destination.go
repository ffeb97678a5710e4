package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

// DescribeKinesisStreamingDestination returns the current and former Kinesis destinations of a table.
func (e *Engine) DescribeKinesisStreamingDestination(ctx context.Context, in *api.DescribeKinesisStreamingDestinationInput) (*api.DescribeKinesisStreamingDestinationOutput, error) {
	d, err := e.find(ctx, *in.TableName)
	if err != nil {
		return nil, err
	}
	now := e.options.Now()
	out := &api.DescribeKinesisStreamingDestinationOutput{TableName: &d.Name, KinesisDataStreamDestinations: []api.KinesisDataStreamDestination{}}
	for i := range d.Destinations {
		x := &d.Destinations[i]
		out.KinesisDataStreamDestinations = append(out.KinesisDataStreamDestinations, api.KinesisDataStreamDestination{
			StreamArn: &x.StreamARN, DestinationStatus: new(x.Status(now)), ApproximateCreationDateTimePrecision: nonEmpty(x.Precision),
		})
	}
	return out, nil
}
