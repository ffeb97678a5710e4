// Package conformance compares a whole server, over HTTP, with AWS's responses.
//
// The scripts in testdata, one directory per area, contain requests as sent over the wire and AWS's responses.
// Expectations come from AWS's documentation or from recorded responses, never from our own output; -rewrite only
// formats output for a human to compare with them. Unconfirmed responses are marked in the script. Every script starts
// with an empty database.
//
// A directive is the name of an operation, followed by the JSON body:
//
//	GetItem
//	{"TableName":"t","Key":{"pk":{"S":"a"}}}
//	----
//	200
//	{"Item":{"pk":{"S":"a"}}}
//
// An error is printed as its status, the part of __type after '#' and the message, followed by the other members:
//
//	400 ConditionalCheckFailedException: The conditional request failed
//	{"Item":{"pk":{"S":"a"}}}
//
// Responses are printed with sorted members, without those specific to a server (ids, dates, ARNs: see print_test.go);
// long runs are abbreviated. In bodies, «text*n» stands for n repetitions of the text, and «1..n:text» for the texts
// with $i replaced by each number, joined by commas. Arguments of a directive:
//
//	quiet           print only the status if it is 200
//	sort            order Items and Responses, because AWS does not define their order
//	nowait          do not wait for a changed table to be ACTIVE, or for a deleted one to disappear
//	target=name     the X-Amz-Target instead of the directive's; empty: no such header
//	type=(text)     the Content-Type
//	header=(k: v)   an additional request header
//	method=GET path=/x
//	show=(a,b)      also print these response headers
//	raw             print the body unchanged
//
// By default the server is monotable in this process, in memory or as package monotabletest is configured; with
// MONOTABLE_TEST_ENDPOINT=http://… it is the server at that address. The tables of a script are deleted at its end.
package conformance

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/monotabletest"
)

func TestConformance(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		t.Helper()
		if strings.HasPrefix(path, "testdata/fuzz/") {
			return
		}
		s := newServer(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			t.Helper()
			a, err := s.perform(t.Context(), d)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			return a.print(d)
		})
	})
}

// server is the server under test as one script sees it.
type server struct {
	endpoint string
	send     func(*http.Request) (*http.Response, error)
	poll     time.Duration // between two checks of a changing table
	created  []string
}

func newServer(t *testing.T) *server {
	t.Helper()
	if endpoint := os.Getenv("MONOTABLE_TEST_ENDPOINT"); endpoint != "" {
		s := &server{endpoint: endpoint, send: http.DefaultClient.Do, poll: 200 * time.Millisecond}
		t.Cleanup(func() { s.deleteTables(t) })
		return s
	}
	db := monotabletest.NewWith(t, &monotable.Options{CORSOrigins: []string{"*"}}) // as AWS does
	return &server{endpoint: "http://localhost:8000", poll: time.Millisecond, send: func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		db.Handler().ServeHTTP(w, r)
		return w.Result(), nil
	}}
}

// response is a response whose body has been read.
type response struct {
	status int
	header http.Header
	body   []byte
}

// perform sends the request of a directive.
func (s *server) perform(ctx context.Context, d *datadriven.TestData) (*response, error) {
	body := expand(d.Input)
	a, err := s.request(ctx, request(d), body)
	if err != nil || a.status != http.StatusOK {
		return a, err
	}
	switch d.Cmd {
	case "CreateTable", "UpdateTable", "DeleteTable":
		name, err := tableName(body)
		if err != nil || d.HasArg("nowait") {
			return a, err
		}
		s.created = append(s.created, name)
		return a, s.settled(ctx, name)
	}
	return a, nil
}

// call is a request without its body.
type call struct {
	method, path string
	header       http.Header
}

// plain is the call of an operation as an SDK makes it.
func plain(operation string) call {
	target := api.TargetPrefix + operation
	for _, o := range api.Operations() {
		if o.Name == operation {
			target = o.Target()
		}
	}
	return call{method: http.MethodPost, path: "/", header: http.Header{
		"Content-Type": {"application/x-amz-json-1.0"},
		"X-Amz-Target": {target},
		"X-Amz-Date":   {"20261120T120000Z"},
		"Authorization": {"AWS4-HMAC-SHA256 Credential=local/20261120/us-east-1/dynamodb/aws4_request, " +
			"SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=" + strings.Repeat("0", 64)},
	}}
}

// request is the call that a directive asks for.
func request(d *datadriven.TestData) call {
	c := plain(d.Cmd)
	for _, arg := range d.CmdArgs {
		value := strings.Join(arg.Vals, ", ")
		switch arg.Key {
		case "target":
			set(c.header, "X-Amz-Target", value)
		case "type":
			set(c.header, "Content-Type", value)
		case "header":
			name, text, _ := strings.Cut(value, ":")
			set(c.header, name, strings.TrimSpace(text))
		case "method":
			c.method = value
		case "path":
			c.path = value
		}
	}
	return c
}

// set sets a header, or removes it if the value is empty.
func set(h http.Header, name, value string) {
	if value == "" {
		h.Del(name)
		return
	}
	h.Set(name, value)
}

func (s *server) request(ctx context.Context, c call, body string) (*response, error) {
	r, err := http.NewRequestWithContext(ctx, c.method, s.endpoint+c.path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = c.header
	got, err := s.send(r)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(got.Body)
	return &response{got.StatusCode, got.Header, content}, errors.Join(err, got.Body.Close())
}

func tableName(body string) (string, error) {
	var in struct{ TableName string }
	err := json.Unmarshal([]byte(body), &in)
	return in.TableName, err
}

// settled waits until a table and its indexes are ACTIVE, or until it is gone.
func (s *server) settled(ctx context.Context, table string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		a, err := s.request(ctx, plain("DescribeTable"), fmt.Sprintf(`{"TableName":%q}`, table))
		if err != nil {
			return err
		}
		if a.status != http.StatusOK || !bytes.Contains(a.body, []byte(`ING"`)) || quietTable(a.body) {
			return nil
		}
		select {
		case <-time.After(s.poll):
		case <-ctx.Done():
			return fmt.Errorf("table %s does not settle: %s", table, a.body)
		}
	}
}

// quietTable reports whether a description shows no change in progress.
func quietTable(body []byte) bool {
	type state struct{ TableStatus, IndexStatus string }
	var out struct {
		Table struct {
			state
			GlobalSecondaryIndexes []state
		}
	}
	if json.Unmarshal(body, &out) != nil {
		return false
	}
	return !slices.ContainsFunc(append(out.Table.GlobalSecondaryIndexes, out.Table.state), func(s state) bool {
		return cmp.Or(s.TableStatus, s.IndexStatus) != "ACTIVE"
	})
}

func (s *server) deleteTables(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	for _, table := range s.created {
		_, err := s.request(ctx, plain("DeleteTable"), fmt.Sprintf(`{"TableName":%q}`, table))
		if err := errors.Join(err, s.settled(ctx, table)); err != nil {
			t.Error(err)
		}
	}
}
