package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/transfer"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// CancelBulkOperation ends a bulk operation before its next batch. Items that it has already put remain.
func (e *Engine) CancelBulkOperation(ctx context.Context, in *api.CancelBulkOperationInput) (*api.CancelBulkOperationOutput, error) {
	x, err := e.findTransfer(ctx, transfer.Bulk, *in.BulkOperationArn)
	if err != nil {
		return nil, err
	}
	err = e.store.Update(ctx, kv.Intent{Write: [][]byte{x.Key()}, Frees: true}, func(txn kv.Txn) error {
		now, err := transfer.Read(txn, transfer.Bulk, x.ID)
		switch {
		case err != nil:
			return err
		case now == nil:
			return apierr.BulkNotFound.With(*in.BulkOperationArn)
		case !now.UnderWay():
			return apierr.BulkOver.With(now.Status)
		}
		now.Status = transfer.Cancelling
		return now.Save(txn)
	})
	if err != nil {
		return nil, err
	}
	return &api.CancelBulkOperationOutput{BulkOperationArn: in.BulkOperationArn, BulkOperationStatus: new(transfer.Cancelling)}, nil
}
