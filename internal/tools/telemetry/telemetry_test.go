package telemetry_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/server"
	"github.com/monotable/monotable/internal/tools/telemetry"
)

// receiver is an OpenTelemetry collector that records what it receives.
type receiver struct {
	*httptest.Server

	mu      sync.Mutex
	batches []*otlp.ResourceSpans
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		in, err := decodeExport(request)
		if err != nil || request.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", request.URL.Path, err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.batches = append(r.batches, in.GetResourceSpans()...)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(r.Close)
	return r
}

func decodeExport(r *http.Request) (*collector.ExportTraceServiceRequest, error) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			return nil, err
		}
		body = unzipped
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	in := new(collector.ExportTraceServiceRequest)
	return in, proto.Unmarshal(data, in)
}

// spans are all received spans, by name.
func (r *receiver) spans() map[string][]*otlp.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[string][]*otlp.Span{}
	for _, batch := range r.batches {
		for _, scope := range batch.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				found[span.GetName()] = append(found[span.GetName()], span)
			}
		}
	}
	return found
}

func attributes(list []*common.KeyValue) map[string]*common.AnyValue {
	found := map[string]*common.AnyValue{}
	for _, a := range list {
		found[a.GetKey()] = a.GetValue()
	}
	return found
}

// start starts a tracer in an environment of these variables and no others.
func start(t *testing.T, environment map[string]string) (server.Tracer, func(context.Context) error) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
	for name, value := range environment {
		t.Setenv(name, value)
	}
	tracer, stop, err := telemetry.Start(t.Context(), os.Getenv, "1.2.3", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return tracer, stop
}

// open returns the handler of a database on disk that has a table "things".
func open(t *testing.T, tracer server.Tracer) http.Handler {
	t.Helper()
	db, err := monotable.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	call(t, db.Handler(), nil, "CreateTable", `{"TableName":"things","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}`)
	return db.Handler().(*server.Server).Traced(tracer)
}

func call(t *testing.T, h http.Handler, headers http.Header, operation, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/", bytes.NewReader([]byte(body)))
	maps.Copy(r.Header, headers)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const (
	putBody = `{"TableName":"things","Item":{"pk":{"S":"a"}}}`
	parent  = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
)

func TestSpans(t *testing.T) {
	r := newReceiver(t)
	tracer, stop := start(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.URL, "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test"})
	h := open(t, tracer)
	put := call(t, h, http.Header{"Traceparent": {parent}}, "PutItem", putBody)
	call(t, h, nil, "PutItem", `{"TableName":"things","Item":{"pk":{"S":"a"}},"ConditionExpression":"attribute_not_exists(pk)"}`)
	call(t, h, nil, "Nonsense", `{}`)
	probe := httptest.NewRecorder()
	h.ServeHTTP(probe, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/-/ready", nil))
	if err := stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := r.spans()
	if puts := spans["DynamoDB.PutItem"]; len(puts) != 2 || len(spans["DynamoDB.(unknown)"]) != 1 || len(spans["DynamoDB"]) != 0 {
		t.Fatalf("spans %v", spans)
	}
	span := spans["DynamoDB.PutItem"][0]
	if got := slices.Concat(span.GetTraceId(), span.GetParentSpanId()); !bytes.Equal(got, []byte("\x0a\xf7\x65\x19\x16\xcd\x43\xdd\x84\x48\xeb\x21\x1c\x80\x31\x9c\xb7\xad\x6b\x71\x69\x20\x33\x31")) {
		t.Errorf("trace and parent %x, want those of the client", got)
	}
	a := attributes(span.GetAttributes())
	if span.GetKind() != otlp.Span_SPAN_KIND_SERVER || a["db.system.name"].GetStringValue() != "aws.dynamodb" ||
		a["db.operation.name"].GetStringValue() != "PutItem" || a["http.response.status_code"].GetIntValue() != http.StatusOK ||
		a["aws.request_id"].GetStringValue() != put.Header().Get("X-Amzn-Requestid") ||
		a["aws.dynamodb.table_names"].GetArrayValue().GetValues()[0].GetStringValue() != "things" || a["error.type"] != nil {
		t.Errorf("attributes %v", a)
	}
	checkChildren(t, span, slices.Concat(spans["commit"], spans["read"]))
	refused := spans["DynamoDB.PutItem"][1]
	if code := attributes(refused.GetAttributes())["error.type"].GetStringValue(); code != "ConditionalCheckFailedException" {
		t.Errorf("error type %q", code)
	}
	if refused.GetStatus().GetCode() == otlp.Status_STATUS_CODE_ERROR {
		t.Error("a failed condition is shown as a fault of the server")
	}
	about := attributes(r.batches[0].GetResource().GetAttributes())
	if about["service.name"].GetStringValue() != "monotable" || about["service.version"].GetStringValue() != "1.2.3" ||
		about["deployment.environment.name"].GetStringValue() != "test" {
		t.Errorf("resource %v", about)
	}
}

// checkChildren checks that the request's waits are children of its span, and within its time.
func checkChildren(t *testing.T, span *otlp.Span, waits []*otlp.Span) {
	t.Helper()
	own := map[string]bool{}
	for _, w := range waits {
		if !bytes.Equal(w.GetParentSpanId(), span.GetSpanId()) {
			continue
		}
		own[w.GetName()] = true
		if w.GetStartTimeUnixNano() < span.GetStartTimeUnixNano() || w.GetEndTimeUnixNano() > span.GetEndTimeUnixNano() ||
			w.GetEndTimeUnixNano() < w.GetStartTimeUnixNano() {
			t.Errorf("%s is not within its request", w.GetName())
		}
	}
	if !own["commit"] || !own["read"] {
		t.Errorf("the put has child spans %v, want commit and read", own)
	}
}

// TestClientsSamplingIsFollowed: a trace that the client does not sample is not sampled here.
func TestClientsSamplingIsFollowed(t *testing.T) {
	r := newReceiver(t)
	tracer, stop := start(t, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": r.URL + "/v1/traces", "OTEL_SERVICE_NAME": "orders"})
	h := open(t, tracer)
	call(t, h, http.Header{"Traceparent": {strings.TrimSuffix(parent, "01") + "00"}}, "PutItem", putBody)
	call(t, h, nil, "GetItem", `{"TableName":"things","Key":{"pk":{"S":"a"}}}`)
	if err := stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if spans := r.spans(); len(spans["DynamoDB.GetItem"]) != 1 || len(spans["DynamoDB.PutItem"]) != 0 {
		t.Errorf("spans %v", spans)
	}
	if name := attributes(r.batches[0].GetResource().GetAttributes())["service.name"].GetStringValue(); name != "orders" {
		t.Errorf("service %q", name)
	}
}

func TestSampler(t *testing.T) {
	r := newReceiver(t)
	tracer, stop := start(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.URL, "OTEL_TRACES_SAMPLER": "always_off"})
	call(t, open(t, tracer), nil, "PutItem", putBody)
	if err := stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if spans := r.spans(); len(spans) != 0 {
		t.Errorf("spans %v", spans)
	}
}

func TestDisabledByDefault(t *testing.T) {
	const endpoint = "http://127.0.0.1:4318"
	for name, environment := range map[string]map[string]string{
		"no variable": {},
		"disabled":    {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_SDK_DISABLED": "true"},
		"no exporter": {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_TRACES_EXPORTER": "none"},
		"only a name": {"OTEL_SERVICE_NAME": "orders"},
	} {
		t.Run(name, func(t *testing.T) {
			if tracer, _ := start(t, environment); tracer != nil {
				t.Error("there is a tracer")
			}
		})
	}
}

func TestUnsupported(t *testing.T) {
	for want, environment := range map[string]map[string]string{
		"OTEL_TRACES_EXPORTER=zipkin: want otlp or none": {"OTEL_TRACES_EXPORTER": "zipkin"},
		"OTEL_EXPORTER_OTLP_PROTOCOL=grpc: want http/protobuf, which collectors take on port 4318": {
			"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
		},
		"OTEL_EXPORTER_OTLP_ENDPOINT=127.0.0.1:4317: want a URL such as http://localhost:4318": {"OTEL_EXPORTER_OTLP_ENDPOINT": "127.0.0.1:4317"},
		"OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318: want a URL such as http://localhost:4318": {"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318"},
		"OTEL_EXPORTER_OTLP_ENDPOINT=::bad: want a URL such as http://localhost:4318":          {"OTEL_EXPORTER_OTLP_ENDPOINT": "::bad"},
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=ftp://x: want a URL such as http://localhost:4318": {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "ftp://x"},
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://:4318: want a URL such as http://localhost:4318":   {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://:4318"},
		"OTEL_EXPORTER_OTLP_TIMEOUT=x: want milliseconds such as 10000":                        {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_TIMEOUT": "x"},
		"OTEL_TRACES_SAMPLER_ARG=7: want a share of requests from 0 to 1, such as 0.1":         {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "7"},
		"OTEL_TRACES_SAMPLER_ARG=NaN: want a share of requests from 0 to 1, such as 0.1":       {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "NaN"},
		"OTEL_TRACES_SAMPLER=nonsense: want one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio": {
			"OTEL_TRACES_EXPORTER": "otlp", "OTEL_TRACES_SAMPLER": "nonsense",
		},
	} {
		getenv := func(name string) string { return environment[name] }
		_, _, err := telemetry.Start(t.Context(), getenv, "", slog.New(slog.DiscardHandler))
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestUntracedRequestsAllocateNothingMore: an untraced request allocates the same, with or without a tracer.
func TestUntracedRequestsAllocateNothingMore(t *testing.T) {
	db, err := monotable.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	measure := func(h http.Handler) float64 {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/", http.NoBody)
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
		return testing.AllocsPerRun(200, func() { h.ServeHTTP(discard{}, r) })
	}
	if off, on := measure(db.Handler()), measure(db.Handler().(*server.Server).Traced(untraced{})); off != on {
		t.Errorf("%v allocations without a tracer, %v with one that leaves the request alone", off, on)
	}
}

// untraced leaves all requests alone.
type untraced struct{}

func (untraced) Begin(r *http.Request) (context.Context, func(*server.Exchange)) {
	return r.Context(), nil
}

// discard is a response that is discarded.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}
