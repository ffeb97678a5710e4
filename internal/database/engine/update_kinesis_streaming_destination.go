package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// UpdateKinesisStreamingDestination changes the precision of timestamps in a destination's records.
func (e *Engine) UpdateKinesisStreamingDestination(ctx context.Context, in *api.UpdateKinesisStreamingDestinationInput) (*api.UpdateKinesisStreamingDestinationOutput, error) {
	c := in.UpdateKinesisStreamingConfiguration
	if c == nil || c.ApproximateCreationDateTimePrecision == nil {
		return nil, apierr.PrecisionMissing.With()
	}
	precision := *c.ApproximateCreationDateTimePrecision
	var status string
	d, err := e.changeDestinations(ctx, *in.TableName, nil, func(_ kv.Txn, d *catalog.Descriptor, now time.Time) error {
		x := activeDestination(d, *in.StreamArn, now)
		switch {
		case !d.HasDestination(*in.StreamArn):
			return apierr.DestinationUnknown.With(*in.StreamArn)
		case x == nil:
			return apierr.DestinationNotUpdatable.With(d.Name)
		}
		if cmp.Or(x.Precision, catalog.PrecisionMillisecond) == precision {
			return apierr.PrecisionUnchanged.With(precision, d.UUID, x.StreamARN)
		}
		x.Precision, x.Updated = precision, true
		status = e.settleDestination(x, now)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &api.UpdateKinesisStreamingDestinationOutput{
		TableName: &d.Name, StreamArn: in.StreamArn, DestinationStatus: &status, UpdateKinesisStreamingConfiguration: c,
	}, nil
}
