package languages

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/provision"
	"github.com/monotable/monotable/monotabletest"
)

// batching is a server that processes only some requests of the nth BatchWriteItem, or fails it. All others are passed on.
type batching struct {
	http.Handler

	n       int
	process func(n int) (most int, failure string)
}

func (b *batching) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".BatchWriteItem") {
		b.Handler.ServeHTTP(w, r)
		return
	}
	b.n++
	most, failure := b.process(b.n)
	if failure != "" {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"not now"}`, failure)
		return
	}
	var in struct{ RequestItems map[string][]json.RawMessage }
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	left := map[string][]json.RawMessage{}
	for name, list := range in.RequestItems {
		if len(list) > most {
			in.RequestItems[name], left[name] = list[:most], list[most:]
		}
	}
	text, _ := json.Marshal(in) // it was JSON
	handed := r.Clone(r.Context())
	handed.Body, handed.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	out := httptest.NewRecorder()
	b.Handler.ServeHTTP(out, handed)
	if out.Code == http.StatusOK {
		text, _ := json.Marshal(map[string]any{"UnprocessedItems": left})
		out.Body = bytes.NewBuffer(text)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(out.Code)
	_, _ = w.Write(out.Body.Bytes())
}

// batches are the servers' behaviours during a batch.
var batches = map[string]func(n int) (most int, failure string){
	"processes all":            func(int) (int, string) { return 25, "" },
	"leaves some":              func(n int) (int, string) { return 3 + n, "" },
	"leaves all for some time": func(n int) (int, string) { return 25 * (n % 2), "" },
	"throttles": func(n int) (int, string) {
		return 25, map[int]string{1: "ProvisionedThroughputExceededException", 3: "ThrottlingException"}[n]
	},
	"fails":     func(n int) (int, string) { return 10, map[bool]string{true: "ValidationException"}[n == 4] },
	"fails all": func(int) (int, string) { return 0, "ResourceNotFoundException" },
}

// TestBatches tests that unprocessed items of a batch are retried, and that the lines that may not be written are reported,
// the same as in Go.
func TestBatches(t *testing.T) {
	inEach(t, "../generated/designs/patterns.design.yaml", tryBatches)
}

func tryBatches(t *testing.T, l language, d *design.Design, dir string) {
	t.Helper()
	const lines = 40
	p, err := lower.Lower(d)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(p.Writes, func(w *lower.Write) bool { return w.Design.Name == "Replace" })
	in := table.Input{Values: table.Values{}}
	for n := range lines {
		in.Lines = append(in.Lines, table.Values{"visitor": textValue(fmt.Sprint("v", n)), "other": textValue(fmt.Sprint("o", n))})
	}
	tables := map[string]string{"patterns": "patterns-test"}
	n := start(t, l, dir)
	world := 0
	for name, process := range batches {
		t.Run(name, func(t *testing.T) {
			world++
			serve := func() (*dynamodb.Client, string) {
				db := monotabletest.New(t)
				if err := provision.Apply(t.Context(), db.Client(), provision.Specs(d, map[string]string{"stage": "test"}), t.Logf); err != nil {
					t.Fatal(err)
				}
				server := httptest.NewServer(&batching{Handler: db.Handler(), process: process})
				t.Cleanup(server.Close)
				return db.Client(), server.URL
			}
			goes, url := serve()
			db, err := table.Open(dynamodb.New(dynamodb.Options{
				BaseEndpoint: aws.String(url), Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""), RetryMaxAttempts: 1,
			}), table.Config{Tables: tables}, p.Tables...)
			if err != nil {
				t.Fatal(err)
			}
			_, want := db.Write(t.Context(), p.Writes[i].Run, in)

			theirs, url := serve()
			call := func(operation string, arguments map[string]any) *failure {
				t.Helper()
				arguments["world"] = world
				failed, err := n.call(operation, arguments, nil)
				if err != nil {
					t.Fatal(err)
				}
				return failed
			}
			if failed := call("open", map[string]any{
				"endpoint": url, "tables": tables, "now": int64(1736942400000), "cursorKey": base64.StdEncoding.EncodeToString(make([]byte, 32)),
			}); failed != nil {
				t.Fatal(failed)
			}
			failed := call("write", map[string]any{"pattern": "Replace", "input": jsonInput(in), "firstID": 0})

			unfinished, _ := errors.AsType[*table.UnfinishedError](want)
			switch {
			case (failed == nil) != (want == nil) || failed != nil && (unfinished == nil || !slices.Contains(failed.Codes, "Unfinished")):
				t.Fatalf("it ends in %v, and Go in %v", failed, want)
			case failed != nil && !slices.Equal(failed.Lines, unfinished.Lines):
				t.Errorf("lines %v may be undone, and of Go %v", failed.Lines, unfinished.Lines)
			}
			if got, want := visitors(t, theirs), visitors(t, goes); got != want || failed == nil && got != lines {
				t.Errorf("%d items are stored, and by Go %d", got, want)
			}
		})
	}
}

func textValue(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// visitors is the number of stored items.
func visitors(t *testing.T, client *dynamodb.Client) int {
	t.Helper()
	out, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("patterns-test"), Select: types.SelectCount})
	if err != nil {
		t.Fatal(err)
	}
	return int(out.Count)
}
