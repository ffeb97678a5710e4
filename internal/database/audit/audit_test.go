package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
	"github.com/monotable/monotable/internal/database/server"
)

func inputOf(t *testing.T, operation, body string) (api.Operation, any) {
	t.Helper()
	for _, op := range api.Operations() {
		if op.Name == operation {
			in := op.Input()
			if err := wire.Decode([]byte(body), in); err != nil {
				t.Fatal(err)
			}
			return op, in
		}
	}
	t.Fatal("no operation", operation)
	return api.Operation{}, nil
}

// TestParameters tests what is recorded of an input, without and with values.
func TestParameters(t *testing.T) {
	for _, c := range []struct{ operation, body, names, values string }{
		{
			"PutItem", `{"TableName":"t","Item":{"pk":{"S":"SECRET"},"n":{"N":"1"}},"ConditionExpression":"a = SECRET","ExpressionAttributeValues":{":v":{"S":"SECRET"}},"ReturnValues":"NONE"}`,
			`{"tableName":"t","item":["n","pk"],"returnValues":"NONE","expressionAttributeValues":[":v"]}`,
			`{"tableName":"t","item":{"n":{"N":"1"},"pk":{"S":"SECRET"}},"returnValues":"NONE","conditionExpression":"a = SECRET","expressionAttributeValues":{":v":{"S":"SECRET"}}}`,
		},
		{
			"GetItem", `{"TableName":"t","Key":{"pk":{"S":"SECRET"}},"ConsistentRead":true,"AttributesToGet":["SECRET"]}`,
			`{"tableName":"t","key":["pk"],"consistentRead":true}`, `{"tableName":"t","key":{"pk":{"S":"SECRET"}},"attributesToGet":["SECRET"],"consistentRead":true}`,
		},
		{
			"BatchWriteItem", `{"RequestItems":{"t":[{"PutRequest":{"Item":{"pk":{"S":"SECRET"}}}},{"DeleteRequest":{"Key":{"pk":{"S":"SECRET"}}}}]}}`,
			`{"requestItems":{"t":[{"putRequest":{"item":["pk"]}},{"deleteRequest":{"key":["pk"]}}]}}`,
			`{"requestItems":{"t":[{"putRequest":{"item":{"pk":{"S":"SECRET"}}}},{"deleteRequest":{"key":{"pk":{"S":"SECRET"}}}}]}}`,
		},
		{
			"TransactWriteItems", `{"TransactItems":[{"Update":{"TableName":"t","Key":{"pk":{"S":"SECRET"}},"UpdateExpression":"SET a = SECRET"}}],"ClientRequestToken":"SECRET"}`,
			`{"transactItems":[{"update":{"tableName":"t","key":["pk"]}}]}`, "",
		},
		{
			"Query", `{"TableName":"t","IndexName":"i","Limit":5,"KeyConditions":{"pk":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"SECRET"}]}},"ExclusiveStartKey":{"pk":{"S":"SECRET"}}}`,
			`{"tableName":"t","indexName":"i","limit":5,"exclusiveStartKey":["pk"],"keyConditions":{"pk":{}}}`, "",
		},
		{
			"ExecuteStatement", `{"Statement":"SELECT * FROM \"t\" WHERE pk = 'SEC''RET' AND n IN [1, 2.5e-3]","Parameters":[{"S":"SECRET"}],"NextToken":"SECRET"}`,
			`{"statement":"SELECT * FROM \"t\" WHERE pk = *** AND n IN [***, ***]"}`, "",
		},
		{
			"SearchVectors", `{"TableName":"t","IndexName":"vec","SearchVector":[{"N":"1"}],"TopK":3}`,
			`{"tableName":"t","indexName":"vec","topK":3}`, "",
		},
		{
			"CreateTable", `{"TableName":"t","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}`,
			`{"attributeDefinitions":[{"attributeName":"pk","attributeType":"S"}],"keySchema":[{"attributeName":"pk","keyType":"HASH"}],"tableName":"t","billingMode":"PAY_PER_REQUEST"}`, "",
		},
	} {
		op, in := inputOf(t, c.operation, c.body)
		for i, want := range []string{c.names, c.values} {
			got := parameters(in, kindOf(op.Name) != "", i == 1)
			if want == "" {
				if !json.Valid(got) {
					t.Errorf("%s: %s", c.operation, got)
				}
				continue
			}
			if diff := cmp.Diff(decoded(t, want), decoded(t, string(got))); diff != "" {
				t.Errorf("%s: %s", c.operation, diff)
			}
			if i == 0 && strings.Contains(string(got), "SECRET") {
				t.Errorf("%s shows the value: %s", c.operation, got)
			}
		}
	}
}

// TestParametersAreBounded tests that a request full of names has a short record, which names its tables.
func TestParametersAreBounded(t *testing.T) {
	var item strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&item, `%s"%s%d":{"S":"SECRET"}`, strings.Repeat(",", min(i, 1)), strings.Repeat("é", 300), i)
	}
	var puts []string
	for range 10 {
		puts = append(puts, `{"PutRequest":{"Item":{`+item.String()+`}}}`)
	}
	body := `{"RequestItems":{"a":[` + strings.Join(puts, ",") + `],"b":[` + puts[0] + `]}}`
	_, in := inputOf(t, "BatchWriteItem", body)
	got := parameters(in, true, false)
	if len(got) > parametersMax+100*nameMax || !json.Valid(got) || !bytes.HasPrefix(got, []byte(`{"requestItems":{"a":[{"putRequest":{"item":["`)) {
		t.Errorf("%d bytes: %.200s", len(got), got)
	}
	_, in = inputOf(t, "PutItem", `{"TableName":"t","Item":{`+item.String()+`}}`)
	got = parameters(in, true, false)
	var shown struct{ Item []string }
	if err := json.Unmarshal(got, &shown); err != nil || len(shown.Item) != listMax || shown.Item[0] != strings.Repeat("é", nameMax/2) {
		t.Errorf("%d names: %v, %.300s", len(shown.Item), err, got)
	}
	if whole := parameters(in, true, true); len(whole) < item.Len() {
		t.Errorf("with values there are %d bytes of %d", len(whole), item.Len())
	}
}

func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(text, err)
	}
	return v
}

// TestEveryOperationIsKnown tests that each operation on items is a data event, so that no values of a new one are recorded.
func TestEveryOperationIsKnown(t *testing.T) {
	known := map[string]bool{}
	for _, op := range api.Operations() {
		known[op.Name] = true
		for _, part := range []string{"Item", "Statement", "Query", "Scan", "Search", "Transact", "Records"} {
			if strings.Contains(op.Name, part) && kindOf(op.Name) == "" && op.Name != "StartBulkPutItems" {
				t.Errorf("%s is not among the data events", op.Name)
			}
		}
	}
	for name := range dataEvents {
		if !known[name] {
			t.Errorf("there is no operation %s", name)
		}
	}
}

func TestWithoutLiterals(t *testing.T) {
	for statement, want := range map[string]string{
		`SELECT * FROM "my table" WHERE a1 = 'x' AND b = 12`:              `SELECT * FROM "my table" WHERE a1 = *** AND b = ***`,
		`INSERT INTO t VALUE {'pk':'x','n':-1.5E+3,'l':[.5]}`:             `INSERT INTO t VALUE {***:***,***:-***,***:[***]}`,
		`SELECT * FROM t WHERE pk = "not a value on AWS"`:                 `SELECT * FROM t WHERE pk = ***`,
		`SELECT * FROM t WHERE pk IN ["a", "b"]`:                          `SELECT * FROM t WHERE pk IN [***, ***]`,
		`UPDATE "t"."i" SET größe = 'it''s'`:                              `UPDATE "t"."i" SET größe = ***`,
		`SELECT 'never ends`:                                              `SELECT ***`,
		"SELECT * FROM t WHERE pk = `Ion`":                                `SELECT * FROM t WHERE pk = ***`,
		`UPDATE t SET a = true WHERE b.false = FALSE`:                     `UPDATE t SET a = *** WHERE b.*** = ***`,
		`INSERT INTO "t" VALUE "x"`:                                       `INSERT INTO "t" VALUE ***`,
		`SELECT * FROM "t" WHERE "n" BETWEEN "a" AND "b" AND "m" IS NULL`: `SELECT * FROM "t" WHERE "n" BETWEEN *** AND *** AND "m" IS NULL`,
		`SELECT * FROM "t" WHERE "n" BETWEEN ? AND "b" AND "m" = ?`:       `SELECT * FROM "t" WHERE "n" BETWEEN ? AND *** AND "m" = ?`,
		`DELETE FROM t WHERE pk=?`:                                        `DELETE FROM t WHERE pk=?`,
		"SELECT * FROM t -- it's\nWHERE pk = 'x' --y":                     "SELECT * FROM t  \nWHERE pk = ***  ",
		`SELECT/* " */a FROM t WHERE pk =/*x*/"y" /*z`:                    `SELECT a FROM t WHERE pk = ***  `,
		"":  "",
		`"`: `"`,
	} {
		if got := withoutLiterals(statement); got != want {
			t.Errorf("%s\n got %s\nwant %s", statement, got, want)
		}
	}
}

func FuzzWithoutLiterals(f *testing.F) {
	f.Add("SELECT * FROM t WHERE a = '", "secret", "' AND b = 1")
	f.Fuzz(func(t *testing.T, before, secret, after string) {
		// Text in single quotes is never recorded.
		if strings.ContainsAny(before, "'\"`") || strings.Contains(secret, "'") || strings.TrimSpace(secret) == "" {
			return
		}
		marked := "\x00" + secret + "\x00"
		if strings.Contains(before+after, "\x00") {
			return
		}
		if got := withoutLiterals(before + "'" + marked + "'" + after); strings.Contains(got, "\x00") {
			t.Errorf("%q shows the value", got)
		}
	})
}

// clock advances by a second with each call.
func clock() func() time.Time {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

func recordPut(t *testing.T, l *Log, table string) error {
	t.Helper()
	op, in := inputOf(t, "PutItem", `{"TableName":"`+table+`","Item":{"pk":{"S":"x"}}}`)
	return l.Record(&server.Audited{Request: httptest.NewRequestWithContext(t.Context(), "POST", "/", nil), ID: "ID", Region: "us-east-1", Operation: op, Parameters: l.Parameters(op, in), Tables: []string{table}})
}

// TestRotation tests that files are rotated by size, between lines, that the oldest are removed, and that a file that was
// renamed is created again.
func TestRotation(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a[1]", "audit.jsonl")
	if err := os.Mkdir(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := Open(Options{File: name, MaxBytes: 3000, Keep: 2, Now: clock(), Logger: slog.New(slog.DiscardHandler), Account: "000000000000"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if err := recordPut(t, l, fmt.Sprintf("table%02d", i)); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil || len(entries) != 3 {
		t.Fatal(entries, err)
	}
	var last []string
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(name), e.Name()))
		if err != nil || len(data) > 3000 || !bytes.HasSuffix(data, []byte("\n")) {
			t.Errorf("%s has %d bytes: %v", e.Name(), len(data), err)
		}
		for line := range strings.Lines(string(data)) {
			var r recorded
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(line, err)
			}
			last = append(last, r.RequestParameters.TableName)
		}
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Error(info.Mode(), err)
		}
	}
	slices.Sort(last)
	if last[len(last)-1] != "table39" || len(last) < 5 {
		t.Error(last)
	}
	if err := os.Rename(name, name+".renamed"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Reopen(), recordPut(t, l, "after"), l.Close()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil || bytes.Count(data, []byte("\n")) != 1 {
		t.Errorf("%s: %v", data, err)
	}
}

// recorded is as much of a record as the tests read.
type recorded struct {
	RequestParameters struct {
		TableName string `json:"tableName"`
	} `json:"requestParameters"`
}

// failing is a stream that fails on demand.
type failing struct {
	bytes.Buffer
	err error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.Buffer.Write(p)
}

// TestFailure tests that while nothing can be recorded, changes are rejected, unless warnings are enough, and that the log
// resumes by itself.
func TestFailure(t *testing.T) {
	put, _ := inputOf(t, "PutItem", `{}`)
	create, _ := inputOf(t, "CreateTable", `{}`)
	for _, warn := range []bool{false, true} {
		var logged bytes.Buffer
		sink := &failing{}
		l, err := Open(Options{Writer: sink, Warn: warn, Now: clock(), Logger: slog.New(slog.NewTextHandler(&logged, nil)), Events: []string{Write}})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.Admit(put), recordPut(t, l, "one")); err != nil {
			t.Error(err)
		}
		sink.err = errors.New("the disk is full")
		for range 3 {
			if err := recordPut(t, l, "two"); (err == nil) != warn {
				t.Errorf("warn %v: %v", warn, err)
			}
		}
		if got := strings.Count(logged.String(), "cannot write the audit log"); got != 1 {
			t.Errorf("logged %d times: %s", got, logged.String())
		}
		if err := l.Admit(create); err != nil {
			t.Errorf("an unrecorded request was rejected: %v", err)
		}
		if err := l.Admit(put); (err == nil) != warn {
			t.Errorf("warn %v: admitted with %v", warn, err)
		}
		sink.err = nil
		if err := errors.Join(l.Admit(put), recordPut(t, l, "three")); err != nil {
			t.Error(err)
		}
		lines := strings.Split(sink.String(), "\n")
		if len(lines) != 4 || !strings.Contains(lines[1], `"eventName":"ResumeAudit"`) || !strings.Contains(lines[1], `"lostRecords":"3"`) ||
			!strings.Contains(lines[2], `"three"`) {
			t.Errorf("%q", lines)
		}
	}

	// A file in a directory that has gone.
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := Open(Options{File: filepath.Join(dir, "audit"), MaxBytes: 1, Now: clock(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(recordPut(t, l, "one"), os.RemoveAll(dir)); err != nil {
		t.Fatal(err)
	}
	if recordPut(t, l, "two") == nil || l.Admit(put) == nil {
		t.Error("the record was written into a missing directory")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Admit(put), recordPut(t, l, "three"), l.Close()); err != nil {
		t.Error(err)
	}

	// A line that was cut by the end of a process does not spoil the next.
	name := filepath.Join(t.TempDir(), "audit")
	if err := os.WriteFile(name, []byte(`{"half`), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err = Open(Options{File: name, Now: clock(), Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(recordPut(t, l, "one"), l.Close()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if lines := strings.Split(string(data), "\n"); err != nil || len(lines) != 3 || lines[0] != `{"half` || !json.Valid([]byte(lines[1])) {
		t.Errorf("%q: %v", data, err)
	}
}

func TestOpenRejects(t *testing.T) {
	for want, o := range map[string]Options{
		"unknown audit events": {Writer: new(bytes.Buffer), Events: []string{"everything"}},
		"neither":              {},
		"no such file":         {File: filepath.Join(t.TempDir(), "missing", "audit")},
	} {
		if _, err := Open(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// TestBlockedReader tests that a reader that stops delays the first request up to the timeout, and the others not at all; when
// it continues, so does the log.
func TestBlockedReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		l, err := Open(Options{Writer: writer, Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []time.Duration{writeWait, 0, 0} {
			begun := time.Now()
			if err := recordPut(t, l, "t"); !errors.Is(err, errBlocked) || time.Since(begun) != want {
				t.Errorf("record %d: %v after %v, want %v", i, err, time.Since(begun), want)
			}
		}
		if got := l.Lost(); got != 3 {
			t.Errorf("%d records are lost, want 3", got)
		}
		lines := make(chan string, 10)
		go func() {
			defer close(lines)
			for s := bufio.NewScanner(reader); s.Scan(); {
				lines <- s.Text()
			}
		}()
		synctest.Wait() // the late record has been read
		if err := errors.Join(recordPut(t, l, "t"), writer.Close()); err != nil {
			t.Error(err)
		}
		var events []string
		for line := range lines {
			var r struct{ EventName string }
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			events = append(events, r.EventName)
		}
		if want := []string{"PutItem", "ResumeAudit", "PutItem"}; !slices.Equal(events, want) {
			t.Errorf("%q, want %q", events, want)
		}
	})
}
