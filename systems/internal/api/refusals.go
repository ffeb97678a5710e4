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

// problemsMember is where the document has problems: at each response of an operation the codes that it may have, and at the top all
// of them with status and detail.
const problemsMember = "x-problems"

// declared is a problem in the document.
type declared struct {
	Code   string `json:"code"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// Refuses says which errors refuse an operation: those that a design declares, and those that the domain decides. The system's rules
// make problems of them, whose codes stand in the document. What follows from the kind of an operation needs no line: what is wrong
// with a request or its token, a key that was used before, two who change one thing, too much at once, faults of the inside.
func Refuses(errs ...error) Option {
	return func(op *huma.Operation) {
		t := traitsOf(op)
		t.refusals = append(t.refusals, errs...)
	}
}

// NotFound is 404.
func NotFound(op *huma.Operation) { Refuses(table.ErrNotFound)(op) }

// refusals are all errors that refuse an operation: those that follow from its kind, and its own.
func refusals(op *huma.Operation, t *traits) []error {
	all := []error{
		problem.BadRequest(problem.CodeInvalidParameter, "a parameter is not what this operation takes"),
		problem.TooMany("too many requests", 0), errors.New("a fault of the inside"), problem.Unavailable(nil), problem.Throttled(),
		context.DeadlineExceeded,
	}
	if !t.tokenless {
		all = append(all, problem.MissingToken(), problem.InvalidToken("the access token has expired", nil))
	}
	if !t.tokenless || len(op.Parameters) > 0 || op.RequestBody != nil { // whose token it is, is a value too
		all = append(all, &table.ValueError{})
	}
	if len(t.groups) > 0 {
		all = append(all, t.notForCaller())
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
		all = append(all, problem.BadRequest(problem.CodeInvalidBody, "the body is not what this operation takes"))
		for status, detail := range map[int]string{
			http.StatusRequestTimeout:        "the body did not arrive in time",
			http.StatusRequestEntityTooLarge: "the body is larger than this operation takes",
			http.StatusUnsupportedMediaType:  "send the body as JSON, as it is",
		} {
			all = append(all, &problem.Error{Status: status, Detail: detail})
		}
	}
	return append(all, t.refusals...)
}

// declare writes the problems of an operation into the document.
func (a *API) declare(document *huma.OpenAPI, op *huma.Operation, schema *huma.Schema) {
	codes := map[int][]string{}
	for _, err := range refusals(op, traitsOf(op)) {
		p := a.options.Rules.Problem(err)
		if !slices.Contains(codes[p.Status], p.Code) {
			codes[p.Status] = append(codes[p.Status], p.Code)
		}
		if d := (declared{p.Code, p.Status, p.Detail}); !slices.Contains(a.problems, d) { // most operations have the same
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
