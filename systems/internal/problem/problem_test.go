package problem

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/monotable/monotable/design/table"
)

var (
	errNoteMissing = fmt.Errorf("note: %w", table.ErrNotFound)
	errFull        = errors.New("the notebook is full")
)

// TestRules: a system's rules take precedence over the general ones.
func TestRules(t *testing.T) {
	t.Parallel()
	rules := Rules{
		{Err: errNoteMissing, Status: http.StatusNotFound, Code: "note_not_found"},
		{Err: errFull, Code: "notebook_full", Detail: "delete a note first"},
		{Err: errFull, Code: "never_reached"},
	}
	for _, test := range []struct {
		err          error
		status       int
		code, detail string
	}{
		{fmt.Errorf("get: %w", errNoteMissing), 404, "note_not_found", "note: not found"},
		{table.ErrNotFound, 404, "not_found", "it does not exist, or it is not yours"},
		{&table.Refusal{Line: -1, Err: errFull}, 409, "notebook_full", "delete a note first"},
		{Forbidden("not_yours", "it is hers"), 403, "not_yours", "it is hers"},
		{fmt.Errorf("check: %w", Forbidden("", "no")), 403, "forbidden", "no"},
		{New(http.StatusTeapot, "", "short and stout"), 418, "im_a_teapot", "short and stout"},
		{context.DeadlineExceeded, 504, "timeout", detailTimeout},
		{fmt.Errorf("query: %w", context.Canceled), StatusClientGone, "client_gone", ""},
		{&smithyhttp.RequestSendError{Err: errors.New("connection refused")}, 503, "unavailable", detailUnavailable},
		{&smithy.GenericAPIError{Code: "ThrottlingException"}, 503, "throttled", detailUnavailable},
		{&smithy.GenericAPIError{Code: "ValidationException", Fault: smithy.FaultClient}, 500, "internal", detailInternal},
		{errors.New("anything"), 500, "internal", detailInternal},
	} {
		p := rules.Problem(test.err)
		if p.Status != test.status || p.Code != test.code || p.Detail != test.detail {
			t.Errorf("%v: %d %s %q, want %d %s %q", test.err, p.Status, p.Code, p.Detail, test.status, test.code, test.detail)
		}
		if !errors.Is(p, test.err) {
			t.Errorf("%v is not the cause of its problem", test.err)
		}
		if p.Title == "" {
			t.Errorf("%v: no title", test.err)
		}
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	Rules{}.Problem(TooMany("slow down", 1500*time.Millisecond)).For("r-1").Write(w)
	const want = `{"type":"about:blank","title":"Too Many Requests","status":429,"detail":"slow down","code":"rate_limited","requestId":"r-1"}`
	if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusTooManyRequests || got != want {
		t.Errorf("%d %s, want %s", w.Code, got, want)
	}
	if h := w.Header(); h.Get("Retry-After") != "2" || h.Get("Content-Type") != "application/problem+json" {
		t.Errorf("headers %v", h)
	}
	w = httptest.NewRecorder()
	Rules{}.Problem(InvalidToken("it \"has\"\r\nexpired \\", nil)).Write(w)
	if got, want := w.Header().Get("WWW-Authenticate"), `Bearer error="invalid_token", error_description="it hasexpired "`; got != want {
		t.Errorf("WWW-Authenticate %s, want %s", got, want)
	}
}
