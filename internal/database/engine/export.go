package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/bucket"
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/dynamo/lines"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/transfer"
)

// runExport executes the rest of an export. After a crash an unfinished file is written again under the same name.
func (e *Engine) runExport(ctx context.Context, x *transfer.Record) error {
	if err := e.writeExport(ctx, x); err != nil {
		return err
	}
	return e.endTransfer(ctx, x, transfer.Completed)
}

// writeExport writes the remaining objects of an export.
func (e *Engine) writeExport(ctx context.Context, x *transfer.Record) error {
	in, err := exportRequest(x)
	if err != nil {
		return err
	}
	d, err := catalog.DecodeDescriptor(x.Exported.Descriptor)
	if err != nil {
		return err
	}
	snapshot, err := e.store.OpenKept(ctx, keptOfTransfer(x))
	if err != nil {
		return err
	}
	defer snapshot.Close()
	w := &exporter{
		engine: e, in: in, x: x, table: catalog.TableOf(d),
		past: &rewinding{from: snapshot, table: d.ID, max: e.options.transfers.touched},
		out: outbox{
			store:      e.options.Buckets,
			bucket:     bucket.Bucket{Name: *in.S3Bucket, Owner: valueOf(in.S3BucketOwner)},
			encryption: bucket.Encryption{Algorithm: valueOf(in.S3SseAlgorithm), Key: valueOf(in.S3SseKmsKeyId)},
			prefix:     valueOf(in.S3Prefix),
		},
	}
	w.appendItem, w.appendChange, w.extension = lines.AppendItem, lines.AppendChange, ".json.gz"
	if exportFormat(in) == lines.Ion {
		w.appendItem, w.appendChange, w.extension = lines.AppendIonItem, lines.AppendIonChange, ".ion.gz"
	}
	if w.filter, err = newExportFilter(in.FilterSpecification, w.table); err != nil {
		return err
	}
	if !x.Exported.Begun {
		if err := w.out.put(ctx, x.ID+"/_started", nil); err != nil {
			return err
		}
		x.Exported.Begun = true
	}
	for !w.complete() {
		if err := w.file(ctx); err != nil {
			return err
		}
		if err := e.saveTransfer(ctx, x); err != nil {
			return err
		}
	}
	x.Ended = e.options.Now().UnixMilli() // also in the manifest
	if err = w.manifests(ctx); err != nil {
		x.Ended = 0
	}
	return err
}

// exporter writes the objects of an export.
type exporter struct {
	engine *Engine
	in     *api.ExportTableToPointInTimeInput
	x      *transfer.Record
	table  *catalog.Table
	past   *rewinding
	filter *exportFilter
	out    outbox

	// The lines have the export's format, which is also the file extension.
	appendItem   func([]byte, itemenc.Item) ([]byte, error)
	appendChange func([]byte, lines.Change) ([]byte, error)
	extension    string

	line  []byte
	bytes int64 // of the items in the current file
}

// complete reports whether all data files have been written. There is at least one.
func (w *exporter) complete() bool { return len(w.x.Exported.Files) > 0 && w.x.Exported.Next == nil }

// fileName returns the name of the n-th data file, which like AWS's consists of 26 letters and digits. The files of all
// incremental exports share a folder.
func (w *exporter) fileName(n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", w.x.UUID, w.x.ID, n))
	name := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
	folder := w.x.ID + "/data/"
	if w.x.Exported.From != 0 {
		folder = "data/"
	}
	return folder + name + w.extension
}

// file writes the next data file and adds it to the record.
func (w *exporter) file(ctx context.Context) error {
	f, err := w.out.createFile(ctx, w.fileName(len(w.x.Exported.Files)))
	if err != nil {
		return err
	}
	defer f.object.Abort()
	lo := w.filter.lo
	if w.x.Exported.Next != nil {
		lo = w.x.Exported.Next
	}
	var next []byte
	w.bytes = 0
	if w.x.Exported.From != 0 {
		next, err = w.fillChanges(ctx, f, lo)
	} else {
		next, err = w.fillItems(ctx, f, lo)
	}
	if err != nil {
		return err
	}
	file, err := f.end()
	if err != nil {
		return err
	}
	w.x.Exported.Files = append(w.x.Exported.Files, file)
	w.x.Exported.Next = next
	w.x.Items += file.Items
	w.x.Bytes += w.bytes
	return nil
}

// fillItems fills a data file of a full export from a key on, and returns where the next file begins.
func (w *exporter) fillItems(ctx context.Context, f *outFile, lo []byte) (next []byte, err error) {
	err = w.past.items(ctx, w.x.Exported.To, lo, w.filter.hi, func(key []byte, it itemenc.Item) (bool, error) {
		if f.text >= w.engine.options.transfers.fileBytes {
			next = bytes.Clone(key)
			return false, nil
		}
		part, err := w.filter.of(it)
		if err != nil || part == nil {
			return true, err
		}
		if w.line, err = w.appendItem(w.line[:0], part); err != nil {
			return false, err
		}
		w.bytes += int64(it.Size())
		return true, f.add(w.line, 1)
	})
	return next, err
}

// fillChanges fills a data file of an incremental export from a key on, and returns where the next file begins.
func (w *exporter) fillChanges(ctx context.Context, f *outFile, lo []byte) (next []byte, err error) {
	for {
		changed, end, err := w.past.changedIn(ctx, w.x.Exported.From, w.x.Exported.To, lo, w.filter.hi)
		if err != nil {
			return nil, err
		}
		for i := range changed {
			if f.text >= w.engine.options.transfers.fileBytes {
				return changed[i].key, nil
			}
			if err := w.fillChange(f, &changed[i]); err != nil {
				return nil, err
			}
		}
		if bytes.Equal(end, w.filter.hi) {
			return nil, nil
		}
		lo = end
	}
}

// fillChange writes the net change of an item in the period. An item that was both created and deleted in the period is omitted.
func (w *exporter) fillChange(f *outFile, x *touched) error {
	before, err := w.past.before(x.first)
	if err != nil {
		return err
	}
	var after itemenc.Item
	if x.after != 0 {
		after, err = w.past.before(x.after)
	} else {
		after, err = w.past.from.Get(x.key)
	}
	if err != nil || before == nil && after == nil {
		return err
	}
	last, err := w.past.record(x.last)
	if err != nil {
		return err
	}
	c := lines.Change{Micros: last.Time * int64(time.Millisecond/time.Microsecond), New: after}
	if exportView(w.in) == newAndOldImages {
		c.Old = before
	}
	if c.Keys, err = w.keysOf(after, before); err != nil {
		return err
	}
	if w.line, err = w.appendChange(w.line[:0], c); err != nil {
		return err
	}
	w.bytes += int64(sizeOf(after) + sizeOf(before))
	return f.add(w.line, 1)
}

// keysOf returns the key attributes of an item from the first image that is present.
func (w *exporter) keysOf(images ...itemenc.Item) (itemenc.Item, error) {
	names := []string{w.table.PK.Name}
	if w.table.SK.Name != "" {
		names = append(names, w.table.SK.Name)
	}
	slices.Sort(names)
	for _, image := range images {
		if image != nil {
			return image.Project(nil, names)
		}
	}
	return nil, nil
}

// manifestFile is a line of manifest-files.json.
type manifestFile struct {
	ItemCount     int64  `json:"itemCount"`
	MD5Checksum   string `json:"md5Checksum"`
	ETag          string `json:"etag"`
	DataFileS3Key string `json:"dataFileS3Key"`
}

// manifestSummary is manifest-summary.json.
type manifestSummary struct {
	Version            string  `json:"version"`
	ExportARN          string  `json:"exportArn"`
	StartTime          string  `json:"startTime"`
	EndTime            string  `json:"endTime"`
	TableARN           string  `json:"tableArn"`
	TableID            string  `json:"tableId"`
	ExportTime         string  `json:"exportTime,omitempty"`
	ExportFromTime     string  `json:"exportFromTime,omitempty"`
	ExportToTime       string  `json:"exportToTime,omitempty"`
	S3Bucket           string  `json:"s3Bucket"`
	S3Prefix           *string `json:"s3Prefix"`
	S3SseAlgorithm     string  `json:"s3SseAlgorithm"`
	S3SseKmsKeyID      *string `json:"s3SseKmsKeyId"`
	ManifestFilesS3Key string  `json:"manifestFilesS3Key"`
	BilledSizeBytes    int64   `json:"billedSizeBytes"`
	ItemCount          int64   `json:"itemCount"`
	OutputFormat       string  `json:"outputFormat"`
	OutputView         string  `json:"outputView,omitempty"`
	ExportType         string  `json:"exportType"`
}

// The versions of the manifests.
const (
	manifestOfFull        = "2020-06-30"
	manifestOfIncremental = "2023-08-01"
)

// manifests writes the manifests and their checksums, which completes the export.
func (w *exporter) manifests(ctx context.Context) error {
	var files []byte
	for _, f := range w.x.Exported.Files {
		line, err := json.Marshal(manifestFile{f.Items, base64.StdEncoding.EncodeToString(f.MD5), f.ETag, f.Key})
		if err != nil {
			return err
		}
		files = append(append(files, line...), '\n')
	}
	summary, err := json.Marshal(w.summary())
	if err != nil {
		return err
	}
	if err := w.out.putManifest(ctx, w.x.ID+"/manifest-files", files); err != nil {
		return err
	}
	return w.out.putManifest(ctx, w.x.ID+"/manifest-summary", summary)
}

func (w *exporter) summary() manifestSummary {
	x, in := w.x, w.in
	s := manifestSummary{
		Version: manifestOfFull, ExportARN: w.engine.transferARN(x), ExportType: fullExport,
		StartTime: manifestTime(x.Started), EndTime: manifestTime(x.Ended),
		TableARN: w.engine.catalog.TableARN(x.Table), TableID: x.UUID,
		S3Bucket: *in.S3Bucket, S3Prefix: in.S3Prefix, S3SseAlgorithm: exportEncryption(in), S3SseKmsKeyID: in.S3SseKmsKeyId,
		ManifestFilesS3Key: exportKey(in, x.ID+"/manifest-files.json"),
		BilledSizeBytes:    billedBytes(x), ItemCount: x.Items, OutputFormat: exportFormat(in),
	}
	if x.Exported.From == 0 {
		s.ExportTime = manifestTime(exportTime(x))
		return s
	}
	s.Version, s.ExportType, s.OutputView = manifestOfIncremental, incrementalExport, exportView(in)
	s.ExportFromTime, s.ExportToTime = manifestTime(x.Exported.From), manifestTime(x.Exported.To)
	return s
}

func manifestTime(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}
