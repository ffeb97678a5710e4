package api_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/systemtest"
)

var errBroke = errors.New("not enough money")

// failures are the errors of the operation GET /fail/{kind}.
var failures = map[string]error{
	"declared":   &table.Refusal{Pattern: "Pay", Line: -1, Err: errBroke},
	"refused":    &table.Refusal{Pattern: "Pay", Line: -1, Err: errors.New("declared, and without a rule")},
	"missing":    fmt.Errorf("get: %w", table.ErrNotFound),
	"exists":     &table.Refusal{Pattern: "SignUp", Line: -1, Err: table.ErrExists},
	"conflict":   fmt.Errorf("write: %w", table.ErrConflict),
	"cursor":     table.ErrCursor,
	"reused":     fmt.Errorf("create: %w", table.ErrReused),
	"lines":      table.ErrLines,
	"value":      fmt.Errorf("create: %w", &table.ValueError{Field: "amount", Reason: "has more than 2 decimals"}),
	"throttled":  &types.ProvisionedThroughputExceededException{Message: aws.String("slow down")},
	"cancelled":  &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: aws.String("None")}, {Code: aws.String("ThrottlingError")}}},
	"disturbed":  &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: aws.String("TransactionConflict")}}},
	"serverside": &types.InternalServerError{Message: aws.String("oh")},
	"forbidden":  problem.Forbidden("not_yours", "the note is somebody else's"),
	"limited":    problem.TooMany("three attempts a minute", 90*time.Second),
	"huma":       huma.Error404NotFound("no such page"),
	"bug":        errors.New("dial tcp 10.0.0.7: secret of the inside"),
}

type echoInput struct {
	api.Keyed
	Body struct {
		Amount int    `json:"amount" minimum:"1"`
		Note   string `json:"note,omitempty" maxLength:"5"`
	}
}

type echoOutput struct {
	Body struct {
		Key    string `json:"key"`
		Amount int    `json:"amount"`
	}
}

type textOutput struct {
	Body struct {
		Text string `json:"text"`
	}
}

// server is an API over a socket, with an operation for each case.
type server struct {
	*httptest.Server
	issuer   *auth.Issuer
	registry *prometheus.Registry
	metrics  *api.Metrics
	log      *systemtest.Log
	entered  chan struct{} // signals that GET /wait has begun
}

func serve(t *testing.T, change func(*api.Options)) *server {
	t.Helper()
	issuer, err := auth.NewIssuer("pay", "http://issuer.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{issuer: issuer, registry: prometheus.NewRegistry(), log: &systemtest.Log{}, entered: make(chan struct{}, 1)}
	s.metrics = api.NewMetrics(s.registry)
	o := api.Options{
		Name: "pay", Title: "Pay", Version: "3.1.4", Prefix: "/pay", Verifier: issuer.Verifier(), Metrics: s.metrics,
		Rules:  problem.Rules{{Err: errBroke, Code: "insufficient_funds"}},
		Logger: s.logger(),
	}
	if change != nil {
		change(&o)
	}
	a, err := api.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.register(a)
	s.Server = httptest.NewServer(a)
	t.Cleanup(s.Close)
	return s
}

func (s *server) register(a *api.API) {
	huma.Get(a, "/fail/{kind}", func(_ context.Context, in *struct {
		Kind string `path:"kind"`
	},
	) (*textOutput, error) {
		if in.Kind == "panic" {
			panic("a bug")
		}
		return nil, failures[in.Kind]
	}, api.Refuses(errBroke))
	huma.Post(a, "/echo", func(_ context.Context, in *echoInput) (*echoOutput, error) {
		out := &echoOutput{}
		out.Body.Key, out.Body.Amount = in.RequestKey, in.Body.Amount
		return out, nil
	})
	api.List[string](api.Tag(a, "Lists"), "/list", "list", "A list", func(_ context.Context, _ auth.Principal, in api.PageQuery) (table.Page[string], error) {
		return table.Page[string]{Items: []string{fmt.Sprint(in.Limit)}, Next: table.Cursor("after " + in.Cursor)}, nil
	})
	huma.Get(a, "/who", func(ctx context.Context, _ *struct{}) (*textOutput, error) {
		p, err := auth.Required(ctx)
		out := &textOutput{}
		out.Body.Text = p.Sub + " " + api.RequestID(ctx)
		return out, err
	})
	huma.Get(a, "/admin", func(context.Context, *struct{}) (*textOutput, error) { return &textOutput{}, nil }, api.Groups("admin"))
	huma.Get(a, "/open", func(ctx context.Context, _ *struct{}) (*textOutput, error) {
		p, _ := auth.Optional(ctx)
		out := &textOutput{}
		out.Body.Text = p.Sub
		return out, nil
	}, api.Public)
	huma.Get(a, "/size/{n}", func(_ context.Context, in *struct {
		N int `path:"n"`
	},
	) (*textOutput, error) {
		out := &textOutput{}
		out.Body.Text = strings.Repeat("a", in.N)
		return out, nil
	}, api.Public)
	huma.Get(a, "/slow", func(ctx context.Context, _ *struct{}) (*textOutput, error) {
		<-ctx.Done()
		return nil, fmt.Errorf("query: %w", ctx.Err())
	}, api.Public, api.Timeout(20*time.Millisecond))
	huma.Get(a, "/wait", func(ctx context.Context, _ *struct{}) (*textOutput, error) {
		s.entered <- struct{}{}
		<-ctx.Done()
		return nil, fmt.Errorf("query: %w", ctx.Err())
	}, api.Public)
}

func (s *server) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// token returns a token of u-1.
func (s *server) token(t *testing.T, groups ...string) string {
	t.Helper()
	token, err := s.issuer.Mint(auth.Claims{Sub: "u-1", Groups: groups})
	if err != nil {
		t.Fatal(err)
	}
	return "Bearer " + token
}

// do sends a request; headers are name, value, name, value.
func (s *server) do(t *testing.T, method, path, body string, headers ...string) systemtest.Response {
	t.Helper()
	return systemtest.Call(t, method, s.URL+path, body, headers...)
}

func TestErrorsOfHandlers(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	token := s.token(t)
	for _, test := range []struct {
		kind   string
		status int
		code   string
		field  string
		after  string // Retry-After
	}{
		{kind: "declared", status: 409, code: "insufficient_funds"},
		{kind: "refused", status: 409, code: "conflict"},
		{kind: "missing", status: 404, code: "not_found"},
		{kind: "exists", status: 409, code: "already_exists"},
		{kind: "conflict", status: 409, code: "conflict", after: "1"},
		{kind: "cursor", status: 400, code: "invalid_cursor", field: "query.cursor"},
		{kind: "reused", status: 422, code: "idempotency_key_reused"},
		{kind: "lines", status: 400, code: "invalid_lines"},
		{kind: "value", status: 400, code: "invalid_value", field: "amount"},
		{kind: "throttled", status: 503, code: "throttled", after: "1"},
		{kind: "cancelled", status: 503, code: "throttled", after: "1"},
		{kind: "disturbed", status: 409, code: "conflict", after: "1"},
		{kind: "serverside", status: 503, code: "unavailable", after: "1"},
		{kind: "forbidden", status: 403, code: "not_yours"},
		{kind: "limited", status: 429, code: "rate_limited", after: "90"},
		{kind: "huma", status: 404, code: "not_found"},
		{kind: "bug", status: 500, code: "internal"},
		{kind: "panic", status: 500, code: "internal"},
	} {
		t.Run(test.kind, func(t *testing.T) {
			response := s.do(t, http.MethodGet, "/pay/fail/"+test.kind, "", "Authorization", token, "X-Request-Id", "req-"+test.kind)
			p := response.Problem(t)
			if p.Status != test.status || p.Code != test.code {
				t.Errorf("%d %s, want %d %s", p.Status, p.Code, test.status, test.code)
			}
			if p.RequestID != "req-"+test.kind {
				t.Errorf("request id %q, want the one that was sent", p.RequestID)
			}
			if got := response.Header.Get("Retry-After"); got != test.after {
				t.Errorf("Retry-After %q, want %q", got, test.after)
			}
			if test.field != "" && (len(p.Errors) != 1 || p.Errors[0].Field != test.field) {
				t.Errorf("errors %v, want one of %s", p.Errors, test.field)
			}
			if strings.Contains(response.Body, "10.0.0.7") || strings.Contains(response.Body, "a bug") || strings.Contains(response.Body, "slow down") {
				t.Errorf("the response reveals internal details: %s", response.Body)
			}
		})
	}
	for _, want := range []string{"10.0.0.7", `"request_id":"req-bug"`, `"panic":"a bug"`, `"request_id":"req-panic"`} {
		if !strings.Contains(s.log.String(), want) {
			t.Errorf("the log does not contain %s:\n%s", want, s.log)
		}
	}
}

func TestInvalidRequests(t *testing.T) {
	t.Parallel()
	s := serve(t, func(o *api.Options) { o.MaxBody = 200 })
	token := s.token(t)
	key := "Idempotency-Key"
	for _, test := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
		code, field              string
	}{
		{"no JSON", "POST", "/pay/echo", `{"amount":`, []string{key, "k"}, 400, "invalid_body", "body"},
		{"no body", "POST", "/pay/echo", ``, []string{key, "k"}, 400, "invalid_body", "body"},
		{"no amount", "POST", "/pay/echo", `{}`, []string{key, "k"}, 400, "invalid_body", "body"},
		{"text for a number", "POST", "/pay/echo", `{"amount":"5"}`, []string{key, "k"}, 400, "invalid_body", "body.amount"},
		{"too small", "POST", "/pay/echo", `{"amount":0}`, []string{key, "k"}, 400, "invalid_body", "body.amount"},
		{"too long", "POST", "/pay/echo", `{"amount":1,"note":"secret"}`, []string{key, "k"}, 400, "invalid_body", "body.note"},
		{"unknown field", "POST", "/pay/echo", `{"amount":1,"sub":"u-2"}`, []string{key, "k"}, 400, "invalid_body", "body.sub"},
		{"name in another case", "POST", "/pay/echo", `{"amount":1,"Note":"hi"}`, []string{key, "k"}, 400, "invalid_body", "body.Note"},
		{"name in two cases", "POST", "/pay/echo", `{"amount":1,"note":"hi","NOTE":"secret"}`, []string{key, "k"}, 400, "invalid_body", "body.NOTE"},
		{"no key", "POST", "/pay/echo", `{"amount":1}`, nil, 400, "invalid_parameter", "header.Idempotency-Key"},
		{"key with a space", "POST", "/pay/echo", `{"amount":1}`, []string{key, "a b"}, 400, "invalid_parameter", "header.Idempotency-Key"},
		{"key too long", "POST", "/pay/echo", `{"amount":1}`, []string{key, strings.Repeat("k", 201)}, 400, "invalid_parameter", "header.Idempotency-Key"},
		{"other media", "POST", "/pay/echo", `amount=1`, []string{key, "k", "Content-Type", "application/x-www-form-urlencoded"}, 415, "unsupported_media_type", ""},
		{"large body", "POST", "/pay/echo", `{"amount":1,"note":"` + strings.Repeat("x", 300) + `"}`, []string{key, "k"}, 413, "body_too_large", ""},
		{"limit 0", "GET", "/pay/list?limit=0", "", nil, 400, "invalid_parameter", "query.limit"},
		{"limit 101", "GET", "/pay/list?limit=101", "", nil, 400, "invalid_parameter", "query.limit"},
		{"limit of words", "GET", "/pay/list?limit=ten", "", nil, 400, "invalid_parameter", "query.limit"},
		{"cursor too long", "GET", "/pay/list?cursor=" + strings.Repeat("c", 4097), "", nil, 400, "invalid_parameter", "query.cursor"},
		{"no such path", "GET", "/pay/nothing", "", nil, 404, "not_found", ""},
		{"no such method", "DELETE", "/pay/echo", "", nil, 405, "method_not_allowed", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			response := s.do(t, test.method, test.path, test.body, append([]string{"Authorization", token}, test.header...)...)
			p := response.Problem(t)
			if p.Status != test.status || p.Code != test.code {
				t.Errorf("%d %s, want %d %s: %s", p.Status, p.Code, test.status, test.code, response.Body)
			}
			if test.field != "" && (len(p.Errors) == 0 || p.Errors[0].Field != test.field || p.Errors[0].Message == "") {
				t.Errorf("errors %v, want one of %s first", p.Errors, test.field)
			}
			if strings.Contains(response.Body, "secret") {
				t.Errorf("a value was sent back: %s", response.Body)
			}
		})
	}
	response := s.do(t, "DELETE", "/pay/echo", "")
	if got := response.Header.Get("Allow"); got != "POST" {
		t.Errorf("Allow %q, want POST", got)
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	token := s.token(t)
	for _, test := range []struct{ path, want string }{
		{"/pay/list", `{"items":["20"],"next":"after "}`},
		{"/pay/list?limit=1", `{"items":["1"],"next":"after "}`},
		{"/pay/list?limit=100&cursor=abc", `{"items":["100"],"next":"after abc"}`},
	} {
		response := s.do(t, "GET", test.path, "", "Authorization", token)
		if response.Status != 200 || strings.TrimSpace(response.Body) != test.want {
			t.Errorf("%s: %d %s, want %s", test.path, response.Status, response.Body, test.want)
		}
	}
	for _, key := range []string{"k", "a.b_c:d@e-9", strings.Repeat("k", 200)} {
		response := s.do(t, "POST", "/pay/echo", `{"amount":7}`, "Authorization", token, "Idempotency-Key", key)
		if want := `{"key":"` + key + `","amount":7}`; response.Status != 200 || strings.TrimSpace(response.Body) != want {
			t.Errorf("%d %s, want %s", response.Status, response.Body, want)
		}
	}
}

func TestCallerGroups(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	for _, test := range []struct {
		name, path, token string
		status            int
		code, challenge   string
	}{
		{"no token", "/pay/who", "", 401, "missing_token", "Bearer"},
		{"another scheme", "/pay/who", "Basic dTpw", 401, "missing_token", "Bearer"},
		{"no JWT", "/pay/who", "Bearer nonsense", 401, "invalid_token", `Bearer error="invalid_token", error_description="the access token is not a signed JWT"`},
		{"no JWT where none is needed", "/pay/open", "Bearer nonsense", 401, "invalid_token", `Bearer error="invalid_token", error_description="the access token is not a signed JWT"`},
		{"another scheme where none is needed", "/pay/open", "Basic dTpw", 401, "missing_token", "Bearer"},
		{"not in the group", "/pay/admin", s.token(t, "staff"), 403, "forbidden", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			header := []string{"Authorization", test.token}
			if test.token == "" {
				header = nil
			}
			response := s.do(t, "GET", test.path, "", header...)
			p := response.Problem(t)
			if p.Status != test.status || p.Code != test.code || response.Header.Get("WWW-Authenticate") != test.challenge {
				t.Errorf("%d %s %q, want %d %s %q", p.Status, p.Code, response.Header.Get("WWW-Authenticate"), test.status, test.code, test.challenge)
			}
		})
	}
	for _, test := range []struct{ path, token, want string }{
		{"/pay/who", s.token(t), `{"text":"u-1 given"}`},
		{"/pay/who", strings.Replace(s.token(t), "Bearer", "bearer", 1), `{"text":"u-1 given"}`},
		{"/pay/admin", s.token(t, "staff", "admin"), `{"text":""}`},
		{"/pay/open", "", `{"text":""}`},
		{"/pay/health", "Bearer nonsense", `{"status":"ok"}`},
		{"/pay/open", s.token(t), `{"text":"u-1"}`},
	} {
		response := s.do(t, "GET", test.path, "", "Authorization", test.token, "X-Request-Id", "given")
		if response.Status != 200 || strings.TrimSpace(response.Body) != test.want {
			t.Errorf("%s: %d %s, want %s", test.path, response.Status, response.Body, test.want)
		}
	}
}
