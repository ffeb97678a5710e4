package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/monotable/monotable/internal/database/bucket"
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/lines"
	"github.com/monotable/monotable/internal/database/engine/transfer"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// importLogGroup is where AWS logs errors in objects; this server writes them to its own log.
const importLogGroup = "arn:aws:logs:%s:%s:log-group:/aws-dynamodb/imports:*"

// ImportTable creates a table and fills it with the items in the objects of a bucket, in the background. The table is CREATING
// until the import is done.
func (e *Engine) ImportTable(ctx context.Context, in *api.ImportTableInput) (*api.ImportTableOutput, error) {
	if err := e.checkImport(in); err != nil {
		return nil, err
	}
	x, err := e.newTransfer(transfer.Import, in, in.ClientToken)
	if err != nil {
		return nil, err
	}
	begun, err := e.beginImport(ctx, in, x)
	if repeated, ok := errors.AsType[*repeatedError](err); ok {
		begun, err = repeated.earlier, nil
	} else if err == nil {
		defer e.jobs.startTransfer(begun)
	}
	if err != nil {
		return nil, err
	}
	shown := *begun // the background work changes the record
	description, err := e.describeImport(&shown)
	return &api.ImportTableOutput{ImportTableDescription: description}, err
}

// checkImport checks everything that depends on the request alone, except the table's definition.
func (e *Engine) checkImport(in *api.ImportTableInput) error {
	prefix := valueOf(in.S3BucketSource.S3KeyPrefix)
	switch {
	case *in.InputFormat != lines.CSV && in.InputFormatOptions != nil && in.InputFormatOptions.Csv != nil:
		return apierr.CSVOptionsOfOther.With(*in.InputFormat)
	case prefix != "" && bucket.CheckKey(prefix) != nil:
		return apierr.UnusableKey.With("S3KeyPrefix", prefix)
	}
	return nil
}

// beginImport creates the table together with the record of the import that fills it.
func (e *Engine) beginImport(ctx context.Context, in *api.ImportTableInput, x *transfer.Record) (*transfer.Record, error) {
	p := in.TableCreationParameters
	d, err := e.newDescriptor(&api.CreateTableInput{
		TableName: p.TableName, AttributeDefinitions: p.AttributeDefinitions, KeySchema: p.KeySchema,
		BillingMode: p.BillingMode, ProvisionedThroughput: p.ProvisionedThroughput, OnDemandThroughput: p.OnDemandThroughput,
		SSESpecification: p.SSESpecification, GlobalSecondaryIndexes: p.GlobalSecondaryIndexes, VectorIndexes: p.VectorIndexes,
	})
	if err != nil {
		return nil, err
	}
	if e.options.Buckets == nil {
		return nil, apierr.NoBuckets.With()
	}
	d.Importing = true
	x.Table, x.UUID, x.Imported = d.Name, d.UUID, &transfer.Imported{}
	err = e.catalog.CreateWith(ctx, d, transferIntent(x), func(txn kv.Txn) error {
		x.TableID = d.ID
		return e.admit(txn, x)
	})
	if known, ok := errors.AsType[*apierr.Error](err); ok && known.Code == apierr.ResourceInUseException {
		return nil, e.repeatedOr(ctx, x, apierr.TableExists.As(apierr.ResourceInUseException, d.Name))
	}
	if err == nil {
		e.spread(ctx, d, 0)
	}
	return x, err
}

// repeatedOr returns a repeatedError if an earlier request with the same token is creating the table, else err: once the table
// exists, AWS reports its name as taken to every request.
func (e *Engine) repeatedOr(ctx context.Context, x *transfer.Record, err error) error {
	var found *transfer.Record
	read := e.readLatest(ctx, func(r kv.Reader) (err error) {
		found, err = e.earlier(r, x)
		return err
	})
	switch {
	case read != nil:
		return read
	case found != nil && found.UnderWay():
		return &repeatedError{found}
	default:
		return err
	}
}

// importRequest returns the request of an import.
func importRequest(x *transfer.Record) (*api.ImportTableInput, error) {
	in := new(api.ImportTableInput)
	if err := json.Unmarshal(x.Request, in); err != nil {
		return nil, fmt.Errorf("engine: request of import %s: %w", x.ID, err)
	}
	return in, nil
}

// describeImport describes an import.
func (e *Engine) describeImport(x *transfer.Record) (*api.ImportTableDescription, error) {
	in, err := importRequest(x)
	if err != nil {
		return nil, err
	}
	return &api.ImportTableDescription{
		ImportArn:               new(e.transferARN(x)),
		ImportStatus:            &x.Status,
		TableArn:                new(e.catalog.TableARN(x.Table)),
		TableId:                 &x.UUID,
		ClientToken:             in.ClientToken,
		S3BucketSource:          in.S3BucketSource,
		ErrorCount:              &x.Errors,
		CloudWatchLogGroupArn:   new(e.importLogGroup()),
		InputFormat:             in.InputFormat,
		InputFormatOptions:      in.InputFormatOptions,
		InputCompressionType:    new(importCompression(in)),
		TableCreationParameters: in.TableCreationParameters,
		StartTime:               api.TimestampOf(x.Started),
		EndTime:                 endTime(x),
		ProcessedSizeBytes:      &x.Bytes,
		ProcessedItemCount:      &x.Processed,
		ImportedItemCount:       &x.Items,
		FailureCode:             textOrNil(x.FailureCode),
		FailureMessage:          textOrNil(x.FailureMessage),
	}, nil
}

func (e *Engine) importLogGroup() string {
	return fmt.Sprintf(importLogGroup, e.options.Region, e.options.AccountID)
}

func importCompression(in *api.ImportTableInput) string {
	if in.InputCompressionType != nil {
		return *in.InputCompressionType
	}
	return "NONE"
}
