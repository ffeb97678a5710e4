package engine_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/bucket/folder"
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

const historyARN = "arn:aws:dynamodb:us-east-1:000000000000:table/History"

// openFolder opens the buckets in a directory.
func openFolder(t *testing.T, dir string) *folder.Store {
	t.Helper()
	s, err := folder.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// exportAt exports the table History as of a second to a bucket, and waits for the end.
func exportAt(t *testing.T, e *engine.Engine, at int64, bucket, format string) *api.ExportDescription {
	t.Helper()
	out, err := e.ExportTableToPointInTime(t.Context(), &api.ExportTableToPointInTimeInput{
		TableArn: new(historyARN), S3Bucket: &bucket, ExportTime: new(api.Timestamp(at)), ExportFormat: &format,
	})
	if err != nil {
		t.Fatal(err)
	}
	e.Settle()
	return describeExport(t, e, *out.ExportDescription.ExportArn)
}

func describeExport(t *testing.T, e *engine.Engine, arn string) *api.ExportDescription {
	t.Helper()
	out, err := e.DescribeExport(t.Context(), &api.DescribeExportInput{ExportArn: &arn})
	if err != nil {
		t.Fatal(err)
	}
	return out.ExportDescription
}

// importHistory creates a table from the objects in a bucket.
func importHistory(t *testing.T, e *engine.Engine, table, bucket, prefix, format, compression string) (*api.ImportTableOutput, error) {
	t.Helper()
	define := struct {
		AttributeDefinitions   []api.AttributeDefinition
		KeySchema              []api.KeySchemaElement
		GlobalSecondaryIndexes []api.GlobalSecondaryIndex
	}{}
	if err := json.Unmarshal([]byte(historyTable), &define); err != nil {
		t.Fatal(err)
	}
	ofLocal := func(d api.AttributeDefinition) bool { return *d.AttributeName == "l" || *d.AttributeName == "m" }
	return e.ImportTable(t.Context(), &api.ImportTableInput{
		S3BucketSource: &api.S3BucketSource{S3Bucket: &bucket, S3KeyPrefix: &prefix},
		InputFormat:    &format, InputCompressionType: &compression,
		TableCreationParameters: &api.TableCreationParameters{
			TableName: &table, BillingMode: new("PAY_PER_REQUEST"), KeySchema: define.KeySchema,
			AttributeDefinitions: slices.DeleteFunc(define.AttributeDefinitions, ofLocal), GlobalSecondaryIndexes: define.GlobalSecondaryIndexes,
		},
	})
}

// wantWhole checks that the objects of an export match its manifests.
func wantWhole(t *testing.T, dir, bucket string, d *api.ExportDescription) {
	t.Helper()
	if *d.ExportStatus != "COMPLETED" {
		t.Fatalf("the export is %s: %v %v", *d.ExportStatus, d.FailureCode, d.FailureMessage)
	}
	read := func(key string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, bucket, key))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	wantSum := func(data []byte, want string) {
		t.Helper()
		if sum := md5.Sum(data); base64.StdEncoding.EncodeToString(sum[:]) != want {
			t.Errorf("an object does not have the MD5 %s", want)
		}
	}
	var summary struct {
		ManifestFilesS3Key string
		ItemCount          int64
	}
	data := read(*d.ExportManifest)
	wantSum(data, string(read(strings.TrimSuffix(*d.ExportManifest, "json")+"md5")))
	if err := json.Unmarshal(data, &summary); err != nil {
		t.Fatal(err)
	}
	manifest := read(summary.ManifestFilesS3Key)
	wantSum(manifest, string(read(strings.TrimSuffix(summary.ManifestFilesS3Key, "json")+"md5")))
	items := int64(0)
	for line := range strings.Lines(string(manifest)) {
		var file struct {
			ItemCount                  int64
			MD5Checksum, DataFileS3Key string
		}
		if err := json.Unmarshal([]byte(line), &file); err != nil {
			t.Fatal(err)
		}
		data := read(file.DataFileS3Key)
		wantSum(data, file.MD5Checksum)
		z, err := gzip.NewReader(strings.NewReader(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if n := int64(strings.Count(string(text), "\n")); err != nil || n != file.ItemCount {
			t.Errorf("a file has %d lines and should have %d (%v)", n, file.ItemCount, err)
		}
		items += file.ItemCount
	}
	if items != summary.ItemCount || items != *d.ItemCount {
		t.Errorf("the files have %d items, the summary says %d and the description %d", items, summary.ItemCount, *d.ItemCount)
	}
}

// TestExportsMatchPastState changes a table at random for some seconds, exports its state in each of them, and imports every
// export again: the result is the table as it was.
func TestExportsMatchPastState(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	var c clock
	c.set(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	e := newEngine(t, engine.Options{Now: c.now, TTLInterval: -1, StreamShardRotation: -1, Buckets: openFolder(t, dir)}.SmallTransfers())
	send(t, e, "create-table", historyTable)
	if err := turnRecoveryOn(t.Context(), e, "History"); err != nil {
		t.Fatal(err)
	}
	past := map[int64]map[string]string{}
	const seconds, keys = 8, 25
	for range seconds {
		c.set(c.now().Add(time.Second))
		for range random.IntN(20) {
			key := random.IntN(keys)
			if random.IntN(3) == 0 {
				send(t, e, "delete-item", fmt.Sprintf(`{"TableName":"History","Key":{"pk":{"S":"%d"},"sk":{"N":"%d"}}}`, key%5, key))
				continue
			}
			send(t, e, "put-item", fmt.Sprintf(`{"TableName":"History","Item":{"pk":{"S":"%d"},"sk":{"N":"%d"},"g":{"S":"%d"},"l":{"S":"y"}}}`,
				key%5, key, random.IntN(100)))
		}
		past[c.now().Unix()] = contents(t, e, "History")
	}
	c.set(c.now().Add(time.Second))
	for _, at := range slices.Sorted(maps.Keys(past)) {
		bucket := fmt.Sprintf("bucket-%d", at)
		format := []string{"DYNAMODB_JSON", "ION"}[at%2]
		d := exportAt(t, e, at, bucket, format)
		wantWhole(t, dir, bucket, d)
		table := fmt.Sprintf("Import-%d", at)
		prefix := strings.TrimSuffix(*d.ExportManifest, "manifest-summary.json") + "data/"
		if _, err := importHistory(t, e, table, bucket, prefix, format, "GZIP"); err != nil {
			t.Fatal(err)
		}
		e.Settle()
		if diff := cmp.Diff(past[at], contents(t, e, table)); diff != "" {
			t.Errorf("second %d (-want +got):\n%s", at, diff)
		}
	}
	wantVerified(t, e)
}

// TestIncrementalExportsMatchPastStates changes a table at random, and exports its changes between random seconds: each leads from the
// state at the first second to that at the second.
func TestIncrementalExportsMatchPastStates(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	var c clock
	c.set(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	e := newEngine(t, engine.Options{Now: c.now, TTLInterval: -1, StreamShardRotation: -1, Buckets: openFolder(t, dir)}.SmallTransfers())
	send(t, e, "create-table", historyTable)
	if err := turnRecoveryOn(t.Context(), e, "History"); err != nil {
		t.Fatal(err)
	}
	const steps, keys, step = 12, 25, 5 * time.Minute
	model := map[string]string{}
	var seconds []int64
	var states []map[string]string // before the changes of each second
	for range steps {
		c.set(c.now().Add(step))
		seconds, states = append(seconds, c.now().Unix()), append(states, maps.Clone(model))
		for range random.IntN(20) {
			n := random.IntN(keys)
			key, id := fmt.Sprintf(`{"pk":{"S":"%d"},"sk":{"N":"%d"}`, n%5, n), fmt.Sprintf("%d/%d", n%5, n)
			if random.IntN(3) == 0 {
				send(t, e, "delete-item", `{"TableName":"History","Key":`+key+`}}`)
				delete(model, id)
				continue
			}
			model[id] = fmt.Sprint(random.IntN(3))
			send(t, e, "put-item", fmt.Sprintf(`{"TableName":"History","Item":%s,"g":{"S":%q}}}`, key, model[id]))
		}
	}
	c.set(c.now().Add(step))
	for n := range steps {
		from := random.IntN(steps - 3)
		to := from + 3 + random.IntN(steps-from-3)
		bucket := fmt.Sprintf("bucket-%d", n)
		out, err := e.ExportTableToPointInTime(t.Context(), &api.ExportTableToPointInTimeInput{
			TableArn: new(historyARN), S3Bucket: &bucket, ExportType: new("INCREMENTAL_EXPORT"),
			IncrementalExportSpecification: &api.IncrementalExportSpecification{
				ExportFromTime: new(api.Timestamp(seconds[from])), ExportToTime: new(api.Timestamp(seconds[to])),
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		e.Settle()
		wantWhole(t, dir, bucket, describeExport(t, e, *out.ExportDescription.ExportArn))
		got := maps.Clone(states[from])
		applyChanges(t, got, filepath.Join(dir, bucket, "AWSDynamoDB/data"))
		if diff := cmp.Diff(states[to], got); diff != "" {
			t.Errorf("from step %d to %d (-want +got):\n%s", from, to, diff)
		}
	}
}

// applyChanges applies the changes in the files of an incremental export to the attribute g of items, by their keys.
func applyChanges(t *testing.T, items map[string]string, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files (%v)", dir, err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		type image struct{ G struct{ S string } }
		for changes := json.NewDecoder(z); changes.More(); {
			var change struct {
				Keys               struct{ PK, SK struct{ S, N string } }
				OldImage, NewImage *image
			}
			if err := changes.Decode(&change); err != nil {
				t.Fatal(err)
			}
			id := change.Keys.PK.S + "/" + change.Keys.SK.N
			if before, existed := items[id]; existed != (change.OldImage != nil) || existed && before != change.OldImage.G.S {
				t.Errorf("%s was %q, and the export has %v", id, before, change.OldImage)
			}
			delete(items, id)
			if change.NewImage != nil {
				items[id] = change.NewImage.G.S
			}
		}
	}
}

// TestKilledWithinTransfers exports a table and imports another, killed after every number of writes. A reopened store completes
// what was acknowledged, with every item once, and keeps no unused snapshots.
func TestKilledWithinTransfers(t *testing.T) {
	for writes := int64(0); ; writes++ {
		survived := false
		t.Run(fmt.Sprint(writes), func(t *testing.T) { survived = killedWithinTransfers(t, writes) })
		if survived || t.Failed() {
			return
		}
	}
}

func killedWithinTransfers(t *testing.T, writes int64) (survived bool) {
	t.Helper()
	dir := t.TempDir()
	var c clock
	c.set(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	o := engine.Options{Now: c.now, TTLInterval: -1, StreamShardRotation: -1, Buckets: openFolder(t, dir)}.SmallTransfers()
	store := killableKeeper{&killableStore{Store: kv.Checked(memkv.New())}}
	store.left.Store(1 << 30)
	e := openOn(t, store, o)
	send(t, e, "create-table", historyTable)
	if err := turnRecoveryOn(t.Context(), e, "History"); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(dir, "source")
	if err := os.Mkdir(source, 0o755); err != nil {
		t.Fatal(err)
	}
	const items = 20
	var lines strings.Builder
	for i := range items {
		item := fmt.Sprintf(`{"pk":{"S":"%d"},"sk":{"N":"%d"},"g":{"S":"x"}}`, i%3, i)
		send(t, e, "put-item", `{"TableName":"History","Item":`+item+`}`)
		lines.WriteString(`{"Item":` + item + "}\n")
		if i%7 == 6 {
			lines.WriteString("no item\n")
		}
	}
	for _, name := range []string{"1.json", "2.json"} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, at := contents(t, e, "History"), c.now().Unix()
	c.set(c.now().Add(time.Second))
	for i := range 6 {
		send(t, e, "delete-item", fmt.Sprintf(`{"TableName":"History","Key":{"pk":{"S":"%d"},"sk":{"N":"%d"}}}`, i%3, i))
	}

	store.left.Store(writes)
	exported, exportErr := e.ExportTableToPointInTime(t.Context(), &api.ExportTableToPointInTimeInput{
		TableArn: new(historyARN), S3Bucket: new("exports"), ExportTime: new(api.Timestamp(at)),
	})
	e.Settle()
	imported, importErr := importHistory(t, e, "Imported", "source", "", "DYNAMODB_JSON", "NONE")
	e.Settle()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	survived = store.left.Load() > 0

	e = openOn(t, store.Store, o)
	defer e.Close()
	e.Settle()
	wantVerified(t, e)
	if exportErr == nil {
		d := describeExport(t, e, *exported.ExportDescription.ExportArn)
		wantWhole(t, dir, "exports", d)
		if *d.ItemCount != items {
			t.Errorf("exported %d items, want %d", *d.ItemCount, items)
		}
	}
	if importErr == nil {
		out, err := e.DescribeImport(t.Context(), &api.DescribeImportInput{ImportArn: imported.ImportTableDescription.ImportArn})
		if err != nil {
			t.Fatal(err)
		}
		d := out.ImportTableDescription
		got := []int64{*d.ImportedItemCount, *d.ErrorCount, *d.ProcessedItemCount, *d.ProcessedSizeBytes}
		if diff := cmp.Diff([]int64{2 * items, 4, 2*items + 4, 2 * int64(lines.Len())}, got); diff != "" || *d.ImportStatus != "FAILED" {
			t.Errorf("the import is %s and counts (-want +got)\n%s", *d.ImportStatus, diff)
		}
		if diff := cmp.Diff(want, contents(t, e, "Imported")); diff != "" {
			t.Errorf("imported (-want +got):\n%s", diff)
		}
	}
	if kept, err := store.Kept(t.Context()); err != nil || len(kept) > 0 {
		t.Errorf("the store keeps %v (%v)", kept, err)
	}
	return survived
}

// narrow is a store whose updates have room for one item, unless it is large.
type narrow struct{ kv.Store }

func (n narrow) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	items := 0
	for _, key := range in.Write {
		if key[0] == 'd' {
			items++
		}
		if bytes.Contains(key, []byte("large")) {
			items++
		}
	}
	if items > 1 {
		return kv.ErrTooLarge
	}
	return n.Store.Update(ctx, in, fn)
}

// TestImportBeyondStoreLimits: items that the store cannot take together are imported one by one, and one that it cannot take at
// all is rejected.
func TestImportBeyondStoreLimits(t *testing.T) {
	dir := t.TempDir()
	e := openOn(t, narrow{kv.Checked(memkv.New())}, engine.Options{TTLInterval: -1, Buckets: openFolder(t, dir)}.SmallTransfers())
	defer e.Close()
	writeObject(t, dir, "source", "1.json", `{"Item":{"pk":{"S":"a"},"sk":{"N":"1"},"l":{"S":"first"}}}
{"Item":{"pk":{"S":"large"},"sk":{"N":"1"}}}
{"Item":{"pk":{"S":"a"},"sk":{"N":"1"},"l":{"S":"last"}}}
{"Item":{"pk":{"S":"b"},"sk":{"N":"2"}}}
`)
	imported, err := importHistory(t, e, "Imported", "source", "", "DYNAMODB_JSON", "NONE")
	if err != nil {
		t.Fatal(err)
	}
	e.Settle()
	out, err := e.DescribeImport(t.Context(), &api.DescribeImportInput{ImportArn: imported.ImportTableDescription.ImportArn})
	if err != nil {
		t.Fatal(err)
	}
	d := out.ImportTableDescription
	if diff := cmp.Diff([]int64{3, 1, 4}, []int64{*d.ImportedItemCount, *d.ErrorCount, *d.ProcessedItemCount}); diff != "" {
		t.Errorf("the import is %s and counts (-want +got)\n%s", *d.ImportStatus, diff)
	}
	if got := contents(t, e, "Imported"); len(got) != 2 || !strings.Contains(fmt.Sprint(got), "last") {
		t.Errorf("imported %v", got)
	}
	wantVerified(t, e)
}

// TestRestoreBeyondStoreLimits: changes that the store cannot take together are undone one by one.
func TestRestoreBeyondStoreLimits(t *testing.T) {
	var c clock
	c.set(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	e := openOn(t, narrow{kv.Checked(memkv.New())}, engine.Options{Now: c.now, TTLInterval: -1})
	defer e.Close()
	send(t, e, "create-table", historyTable)
	if err := turnRecoveryOn(t.Context(), e, "History"); err != nil {
		t.Fatal(err)
	}
	write := func(value string) {
		for i := range 3 {
			send(t, e, "put-item", fmt.Sprintf(`{"TableName":"History","Item":{"pk":{"S":"%d"},"sk":{"N":"1"},"g":{"S":%q}}}`, i, value))
		}
	}
	write("then")
	want, then := contents(t, e, "History"), c.now()
	c.set(then.Add(time.Second))
	write("now")
	c.set(then.Add(2 * time.Second))
	if err := restoreTo(t.Context(), e, "History", then, "Restored"); err != nil {
		t.Fatal(err)
	}
	e.Settle()
	if diff := cmp.Diff(want, contents(t, e, "Restored")); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	wantVerified(t, e)
}
