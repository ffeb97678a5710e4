// Package cloudwatch implements the part of CloudWatch's API that reads metrics: GetMetricData, GetMetricStatistics and
// ListMetrics, for the database's own metrics in the namespace AWS/DynamoDB, which package history keeps; and
// GetInsightRuleReport, for the rankings of DynamoDB's contributor insights. Metric math is in metric_math.go.
//
// A request passes these stages:
//
//	protocol     AWS Query, AWS JSON 1.0 or Smithy RPC v2 CBOR: the operation and its input    protocol.go, query.go
//	operation    checks the input, reads the history, aggregates minutes to periods           get_metric_data.go …
//	protocol     the output, or a fault, in the client's protocol
//
// # Invariants
//
//	I1  No client input causes a panic or a 500: inputs are decoded to the structs of shapes.go, and
//	    everything that they refer to is looked up in the history.
//	I2  At most turnsMax requests are processed at once, each of at most BodyMax bytes, because they use
//	    memory and CPU time that the database's requests need.
//
// # Concurrency
//
// A Handler serves any number of requests concurrently.
package cloudwatch

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/monotable/monotable/internal/database/cloudwatch/history"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// BodyMax is the maximum size of a request's body.
const BodyMax = 512 << 10

// turnsMax is how many requests are processed at once.
const turnsMax = 2

// Source provides the metrics. *history.History implements it.
type Source interface {
	// Read calls visit with the measurements in [from, to), minute by minute. A series may be visited twice in a minute.
	Read(ctx context.Context, from, to time.Time, visit func(minute time.Time, s history.Series, m history.Sample)) error
}

// Handler responds to requests.
type Handler struct {
	source Source
	rules  Rules
	now    func() time.Time
	logger *slog.Logger
	turns  chan struct{}
}

// New returns a Handler for the metrics of a source and the rules of contributor insights.
func New(source Source, rules Rules, now func() time.Time, logger *slog.Logger) *Handler {
	return &Handler{source: source, rules: rules, now: now, logger: logger, turns: make(chan struct{}, turnsMax)}
}

// Serves reports whether a request is CloudWatch's, judging by its path, target or content type.
func (h *Handler) Serves(r *http.Request, _ []byte) bool { return protocolOf(r) != nil }

// Public returns false: every operation needs a signature, if the server checks signatures.
func (h *Handler) Public(*http.Request, []byte) bool { return false }

// Recorded returns nil: reads of metrics are not recorded.
func (h *Handler) Recorded(*http.Request, []byte) url.Values { return nil }

// Serve responds to a request for which Serves is true.
func (h *Handler) Serve(ctx context.Context, who *policy.Principal, r *http.Request, id string, body []byte) (status int, header http.Header, response []byte) {
	p := protocolOf(r)
	operation, out, err := h.perform(ctx, who, p, r, body)
	if err != nil {
		f, known := errors.AsType[*fault](err)
		if !known {
			f = errInternal
			h.logger.ErrorContext(ctx, "request failed", slog.String("request_id", id), slog.Any("error", err))
		}
		return p.fail(f, id)
	}
	header, response, err = p.encode(operation, out, id)
	if err != nil {
		h.logger.ErrorContext(ctx, "request failed", slog.String("request_id", id), slog.Any("error", err))
		return p.fail(errInternal, id)
	}
	return http.StatusOK, header, response
}

// Refuse responds to a request that the server itself rejects.
func (h *Handler) Refuse(r *http.Request, id string, e *apierr.Error) (int, http.Header, []byte) {
	return protocolOf(r).fail(&fault{status: e.Status(), code: string(e.Code), message: e.Message}, id)
}

// perform executes one operation when it is its turn.
func (h *Handler) perform(ctx context.Context, who *policy.Principal, p protocol, r *http.Request, body []byte) (operation string, out any, err error) {
	if len(body) > BodyMax {
		return "", nil, errTooLarge
	}
	select {
	case h.turns <- struct{}{}:
		defer func() { <-h.turns }()
	case <-ctx.Done():
		return "", nil, errThrottled
	}
	operation, decode, err := p.decode(r, body)
	if err != nil {
		return "", nil, err
	}
	if err := h.authorize(who, r, operation); err != nil {
		return operation, nil, err
	}
	switch operation {
	case "GetInsightRuleReport":
		out, err = serve(ctx, decode, h.getInsightRuleReport)
	case "GetMetricData":
		out, err = serve(ctx, decode, h.getMetricData)
	case "GetMetricStatistics":
		out, err = serve(ctx, decode, h.getMetricStatistics)
	case "ListMetrics":
		out, err = serve(ctx, decode, h.listMetrics)
	default:
		err = p.unknown(operation)
	}
	if err != nil && ctx.Err() != nil {
		err = errThrottled
	}
	return operation, out, err
}

// authorize rejects what the sender's policies do not allow. CloudWatch's actions have no resource, and here no Region.
func (h *Handler) authorize(who *policy.Principal, r *http.Request, operation string) error {
	action := "cloudwatch:" + operation
	request := policy.Request{Action: action, Resource: "*", Keys: policy.Circumstances{Request: r, Now: h.now}}
	if who == nil || policy.Evaluate(who, &request) == policy.Allowed {
		return nil
	}
	return denied(who.ARN, action)
}

func serve[In, Out any](ctx context.Context, decode func(any) error, perform func(context.Context, *In) (*Out, error)) (any, error) {
	in := new(In)
	if err := decode(in); err != nil {
		return nil, err
	}
	out, err := perform(ctx, in)
	if err != nil {
		return nil, err
	}
	return out, nil
}
