package differential

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable"
)

// settleWait is how long a table may take to settle. DynamoDB Local's tables never settle if a backfill fails.
const settleWait = 5 * time.Second

// request is one call: an operation and its body, as decoded by encoding/json.
type request struct {
	op   string
	body any
}

func (q request) String() string { return q.op + " " + compact(q.body) }

func (q request) clone() request {
	var body any
	decode([]byte(compact(q.body)), &body)
	return request{op: q.op, body: body}
}

// compact returns the JSON of a value with members sorted by name, so that equal values have equal texts.
func compact(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // generated values are valid JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func decode(text []byte, v *any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		*v = "not JSON: " + string(text)
	}
}

// subject is an empty database on one of the two servers.
type subject struct {
	endpoint, region, accessKey string
	send                        func(*http.Request) (*http.Response, error)
}

// here returns a new monotable database in this process.
func here(t *testing.T) (s subject, done func()) {
	t.Helper()
	db, err := monotable.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	handler := db.Handler()
	s = subject{endpoint: "http://localhost", region: "us-east-1", accessKey: "local", send: func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Result(), nil
	}}
	return s, func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// local returns a new database of DynamoDB Local, which has one for each access key.
func local(endpoint string, n int) subject {
	return subject{endpoint: endpoint, region: "us-east-1", accessKey: fmt.Sprintf("differential%d", n), send: http.DefaultClient.Do}
}

// perform sends a request and waits until the tables it changed are active.
func (s subject) perform(ctx context.Context, q request) (outcome, error) {
	status, body, err := s.post(ctx, q)
	if err != nil {
		return outcome{}, err
	}
	o := newOutcome(q, status, body)
	if status == http.StatusOK && (q.op == "CreateTable" || q.op == "UpdateTable" || q.op == "DeleteTable") {
		if name, ok := member(q.body, "TableName").(string); ok {
			settled, err := s.settle(ctx, name)
			if !settled {
				o.kind, o.message = "NeverActive", fmt.Sprintf("table %s is not active after %v", name, settleWait)
			}
			return o, err
		}
	}
	return o, nil
}

// settle waits until a table and its indexes are no longer changing, and reports whether they settled in time.
func (s subject) settle(ctx context.Context, table string) (settled bool, err error) {
	tick, deadline := time.NewTicker(2*time.Millisecond), time.NewTimer(settleWait)
	defer tick.Stop()
	defer deadline.Stop()
	for {
		status, body, err := s.post(ctx, request{op: "DescribeTable", body: map[string]any{"TableName": table}})
		if err != nil {
			return false, err
		}
		text := compact(body)
		busy := strings.Contains(text, `"CREATING"`) || strings.Contains(text, `"UPDATING"`) || strings.Contains(text, `"DELETING"`) || strings.Contains(text, `"Backfilling":true`)
		if status != http.StatusOK || !busy {
			return true, nil
		}
		select {
		case <-deadline.C:
			return false, nil
		case <-tick.C:
		}
	}
}

func (s subject) post(ctx context.Context, q request) (status int, body any, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.endpoint, strings.NewReader(compact(q.body)))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+q.op)
	r.Header.Set("X-Amz-Date", "20260101T000000Z")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+s.accessKey+"/20260101/"+s.region+
		"/dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=00")
	response, err := s.send(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, nil, err
	}
	decode(text, &body)
	return response.StatusCode, body, nil
}

// member returns a member of an object; nil if it is missing.
func member(v any, name string) any {
	object, _ := v.(map[string]any)
	return object[name]
}
