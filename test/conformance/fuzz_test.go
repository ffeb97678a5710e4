package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// repeatable are the options of a deterministic database.
func repeatable() *monotable.Options {
	return &monotable.Options{
		Now:  func() time.Time { return time.Unix(1_795_176_000, 0) },
		Rand: &lockedRand{rng: rand.NewChaCha8([32]byte{})},
	}
}

// lockedRand is a deterministic source of randomness, safe for concurrent use.
type lockedRand struct {
	mu  sync.Mutex
	rng *rand.ChaCha8
}

func (r *lockedRand) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rng.Read(p)
}

// respond sends a request and checks what every response must have: JSON with its checksum and, for an error, a code that the
// operation has and that is the client's.
func respond(tb testing.TB, h http.Handler, o *api.Operation, body string) (status int, out map[string]any) {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, "http://localhost/", strings.NewReader(body))
	r.Header = plain(o.Name).header
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	content := w.Body.Bytes()
	fail := func(what string) {
		tb.Helper()
		tb.Fatalf("%s: %d %.2000s\nfor %s %.2000s", what, w.Code, content, o.Name, body)
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	isJSON := decoder.Decode(&out) == nil
	isEmpty := len(content) == 0 && w.Code == http.StatusOK && o.EmptyResponse
	switch {
	case w.Code != http.StatusOK && w.Code != http.StatusBadRequest:
		fail("a status that no request deserves")
	case !isJSON && !isEmpty:
		fail("no JSON")
	case w.Header().Get("X-Amz-Crc32") != strconv.FormatUint(uint64(crc32.ChecksumIEEE(content)), 10):
		fail("a wrong checksum")
	case w.Code == http.StatusBadRequest:
		name := text(out, "__type")
		code := apierr.Code(name[strings.IndexByte(name, '#')+1:])
		if !o.MayReturn(code) || apierr.New(code, "").Type() != name {
			fail("an error that the operation does not have")
		}
	}
	return w.Code, out
}

// FuzzRequests sends any body to any operation of a database with two tables. If a request is rejected, which changes nothing,
// the next one uses the same database, otherwise a new one.
func FuzzRequests(f *testing.F) {
	operations := api.Operations()
	place := map[string]int{}
	for i := range operations {
		place[operations[i].Name] = i
	}
	for _, s := range samples {
		f.Add(uint8(place[s.operation]), expand(s.body))
	}
	var db *monotable.DB
	closed := func(tb testing.TB) {
		tb.Helper()
		if db == nil {
			return
		}
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
		db = nil
	}
	f.Cleanup(func() { closed(f) })
	f.Fuzz(func(t *testing.T, operation uint8, body string) {
		if db == nil {
			var err error
			if db, err = monotable.OpenMemory(repeatable()); err != nil {
				t.Fatal(err)
			}
			for _, s := range samples[:3] {
				if status, out := respond(t, db.Handler(), &operations[place[s.operation]], s.body); status != http.StatusOK {
					t.Fatalf("%s: %v", s.operation, out)
				}
			}
		}
		if status, _ := respond(t, db.Handler(), &operations[int(operation)%len(operations)], body); status == http.StatusOK {
			closed(t)
		}
	})
}

// TestSamples: the samples call every operation.
func TestSamples(t *testing.T) {
	for _, o := range api.Operations() {
		if !slices.ContainsFunc(samples, func(s sample) bool { return s.operation == o.Name }) {
			t.Errorf("no sample calls %s", o.Name)
		}
	}
}

// paged is an operation that continues after a token. In the body, $ stands for the token.
type paged struct{ operation, body, list, next string }

var pagedOperations = []paged{
	{"ListTables", `{"Limit":1,"ExclusiveStartTableName":$}`, "TableNames", "LastEvaluatedTableName"},
	{"ListBackups", `{"Limit":1,"ExclusiveStartBackupArn":$}`, "BackupSummaries", "LastEvaluatedBackupArn"},
	{"ListGlobalTables", `{"Limit":1,"ExclusiveStartGlobalTableName":$}`, "GlobalTables", "LastEvaluatedGlobalTableName"},
	{"ListContributorInsights", `{"MaxResults":1,"NextToken":$}`, "ContributorInsightsSummaries", "NextToken"},
	{"ListExports", `{"MaxResults":1,"NextToken":$}`, "ExportSummaries", "NextToken"},
	{"ListImports", `{"PageSize":1,"NextToken":$}`, "ImportSummaryList", "NextToken"},
	{"ListBulkOperations", `{"MaxResults":1,"NextToken":$}`, "BulkOperationsSummaryList", "NextToken"},
	{"ListTagsOfResource", `{"ResourceArn":"` + tableARN + `","NextToken":$}`, "Tags", "NextToken"},
	{"ListStreams", `{"Limit":1,"ExclusiveStartStreamArn":$}`, "Streams", "LastEvaluatedStreamArn"},
	{"DescribeStream", `{"StreamArn":"` + tableARN + `/stream/2026-11-20T12:00:00.000","Limit":1,"ExclusiveStartShardId":$}`, "StreamDescription.Shards", "StreamDescription.LastEvaluatedShardId"},
	{"Scan", `{"TableName":"tbl","Limit":1,"ExclusiveStartKey":$}`, "Items", "LastEvaluatedKey"},
	{"Query", `{"TableName":"tbl","Limit":1,"KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"p"}},"ExclusiveStartKey":$}`, "Items", "LastEvaluatedKey"},
	{"Query", `{"TableName":"tbl","IndexName":"byA","Limit":1,"KeyConditionExpression":"a = :a","ExpressionAttributeValues":{":a":{"S":"x"}},"ExclusiveStartKey":$}`, "Items", "LastEvaluatedKey"},
	{"ExecuteStatement", `{"Statement":"SELECT * FROM tbl","Limit":1,"NextToken":$}`, "Items", "NextToken"},
	{"ExecuteStatement", `{"Statement":"SELECT * FROM tbl.byA WHERE a IN ['x', 'y']","Limit":1,"NextToken":$}`, "Items", "NextToken"},
	{"GetRecords", `{"Limit":1,"ShardIterator":$}`, "Records", ""},
}

const tableARN = "arn:aws:dynamodb:us-east-1:000000000000:table/tbl"

// page sends a request with a token, which is JSON.
func (p *paged) page(tb testing.TB, h http.Handler, token string) (status int, list []string, next string) {
	tb.Helper()
	operations := api.Operations()
	o := &operations[slices.IndexFunc(operations, func(o api.Operation) bool { return o.Name == p.operation })]
	status, out := respond(tb, h, o, strings.Replace(p.body, "$", token, 1))
	member := func(path string) any {
		var v any = out
		for name := range strings.SplitSeq(path, ".") {
			m, _ := v.(map[string]any)
			v = m[name]
		}
		return v
	}
	all, _ := member(p.list).([]any)
	for _, v := range all {
		list = append(list, compact(v))
	}
	if v := member(p.next); v != nil {
		next = compact(v)
	}
	return status, list, next
}

// openPages opens a database that has at least two of everything that is listed in pages.
func openPages(f *testing.F) http.Handler {
	f.Helper()
	o := repeatable()
	o.S3Dir, o.StreamShards = f.TempDir(), 3
	if err := os.MkdirAll(filepath.Join(o.S3Dir, "bucket"), 0o750); err != nil {
		f.Fatal(err)
	}
	db, err := monotable.OpenMemory(o)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := db.Close(); err != nil {
			f.Error(err)
		}
	})
	requests := []sample{
		samples[0], {"UpdateContinuousBackups", `{"TableName":"tbl","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`},
	}
	for i := range 4 {
		requests = append(requests, sample{"PutItem", fmt.Sprintf(`{"TableName":"tbl","Item":{"pk":{"S":"p"},"sk":{"N":"%d"},"a":{"S":"x"},"b":{"B":"QQ=="}}}`, i)})
	}
	for _, name := range []string{"one", "two"} {
		table := `{"TableName":"%s` + name + `","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],` +
			`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}]%s}`
		requests = append(requests,
			sample{"CreateTable", fmt.Sprintf(table, "global", `,"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}`)},
			sample{"CreateGlobalTable", `{"GlobalTableName":"global` + name + `","ReplicationGroup":[{"RegionName":"us-east-1"}]}`},
			sample{"UpdateContributorInsights", `{"TableName":"global` + name + `","ContributorInsightsAction":"ENABLE"}`},
			sample{"CreateBackup", `{"TableName":"tbl","BackupName":"` + name + `"}`},
			sample{"TagResource", `{"ResourceArn":"` + tableARN + `","Tags":[{"Key":"` + name + `","Value":"v"}]}`},
			sample{"ExportTableToPointInTime", `{"TableArn":"` + tableARN + `","S3Bucket":"bucket"}`},
			sample{"ImportTable", `{"InputFormat":"CSV","S3BucketSource":{"S3Bucket":"bucket","S3KeyPrefix":"none"},` +
				`"TableCreationParameters":` + fmt.Sprintf(table, "imported", "") + `}`},
			sample{"StartBulkPutItems", `{"TableName":"tbl","InputS3Configuration":{"S3Bucket":"bucket","S3KeyPrefix":"none","InputFormat":"ION"},` +
				`"OutputS3Configuration":{"S3Bucket":"bucket","OutputType":["ERROR"]}}`},
		)
	}
	operations := api.Operations()
	for _, r := range requests {
		i := slices.IndexFunc(operations, func(o api.Operation) bool { return o.Name == r.operation })
		if status, out := respond(f, db.Handler(), &operations[i], r.body); status != http.StatusOK {
			f.Fatalf("%s %s: %v", r.operation, r.body, out)
		}
	}
	for _, name := range []string{"ListExports", "ListImports", "ListBulkOperations"} {
		awaitEnd(f, db.Handler(), &operations[slices.IndexFunc(operations, func(o api.Operation) bool { return o.Name == name })])
	}
	return db.Handler()
}

// awaitEnd waits until everything that an operation lists has ended.
func awaitEnd(f *testing.F, h http.Handler, o *api.Operation) {
	f.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-tick.C {
		if _, out := respond(f, h, o, "{}"); !strings.Contains(compact(out), "IN_PROGRESS") {
			return
		}
	}
	f.Fatalf("%s: they do not end", o.Name)
}

// FuzzTokens requests the page after any token, in a database that does not change: it must have nothing that is not in the list.
func FuzzTokens(f *testing.F) {
	h := openPages(f)
	whole := make([][]string, len(pagedOperations))
	for i := range pagedOperations {
		p := &pagedOperations[i]
		f.Add(uint8(i), `"x"`)
		f.Add(uint8(i), `{"pk":{"S":"p"},"sk":{"N":"1"},"a":{"S":"x"},"b":{"B":"QQ=="}}`)
		if p.operation == "GetRecords" {
			continue
		}
		for next := "null"; next != ""; {
			var list []string
			_, list, next = p.page(f, h, next)
			whole[i] = append(whole[i], list...)
			if next != "" {
				f.Add(uint8(i), next)
			}
			if len(whole[i]) > 50 {
				f.Fatalf("%s: the pages have no end", p.operation)
			}
		}
		if n := len(whole[i]); n < 2 || len(slices.Compact(slices.Sorted(slices.Values(whole[i])))) != n {
			f.Fatalf("%s lists %q", p.operation, whole[i])
		}
	}
	iterator := paged{
		"GetShardIterator", `{"ShardIteratorType":"TRIM_HORIZON","StreamArn":"` + tableARN + `/stream/2026-11-20T12:00:00.000","ShardId":$}`, "", "ShardIterator",
	}
	describe := slices.IndexFunc(pagedOperations, func(p paged) bool { return p.operation == "DescribeStream" })
	for _, shard := range whole[describe] {
		var s struct{ ShardId string } //nolint:revive // the API spells it so
		if err := json.Unmarshal([]byte(shard), &s); err != nil {
			f.Fatal(err)
		}
		_, _, token := iterator.page(f, h, strconv.Quote(s.ShardId))
		f.Add(uint8(len(pagedOperations)-1), token)
	}
	f.Fuzz(func(t *testing.T, operation uint8, token string) {
		i := int(operation) % len(pagedOperations)
		p := &pagedOperations[i]
		_, list, _ := p.page(t, h, token)
		for _, element := range list {
			if p.operation != "GetRecords" && !slices.Contains(whole[i], element) {
				t.Fatalf("%s after %s has %s", p.operation, token, element)
			}
		}
	})
}
