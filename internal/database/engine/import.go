package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/monotable/monotable/internal/database/bucket"
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/lines"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/engine/transfer"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// importErrorsLogged is the approximate number of rejected items that an import logs, the same as on AWS.
	importErrorsLogged = 10_000
	// importBatchBytes limits the bytes of items written together.
	importBatchBytes = 2 << 20
)

// The failure of an import with rejected items.
const (
	itemsInvalid        = "ItemValidationError"
	itemsInvalidMessage = "Some of the items failed validation checks and were not imported. The server's log says which, and why."
)

// runImport executes the rest of an import. Items are written in batches. Each batch stores the import's progress in its own
// transaction, so that no item is imported twice.
func (e *Engine) runImport(ctx context.Context, x *transfer.Record) error {
	in, err := importRequest(x)
	if err != nil {
		return err
	}
	r := &importer{engine: e, in: in, x: x}
	if !x.Imported.Done {
		if err := r.objects(ctx); err != nil {
			return err
		}
	}
	if x.Errors > 0 { // the other items are in the table, which remains
		x.FailureCode, x.FailureMessage = itemsInvalid, itemsInvalidMessage
		return e.endTransfer(ctx, x, transfer.Failed)
	}
	return e.endTransfer(ctx, x, transfer.Completed)
}

// endImport opens the table for use and writes the record of the finished import. Imported items remain; if the bucket does not
// exist, the table is deleted.
func (e *Engine) endImport(ctx context.Context, x *transfer.Record) error {
	change, drop := e.catalog.Change, []job.Record(nil)
	noBucket := x.FailureCode == noSuchBucket && x.Processed == 0
	if noBucket {
		change = e.catalog.Drop
	}
	_, err := change(ctx, x.Table, func(txn kv.Txn, d *catalog.Descriptor) (err error) {
		if d.ID != x.TableID || d.GoneAt != 0 {
			return nil
		}
		if d.Importing = false; noBucket {
			drop, err = e.beginDrop(txn, d, e.options.Now())
		}
		return err
	})
	if err == nil {
		defer e.jobs.start(drop...)
	}
	if err == nil || isNotFound(err) {
		err = e.saveTransfer(ctx, x)
	}
	if err != nil {
		x.Ended = 0
	}
	return err
}

// importer reads the objects of an import and writes their items.
type importer struct {
	engine *Engine
	in     *api.ImportTableInput
	x      *transfer.Record

	table *catalog.Table
	batch []*write
	bytes int
	// The effect of the batch on the record.
	items, processed, errors, text int64
}

func (r *importer) source() bucket.Bucket {
	s := r.in.S3BucketSource
	return bucket.Bucket{Name: *s.S3Bucket, Owner: valueOf(s.S3BucketOwner)}
}

// objects imports the remaining objects, in the order of their keys. As on AWS, an import of no objects completes.
func (r *importer) objects(ctx context.Context) error {
	all, err := r.engine.listObjects(ctx, r.source(), valueOf(r.in.S3BucketSource.S3KeyPrefix))
	if err != nil {
		return err
	}
	for i := range all {
		key := all[i].Key
		if key < r.x.Imported.Object {
			continue
		}
		if err := r.engine.readObject(ctx, r.source(), key, importCompression(r.in), r); err != nil {
			return err
		}
	}
	after := *r.x.Imported
	after.Done = true
	return r.flush(ctx, after)
}

// records implements objectReader.
func (r *importer) records(ctx context.Context, key string, plain io.Reader, _ func() int64) error {
	from := r.reader(plain)
	if key == r.x.Imported.Object {
		if err := from.SkipTo(r.x.Imported.Offset); err != nil {
			return err
		}
	}
	return r.lines(ctx, key, from)
}

// reader returns a reader of the items in a decompressed object.
func (r *importer) reader(plain io.Reader) lines.Reader {
	switch *r.in.InputFormat {
	case lines.JSON:
		return lines.NewJSON(plain)
	case lines.Ion:
		return lines.NewIon(plain)
	}
	o := lines.CSVOptions{Kinds: map[string]attr.Kind{}}
	if r.in.InputFormatOptions != nil && r.in.InputFormatOptions.Csv != nil {
		given := r.in.InputFormatOptions.Csv
		o.Header = given.HeaderList
		for _, c := range valueOf(given.Delimiter) {
			o.Delimiter = c
		}
	}
	for _, a := range r.in.TableCreationParameters.AttributeDefinitions {
		switch *a.AttributeType {
		case "N":
			o.Kinds[*a.AttributeName] = attr.KindNumber
		case "B":
			o.Kinds[*a.AttributeName] = attr.KindBinary
		}
	}
	return lines.NewCSV(plain, o)
}

// lines imports the items of a reader, until its end or an error.
func (r *importer) lines(ctx context.Context, key string, from lines.Reader) error {
	for {
		before := from.Offset()
		item, err := from.Next()
		r.text += from.Offset() - before
		if bad, ok := errors.AsType[*lines.LineError](err); ok {
			r.refuse(key, bad)
		} else if err != nil {
			return err
		} else if err := r.put(key, item); err != nil {
			return &storeError{err}
		}
		most := r.engine.options.transfers.batchItems
		if len(r.batch) >= most || r.bytes >= importBatchBytes || r.errors >= int64(most) {
			if err := r.flush(ctx, transfer.Imported{Object: key, Offset: from.Offset()}); err != nil {
				return &storeError{err}
			}
		}
	}
}

// refuse counts an item that is invalid or does not fit the table, and logs why.
func (r *importer) refuse(key string, why error) {
	r.processed++
	r.errors++
	if r.x.Errors+r.errors <= importErrorsLogged {
		r.engine.options.Logger.Warn("an import rejected an item", "import", r.engine.transferARN(r.x), "table", r.x.Table,
			"object", key, "number", r.x.Processed+r.processed, "error", why)
	}
}

// put adds an item to the batch if it fits the table.
func (r *importer) put(key string, item attr.Item) error {
	if r.table == nil {
		if err := r.findTable(); err != nil {
			return err
		}
	}
	w := &write{kind: putWrite, table: r.x.Table, item: item, restores: true}
	err := refuseFault("PutItem", item)
	if err == nil {
		err = w.encodeItem()
	}
	if err == nil {
		err = w.bind(r.table)
	}
	if err != nil {
		r.refuse(key, err)
		return nil
	}
	w.item = nil
	r.batch = append(r.batch, w)
	r.bytes += len(w.stored)
	r.items++
	r.processed++
	return nil
}

func (r *importer) findTable() error {
	r.table = r.engine.catalog.Tables()[r.x.Table]
	if r.table == nil || r.table.ID != r.x.TableID {
		return fmt.Errorf("engine: import: table %q no longer exists", r.x.Table)
	}
	return nil
}

// flush writes the batch together with the import's progress.
func (r *importer) flush(ctx context.Context, at transfer.Imported) error {
	err := r.commit(ctx, r.batch, at)
	if errors.Is(err, kv.ErrTooLarge) {
		if err = r.separately(ctx, strings.TrimSuffix(at.Object, pastObject)); err == nil {
			err = r.commit(ctx, nil, at)
		}
	}
	if err != nil {
		return err
	}
	clear(r.batch)
	r.batch, r.bytes = r.batch[:0], 0
	r.items, r.processed, r.errors, r.text = 0, 0, 0, 0
	return nil
}

// separately writes the items of a batch that exceeds the store's limits one by one. It counts none of them: after a crash they are
// written again.
func (r *importer) separately(ctx context.Context, key string) error {
	for i := range r.batch {
		err := r.write(ctx, r.batch[i:i+1], nil)
		if errors.Is(err, kv.ErrTooLarge) {
			r.items, r.processed = r.items-1, r.processed-1
			r.refuse(key, apierr.ItemTooLarge.With())
		} else if err != nil {
			return err
		}
	}
	return nil
}

// commit writes items together with the progress of the whole batch.
func (r *importer) commit(ctx context.Context, batch []*write, at transfer.Imported) error {
	after := *r.x
	after.Imported = &at
	after.Items += r.items
	after.Processed += r.processed
	after.Errors += r.errors
	after.Bytes += r.text
	err := r.write(ctx, batch, &after)
	if err == nil {
		*r.x = after
	}
	return err
}

// write writes items, and the record of the import unless it is nil, in one transaction.
func (r *importer) write(ctx context.Context, batch []*write, after *transfer.Record) error {
	for {
		err := r.writeTo(ctx, r.table, batch, after)
		if !errors.Is(err, errTableChanged) {
			return err
		}
		if err := r.engine.catalog.Renew(ctx, r.table); err != nil {
			return err
		}
		if err := r.findTable(); err != nil {
			return err
		}
	}
}

func (r *importer) writeTo(ctx context.Context, t *catalog.Table, batch []*write, after *transfer.Record) error {
	var in kv.Intent
	if after != nil {
		in.Write = append(in.Write, after.Key())
	}
	for _, w := range batch {
		w.t = t
		in.Write = append(in.Write, w.key)
	}
	if len(batch) > 0 {
		in.Check = [][]byte{keyenc.TableVersion(t.ID)}
	}
	return r.engine.update(ctx, in, batch, func(txn kv.Txn, ws *workspace) error {
		if len(batch) > 0 {
			if err := checkVersion(txn, t); err != nil {
				return err
			}
		}
		for _, w := range batch {
			if err := w.run(txn, ws); err != nil {
				return err
			}
		}
		if after == nil {
			return nil
		}
		return after.Save(txn)
	})
}
