package engine_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// writeObject writes an object of a bucket in a directory.
func writeObject(t *testing.T, dir, bucket, key, text string) {
	t.Helper()
	path := filepath.Join(dir, bucket, key)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// startBulk puts the items of the bucket source into the table History.
func startBulk(t *testing.T, e *engine.Engine, rate *int64) (*api.StartBulkPutItemsOutput, error) {
	t.Helper()
	return e.StartBulkPutItems(t.Context(), &api.StartBulkPutItemsInput{
		TableName: new("History"), MaxWriteRequestUnits: rate,
		InputS3Configuration:  &api.InputS3Configuration{S3Bucket: new("source"), InputFormat: new("DYNAMODB_JSON")},
		OutputS3Configuration: &api.OutputS3Configuration{S3Bucket: new("reports"), OutputType: []string{"ERROR", "CONDITION_CHECK_FAILURE"}},
	})
}

func describeBulk(t *testing.T, e *engine.Engine, arn *string) *api.BulkOperationDescription {
	t.Helper()
	out, err := e.DescribeBulkOperation(t.Context(), &api.DescribeBulkOperationInput{BulkOperationArn: arn})
	if err != nil {
		t.Fatal(err)
	}
	return out.BulkOperationDescription
}

// reported returns the lines in the reports of the last bulk operation's manifest, by type.
func reported(t *testing.T, dir string) map[string][]string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "reports/AWSDynamoDB/*/manifest-files.json"))
	if err != nil || len(found) == 0 {
		t.Fatalf("there is no manifest (%v)", err)
	}
	manifest, err := os.ReadFile(found[len(found)-1])
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(manifest)) {
		var file struct{ OutputType, DataFileS3Key string }
		if err := json.Unmarshal([]byte(line), &file); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(filepath.Join(dir, "reports", file.DataFileS3Key))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			all[file.OutputType] = append(all[file.OutputType], line)
		}
	}
	return all
}

// TestKilledWithinBulk puts items, some of which are rejected, killed after every number of writes. A reopened store puts, counts
// and reports each record exactly once.
func TestKilledWithinBulk(t *testing.T) {
	for writes := int64(0); ; writes++ {
		survived := false
		t.Run(fmt.Sprint(writes), func(t *testing.T) { survived = killedWithinBulk(t, writes) })
		if survived || t.Failed() {
			return
		}
	}
}

func killedWithinBulk(t *testing.T, writes int64) (survived bool) {
	t.Helper()
	dir := t.TempDir()
	var c clock
	c.set(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	o := engine.Options{Now: c.now, TTLInterval: -1, StreamShardRotation: -1, Buckets: openFolder(t, dir)}.SmallTransfers()
	store := killableKeeper{&killableStore{Store: kv.Checked(memkv.New())}}
	store.left.Store(1 << 30)
	e := openOn(t, store, o)
	send(t, e, "create-table", historyTable)
	want := map[string][]string{}
	const objects, records = 2, 8
	for object := range objects {
		var text strings.Builder
		for i := range records {
			at := text.Len()
			item := fmt.Sprintf(`{"pk":{"S":"%d"},"sk":{"N":"%d"}}`, i%3, i)
			key := fmt.Sprintf("%d.json", object)
			switch i % 4 {
			case 3:
				text.WriteString("no item\n")
				want["ERROR"] = append(want["ERROR"], fmt.Sprintf(`{"S3Key":"%s","Offset":%d,"ErrorCode":"SerializationException","ErrorMessage":"the record is malformed"}`+"\n", key, at))
			default: // each only once: the second object has them all again
				text.WriteString(`{"Item":` + item + `,"ConditionExpression":"attribute_not_exists(pk)"}` + "\n")
				if object > 0 {
					want["CONDITION_CHECK_FAILURE"] = append(want["CONDITION_CHECK_FAILURE"],
						fmt.Sprintf(`{"S3Key":"%s","Offset":%d,"Item":%s,"ExistingItem":%s}`+"\n", key, at, item, item))
				}
			}
		}
		writeObject(t, dir, "source", fmt.Sprintf("%d.json", object), text.String())
	}

	store.left.Store(writes)
	started, startErr := startBulk(t, e, nil)
	e.Settle()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	survived = store.left.Load() > 0

	e = openOn(t, store.Store, o)
	defer e.Close()
	e.Settle()
	wantVerified(t, e)
	if startErr != nil {
		return survived
	}
	d := describeBulk(t, e, started.BulkOperationDescription.BulkOperationArn)
	if *d.BulkOperationStatus != "COMPLETED_WITH_ERRORS" || *d.ProcessedItemCount != objects*records || *d.FailedItemCount != 4 ||
		*d.ProcessedInputBytes != *d.TotalInputBytes {
		t.Errorf("the operation is %s with %d records, %d failed, %d of %d bytes", *d.BulkOperationStatus, *d.ProcessedItemCount,
			*d.FailedItemCount, *d.ProcessedInputBytes, *d.TotalInputBytes)
	}
	if diff := cmp.Diff(want, reported(t, dir)); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
	if n := len(contents(t, e, "History")); n != 6 {
		t.Errorf("%d items were put", n)
	}
	if out, err := dump(t.Context(), store, "catalog/transfer/r"); err != nil || out != "" {
		t.Errorf("the store still has the reported damage (%v):\n%s", err, out)
	}
	return survived
}

// pacedTable opens an engine with a table and so many items of 1 KB to put.
func pacedTable(t *testing.T, items int) *engine.Engine {
	t.Helper()
	dir := t.TempDir()
	var text strings.Builder
	for i := range items {
		fmt.Fprintf(&text, `{"Item":{"pk":{"S":"a"},"sk":{"N":"%d"},"x":{"S":"%s"}}}`+"\n", i, strings.Repeat("x", 1000))
	}
	writeObject(t, dir, "source", "1.json", text.String())
	e, err := engine.Open(t.Context(), memkv.New(), engine.Options{TTLInterval: -1, StreamShardRotation: -1, Buckets: openFolder(t, dir)})
	if err != nil {
		t.Fatal(err)
	}
	send(t, e, "create-table", historyTable)
	return e
}

func TestBulkRespectsRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const items, rate = 3 * 1024, 1024
		e := pacedTable(t, items)
		defer e.Close()
		begun := time.Now()
		if _, err := startBulk(t, e, new(int64(rate))); err != nil {
			t.Fatal(err)
		}
		e.Settle()
		if took := time.Since(begun); took < items/rate*time.Second || took > 2*items/rate*time.Second {
			t.Errorf("%d units at %d a second took %v", items, rate, took)
		}
		if n := len(contents(t, e, "History")); n != items {
			t.Errorf("%d items were put", n)
		}
	})
}

func TestBulkIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := pacedTable(t, 3*1024)
		defer e.Close()
		var arns []*string
		for range 3 { // one of them waits for its turn
			out, err := startBulk(t, e, new(int64(1024)))
			if err != nil {
				t.Fatal(err)
			}
			arns = append(arns, out.BulkOperationDescription.BulkOperationArn)
		}
		<-time.After(time.Second) // of the bubble's clock
		synctest.Wait()
		for _, arn := range arns {
			out, err := e.CancelBulkOperation(t.Context(), &api.CancelBulkOperationInput{BulkOperationArn: arn})
			if err != nil || *out.BulkOperationStatus != "CANCELLING" {
				t.Fatalf("%v, %v", out, err)
			}
			if d := describeBulk(t, e, arn); *d.BulkOperationStatus != "CANCELLING" || d.EndTime != nil {
				t.Errorf("the operation is %s", *d.BulkOperationStatus)
			}
		}
		e.Settle()
		waited := 0
		for i, arn := range arns {
			d := describeBulk(t, e, arn)
			put := *d.ProcessedItemCount
			if *d.BulkOperationStatus != "CANCELLED" || *d.FailureCode != "Cancelled" || put == 3*1024 {
				t.Errorf("operation %d is %s after %d items", i, *d.BulkOperationStatus, put)
			}
			if put == 0 {
				waited++
			}
		}
		if waited != 1 {
			t.Errorf("%d operations have put nothing, want 1", waited)
		}
	})
}

// TestBulkTokenExpires: a token refers to its bulk operation for 8 hours after the request, however long the operation takes.
func TestBulkTokenExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := pacedTable(t, 3*1024) // for three seconds
		defer e.Close()
		start := func(rate int64) error {
			_, err := e.StartBulkPutItems(t.Context(), &api.StartBulkPutItemsInput{
				TableName: new("History"), MaxWriteRequestUnits: &rate, ClientToken: new("once"),
				InputS3Configuration:  &api.InputS3Configuration{S3Bucket: new("source"), InputFormat: new("DYNAMODB_JSON")},
				OutputS3Configuration: &api.OutputS3Configuration{S3Bucket: new("reports"), OutputType: []string{"ERROR"}},
			})
			return err
		}
		begun := time.Now()
		if err := start(1024); err != nil {
			t.Fatal(err)
		}
		e.Settle()
		at := func(after time.Duration) error {
			<-time.After(time.Until(begun.Add(after))) // of the bubble's clock
			return start(2048)
		}
		if err := at(8*time.Hour - time.Second); codeOf(err) != apierr.IdempotentParameterMismatchException {
			t.Errorf("within 8 hours: %v", err)
		}
		if err := at(8*time.Hour + time.Second); err != nil {
			t.Errorf("after 8 hours: %v", err)
		}
		e.Settle()
	})
}

// TestBulkOfDeletedTable deletes the table of a bulk operation.
func TestBulkOfDeletedTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := pacedTable(t, 1024)
		defer e.Close()
		out, err := startBulk(t, e, new(int64(1024)))
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(100 * time.Millisecond) // of the bubble's clock
		synctest.Wait()
		send(t, e, "delete-table", `{"TableName":"History"}`)
		e.Settle()
		d := describeBulk(t, e, out.BulkOperationDescription.BulkOperationArn)
		if *d.BulkOperationStatus != "FAILED" || *d.FailureCode != "TableNotFound" {
			t.Errorf("the operation is %s: %v", *d.BulkOperationStatus, d.FailureCode)
		}
	})
}

// TestBulkOfLargeItems has batches larger than the store can take at once: large rejected items, large existing items, and
// indexes.
func TestBulkOfLargeItems(t *testing.T) {
	dir := t.TempDir()
	e := newEngine(t, engine.Options{TTLInterval: -1, StreamShardRotation: -1, Buckets: openFolder(t, dir)})
	send(t, e, "create-table", historyTable)
	var text strings.Builder
	const items = 30
	for i := range items {
		item := fmt.Sprintf(`{"pk":{"S":"a"},"sk":{"N":"%d"},"x":{"S":"%s"}}`, i, strings.Repeat("x", 300<<10))
		send(t, e, "put-item", `{"TableName":"History","Item":`+item+`}`)
		text.WriteString(`{"Item":{"pk":{"S":"a"},"sk":{"N":"` + fmt.Sprint(i) + `"}},"ConditionExpression":"attribute_not_exists(pk)"}` + "\n")
	}
	writeObject(t, dir, "source", "1.json", text.String())
	if _, err := startBulk(t, e, nil); err != nil {
		t.Fatal(err)
	}
	e.Settle()
	if n := len(reported(t, dir)["CONDITION_CHECK_FAILURE"]); n != items {
		t.Errorf("%d items are reported, want %d", n, items)
	}
}
