package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/monotable/monotable/internal/database/bucket"
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/dynamo/lines"
	"github.com/monotable/monotable/internal/database/engine/backup"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/transfer"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// The export types and view types.
const (
	fullExport        = "FULL_EXPORT"
	incrementalExport = "INCREMENTAL_EXPORT"

	newAndOldImages = "NEW_AND_OLD_IMAGES"
)

// The minimum and maximum period of an incremental export.
const (
	exportPeriodMin = 15 * time.Minute
	exportPeriodMax = 24 * time.Hour
)

func keptOfTransfer(x *transfer.Record) string { return backup.KeptOfExport(x.ID) }

// ExportTableToPointInTime exports a table as of an earlier second, or its changes between two, to a bucket, in the background.
// The table must have point-in-time recovery.
func (e *Engine) ExportTableToPointInTime(ctx context.Context, in *api.ExportTableToPointInTimeInput) (*api.ExportTableToPointInTimeOutput, error) {
	x, err := e.checkExport(in)
	if err != nil {
		return nil, err
	}
	for {
		begun, err := e.beginExport(ctx, in, x)
		if errors.Is(err, errTableChanged) {
			continue
		}
		if repeated, ok := errors.AsType[*repeatedError](err); ok {
			begun, err = repeated.earlier, nil
		} else if err == nil {
			defer e.jobs.startTransfer(begun)
		}
		if err != nil {
			return nil, err
		}
		shown := *begun // the background work changes the record
		description, err := e.describeExport(&shown)
		return &api.ExportTableToPointInTimeOutput{ExportDescription: description}, err
	}
}

// checkExport checks everything that depends on the request alone.
func (e *Engine) checkExport(in *api.ExportTableToPointInTimeInput) (*transfer.Record, error) {
	incremental := valueOf(in.ExportType) == incrementalExport
	period := in.IncrementalExportSpecification
	switch {
	case incremental && period == nil:
		return nil, apierr.ExportPeriodMissing.With()
	case incremental && period.ExportFromTime == nil:
		return nil, apierr.ExportFromMissing.With()
	case period != nil && in.ExportType == nil:
		return nil, apierr.ExportPeriodOfNone.With()
	case period != nil && !incremental:
		return nil, apierr.ExportPeriodOfFull.With()
	case incremental && in.ExportTime != nil:
		return nil, apierr.ExportTimeOfPeriod.With()
	case incremental && in.FilterSpecification != nil:
		return nil, apierr.FilterOfPeriod.With()
	case in.S3SseKmsKeyId != nil && valueOf(in.S3SseAlgorithm) != "KMS":
		return nil, apierr.KMSKeyWithoutKMS.With()
	}
	if key := exportKey(in, "x"); bucket.CheckKey(key) != nil {
		return nil, apierr.UnusableKey.With("S3Prefix", valueOf(in.S3Prefix))
	}
	if f := in.FilterSpecification; f != nil && f.KeyConditionExpression == nil && f.FilterExpression == nil && f.ProjectionExpression == nil {
		return nil, apierr.FilterEmpty.With()
	}
	if _, err := bindExportFilter(in.FilterSpecification); err != nil {
		return nil, err
	}
	request := *in
	var values []byte
	if f := in.FilterSpecification; f != nil {
		values = itemenc.Encode(nil, f.ExpressionAttributeValues)
		without := *f
		without.ExpressionAttributeValues = nil
		request.FilterSpecification = &without
	}
	x, err := e.newTransfer(transfer.Export, &request, in.ClientToken)
	if err == nil {
		x.Values = values
	}
	return x, err
}

// exportRequest returns the request of an export.
func exportRequest(x *transfer.Record) (*api.ExportTableToPointInTimeInput, error) {
	in := new(api.ExportTableToPointInTimeInput)
	if err := json.Unmarshal(x.Request, in); err != nil {
		return nil, fmt.Errorf("engine: request of export %s: %w", x.ID, err)
	}
	if in.FilterSpecification == nil || len(x.Values) == 0 {
		return in, nil
	}
	var err error
	in.FilterSpecification.ExpressionAttributeValues, err = itemenc.Item(x.Values).Decode()
	return in, err
}

// exportKey returns the key of one of an export's objects; name is the part after AWSDynamoDB/.
func exportKey(in *api.ExportTableToPointInTimeInput, name string) string {
	return objectKey(valueOf(in.S3Prefix), name)
}

// beginExport keeps the table with its log and writes the record of the export that reads them.
func (e *Engine) beginExport(ctx context.Context, in *api.ExportTableToPointInTimeInput, x *transfer.Record) (_ *transfer.Record, err error) {
	d, err := e.exportSource(ctx, *in.TableArn)
	if err != nil {
		return nil, err
	}
	if err := e.refuseRepeated(ctx, x); err != nil {
		return nil, err
	}
	if d, err = e.exportable(ctx, d, in); err != nil {
		return nil, err
	}
	exported, err := e.exportPeriod(ctx, d, in)
	if err != nil {
		return nil, err
	}
	if in.FilterSpecification != nil {
		if _, err := newExportFilter(in.FilterSpecification, catalog.TableOf(d)); err != nil {
			return nil, err
		}
	}
	if e.options.Buckets == nil {
		return nil, apierr.NoBuckets.With()
	}
	if exported.Descriptor, err = json.Marshal(d); err != nil {
		return nil, fmt.Errorf("engine: export: %w", err)
	}
	x.Table, x.TableID, x.UUID, x.Exported = d.Name, d.ID, d.UUID, exported
	ctx, done := e.detached(ctx)
	defer done()
	kept := keptOfTransfer(x)
	defer func() {
		if err != nil && !errors.Is(err, kv.ErrUndetermined) { // otherwise the record may exist
			e.dropKept(ctx, kept)
		}
	}()
	if err := e.keepWithLog(ctx, d, kept, exported.LogFrom()-1); err != nil {
		return nil, exportTimeError(err)
	}
	return x, e.store.Update(ctx, transferIntent(x), func(txn kv.Txn) error { return e.admit(txn, x) })
}

// exportTimeError returns the error of an export whose time was no longer available when its table was kept.
func exportTimeError(err error) error {
	if known, ok := errors.AsType[*apierr.Error](err); ok && known.Code == apierr.InvalidRestoreTimeException {
		return apierr.ExportTimeOutside.With()
	}
	return err
}

// exportSource returns the descriptor of the table to be exported. Like AWS, it finds no table by the ARN of another Region, and a
// repeated request does not find a table that has been deleted since.
func (e *Engine) exportSource(ctx context.Context, text string) (*catalog.Descriptor, error) {
	arn, ok := catalog.ParseARN(text)
	switch {
	case text == "":
		return nil, apierr.ExportOfNothing.With()
	case !ok:
		return nil, apierr.ExportOfNoARN.With()
	case arn.Account != e.options.AccountID:
		return nil, apierr.OtherAccount.With()
	case arn.Rest != "" || !catalog.ValidName(arn.Table) || !arn.Native():
		return nil, apierr.ExportOfNoTable.With()
	case arn.Region != e.options.Region:
		return nil, apierr.BackupTableNotFound.With(text)
	}
	d, err := e.find(ctx, arn.Table)
	if isNotFound(err) || err == nil && d.GoneAt != 0 {
		err = apierr.BackupTableNotFound.With(text)
	}
	return d, err
}

// exportable returns the descriptor of a table that can be exported. Like AWS, it checks the period before point-in-time
// recovery.
func (e *Engine) exportable(ctx context.Context, d *catalog.Descriptor, in *api.ExportTableToPointInTimeInput) (*catalog.Descriptor, error) {
	if p := in.IncrementalExportSpecification; p != nil {
		if err := checkExportPeriod(d, p, e.options.Now()); err != nil {
			return nil, err
		}
	}
	return e.recoverable(ctx, d.Name)
}

// checkExportPeriod checks a period against the clock and the table's creation, in AWS's order.
func checkExportPeriod(d *catalog.Descriptor, p *api.IncrementalExportSpecification, now time.Time) error {
	from, to := exportSecond(*p.ExportFromTime), now.UnixMilli()
	if p.ExportToTime != nil {
		to = exportSecond(*p.ExportToTime)
	}
	length := time.Duration(to-from) * time.Millisecond
	switch {
	case from < d.Created:
		return apierr.ExportPeriodOfOther.With(secondOf(float64(from / millis)))
	case to > now.UnixMilli():
		return apierr.ExportPeriodToCome.With(secondOf(float64(to / millis)))
	case length < exportPeriodMin:
		return apierr.ExportPeriodShort.With()
	case length > exportPeriodMax:
		return apierr.ExportPeriodLong.With()
	}
	return nil
}

// exportPeriod returns the requested time or period of an export, checked against the restorable times.
func (e *Engine) exportPeriod(ctx context.Context, d *catalog.Descriptor, in *api.ExportTableToPointInTimeInput) (*transfer.Exported, error) {
	now := e.options.Now()
	earliest, err := e.earliestRestorable(ctx, d, now)
	if err != nil {
		return nil, err
	}
	latest := now.UnixMilli() - 1 // the current millisecond may still get changes
	if in.IncrementalExportSpecification == nil {
		if in.ExportTime == nil { // includes what was written just before; recovery may have been enabled in the current millisecond
			return &transfer.Exported{To: max(now.UnixMilli(), earliest) + 1}, nil
		}
		at := exportSecond(*in.ExportTime)
		if at > latest || at < earliest {
			return nil, apierr.ExportTimeOutside.With()
		}
		return &transfer.Exported{To: at + 1}, nil
	}
	p := in.IncrementalExportSpecification
	from, to := exportSecond(*p.ExportFromTime), latest-latest%millis
	if p.ExportToTime != nil {
		to = exportSecond(*p.ExportToTime)
	}
	if from <= earliest || to > latest+1 {
		return nil, apierr.ExportPeriodOutside.With()
	}
	return &transfer.Exported{From: from, To: to}, nil
}

// exportSecond rounds a time to seconds and returns it in milliseconds, saturating if it is out of range.
func exportSecond(t api.Timestamp) int64 {
	const farAway = 1 << 50
	return int64(max(-farAway, min(math.Floor(float64(t))*millis, farAway)))
}

// describeExport describes an export.
func (e *Engine) describeExport(x *transfer.Record) (*api.ExportDescription, error) {
	in, err := exportRequest(x)
	if err != nil {
		return nil, err
	}
	out := &api.ExportDescription{
		ExportArn:      new(e.transferARN(x)),
		ExportStatus:   &x.Status,
		StartTime:      api.TimestampOf(x.Started),
		EndTime:        endTime(x),
		TableArn:       new(e.catalog.TableARN(x.Table)),
		TableId:        &x.UUID,
		ClientToken:    in.ClientToken,
		S3Bucket:       in.S3Bucket,
		S3BucketOwner:  in.S3BucketOwner,
		S3Prefix:       in.S3Prefix,
		S3SseAlgorithm: new(exportEncryption(in)),
		S3SseKmsKeyId:  in.S3SseKmsKeyId,
		FailureCode:    textOrNil(x.FailureCode),
		FailureMessage: textOrNil(x.FailureMessage),
		ExportFormat:   new(exportFormat(in)),
		ItemCount:      &x.Items,
		ExportType:     in.ExportType, // AWS omits the default

		BilledSizeBytes:     new(billedBytes(x)),
		FilterSpecification: in.FilterSpecification,
	}
	if x.Status == transfer.Completed {
		out.ExportManifest = new(exportKey(in, x.ID+"/manifest-summary.json"))
	}
	if p := in.IncrementalExportSpecification; p != nil {
		out.IncrementalExportSpecification = &api.IncrementalExportSpecification{
			ExportFromTime: api.TimestampOf(x.Exported.From), ExportToTime: api.TimestampOf(x.Exported.To),
			ExportViewType: new(exportView(in)),
		}
		return out, nil
	}
	out.ExportTime = api.TimestampOf(exportTime(x))
	return out, nil
}

// billedBytes returns the size that AWS bills for an export, at least 10 MB for an incremental one.
func billedBytes(x *transfer.Record) int64 {
	if x.Exported.From != 0 {
		return max(x.Bytes, 10_000_000)
	}
	return x.Bytes
}

// exportTime returns the time of a full export in milliseconds, which includes the changes of that millisecond.
func exportTime(x *transfer.Record) int64 { return x.Exported.To - 1 }

func exportFormat(in *api.ExportTableToPointInTimeInput) string {
	if in.ExportFormat != nil {
		return *in.ExportFormat
	}
	return lines.JSON
}

func exportEncryption(in *api.ExportTableToPointInTimeInput) string {
	if in.S3SseAlgorithm != nil {
		return *in.S3SseAlgorithm
	}
	return "AES256"
}

func exportView(in *api.ExportTableToPointInTimeInput) string {
	if p := in.IncrementalExportSpecification; p.ExportViewType != nil {
		return *p.ExportViewType
	}
	return newAndOldImages
}
