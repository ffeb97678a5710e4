package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/bucket"
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/lines"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/transfer"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// indexUnitBytes is the size of a write unit of an index entry in the usage of a bulk operation.
const indexUnitBytes = 1 << 10

// How a canceled bulk operation ends.
const (
	bulkCancelled        = "Cancelled"
	bulkCancelledMessage = "The bulk operation was cancelled by CancelBulkOperation."
)

var (
	// errCancelling: a client has canceled the bulk operation.
	errCancelling = errors.New("engine: the bulk operation is being cancelled")
	// errTableGone: the bulk operation's table has been deleted.
	errTableGone = errors.New("the table was deleted")
)

// runBulk executes the rest of a bulk operation. Items are put in batches. Each batch records the progress and the report lines
// in its own transaction, so that no record is put, counted or reported twice.
func (e *Engine) runBulk(ctx context.Context, x *transfer.Record) error {
	in, err := bulkRequest(x)
	if err != nil {
		return err
	}
	r := &bulkPut{engine: e, in: in, x: x, out: outbox{
		store:      e.options.Buckets,
		bucket:     bucket.Bucket{Name: *in.OutputS3Configuration.S3Bucket, Owner: valueOf(in.OutputS3Configuration.S3BucketOwner)},
		encryption: bucket.Encryption{Algorithm: valueOf(in.OutputS3Configuration.S3SseAlgorithm), Key: valueOf(in.OutputS3Configuration.S3SseKmsKeyId)},
		prefix:     valueOf(in.OutputS3Configuration.S3KeyPrefix),
	}}
	status := transfer.Completed
	switch err := r.objects(ctx); {
	case errors.Is(err, errCancelling):
		status = transfer.Cancelled
		x.Status, x.FailureCode, x.FailureMessage = transfer.Cancelling, bulkCancelled, bulkCancelledMessage
	case err != nil:
		return err
	case x.Errors > 0:
		status = transfer.CompletedWithErrors
	}
	if err := r.report(ctx); err != nil {
		return err
	}
	return e.endTransfer(ctx, x, status)
}

// endBulk writes the record of a finished bulk operation. If a cancellation was acknowledged in the meantime, the operation ends
// as canceled.
func (e *Engine) endBulk(ctx context.Context, x *transfer.Record) error {
	intent := kv.Intent{Write: [][]byte{x.Key()}, Frees: true}
	for name, report := range x.Put.Reports { // only a failed operation still has any
		for n := report.First; n < report.Next; n++ {
			intent.Write = append(intent.Write, x.ReportKey(name, n))
		}
	}
	err := e.store.Update(ctx, intent, func(txn kv.Txn) error {
		ended := *x
		now, err := transfer.Read(txn, transfer.Bulk, x.ID)
		if err != nil {
			return err
		}
		if now != nil && now.Status == transfer.Cancelling && x.Status != transfer.Failed {
			ended.Status, ended.FailureCode, ended.FailureMessage = transfer.Cancelled, bulkCancelled, bulkCancelledMessage
		}
		for _, key := range intent.Write[1:] {
			txn.Delete(key)
		}
		return ended.Save(txn)
	})
	if err != nil {
		x.Ended = 0
	}
	return err
}

// bulkPut reads the objects of a bulk operation and puts their items.
type bulkPut struct {
	engine *Engine
	in     *api.StartBulkPutItemsInput
	x      *transfer.Record
	out    outbox

	table  *catalog.Table
	counts *observe.Table
	batch  []bulkRecord
	bytes  int
	size   int64        // of the object being read
	read   func() int64 // returns how much of it has been read
}

// bulkRecord is a record read from an object.
type bulkRecord struct {
	at  transfer.Imported // the operation's progress after this record
	w   *write
	err error // set instead of w if the record is rejected

	place lines.Place // the start of the record
}

// objects puts the items of the remaining objects, in the order of their keys.
func (r *bulkPut) objects(ctx context.Context) error {
	p, from := r.x.Put, r.in.InputS3Configuration
	if p.Done {
		return nil
	}
	if err := r.commit(ctx, nil, p.Imported); err != nil { // an operation canceled before its turn reads nothing
		return err
	}
	if !p.Begun {
		if err := r.out.put(ctx, r.x.ID+"/_started", nil); err != nil {
			return err
		}
		r.x.Put.Begun = true
	}
	source := bucket.Bucket{Name: *from.S3Bucket, Owner: valueOf(from.S3BucketOwner)}
	prefix := valueOf(from.S3KeyPrefix)
	all, err := r.engine.listObjects(ctx, source, prefix)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return ofBucket(fmt.Errorf("%w: there is no object with the prefix %q", bucket.ErrNoKey, prefix))
	}
	total := int64(0)
	for i := range all {
		total += all[i].Size
	}
	r.x.Put.TotalBytes = total
	for i := range all {
		if all[i].Key < r.x.Put.Object {
			continue
		}
		r.size = all[i].Size
		if err := r.engine.readObject(ctx, source, all[i].Key, valueOf(from.InputCompressionType), r); err != nil {
			return err
		}
	}
	after := r.x.Put.Imported
	after.Done = true
	return r.flush(ctx, after)
}

// records implements objectReader.
func (r *bulkPut) records(ctx context.Context, key string, plain io.Reader, read func() int64) error {
	r.read = read
	from := lines.NewJSONPuts(plain)
	if *r.in.InputS3Configuration.InputFormat == lines.Ion {
		from = lines.NewIonPuts(plain)
	}
	if key == r.x.Put.Object {
		if err := from.SkipTo(r.x.Put.Offset); err != nil {
			return err
		}
	}
	for {
		record := bulkRecord{place: lines.Place{S3Key: key, Offset: from.Offset()}}
		read, err := from.NextPut()
		record.at = transfer.Imported{Object: key, Offset: from.Offset()}
		if bad, ok := errors.AsType[*lines.LineError](err); ok {
			record.err = bad.Err
		} else if err != nil {
			return err
		} else {
			record.w = new(write)
			record.err = record.w.preparePut(&api.PutItemInput{
				TableName: r.in.TableName, Item: read.Item, ConditionExpression: read.ConditionExpression,
				ExpressionAttributeNames: read.ExpressionAttributeNames, ExpressionAttributeValues: read.ExpressionAttributeValues,
				ReturnValuesOnConditionCheckFailure: new(string(returnAllOld)),
			})
		}
		if record.err != nil {
			record.w = nil
		} else {
			r.bytes += len(record.w.stored)
		}
		r.batch = append(r.batch, record)
		if len(r.batch) >= r.engine.options.transfers.putItems || r.bytes >= importBatchBytes {
			if err := r.flush(ctx, record.at); err != nil {
				return &storeError{err}
			}
		}
	}
}

// refuse implements objectReader: the object is malformed after the last record.
func (r *bulkPut) refuse(key string, why error) {
	record := bulkRecord{err: why, at: transfer.Imported{Object: key}}
	if r.x.Put.Object == key {
		record.at.Offset = r.x.Put.Offset
	}
	if n := len(r.batch); n > 0 {
		record.at = r.batch[n-1].at
	}
	record.place = lines.Place{S3Key: key, Offset: record.at.Offset}
	r.batch = append(r.batch, record)
}

// flush implements objectReader.
func (r *bulkPut) flush(ctx context.Context, at transfer.Imported) error {
	for len(r.batch) > 0 || at != r.x.Put.Imported {
		n := len(r.batch)
		err := r.commit(ctx, r.batch, at)
		for errors.Is(err, kv.ErrTooLarge) && n > 1 { // shrink the batch to what the store accepts at once
			n /= 2
			err = r.commit(ctx, r.batch[:n], r.batch[n-1].at)
		}
		if errors.Is(err, kv.ErrTooLarge) && n == 1 && r.batch[0].err == nil {
			r.batch[0].w, r.batch[0].err = nil, apierr.ItemTooLarge.With()
			continue
		}
		if err != nil {
			return err
		}
		pause := r.pause(r.batch[:n])
		r.batch = append(r.batch[:0], r.batch[n:]...)
		if err := r.reportStored(ctx); err != nil {
			return err
		}
		if pause > 0 && !rest(ctx, pause) {
			return ctx.Err()
		}
	}
	clear(r.batch[:cap(r.batch)])
	r.bytes = 0
	return nil
}

// pause returns how long the operation must wait after a batch to respect the rate limit of the request.
func (r *bulkPut) pause(batch []bulkRecord) time.Duration {
	if r.in.MaxWriteRequestUnits == nil {
		return 0
	}
	units := 0.0
	for i := range batch {
		if batch[i].w != nil {
			units += batch[i].w.tableUnits(false)
		}
	}
	return time.Duration(units / float64(*r.in.MaxWriteRequestUnits) * float64(time.Second))
}

// refusedError is the error of one record because of which the whole batch was not written.
type refusedError struct {
	record int
	error
}

// commit writes a batch in one transaction. Records that cannot be put are reported, and the rest is put.
func (r *bulkPut) commit(ctx context.Context, batch []bulkRecord, at transfer.Imported) error {
	for {
		if err := r.bind(ctx, batch); err != nil {
			return err
		}
		after, err := r.write(ctx, batch, at)
		refused, one := errors.AsType[*refusedError](err)
		switch {
		case one:
			batch[refused.record].w, batch[refused.record].err = nil, refused.error
		case errors.Is(err, errTableChanged):
			if err := r.engine.catalog.Renew(ctx, r.table); err != nil {
				return err
			}
			r.table = nil
		case err != nil:
			return err
		default:
			*r.x = *after
			for i := range batch {
				if w := batch[i].w; w != nil && w.outcome.logged {
					countRecord(r.counts, r.table, r.engine.options.Now())
				}
			}
			return nil
		}
	}
}

// bind binds the writes of a batch to the current table definition.
func (r *bulkPut) bind(ctx context.Context, batch []bulkRecord) error {
	if r.table == nil {
		t, counts, err := r.engine.lookup(ctx, r.x.Table)
		if err != nil && !isNotFound(err) {
			return err
		}
		if err != nil || t.ID != r.x.TableID {
			return errTableGone
		}
		r.table, r.counts = t, counts
	}
	for i := range batch {
		w := batch[i].w
		if w == nil || w.t == r.table {
			continue
		}
		if err := w.bind(r.table); err != nil {
			batch[i].w, batch[i].err = nil, singleError(err)
		}
	}
	return nil
}

// write executes a bound batch and returns the updated record of the operation.
func (r *bulkPut) write(ctx context.Context, batch []bulkRecord, at transfer.Imported) (after *transfer.Record, err error) {
	var g writeGroup
	in := kv.Intent{Write: [][]byte{r.x.Key()}, Check: [][]byte{keyenc.TableVersion(r.table.ID)}}
	for i := range batch {
		if w := batch[i].w; w != nil {
			g = append(g, w)
			in.Write = append(in.Write, w.key)
		}
	}
	for _, name := range r.in.OutputS3Configuration.OutputType {
		in.Write = append(in.Write, r.x.ReportKey(name, r.next(name)))
	}
	err = r.engine.update(ctx, in, g, func(txn kv.Txn, ws *workspace) error {
		stored, err := transfer.Read(txn, transfer.Bulk, r.x.ID)
		if err == nil && stored.Status == transfer.Cancelling {
			err = errCancelling
		}
		if err == nil {
			err = checkVersion(txn, r.table)
		}
		if err != nil {
			return err
		}
		c := r.begin(at)
		after = c.after
		for i := range batch {
			if err := c.put(txn, ws, &batch[i]); err != nil {
				return r.refusal(i, err)
			}
		}
		if err := c.store(txn, len(batch)); err != nil {
			return err
		}
		return after.Save(txn)
	})
	return after, err
}

func (r *bulkPut) next(outputType string) uint64 {
	if report := r.x.Put.Reports[outputType]; report != nil {
		return report.Next
	}
	return 0
}

// refusal turns an error of a write into the rejection of its record alone; errors of the store pass through.
func (r *bulkPut) refusal(record int, err error) error {
	known, ok := errors.AsType[*apierr.Error](singleError(err))
	if !ok || errors.Is(err, kv.ErrTooLarge) {
		return err
	}
	return &refusedError{record, known}
}

// bulkCommit is a batch being committed.
type bulkCommit struct {
	r       *bulkPut
	after   *transfer.Record
	reports map[string][]byte // lines, by OutputType
}

// begin copies the record, because the transaction's changes to it may be undone.
func (r *bulkPut) begin(at transfer.Imported) *bulkCommit {
	after, p := *r.x, *r.x.Put
	after.Put = &p
	p.LocalBytes, p.GlobalBytes, p.VectorBytes = maps.Clone(p.LocalBytes), maps.Clone(p.GlobalBytes), maps.Clone(p.VectorBytes)
	reports := map[string]*transfer.Report{}
	for name, report := range p.Reports {
		c := *report
		c.Files = slices.Clip(c.Files)
		reports[name] = &c
	}
	p.Reports = reports
	if at.Object != p.Object && strings.HasSuffix(at.Object, pastObject) {
		p.ReadBytes += r.size
		after.Bytes = p.ReadBytes
	} else if at != p.Imported && !at.Done {
		after.Bytes = p.ReadBytes + min(r.read(), r.size)
	}
	p.Imported = at
	return &bulkCommit{r: r, after: &after, reports: map[string][]byte{}}
}

// put executes one record.
func (c *bulkCommit) put(txn kv.Txn, ws *workspace, record *bulkRecord) error {
	x := c.after
	x.Processed++
	if record.err != nil {
		x.Errors++
		return c.reportError(record)
	}
	err := record.w.run(txn, ws)
	if failed, ok := errors.AsType[*conditionError](err); ok {
		x.Put.Refused++
		return c.reportCondition(txn, record, failed)
	}
	if err != nil {
		return err
	}
	x.Items++
	x.Put.Bytes += int64(record.w.outcome.nextBytes)
	for i := range record.w.outcome.indexWrites {
		c.charge(&record.w.outcome.indexWrites[i])
	}
	return nil
}

// charge counts a write to an index, in units of 1 KB.
func (c *bulkCommit) charge(w *indexWrite) {
	p, to, unit := c.after.Put, &c.after.Put.GlobalBytes, float64(indexUnitBytes)
	switch w.index.Kind {
	case catalog.Local:
		to = &p.LocalBytes
	case catalog.Vector:
		to, unit = &p.VectorBytes, 1
	default:
	}
	if *to == nil {
		*to = map[string]int64{}
	}
	(*to)[w.index.Name] += int64(w.units * unit)
}
