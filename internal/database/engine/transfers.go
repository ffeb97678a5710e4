package engine

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/bucket"
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/transfer"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// transfersAtOnce is the number of concurrent transfers, which limits their memory; others wait.
	transfersAtOnce = 2
	// transferLife is how long a transfer can be described after its end.
	transferLife = 90 * 24 * time.Hour
	// transferTokenLife is how long a ClientToken refers to its transfer: after the end of the transfer, or after the start of a
	// bulk operation.
	transferTokenLife = 8 * time.Hour
	// transferTriesMax is how often a bucket may fail before the transfer fails.
	transferTriesMax = 5
)

// transferSizes are the batch sizes of transfers.
type transferSizes struct {
	fileBytes  int64 // approximate text in a data file, after which an export stores its progress
	touched    int   // items whose changes are rewound together, about 200 bytes each
	batchItems int   // items that an import writes, with its progress, in one batch
	putItems   int   // items that a bulk operation writes in one batch, concurrently with other requests
	reported   int64 // report bytes that a bulk operation collects before writing an object
}

func (s transferSizes) withDefaults() transferSizes {
	if s == (transferSizes{}) {
		return transferSizes{fileBytes: 128 << 20, touched: 1 << 18, batchItems: 1 << 10, putItems: 100, reported: 16 << 20}
	}
	return s
}

// transferKind is what differs between the kinds of transfers.
type transferKind struct {
	arn        string // the part between the table's ARN and the transfer's id
	max        int    // the maximum number in progress on AWS
	tooMany    apierr.Sentence
	notFound   apierr.Sentence
	elsewhere  func(arn string) error // rejects an ARN of another Region
	invalidARN func(arn string) error
	reused     apierr.Sentence // for a token used with other parameters
	page       int             // default page size of a list
}

var transferKinds = map[transfer.Kind]transferKind{
	transfer.Export: {
		"/export/", 300, apierr.TooManyExports, apierr.ExportNotFound,
		func(string) error { return apierr.ExportElsewhere.With() }, func(string) error { return apierr.InvalidExportARN.With() },
		apierr.ExportTokenReused, 10,
	},
	transfer.Import: {
		"/import/", 50, apierr.TooManyImports, apierr.ImportNotFound,
		func(arn string) error { return apierr.ImportNotFound.With(arn) }, func(string) error { return apierr.InvalidImportARN.With() },
		apierr.ImportTokenReused, 10,
	},
	transfer.Bulk: {
		"/bulk-operation/", 50, apierr.TooManyBulk, apierr.BulkNotFound,
		func(arn string) error { return apierr.OtherRegion.With(arn) }, func(arn string) error { return apierr.InvalidBulkARN.With(arn) },
		apierr.BulkTokenReused, 25,
	},
}

// newTransfer returns the record of a transfer that starts now, for a checked request.
func (e *Engine) newTransfer(k transfer.Kind, request any, token *string) (*transfer.Record, error) {
	now := e.options.Now()
	id, err := e.newBackupID(now)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("engine: record of a transfer: %w", err)
	}
	return &transfer.Record{
		Kind: k, ID: id, Request: text, Token: valueOf(token), Status: transfer.InProgress, Started: now.UnixMilli(),
	}, nil
}

// earlier returns the transfer that a request with the same token started, or nil.
func (e *Engine) earlier(r kv.Reader, x *transfer.Record) (*transfer.Record, error) {
	if x.Token == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	since := e.options.Now().Add(-transferTokenLife).UnixMilli()
	same, err := transfer.All(r, x.Kind, func(o *transfer.Record) bool {
		valid := o.UnderWay() || o.Ended > since
		if o.Kind == transfer.Bulk {
			valid = o.Started > since
		}
		return o.Token == x.Token && valid
	})
	if err != nil || len(same) == 0 {
		return nil, err
	}
	o := same[len(same)-1]
	if !bytes.Equal(o.Request, x.Request) || !bytes.Equal(o.Values, x.Values) {
		return nil, transferKinds[x.Kind].reused.With()
	}
	return o, nil
}

// repeatedError: an earlier request with the same token started the transfer.
type repeatedError struct{ earlier *transfer.Record }

func (*repeatedError) Error() string { return "engine: the transfer was begun by an earlier request" }

// refuseRepeated returns a repeatedError if an earlier request with the same token has started a transfer.
func (e *Engine) refuseRepeated(ctx context.Context, x *transfer.Record) error {
	return e.readLatest(ctx, func(r kv.Reader) error {
		earlier, err := e.earlier(r, x)
		if err == nil && earlier != nil {
			err = &repeatedError{earlier}
		}
		return err
	})
}

// admit writes the record of a new transfer, in a transaction that holds its key and transfer.Lock.
func (e *Engine) admit(txn kv.Txn, x *transfer.Record) error {
	earlier, err := e.earlier(txn, x)
	if err != nil {
		return err
	}
	if earlier != nil {
		return &repeatedError{earlier}
	}
	kind := transferKinds[x.Kind]
	under, err := transfer.All(txn, x.Kind, (*transfer.Record).UnderWay)
	if err != nil {
		return err
	}
	if len(under) >= kind.max {
		return kind.tooMany.With(kind.max)
	}
	return x.Save(txn)
}

// transferIntent is the intent of admit.
func transferIntent(x *transfer.Record) kv.Intent {
	return kv.Intent{Write: [][]byte{x.Key(), transfer.Lock(x.Kind)}}
}

// transferARN returns the ARN of a transfer.
func (e *Engine) transferARN(x *transfer.Record) string {
	return e.catalog.TableARN(x.Table) + transferKinds[x.Kind].arn + x.ID
}

// findTransfer returns the transfer with an ARN.
func (e *Engine) findTransfer(ctx context.Context, k transfer.Kind, text string) (x *transfer.Record, err error) {
	kind := transferKinds[k]
	arn, ok := catalog.ParseARN(text)
	id, isOne := strings.CutPrefix(arn.Rest, kind.arn)
	switch {
	case !ok, !isOne, id == "", !catalog.ValidName(arn.Table):
		return nil, kind.invalidARN(text)
	case arn.Account != e.options.AccountID:
		return nil, apierr.OtherAccount.With()
	case arn.Region != e.options.Region:
		return nil, kind.elsewhere(text)
	}
	err = e.readLatest(ctx, func(r kv.Reader) (err error) {
		x, err = transfer.Read(r, k, id)
		return err
	})
	if err == nil && (x == nil || x.Table != arn.Table || e.forgotten(x)) {
		err = kind.notFound.With(text)
	}
	return x, err
}

// forgotten reports whether the transfer ended too long ago to be described.
func (e *Engine) forgotten(x *transfer.Record) bool {
	return !x.UnderWay() && x.Ended <= e.options.Now().Add(-transferLife).UnixMilli()
}

// forgetTransfers removes the records of transfers that ended long ago.
func (e *Engine) forgetTransfers(ctx context.Context) error {
	var over [][]byte
	err := e.readLatest(ctx, func(r kv.Reader) error {
		for k := range transferKinds {
			_, err := transfer.All(r, k, func(x *transfer.Record) bool {
				if e.forgotten(x) {
					over = append(over, x.Key())
				}
				return false
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	for _, key := range over {
		if err != nil {
			return err
		}
		err = e.store.Update(ctx, kv.Intent{Write: [][]byte{key}, Drops: true}, func(txn kv.Txn) error {
			txn.Delete(key)
			return nil
		})
	}
	return err
}

// transfersUnderWay returns the unfinished transfers, which a restart must continue.
func (e *Engine) transfersUnderWay(ctx context.Context) (all []*transfer.Record, err error) {
	err = e.readLatest(ctx, func(r kv.Reader) error {
		for _, k := range []transfer.Kind{transfer.Export, transfer.Import, transfer.Bulk} {
			found, err := transfer.All(r, k, (*transfer.Record).UnderWay)
			if err != nil {
				return err
			}
			all = append(all, found...)
		}
		return nil
	})
	return all, err
}

// transferList returns a page of the transfers of a kind, of one table or of all, the newest first, and the token of the next
// page.
func (e *Engine) transferList(ctx context.Context, k transfer.Kind, table, token *string, limit *int64) ([]*transfer.Record, *string, error) {
	ofTable, before := func(*transfer.Record) bool { return true }, ""
	var err error
	if table != nil {
		if ofTable, err = e.transfersOf(ctx, k, *table); err != nil {
			return nil, nil, err
		}
	}
	if token != nil {
		if before, err = pageOfToken(*token, k); err != nil {
			return nil, nil, err
		}
	}
	n := transferKinds[k].page
	if limit != nil {
		n = int(*limit)
	}
	var page []*transfer.Record
	more := false
	err = e.readLatest(ctx, func(r kv.Reader) error {
		var arns []string // records may be large, so only those of the page are kept
		_, err := transfer.All(r, k, func(x *transfer.Record) bool {
			arn := e.transferARN(x)
			if ofTable(x) && (before == "" || idOf(arn) < idOf(before)) && !e.forgotten(x) {
				arns = append(arns, arn)
			}
			return false
		})
		slices.SortFunc(arns, func(a, b string) int { return strings.Compare(idOf(b), idOf(a)) })
		more = len(arns) > n
		for _, arn := range arns[:min(n, len(arns))] {
			if err != nil {
				break
			}
			var x *transfer.Record
			x, err = transfer.Read(r, k, idOf(arn))
			page = append(page, x)
		}
		return err
	})
	if err != nil || !more {
		return page, nil, err
	}
	return page, new(tokenOfPage(e.transferARN(page[n-1]))), nil
}

// transfersOf returns a filter for the transfers of the table with an ARN. Exports count only for the table that currently has
// the name.
func (e *Engine) transfersOf(ctx context.Context, k transfer.Kind, arn string) (func(*transfer.Record) bool, error) {
	name, err := e.catalog.NameOfResource(arn)
	if isNotFound(err) { // a stream's, which has no transfers
		err = apierr.ExportOfNoTable.With()
	}
	if err != nil || k != transfer.Export {
		return func(x *transfer.Record) bool { return x.Table == name }, err
	}
	d, err := e.catalog.Get(ctx, name)
	if isNotFound(err) {
		return func(*transfer.Record) bool { return false }, nil
	}
	return func(x *transfer.Record) bool { return x.TableID == d.ID }, err
}

// idOf returns the id in a transfer's ARN. Ids begin with the time.
func idOf(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

// A page token is the last ARN of the page, padded to whole groups of 16 hex digits, at least seven.
const (
	tokenGroup  = 8
	tokenGroups = 7
)

func tokenOfPage(arn string) string {
	text := []byte(arn)
	for len(text)%tokenGroup != 0 || len(text) < tokenGroup*tokenGroups {
		text = append(text, 0)
	}
	return hex.EncodeToString(text)
}

// pageOfToken returns the ARN in a token of tokenOfPage, which must be that of a transfer of the same kind.
func pageOfToken(token string, k transfer.Kind) (arn string, err error) {
	text, err := hex.DecodeString(token)
	if err != nil || !bytes.HasPrefix(text, []byte("arn:")) || !bytes.Contains(text, []byte(transferKinds[k].arn)) {
		return "", apierr.InvalidPageToken.With(token)
	}
	return string(bytes.TrimRight(text, "\x00")), nil
}

// workOnTransfer executes the rest of a transfer. A permanent failure ends it as FAILED.
func (e *Engine) workOnTransfer(ctx context.Context, x *transfer.Record) error {
	for try := 1; ; try++ {
		before := *x
		err := e.transfer(ctx, x)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if x.Items != before.Items || x.Processed != before.Processed {
			try = 1
		}
		code := failureCode(err)
		if code == "" {
			return err // an error of the store is retried indefinitely
		}
		if code == s3Unavailable && try < transferTriesMax {
			rest(ctx, jobRetryDelay)
			continue
		}
		x.FailureCode, x.FailureMessage = code, err.Error()
		return e.endTransfer(ctx, x, transfer.Failed)
	}
}

func (e *Engine) transfer(ctx context.Context, x *transfer.Record) error {
	if e.options.Buckets == nil {
		return &bucketError{apierr.NoBuckets.With()}
	}
	switch x.Kind {
	case transfer.Import:
		return e.runImport(ctx, x)
	case transfer.Bulk:
		return e.runBulk(ctx, x)
	default:
		return e.runExport(ctx, x)
	}
}

// bucketError is an error of a bucket or in its contents.
type bucketError struct{ error }

func (e *bucketError) Unwrap() error { return e.error }

// ofBucket marks an error of a bucket.
func ofBucket(err error) error {
	if err == nil {
		return nil
	}
	return &bucketError{err}
}

// noSuchBucket is the failure code for a missing bucket.
const noSuchBucket = "S3NoSuchBucket"

// s3Unavailable is the failure code for temporary failures.
const s3Unavailable = "S3InternalError"

// failureCode returns the FailureCode of a transfer that fails with an error, or "" if the error is not permanent.
func failureCode(err error) string {
	_, known := errors.AsType[*apierr.Error](err)
	_, ofBucket := errors.AsType[*bucketError](err)
	switch {
	case errors.Is(err, bucket.ErrNoBucket):
		return noSuchBucket
	case errors.Is(err, errTableGone):
		return "TableNotFound"
	case errors.Is(err, bucket.ErrNoKey):
		return "S3NoSuchKey"
	case errors.Is(err, bucket.ErrDenied):
		return "S3AccessDenied"
	case errors.Is(err, bucket.ErrName), known && ofBucket:
		return "S3InvalidRequest"
	case ofBucket:
		return s3Unavailable
	default:
		return ""
	}
}

// endTransfer ends a transfer.
func (e *Engine) endTransfer(ctx context.Context, x *transfer.Record, status string) error {
	x.Status = status
	if x.UnderWay() {
		x.Ended = e.options.Now().UnixMilli()
	}
	switch x.Kind {
	case transfer.Import:
		return e.endImport(ctx, x)
	case transfer.Bulk:
		return e.endBulk(ctx, x)
	default:
	}
	if err := e.saveTransfer(ctx, x); err != nil {
		x.Ended = 0
		return err
	}
	e.dropKept(ctx, keptOfTransfer(x))
	return nil
}

// saveTransfer writes the record of a transfer in progress.
func (e *Engine) saveTransfer(ctx context.Context, x *transfer.Record) error {
	return e.store.Update(ctx, kv.Intent{Write: [][]byte{x.Key()}, Frees: !x.UnderWay()}, x.Save)
}

// endTime returns the time at which a transfer ended, or nil.
func endTime(x *transfer.Record) *api.Timestamp {
	if x.UnderWay() {
		return nil
	}
	return api.TimestampOf(x.Ended)
}

// textOrNil returns nil for an empty text.
func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
