// Package lambdahttp runs a system in AWS Lambda: its http.Handler behind an API Gateway HTTP API (payload format 2.0), its
// stream handlers behind DynamoDB Streams, and its schedules behind EventBridge.
//
// # Model
//
//	payload with requestContext.http ─▶ http.Request ─▶ handler ─▶ response ─▶ APIGatewayV2HTTPResponse
//	payload with schedule: NAME     ─▶ the schedule with that name ─▶ nil, or an error, and Lambda retries
//	payload with Records            ─▶ consumer.Batch, by table ─▶ stream handlers ─▶ nil, or an error, and Lambda retries
//	payload with Records of aws:sqs ─▶ the location of a failed batch ─▶ its records, read from the stream again ─▶ the same
//
// The translation is hand-written: of the existing libraries, one is no longer maintained and depends on seven web frameworks.
//
// # Invariants
//
//	L1  A handler cannot tell Lambda from a socket: path without the stage, every header, cookie and query value, the body's
//	    bytes, the caller's address, whether TLS was used.
//	L2  Bodies that are not text are base64-encoded, and only those.
//	L3  A batch is acknowledged when every handler of its table has returned nil; otherwise all of it is retried. Effects
//	    are idempotent, and Lambda bisects a failing batch (BisectBatchOnFunctionError) down to the record that cannot be
//	    handled, which goes to the dead-letter queue. Reporting how far a handler got would save only a few deliveries.
//	L4  A message of the dead-letter queue is acknowledged when all records of its batch were read and handled. They then come
//	    after later records of the same items.
//
// A Handler is safe for concurrent use.
package lambdahttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-lambda-go/events"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/systems/internal/system"
)

// Handler is a lambda.Handler.
type Handler struct {
	http      http.Handler
	streams   []system.Stream
	schedules []system.Schedule
	client    consumer.Streams // nil if failed batches are not redriven
}

// New returns a handler of a system's requests, changes and schedules. Any may be absent.
func New(requests http.Handler, streams []system.Stream, schedules ...system.Schedule) *Handler {
	return &Handler{http: requests, streams: streams, schedules: schedules}
}

// errUnknownEvent is the error for an unknown kind of payload.
var errUnknownEvent = errors.New("lambdahttp: the event is neither a request of API Gateway (payload format 2.0) nor one of DynamoDB Streams nor a queue's nor a schedule")

// Invoke handles an event.
func (h *Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var kind struct {
		Schedule string `json:"schedule"`
		Records  []struct {
			Source string `json:"eventSource"`
		} `json:"Records"`
		RequestContext struct {
			HTTP struct {
				Method string `json:"method"`
			} `json:"http"`
		} `json:"requestContext"`
	}
	if err := json.Unmarshal(payload, &kind); err != nil {
		return nil, fmt.Errorf("lambdahttp: event: %w", err)
	}
	switch {
	case kind.RequestContext.HTTP.Method != "" && h.http != nil:
		var event events.APIGatewayV2HTTPRequest
		if err := json.Unmarshal(payload, &event); err != nil {
			return nil, fmt.Errorf("lambdahttp: request: %w", err)
		}
		response, err := h.respond(ctx, event)
		if err != nil {
			return nil, err
		}
		return json.Marshal(response)
	case len(kind.Records) > 0 && kind.Records[0].Source == "aws:sqs":
		var event events.SQSEvent
		if err := json.Unmarshal(payload, &event); err != nil {
			return nil, fmt.Errorf("lambdahttp: messages: %w", err)
		}
		return []byte("{}"), h.redrive(ctx, event)
	case kind.Records != nil:
		var event events.DynamoDBEvent
		if err := json.Unmarshal(payload, &event); err != nil {
			return nil, fmt.Errorf("lambdahttp: records: %w", err)
		}
		return []byte("{}"), h.follow(ctx, event)
	case kind.Schedule != "":
		return []byte("{}"), h.scheduled(ctx, kind.Schedule)
	default:
		return nil, errUnknownEvent
	}
}

// scheduled runs a schedule by name.
func (h *Handler) scheduled(ctx context.Context, name string) error {
	for _, s := range h.schedules {
		if s.Name != name {
			continue
		}
		if err := s.Run(ctx); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	return fmt.Errorf("lambdahttp: there is no schedule %q", name)
}
