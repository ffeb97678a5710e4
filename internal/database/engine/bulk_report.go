package engine

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/lines"
	"github.com/monotable/monotable/internal/database/engine/transfer"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// reportKeysMax is the maximum number of stored pieces of a report waiting to become an object.
	reportKeysMax = 1024
	// reportMessageMax limits the length of an error message in a report, which may quote the record.
	reportMessageMax = 1024
	// reportTextMax limits the size of lines that are stored together, unless a single line is longer.
	reportTextMax = 4 << 20
)

// reportError reports a record that could not be put.
func (c *bulkCommit) reportError(record *bulkRecord) error {
	if !c.wants(reportError) {
		return nil
	}
	f := lines.Fault{Place: record.place, ErrorCode: string(apierr.ValidationException), ErrorMessage: record.err.Error()}
	if known, ok := errors.AsType[*apierr.Error](record.err); ok {
		f.ErrorCode, f.ErrorMessage = string(known.Code), known.Message
	}
	if f.ErrorMessage == "" { // like AWS for malformed JSON
		f.ErrorMessage = "the record is malformed"
	}
	if len(f.ErrorMessage) > reportMessageMax {
		f.ErrorMessage = strings.ToValidUTF8(f.ErrorMessage[:reportMessageMax], "") + "…"
	}
	var err error
	c.reports[reportError], err = lines.AppendFault(c.reports[reportError], f)
	c.count(reportError)
	return err
}

// reportCondition reports an item whose condition was false, together with the existing item.
func (c *bulkCommit) reportCondition(txn kv.Txn, record *bulkRecord, failed *conditionError) error {
	if !c.wants(reportCondition) {
		return nil
	}
	const copies = 4 // in the text, which may be longer, and in the batch
	if err := txn.Reserve(copies * int64(len(record.w.stored)+len(failed.old))); err != nil {
		return err
	}
	var err error
	c.reports[reportCondition], err = lines.AppendRefused(c.reports[reportCondition], record.place, record.w.stored, failed.old)
	c.count(reportCondition)
	return err
}

func (c *bulkCommit) wants(outputType string) bool {
	return slices.Contains(c.r.in.OutputS3Configuration.OutputType, outputType)
}

func (c *bulkCommit) count(outputType string) {
	report := c.after.Put.Reports[outputType]
	if report == nil {
		report = new(transfer.Report)
		c.after.Put.Reports[outputType] = report
	}
	report.Lines++
}

// store stores the report lines of a batch of records until there are enough for an object.
func (c *bulkCommit) store(txn kv.Txn, records int) error {
	for name, text := range c.reports {
		report := c.after.Put.Reports[name]
		if len(text) > reportTextMax && records > 1 {
			return kv.ErrTooLarge // retry with half of the batch
		}
		txn.Set(c.after.ReportKey(name, report.Next), text)
		report.Next++
		report.Bytes += int64(len(text))
	}
	return nil
}

// reportStored writes the stored lines of a report to objects if there are many.
func (r *bulkPut) reportStored(ctx context.Context) error {
	for name, report := range r.x.Put.Reports {
		if report.Bytes >= r.engine.options.transfers.reported || report.Next-report.First >= reportKeysMax {
			if err := r.reportObject(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// reportObject writes the stored lines of a report to an object. After a crash the object is written again under the same name.
func (r *bulkPut) reportObject(ctx context.Context, outputType string) error {
	report := r.x.Put.Reports[outputType]
	f, err := r.out.createFile(ctx, fmt.Sprintf("%s/%s/%06d.json.gz", r.x.ID, outputType, len(report.Files)+1))
	if err != nil {
		return err
	}
	defer f.object.Abort()
	intent := kv.Intent{Write: [][]byte{r.x.Key()}, Frees: true}
	for n := report.First; n < report.Next; n++ {
		key := r.x.ReportKey(outputType, n)
		text, err := r.engine.store.Get(ctx, key)
		if err != nil {
			return err
		}
		if err := f.add(text, 0); err != nil {
			return err
		}
		intent.Write = append(intent.Write, key)
	}
	f.items = report.Lines
	file, err := f.end()
	if err != nil {
		return err
	}
	after := r.begin(r.x.Put.Imported).after
	done := after.Put.Reports[outputType]
	*done = transfer.Report{Files: append(done.Files, file), First: done.Next, Next: done.Next}
	err = r.engine.store.Update(ctx, intent, func(txn kv.Txn) error {
		stored, err := transfer.Read(txn, transfer.Bulk, r.x.ID)
		if err != nil {
			return err
		}
		saved := *after
		saved.Status = stored.Status // it may have been canceled
		for _, key := range intent.Write[1:] {
			txn.Delete(key)
		}
		return saved.Save(txn)
	})
	if err == nil {
		*r.x = *after
	}
	return err
}

// reportFile is a line of manifest-files.json.
type reportFile struct {
	OutputType    string `json:"outputType"`
	ItemCount     int64  `json:"itemCount"`
	MD5Checksum   string `json:"md5Checksum"`
	ETag          string `json:"etag"`
	DataFileS3Key string `json:"dataFileS3Key"`
}

// reportSummary is manifest-summary.json.
type reportSummary struct {
	BulkOperationARN           string `json:"bulkOperationArn"`
	StartTime                  string `json:"startTime"`
	TableARN                   string `json:"tableArn"`
	TableID                    string `json:"tableId"`
	ManifestFilesS3Key         string `json:"manifestFilesS3Key"`
	ProcessedItemCount         int64  `json:"processedItemCount"`
	PutItemCount               int64  `json:"putItemCount"`
	FailedItemCount            int64  `json:"failedItemCount"`
	ConditionCheckFailureCount int64  `json:"conditionCheckFailureCount"`
}

// report writes the rest of the reports and the manifests.
func (r *bulkPut) report(ctx context.Context) error {
	var files []byte
	for _, name := range []string{reportError, reportCondition} {
		if report := r.x.Put.Reports[name]; report != nil && report.Next > report.First {
			if err := r.reportObject(ctx, name); err != nil {
				return err
			}
		}
		if r.x.Put.Reports[name] == nil {
			continue
		}
		for _, f := range r.x.Put.Reports[name].Files {
			line, err := json.Marshal(reportFile{name, f.Items, base64.StdEncoding.EncodeToString(f.MD5), f.ETag, f.Key})
			if err != nil {
				return err
			}
			files = append(append(files, line...), '\n')
		}
	}
	x := r.x
	summary, err := json.Marshal(reportSummary{
		BulkOperationARN: r.engine.transferARN(x), StartTime: manifestTime(x.Started),
		TableARN: r.engine.catalog.TableARN(x.Table), TableID: x.UUID, ManifestFilesS3Key: r.out.key(x.ID + "/manifest-files.json"),
		ProcessedItemCount: x.Processed, PutItemCount: x.Items, FailedItemCount: x.Errors, ConditionCheckFailureCount: x.Put.Refused,
	})
	if err != nil {
		return err
	}
	if err := r.out.putManifest(ctx, x.ID+"/manifest-files", files); err != nil {
		return err
	}
	return r.out.putManifest(ctx, x.ID+"/manifest-summary", summary)
}
