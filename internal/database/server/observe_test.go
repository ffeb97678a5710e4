package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/observe"
)

// observedEngine records what an engine and a store record, and takes the time given by the table's name.
type observedEngine struct {
	pipelineEngine
	counts *observe.Database
}

func (e observedEngine) GetItem(ctx context.Context, in *api.GetItemInput) (*api.GetItemOutput, error) {
	r, begun := observe.From(ctx), time.Now()
	switch *in.TableName {
	case "slow":
		r.On(e.counts.Table("slow"), "slow")
		<-time.After(80 * time.Millisecond)
		r.WaitedForLatch(begun)
		begun = time.Now()
		<-time.After(30 * time.Millisecond)
		r.WaitedForSync(begun)
		return &api.GetItemOutput{}, nil
	case "throttled":
		return nil, apierr.New(apierr.ThrottlingException, "slow down")
	default:
		r.On(e.counts.Table(*in.TableName), *in.TableName)
		return e.pipelineEngine.GetItem(ctx, in)
	}
}

func newObserved(o Options) (*Server, *observe.Database) {
	o.Observe = observe.New(OperationNames()...)
	return New(observedEngine{counts: o.Observe}, o), o.Observe
}

func getItem(table string) *strings.Reader {
	return strings.NewReader(`{"TableName":"` + table + `","Key":{}}`)
}

// TestRequestsAreCounted: each request is counted once, however it ends.
func TestRequestsAreCounted(t *testing.T) {
	h, counts := newObserved(Options{})
	for _, table := range []string{"echo", "echo", "absent", "throttled", "panic", "corrupt", "anything"} {
		call(t, h, getItem(table), nil)
	}
	call(t, h, strings.NewReader("{"), nil)
	call(t, h, strings.NewReader("{}"), map[string]string{headerTarget: "DynamoDB_20120810.Nonsense"})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	gone := httptest.NewRequestWithContext(canceled, http.MethodPost, "http://localhost/", getItem("cancelled"))
	gone.Header.Set(headerContentType, "application/x-amz-json-1.0")
	gone.Header.Set(headerTarget, "DynamoDB_20120810.GetItem")
	h.ServeHTTP(httptest.NewRecorder(), gone)
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil))

	got := map[string]int64{}
	for _, table := range counts.Tables() {
		table.Operations(func(i int, o *observe.Operation) {
			key := counts.OperationName(i) + " " + table.Name
			got[key] += int64(o.Latency.Distribution().Count)
			for failure, n := range o.Failures() {
				got[key+" "+failure.Code+" "+string(failure.Class)] += n
			}
		})
	}
	maps.DeleteFunc(got, func(_ string, n int64) bool { return n == 0 })
	want := map[string]int64{
		"GetItem echo": 2,
		"GetItem absent ResourceNotFoundException user": 1,
		"GetItem  ThrottlingException throttled":        1,
		"GetItem panic InternalServerError system":      1,
		"GetItem corrupt InternalServerError system":    1,
		"GetItem anything InternalServerError system":   1,
		"GetItem  SerializationException user":          1,
		"(unknown)  UnknownOperationException user":     1,
		"GetItem cancelled (canceled) user":             1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := counts.Requests.Load(); n != 0 {
		t.Errorf("%d requests are still in flight", n)
	}
	if used, limit := h.Memory(); used != 0 || limit != defaultMemory {
		t.Errorf("%d bytes of %d are still reserved", used, limit)
	}
	if counts.Received.Load() == 0 || counts.Sent.Load() == 0 {
		t.Errorf("%d bytes received, %d sent", counts.Received.Load(), counts.Sent.Load())
	}
}

// TestSlowRequests: a slow request is logged with what it waited for, and a fast one is not.
func TestSlowRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logged := new(bytes.Buffer)
		h, counts := newObserved(Options{Slow: 100 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(logged, nil))})
		call(t, h, getItem("echo"), nil)
		if logged.Len() > 0 {
			t.Errorf("a quick request is logged: %s", logged)
		}
		id := call(t, h, getItem("slow"), nil).Header().Get(headerRequestID)
		want := regexp.MustCompile(`level=WARN msg="slow request" request_id=` + id +
			` operation=GetItem tables=\[slow\] latch_wait=80ms sync_wait=30ms took=110ms\n$`)
		if !want.MatchString(logged.String()) {
			t.Errorf("logged %s", logged)
		}
		if d := counts.LatchWaits.Distribution(); d.Count != 1 || d.Sum != 80*time.Millisecond {
			t.Errorf("latch waits %+v", d)
		}
		if d := counts.SyncWaits.Distribution(); d.Count != 1 || d.Sum != 30*time.Millisecond {
			t.Errorf("commit waits %+v", d)
		}
	})
}

// TestFaultsAreLoggedWithTheirTable: an operator can find the request by the id that its client has.
func TestFaultsAreLoggedWithTheirTable(t *testing.T) {
	logged := new(bytes.Buffer)
	h, _ := newObserved(Options{Logger: slog.New(slog.NewTextHandler(logged, nil))})
	id := call(t, h, getItem("anything"), nil).Header().Get(headerRequestID)
	if want := `request_id=` + id + ` operation=GetItem tables=[anything] error="the disk is gone"`; !strings.Contains(logged.String(), want) {
		t.Errorf("logged %s, want %s", logged, want)
	}
}

// TestBrokenCompressionCountsAsClientError: a client must not be able to trigger an alert about system errors.
func TestBrokenCompressionCountsAsClientError(t *testing.T) {
	var logged bytes.Buffer
	h, counts := newObserved(Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	cut := compress(nil, "deflate", []byte(`{"TableName":"echo","Key":{}}`))
	for encoding, body := range map[string]string{"gzip": "no gzip", "deflate": string(cut[:len(cut)-5])} {
		w := call(t, h, strings.NewReader(body), map[string]string{headerEncoding: encoding})
		if w.Code != http.StatusInternalServerError {
			t.Errorf("%s: status %d", encoding, w.Code)
		}
	}
	failures := map[observe.Failure]int64{}
	for _, table := range counts.Tables() {
		table.Operations(func(_ int, o *observe.Operation) { maps.Copy(failures, o.Failures()) })
	}
	if want := (map[observe.Failure]int64{{Code: "InternalServerError", Class: observe.User}: 2}); !maps.Equal(failures, want) {
		t.Errorf("counted %v, want %v", failures, want)
	}
	if logged.Len() != 0 {
		t.Errorf("logged %s", &logged)
	}
}

// TestEngineWithSeparateCounts: a server counts the requests of an engine that has separate counts.
func TestEngineWithSeparateCounts(t *testing.T) {
	counts := observe.New(OperationNames()...)
	h := New(observedEngine{counts: observe.New()}, Options{Observe: counts})
	if w := call(t, h, getItem("echo"), nil); w.Code != http.StatusOK {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	var n uint64
	for _, table := range counts.Tables() {
		table.Operations(func(_ int, o *observe.Operation) { n += o.Latency.Distribution().Count })
	}
	if n != 1 {
		t.Errorf("%d requests are counted", n)
	}
}

func TestProbe(t *testing.T) {
	full := errors.New("the disk is full")
	for _, test := range []struct {
		path   string
		ready  error
		status int
		text   string
	}{
		{HealthyPath, nil, http.StatusOK, "healthy\n"},
		{HealthyPath, full, http.StatusOK, "healthy\n"},
		{ReadyPath, nil, http.StatusOK, "ready\n"},
		{ReadyPath, full, http.StatusServiceUnavailable, "not ready: the disk is full\n"},
		{"/-/unknown", nil, http.StatusNotFound, unknownOperationPage},
	} {
		h, _ := newObserved(Options{Ready: func() error { return test.ready }})
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+test.path, nil))
			if w.Code != test.status || w.Body.String() != test.text {
				t.Errorf("%s %s, %v: %d %q", method, test.path, test.ready, w.Code, w.Body)
			}
		}
	}
}

// spy is a Tracer that records its calls.
type spy struct{ seen []Exchange }

type spyKey struct{}

func (s *spy) Begin(r *http.Request) (context.Context, func(*Exchange)) {
	if r.Header.Get(headerTarget) == "" {
		return r.Context(), nil
	}
	return context.WithValue(r.Context(), spyKey{}, s), func(x *Exchange) { s.seen = append(s.seen, *x) }
}

// TestTracer: it sees each call once, at its end, whether it fails, panics or is an unknown operation.
func TestTracer(t *testing.T) {
	h, _ := newObserved(Options{})
	s := new(spy)
	traced := h.Traced(s)
	for _, table := range []string{"echo", "absent", "panic", "anything"} {
		call(t, traced, getItem(table), nil)
	}
	call(t, h, getItem("echo"), nil) // by the handler without a tracer
	traced.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil))
	if len(s.seen) != 4 {
		t.Fatalf("%d exchanges were seen", len(s.seen))
	}
	for i, want := range []struct {
		status int
		code   string
		fault  string
	}{
		{http.StatusOK, "", ""},
		{http.StatusBadRequest, "ResourceNotFoundException", ""},
		{http.StatusInternalServerError, "InternalServerError", "panic: the engine panics"},
		{http.StatusInternalServerError, "InternalServerError", "the disk is gone"},
	} {
		x, fault := &s.seen[i], ""
		if x.Fault != nil {
			fault = x.Fault.Error()
		}
		if x.Operation != "GetItem" || x.Status != want.status || x.Failure.Code != want.code || fault != want.fault || len(x.ID) != requestIDLength {
			t.Errorf("%d: %+v, fault %q", i, *x, fault)
		}
	}
}
