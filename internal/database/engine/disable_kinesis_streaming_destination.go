package engine

import (
	"context"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// DisableKinesisStreamingDestination ends the delivery of a table's changes to a Kinesis data stream. Undelivered changes are
// dropped.
func (e *Engine) DisableKinesisStreamingDestination(ctx context.Context, in *api.DisableKinesisStreamingDestinationInput) (*api.DisableKinesisStreamingDestinationOutput, error) {
	if in.EnableKinesisStreamingConfiguration != nil {
		return nil, apierr.DestinationConfigured.With()
	}
	var status string
	d, err := e.changeDestinations(ctx, *in.TableName, apierr.DestinationNotActive.With(), func(_ kv.Txn, d *catalog.Descriptor, now time.Time) error {
		x := activeDestination(d, *in.StreamArn, now)
		if x == nil {
			return apierr.DestinationNotActive.With()
		}
		x.Enabled, x.Updated = false, false
		status = e.settleDestination(x, now)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &api.DisableKinesisStreamingDestinationOutput{
		TableName: &d.Name, StreamArn: in.StreamArn, DestinationStatus: &status,
	}, nil
}
