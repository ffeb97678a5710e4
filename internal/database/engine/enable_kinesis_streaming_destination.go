package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// EnableKinesisStreamingDestination delivers a table's changes from now on to a Kinesis data stream. A table has at most one
// active destination.
func (e *Engine) EnableKinesisStreamingDestination(ctx context.Context, in *api.EnableKinesisStreamingDestinationInput) (*api.EnableKinesisStreamingDestinationOutput, error) {
	if err := checkKinesisARN(*in.StreamArn); err != nil {
		return nil, err
	}
	var status string
	d, err := e.changeDestinations(ctx, *in.TableName, apierr.DestinationNotDisabled.With(), func(txn kv.Txn, d *catalog.Descriptor, now time.Time) error {
		settling := slices.ContainsFunc(d.Destinations, func(x catalog.Destination) bool { return now.UnixMilli() < x.SettledAt })
		if d.Destination() != nil || settling {
			return apierr.DestinationNotDisabled.With()
		}
		if e.options.OnDeliveries == nil {
			return apierr.NoDelivery.With()
		}
		d.Destinations = slices.DeleteFunc(d.Destinations, func(x catalog.Destination) bool { return x.StreamARN == *in.StreamArn })
		if n := len(d.Destinations); n >= destinationsMax {
			d.Destinations = d.Destinations[n-destinationsMax+1:]
		}
		x := catalog.Destination{
			StreamARN: *in.StreamArn, Enabled: true, Precision: enableConfiguration(in.EnableKinesisStreamingConfiguration), From: txn.LogSeq() - 1,
		}
		status = e.settleDestination(&x, now)
		d.Destinations = append(d.Destinations, x)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &api.EnableKinesisStreamingDestinationOutput{
		TableName: &d.Name, StreamArn: in.StreamArn, DestinationStatus: &status,
		EnableKinesisStreamingConfiguration: cmp.Or(in.EnableKinesisStreamingConfiguration, &api.EnableKinesisStreamingConfiguration{}),
	}, nil
}
