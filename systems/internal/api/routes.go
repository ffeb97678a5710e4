package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/byname"
	"github.com/monotable/monotable/systems/internal/problem"
)

// Routes is a section of a system's route table: the routes of one tag in the document.
//
// A line states the response type, path, operation id, summary and function, and who may call it:
//
//	posts := api.Routes(a, "Posts")
//	api.Create[Post](posts, "/posts", "writePost", "Write a post", s.write, api.At("posts/{postId}"))
//	api.List[Post](posts, "/posts", "listPosts", "Published posts", api.Pages[listPosts](s.db.PostsByStatus), api.Public)
//	api.Get[User](users, "/users/{id}", "getUser", "A user", api.Call[UserPath](s.db.UserByID), api.Public)
//
// The function takes the caller and the input. The caller is the zero Principal for anonymous requests, which only Public
// operations allow. The input is a struct with path, query and header parameters, and a field Body. The result is converted to
// the response type, field by field by name, so the type lists exactly what callers see.
type Routes struct {
	api     huma.API
	tag     string
	options []Option
}

// Tag begins the routes of a tag.
func Tag(a huma.API, name string) Routes { return Routes{api: a, tag: name} }

// With returns routes with common options; a line's own options are applied after them.
func (r Routes) With(options ...Option) Routes {
	r.options = slices.Concat(r.options, options)
	return r
}

// Option is an addition to a route: who may call it, its problems, its description.
type Option = func(*huma.Operation)

// None is the input of operations without one.
type None = struct{}

// Body is the input of operations that have only a body.
type Body[T any] struct{ Body T }

// Get adds a GET of a single item. Responses have an ETag, and callers who already have the item get 304.
func Get[Shown, In, Out any](r Routes, path, id, summary string, do func(context.Context, auth.Principal, In) (Out, error), options ...Option) {
	o := operation(r, http.MethodGet, path, id, summary, http.StatusOK, options)
	t := traitsOf(&o)
	t.tagged = !strings.Contains(t.cache, "no-store")
	route[Shown](r, o, once(do))
}

// Put adds a PUT.
func Put[Shown, In, Out any](r Routes, path, id, summary string, do func(context.Context, auth.Principal, In) (Out, error), options ...Option) {
	route[Shown](r, operation(r, http.MethodPut, path, id, summary, http.StatusOK, options), once(do))
}

// Patch adds a PATCH.
func Patch[Shown, In, Out any](r Routes, path, id, summary string, do func(context.Context, auth.Principal, In) (Out, error), options ...Option) {
	route[Shown](r, operation(r, http.MethodPatch, path, id, summary, http.StatusOK, options), once(do))
}

// Post adds a POST that creates nothing with an address of its own. If it must not happen twice, use Create, or an input that
// embeds Keyed.
func Post[Shown, In, Out any](r Routes, path, id, summary string, do func(context.Context, auth.Principal, In) (Out, error), options ...Option) {
	route[Shown](r, operation(r, http.MethodPost, path, id, summary, http.StatusOK, options), once(do))
}

// Create adds a POST that creates something once per Idempotency-Key: 201, or 200 and the first response for a retry.
func Create[Shown any, In keyed, Out any](r Routes, path, id, summary string, do func(context.Context, auth.Principal, In) (out Out, replayed bool, err error), options ...Option) {
	route[Shown](r, operation(r, http.MethodPost, path, id, summary, http.StatusCreated, options), do)
}

// Ensure adds a PUT that creates an item if it is missing: 201, or 200 if it exists.
func Ensure[Shown, In, Out any](r Routes, path, id, summary string, do func(context.Context, auth.Principal, In) (out Out, there bool, err error), options ...Option) {
	o := operation(r, http.MethodPut, path, id, summary, http.StatusCreated, options)
	traitsOf(&o).ensures = true
	route[Shown](r, o, do)
}

// Delete adds a DELETE, with the response 204.
func Delete[In any](r Routes, path, id, summary string, do func(context.Context, auth.Principal, In) error, options ...Option) {
	Effect(r, http.MethodDelete, path, id, summary, http.StatusNoContent, do, options...)
}

// Effect adds an operation that responds with a status and no body.
func Effect[In any](r Routes, method, path, id, summary string, status int, do func(context.Context, auth.Principal, In) error, options ...Option) {
	o := operation(r, method, path, id, summary, status, options)
	huma.Register(r.api, o, func(ctx context.Context, in *In) (*struct{}, error) {
		who, err := caller(ctx, traitsOf(&o))
		if err != nil {
			return nil, err
		}
		return nil, do(ctx, who, *in)
	})
}

// Remove adds a DELETE that returns the item from which something was removed.
func Remove[Shown, In, Out any](r Routes, path, id, summary string, do func(context.Context, auth.Principal, In) (Out, error), options ...Option) {
	route[Shown](r, operation(r, http.MethodDelete, path, id, summary, http.StatusOK, options), once(do))
}

// List adds a GET of a page.
func List[Shown any, In pager, Out any](r Routes, path, id, summary string, do func(context.Context, auth.Principal, In) (table.Page[Out], error), options ...Option) {
	o := operation(r, http.MethodGet, path, id, summary, http.StatusOK, options)
	show := shown[Shown, Out](&o)
	route[Page[Shown]](r, o, func(ctx context.Context, who auth.Principal, in In) (Page[Shown], bool, error) {
		found, err := do(ctx, who, in)
		page := Show(found, show)
		return Page[Shown]{Items: page.Items, Next: string(page.Next)}, false, err
	})
}

// once adapts a function whose requests are never retries.
func once[In, Out any](do func(context.Context, auth.Principal, In) (Out, error)) func(context.Context, auth.Principal, In) (Out, bool, error) {
	return func(ctx context.Context, who auth.Principal, in In) (Out, bool, error) {
		out, err := do(ctx, who, in)
		return out, false, err
	}
}

// response is a route's response.
type response[Shown any] struct {
	Status       int
	Location     string `header:"Location" doc:"Where it is"`
	CacheControl string `header:"Cache-Control"`
	ETag         string `header:"ETag"`
	Body         Shown
}

// route adds an operation.
func route[Shown, In, Out any](r Routes, o huma.Operation, do func(context.Context, auth.Principal, In) (Out, bool, error)) {
	t := traitsOf(&o)
	t.versioned = reflect.TypeFor[Shown]().Implements(reflect.TypeFor[Versioned]())
	show, locate := shown[Shown, Out](&o), locator[Shown](&o, t.location)
	huma.Register(r.api, o, func(ctx context.Context, in *In) (*response[Shown], error) {
		who, err := caller(ctx, t)
		if err != nil {
			return nil, err
		}
		if seen, ok := any(in).(seenInput); ok {
			seen.see()
		}
		out, again, err := do(ctx, who, *in)
		if err != nil {
			return nil, err
		}
		res := &response[Shown]{Status: o.DefaultStatus, CacheControl: t.cache, Body: show(out)}
		if again {
			res.Status = http.StatusOK
		}
		res.Location = locate(&res.Body)
		switch {
		case t.tagged:
			err = res.revalidate(ctx)
		case t.versioned:
			_, err = res.tag()
		}
		return res, err
	})
}

// operation returns the operation for a line of the table.
func operation(r Routes, method, path, id, summary string, status int, options []Option) huma.Operation {
	o := huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, Tags: []string{r.tag}, DefaultStatus: status}
	traitsOf(&o).routed = true
	for _, set := range slices.Concat(r.options, options) {
		set(&o)
	}
	return o
}

// caller returns the caller.
func caller(ctx context.Context, t *traits) (auth.Principal, error) {
	who, known := auth.Optional(ctx)
	if !known && !t.public {
		return auth.Principal{}, problem.MissingToken()
	}
	return who, nil
}

// shown converts a function's result to the response type. A field without a source is a bug in the table, and prevents startup.
func shown[Shown, Out any](o *huma.Operation) func(Out) Shown {
	defer inRoute(o)
	return byname.Copy[Out, Shown]()
}

// locator builds the Location of a response: "posts/{postId}", with members of the response.
func locator[Shown any](o *huma.Operation, pattern string) func(*Shown) string {
	if pattern == "" {
		return func(*Shown) string { return "" }
	}
	defer inRoute(o)
	before, rest, _ := strings.Cut(pattern, "{")
	member, after, _ := strings.Cut(rest, "}")
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Shown]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == member && f.Type.Kind() == reflect.String {
			return func(shown *Shown) string {
				return before + reflect.ValueOf(shown).Elem().FieldByIndex(f.Index).String() + after
			}
		}
	}
	panic(fmt.Sprintf("%s has no text %q for the location", reflect.TypeFor[Shown](), member))
}

// inRoute adds the route to a panic.
func inRoute(o *huma.Operation) {
	if fault := recover(); fault != nil {
		panic(fmt.Sprintf("route %s, %s %s: %v", o.OperationID, o.Method, o.Path, fault))
	}
}
