// Package format_test opens directories written by earlier releases: every build must open, read, verify and write what
// any released build wrote.
//
// Each testdata/vN contains one such directory, packed, and a script with requests and the responses of the build that
// wrote it. A change of a storage format keeps the old directories and adds one, written by the new build:
//
//	go test ./test/format -run TestRecord -record v2
//	go test ./test/format -run TestDirectories/v2 -rewrite
package format_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/monotable/monotable"
)

var record = flag.String("record", "", "write testdata/`vN`/directory.tar.gz with this build")

const (
	// started is when the first request of requests.txt is made: 2026-11-01T00:00:00Z.
	started = 1793491200
	// read is when a directory is read: tokens of transactions still count.
	read = started + 300
	// patience ends waits for work in the background.
	patience = 30 * time.Second
)

// regions are those served; requests are for the first one until a script says otherwise.
var regions = []string{"us-east-1", "eu-west-1"}

// session is an open directory, with a clock that only the script moves.
type session struct {
	dir string
	now atomic.Int64 // seconds since the epoch
	db  *monotable.DB

	region string // of the requests
}

// lockedRand is a source of randomness that is always the same.
type lockedRand struct {
	mu  sync.Mutex
	rng *rand.ChaCha8
}

func (r *lockedRand) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rng.Read(p)
}

func open(t *testing.T, dir string, now int64) *session {
	t.Helper()
	s := &session{dir: dir, region: regions[0]}
	s.now.Store(now)
	s.open(t)
	t.Cleanup(func() {
		if err := s.db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *session) open(t *testing.T) {
	t.Helper()
	var err error
	s.db, err = monotable.Open(s.dir, &monotable.Options{
		Now:    func() time.Time { return time.Unix(s.now.Load(), 0) },
		Region: regions[0], Regions: regions[1:],
		Rand: &lockedRand{rng: rand.NewChaCha8([32]byte{byte(s.now.Load())})},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *session) reopen(t *testing.T) {
	t.Helper()
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	s.open(t)
}

// send makes a request and returns the response, or the status and the error.
func (s *session) send(ctx context.Context, operation, body string) (status int, out map[string]any) {
	service := "DynamoDB_20120810."
	switch operation {
	case "ListStreams", "DescribeStream", "GetShardIterator", "GetRecords":
		service = "DynamoDBStreams_20120810."
	}
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/", strings.NewReader(body))
	request.Header.Set("X-Amz-Target", service+operation)
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=key/20261101/"+s.region+"/dynamodb/aws4_request")
	response := httptest.NewRecorder()
	s.db.Handler().ServeHTTP(response, request)
	if err := json.Unmarshal(response.Body.Bytes(), &out); err != nil {
		out = map[string]any{"body": response.Body.String()}
	}
	return response.Code, out
}

// text prints a response, with each element of its lists on a line.
func text(status int, response map[string]any) string {
	var out strings.Builder
	if status != http.StatusOK {
		fmt.Fprintf(&out, "%d\n", status)
	}
	for _, name := range sorted(response) {
		list, isList := response[name].([]any)
		if !isList {
			fmt.Fprintf(&out, "%s %s\n", name, compact(response[name]))
			continue
		}
		fmt.Fprintln(&out, name)
		for _, element := range list {
			fmt.Fprintf(&out, "  %s\n", compact(element))
		}
	}
	if out.Len() == 0 {
		return "{}\n"
	}
	return out.String()
}

func compact(v any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(out.String())
}

// TestDirectories reads every directory, verifies it, writes to it and opens it again.
func TestDirectories(t *testing.T) {
	packed, err := filepath.Glob("testdata/v*/directory.tar.gz")
	if err != nil || len(packed) == 0 {
		t.Fatal("there are no directories", err)
	}
	for _, name := range packed {
		version := filepath.Base(filepath.Dir(name))
		t.Run(version, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			unpack(t, name, dir)
			s := open(t, dir, read)
			datadriven.RunTest(t, filepath.Join("testdata", version, "answers"), s.directive)
		})
	}
}

// directive runs one step of a script: a request, named for its operation, or one of
//
//	await Operation     a request that is repeated until the response is as expected
//	quiet Operation     a request of whose response only the status counts
//	records TABLE       all records of the latest stream of a table; with "short", what they are about
//	verify              what the verifier counts and finds
//	in REGION           the requests that follow are for this Region
//	iam                 a request to manage users, roles and policies
//	advance 20m         move the clock
//	reopen              close the directory and open it again
func (s *session) directive(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	switch d.Cmd {
	case "advance":
		by, err := time.ParseDuration(d.CmdArgs[0].Key)
		if err != nil {
			t.Fatal(err)
		}
		s.now.Add(int64(by.Seconds()))
	case "in":
		s.region = d.CmdArgs[0].Key
	case "reopen":
		s.reopen(t)
	case "verify":
		return s.verify(t)
	case "iam":
		return fmt.Sprintln(s.iam(t, d.Input))
	case "records":
		return s.records(t, d.CmdArgs[0].Key, d.HasArg("short"))
	case "quiet":
		status, _ := s.send(t.Context(), d.CmdArgs[0].Key, d.Input)
		return fmt.Sprintln(status)
	case "await":
		return s.await(t, d.CmdArgs[0].Key, d.Input, func(got string) bool { return got == d.Expected })
	default:
		return text(s.send(t.Context(), d.Cmd, d.Input))
	}
	return ""
}

// await repeats a request until the response is as wanted, or patience ends.
func (s *session) await(t *testing.T, operation, body string, wanted func(string) bool) string {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		got := text(s.send(t.Context(), operation, body))
		if wanted(got) {
			return got
		}
		select {
		case <-ctx.Done():
			return got
		case <-tick.C:
		}
	}
}

// iam carries out a request to manage who may call.
func (s *session) iam(t *testing.T, body string) string {
	t.Helper()
	var request monotable.IAMRequest
	if err := json.Unmarshal([]byte(body), &request); err != nil {
		t.Fatal(err)
	}
	result, err := s.db.IAM(t.Context(), &request)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return compact(result)
}

func (s *session) verify(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	done, err := s.db.Verify(t.Context(), func(f monotable.Finding) { fmt.Fprintln(&out, f.What) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s%d tables, %d items, %d index entries, %d TTL entries, %d findings\n",
		&out, done.Tables, done.Items, done.IndexEntries, done.TTLEntries, done.Findings)
}

// records reads the shards of a table's latest stream from their beginning.
func (s *session) records(t *testing.T, table string, short bool) string {
	t.Helper()
	request := func(operation, body string) map[string]any {
		status, response := s.send(t.Context(), operation, body)
		if status != http.StatusOK {
			t.Fatalf("%s %s: %v", operation, body, response)
		}
		return response
	}
	description, _ := request("DescribeTable", fmt.Sprintf(`{"TableName":%q}`, table))["Table"].(map[string]any)
	arn, _ := description["LatestStreamArn"].(string)
	stream, _ := request("DescribeStream", fmt.Sprintf(`{"StreamArn":%q}`, arn))["StreamDescription"].(map[string]any)
	shards, _ := stream["Shards"].([]any)
	var out strings.Builder
	for _, shard := range shards {
		id, _ := shard.(map[string]any)["ShardId"].(string)
		fmt.Fprintln(&out, id)
		iterator := request("GetShardIterator", fmt.Sprintf(
			`{"StreamArn":%q,"ShardId":%q,"ShardIteratorType":"TRIM_HORIZON"}`, arn, id))["ShardIterator"]
		for empty := false; !empty && iterator != nil; {
			response := request("GetRecords", fmt.Sprintf(`{"ShardIterator":%q}`, iterator))
			records, _ := response["Records"].([]any)
			for _, r := range records {
				if short {
					record, _ := r.(map[string]any)
					image, _ := record["dynamodb"].(map[string]any)
					r = []any{record["eventName"], image["Keys"]}
				}
				fmt.Fprintf(&out, "  %s\n", compact(r))
			}
			empty, iterator = len(records) == 0, response["NextShardIterator"]
		}
	}
	return out.String()
}

// TestRecord writes a directory with this build, in several sessions.
func TestRecord(t *testing.T) {
	if *record == "" {
		t.Skip("only with -record")
	}
	script, err := os.ReadFile("testdata/requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, filepath.Join(t.TempDir(), "data"), started)
	for step := range strings.SplitSeq(strings.TrimSpace(string(script)), "\n\n") {
		step, body, _ := strings.Cut(step, "\n")
		operation, argument, _ := strings.Cut(step, " ")
		s.step(t, operation, argument, body)
	}
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join("testdata", *record)
	if err := os.MkdirAll(target, 0o750); err != nil {
		t.Fatal(err)
	}
	pack(t, s.dir, filepath.Join(target, "directory.tar.gz"))
}

// step is one request of requests.txt, or one of
//
//	in REGION        the requests that follow are for this Region
//	iam              a request to manage users, roles and policies
//	at N             the clock is at N seconds after the start
//	session          close the directory and open it again
//	active TABLE     wait until the table and its indexes are ACTIVE
//	fill TABLE N     put N items with a long text, 25 at a time
func (s *session) step(t *testing.T, operation, argument, body string) {
	t.Helper()
	switch operation {
	case "at":
		var seconds int64
		if _, err := fmt.Sscan(argument, &seconds); err != nil {
			t.Fatal(err)
		}
		s.now.Store(started + seconds)
	case "in":
		s.region = argument
	case "iam":
		s.iam(t, body)
	case "session":
		s.reopen(t)
	case "active":
		s.await(t, "DescribeTable", fmt.Sprintf(`{"TableName":%q}`, argument), func(got string) bool {
			return !strings.Contains(got, `"CREATING"`) && !strings.Contains(got, `"UPDATING"`) && !strings.Contains(got, `"DELETING"`)
		})
	case "fill":
		var table string
		var items int
		if _, err := fmt.Sscan(argument, &table, &items); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < items; i += 25 {
			s.step(t, "BatchWriteItem", "", batch(table, i))
		}
	default:
		if status, response := s.send(t.Context(), operation, body); status != http.StatusOK {
			t.Fatalf("%s %s: %v", operation, body, response)
		}
	}
}

// batch puts 25 orders, from a number on.
func batch(table string, from int) string {
	puts := make([]string, 25)
	for i := range puts {
		n := from + i
		puts[i] = fmt.Sprintf(`{"PutRequest":{"Item":{"customer":{"S":"c%02d"},"number":{"N":"%d"},"state":{"S":"filed"},"city":{"S":"city-%d"},`+
			`"amount":{"N":"%d.%02d"},"note":{"S":%q}}}}`, n%20, n, n%7, n*13%1000-500, n%100, strings.Repeat("note ", n%9))
	}
	return fmt.Sprintf(`{"RequestItems":{%q:[%s]}}`, table, strings.Join(puts, ","))
}
