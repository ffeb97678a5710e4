package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/problem"
)

// problemsMember is the document's member for problems: each response of an operation lists its possible codes, and the top level
// defines each code's status and detail.
const problemsMember = "x-problems"

// declared is a problem in the document.
type declared struct {
	Code   string `json:"code"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// Refuses lists the errors with which an operation rejects requests, both the design's and the domain's. The system's rules turn
// them into problems, whose codes appear in the document. Errors that every operation of its kind can return are not listed:
// invalid requests and tokens, reused keys, conflicts, rate limits, internal errors.
func Refuses(errs ...error) Option {
	return func(op *huma.Operation) {
		t := traitsOf(op)
		t.refusals = append(t.refusals, errs...)
	}
}

// NotFound adds 404.
func NotFound(op *huma.Operation) { Refuses(table.ErrNotFound)(op) }

// refusals returns all errors with which an operation rejects requests: those common to its kind, and its own.
func refusals(op *huma.Operation, t *traits) []error {
	all := []error{
		problem.BadRequest(problem.CodeInvalidParameter, "a parameter is invalid"),
		problem.TooMany("too many requests", 0), errors.New("a fault of the inside"), problem.Unavailable(nil), problem.Throttled(),
		context.DeadlineExceeded,
	}
	if !t.tokenless {
		all = append(all, problem.MissingToken(), problem.InvalidToken("the access token has expired", nil))
	}
	if !t.tokenless || len(op.Parameters) > 0 || op.RequestBody != nil { // the caller is an input too
		all = append(all, &table.ValueError{})
	}
	if len(t.groups) > 0 {
		all = append(all, t.forbidden())
	}
	if op.Method != http.MethodGet {
		all = append(all, table.ErrConflict)
	}
	for _, parameter := range op.Parameters {
		switch {
		case parameter.In == "query" && parameter.Name == "cursor":
			all = append(all, table.ErrCursor)
		case parameter.In == "header" && parameter.Name == idempotencyHeader:
			all = append(all, table.ErrReused)
		case parameter.In == "header" && parameter.Name == versionHeader:
			all = append(all, problem.Changed())
		}
	}
	if op.RequestBody != nil {
		all = append(all, problem.BadRequest(problem.CodeInvalidBody, "the request body is invalid"))
		for status, detail := range map[int]string{
			http.StatusRequestTimeout:        "the body did not arrive in time",
			http.StatusRequestEntityTooLarge: "the body is larger than this operation accepts",
			http.StatusUnsupportedMediaType:  "send the body as JSON, uncompressed",
		} {
			all = append(all, &problem.Error{Status: status, Detail: detail})
		}
	}
	return append(all, t.refusals...)
}

// declare adds an operation's problems to the document.
func (a *API) declare(document *huma.OpenAPI, op *huma.Operation, schema *huma.Schema) {
	codes := map[int][]string{}
	for _, err := range refusals(op, traitsOf(op)) {
		p := a.options.Rules.Problem(err)
		if !slices.Contains(codes[p.Status], p.Code) {
			codes[p.Status] = append(codes[p.Status], p.Code)
		}
		if d := (declared{p.Code, p.Status, p.Detail}); !slices.Contains(a.problems, d) { // most operations share them
			a.problems = append(a.problems, d)
		}
	}
	slices.SortFunc(a.problems, func(x, y declared) int {
		return cmp.Or(cmp.Compare(x.Status, y.Status), cmp.Compare(x.Code, y.Code), cmp.Compare(x.Detail, y.Detail))
	})
	document.Extensions[problemsMember] = a.problems
	for status, list := range codes {
		slices.Sort(list)
		op.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status),
			Content:     map[string]*huma.MediaType{problem.ContentType: {Schema: schema}},
			Extensions:  map[string]any{problemsMember: list},
		}
	}
}
