package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/monotable/monotable/internal/database/bucket"
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/transfer"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// The kinds of output of a bulk operation.
const (
	reportError     = "ERROR"
	reportCondition = "CONDITION_CHECK_FAILURE"
)

// StartBulkPutItems puts the items in a bucket's objects into a table in the background, each under its own condition.
func (e *Engine) StartBulkPutItems(ctx context.Context, in *api.StartBulkPutItemsInput) (*api.StartBulkPutItemsOutput, error) {
	if err := e.checkBulk(in); err != nil {
		return nil, err
	}
	x, err := e.newTransfer(transfer.Bulk, in, in.ClientToken)
	if err != nil {
		return nil, err
	}
	err = e.beginBulk(ctx, *in.TableName, x)
	if repeated, ok := errors.AsType[*repeatedError](err); ok {
		x, err = repeated.earlier, nil
	} else if err == nil {
		defer e.jobs.startTransfer(x)
	}
	if err != nil {
		return nil, err
	}
	shown := *x // the background work changes the record
	description, err := e.describeBulk(&shown)
	return &api.StartBulkPutItemsOutput{BulkOperationDescription: description}, err
}

// checkBulk checks everything that depends on the request alone.
func (e *Engine) checkBulk(in *api.StartBulkPutItemsInput) error {
	from, to := in.InputS3Configuration, in.OutputS3Configuration
	prefix, types := valueOf(from.S3KeyPrefix), to.OutputType
	switch {
	case to.S3Bucket == nil:
		return apierr.BulkOutputMissing.With()
	case len(types) == 0, len(types) > 1 && len(slices.Compact(slices.Sorted(slices.Values(types)))) < len(types):
		return apierr.BulkOutputTypes.With()
	case to.S3SseKmsKeyId != nil && valueOf(to.S3SseAlgorithm) != "KMS":
		return apierr.KMSKeyWithoutKMS.With()
	case prefix != "" && bucket.CheckKey(prefix) != nil:
		return apierr.UnusableKey.With("S3KeyPrefix", prefix)
	case bucket.CheckKey(objectKey(valueOf(to.S3KeyPrefix), "x")) != nil:
		return apierr.UnusableKey.With("S3KeyPrefix", *to.S3KeyPrefix)
	case e.options.Buckets == nil:
		return apierr.NoBuckets.With()
	}
	return nil
}

// beginBulk writes the record of a bulk operation on a table.
func (e *Engine) beginBulk(ctx context.Context, table string, x *transfer.Record) error {
	if err := e.refuseRepeated(ctx, x); err != nil {
		return err
	}
	for {
		t, _, err := e.lookup(ctx, table)
		if err != nil {
			return err
		}
		for i := range t.Descriptor.Indexes {
			if state := t.Descriptor.Indexes[i].State; state == catalog.IndexAllocating || state == catalog.IndexBackfilling {
				return apierr.BulkTableNotActive.With(t.Name)
			}
		}
		x.Table, x.TableID, x.UUID, x.Put = t.Name, t.ID, t.Descriptor.UUID, &transfer.Put{}
		intent := transferIntent(x)
		intent.Check = [][]byte{keyenc.TableVersion(t.ID)}
		err = e.store.Update(ctx, intent, func(txn kv.Txn) error {
			if err := checkVersion(txn, t); err != nil {
				return err
			}
			return e.admit(txn, x)
		})
		if !errors.Is(err, errTableChanged) {
			return err
		}
		if err := e.catalog.Renew(ctx, t); err != nil {
			return err
		}
	}
}

// bulkRequest returns the request of a bulk operation.
func bulkRequest(x *transfer.Record) (*api.StartBulkPutItemsInput, error) {
	in := new(api.StartBulkPutItemsInput)
	if err := json.Unmarshal(x.Request, in); err != nil {
		return nil, fmt.Errorf("engine: request of bulk operation %s: %w", x.ID, err)
	}
	return in, nil
}

// describeBulk describes a bulk operation.
func (e *Engine) describeBulk(x *transfer.Record) (*api.BulkOperationDescription, error) {
	in, err := bulkRequest(x)
	if err != nil {
		return nil, err
	}
	from, tier := *in.InputS3Configuration, in.PerformanceTier
	if from.InputCompressionType == nil {
		from.InputCompressionType = new("NONE")
	}
	if tier == nil {
		tier = new("STANDARD")
	}
	d := &api.BulkOperationDescription{
		BulkOperationArn:      new(e.transferARN(x)),
		BulkOperationStatus:   &x.Status,
		TableDetails:          []api.BulkOperationTableDetail{{TableName: &x.Table, TableId: &x.UUID}},
		ClientToken:           in.ClientToken,
		InputS3Configuration:  &from,
		OutputS3Configuration: in.OutputS3Configuration,
		StartTime:             api.TimestampOf(x.Started),
		EndTime:               endTime(x),
		ProcessedItemCount:    &x.Processed,
		ProcessedInputBytes:   &x.Bytes,
		BulkOperationUsage:    []api.BulkOperationUsage{usageOf(x)},
		FailedItemCount:       &x.Errors,
		FailureCode:           textOrNil(x.FailureCode),
		FailureMessage:        textOrNil(x.FailureMessage),
		MaxWriteRequestUnits:  in.MaxWriteRequestUnits,
		PerformanceTier:       tier,
	}
	if x.Put.TotalBytes > 0 {
		d.TotalInputBytes = &x.Put.TotalBytes
	}
	return d, nil
}

// usageOf returns what a bulk operation has written.
func usageOf(x *transfer.Record) api.BulkOperationUsage {
	p := x.Put
	total := p.Bytes
	of := func(bytes map[string]int64) map[string]api.BulkOperationBytes {
		var all map[string]api.BulkOperationBytes
		for name, n := range bytes {
			if all == nil {
				all = map[string]api.BulkOperationBytes{}
			}
			all[name] = api.BulkOperationBytes{BulkPutBytes: &n}
			total += n
		}
		return all
	}
	usage := api.BulkOperationUsage{
		TableName: &x.Table, Table: &api.BulkOperationBytes{BulkPutBytes: &p.Bytes},
		LocalSecondaryIndexes: of(p.LocalBytes), GlobalSecondaryIndexes: of(p.GlobalBytes),
	}
	usage.BulkPutBytes = &total
	for name, n := range p.VectorBytes {
		if usage.VectorIndexes == nil {
			usage.VectorIndexes = map[string]api.BulkOperationVectorBytes{}
		}
		usage.VectorIndexes[name] = api.BulkOperationVectorBytes{BulkPutVectorBytes: &n}
	}
	return usage
}
