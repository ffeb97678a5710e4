// Package inspect serves what operators and the console need beyond DynamoDB's API: the server's state, and the past of tables
// and items. It is a server.Companion with its own operations:
//
//	X-Amz-Target: Monotable_20261127.DescribeServer      slow requests, storage, compactions, servers that share the store
//	X-Amz-Target: Monotable_20261127.ListWarnings        tables that need attention
//	X-Amz-Target: Monotable_20261127.ListItemChanges     the history of one item, newest first, as far as the change log goes back
//	X-Amz-Target: Monotable_20261127.ListRequests        the latest requests on a table, while it is watched
//	X-Amz-Target: Monotable_20261127.CompareTable        a table at an earlier second compared with now
//
// Requests and responses are AWS JSON 1.0, signed like DynamoDB's. Policies allow the actions monotable:DescribeServer and so on,
// with a table's ARN as the resource for operations on a table, and "*" for the others.
//
// # Invariants
//
//	N1  No client input causes a panic or a 500.
//	N2  At most turnsMax requests run concurrently, with bodies of at most BodyMax bytes. Responses are pages of some MB.
//	N3  Nothing is written.
//
// A Handler is safe for concurrent use.
package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/identity/policy"
	"github.com/monotable/monotable/internal/database/observe"
)

// Service is the prefix of the operations' targets.
const Service = "Monotable_20261127"

const (
	// BodyMax is the maximum size of a request body, in bytes.
	BodyMax = 512 << 10
	// turnsMax is the maximum number of concurrent requests.
	turnsMax = 2

	headerTarget = "X-Amz-Target"
)

// Options of a Handler. All but Storage are required.
type Options struct {
	Observe *observe.Database
	// SlowFrom is the threshold for slow requests.
	SlowFrom time.Duration
	// Storage returns the state of the store on disk; nil if it has none.
	Storage func() observe.Storage
	// In returns a table's engine and its name there. Engine is the one whose servers are described.
	In     func(table string) (in *engine.Engine, name string)
	Engine *engine.Engine
	// Gauges returns the gauges of all Regions.
	Gauges func(context.Context) (engine.Gauges, error)
	Now    func() time.Time
	Logger *slog.Logger
}

// Handler serves the operations.
type Handler struct {
	options    Options
	operations map[string]operation
	turns      chan struct{}
	begun      time.Time
}

// operation runs one operation: its input is JSON, and its result is encoded as JSON.
type operation func(ctx context.Context, by caller, body []byte) (any, error)

// New returns a Handler.
func New(o Options) *Handler {
	h := &Handler{options: o, turns: make(chan struct{}, turnsMax), begun: o.Now()}
	h.operations = map[string]operation{
		"DescribeServer": h.describeServer, "ListWarnings": h.listWarnings,
		"ListItemChanges": h.listItemChanges, "CompareTable": h.compareTable, "ListRequests": h.listRequests,
	}
	return h
}

// Serves reports whether a request is for this service.
func (h *Handler) Serves(r *http.Request, _ []byte) bool {
	return r.Method == http.MethodPost && strings.HasPrefix(r.Header.Get(headerTarget), Service+".")
}

// Public is false: every operation needs a signature if the server checks signatures.
func (h *Handler) Public(*http.Request, []byte) bool { return false }

// Recorded is nil: no operation changes recorded data.
func (h *Handler) Recorded(*http.Request, []byte) url.Values { return nil }

// Serve handles a request for which Serves is true.
func (h *Handler) Serve(ctx context.Context, who *policy.Principal, r *http.Request, id string, body []byte) (status int, header http.Header, response []byte) {
	out, err := h.perform(ctx, caller{who, r}, strings.TrimPrefix(r.Header.Get(headerTarget), Service+"."), body)
	if err == nil {
		response, err = encode(out)
	}
	if err == nil {
		return http.StatusOK, jsonHeader(), response
	}
	f, known := errors.AsType[*fault](err)
	if !known {
		e, isAPI := errors.AsType[*apierr.Error](err)
		switch {
		case isAPI:
			f = &fault{e.Status(), string(e.Code), e.Message}
		case ctx.Err() != nil:
			f = errBusy
		default:
			f = errInternal
			h.options.Logger.ErrorContext(ctx, "request failed", slog.String("request_id", id), slog.Any("error", err))
		}
	}
	return f.status, jsonHeader(), f.body()
}

// encode encodes JSON without escaping for HTML.
func encode(out any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(out)
	return b.Bytes(), err
}

// Refuse responds to a request that the server rejects for reasons of its own, such as overload.
func (h *Handler) Refuse(_ *http.Request, _ string, e *apierr.Error) (int, http.Header, []byte) {
	return e.Status(), jsonHeader(), (&fault{e.Status(), string(e.Code), e.Message}).body()
}

func (h *Handler) perform(ctx context.Context, by caller, name string, body []byte) (any, error) {
	do := h.operations[name]
	if do == nil {
		return nil, &fault{http.StatusBadRequest, "UnknownOperationException", fmt.Sprintf("The operation %s is not supported.", name)}
	}
	if len(body) > BodyMax {
		return nil, &fault{http.StatusRequestEntityTooLarge, "ValidationException", fmt.Sprintf("The request body is larger than %d bytes.", BodyMax)}
	}
	select {
	case h.turns <- struct{}{}:
		defer func() { <-h.turns }()
	case <-ctx.Done():
		return nil, errBusy
	}
	return do(ctx, by, body)
}

// decode decodes an input. Unknown members are errors, so that misspelt ones are not ignored.
func decode(body []byte, in any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if len(body) == 0 {
		return nil
	}
	if err := d.Decode(in); err != nil {
		return invalid("The request body cannot be read: %v", err)
	}
	return nil
}

func jsonHeader() http.Header { return http.Header{"Content-Type": {"application/x-amz-json-1.0"}} }

// fault is an error response.
type fault struct {
	status        int
	code, message string
}

func (f *fault) Error() string { return f.code + ": " + f.message }

func (f *fault) body() []byte {
	b, _ := json.Marshal(map[string]string{"__type": f.code, "message": f.message}) // strings can always be encoded
	return b
}

var (
	errInternal = &fault{http.StatusInternalServerError, "InternalServerError", "The request failed because of an internal error. See the log of the server."}
	errBusy     = &fault{http.StatusBadRequest, "ThrottlingException", "The server is busy with other such requests: retry later."}
)

func invalid(format string, args ...any) *fault {
	return &fault{http.StatusBadRequest, "ValidationException", fmt.Sprintf(format, args...)}
}
