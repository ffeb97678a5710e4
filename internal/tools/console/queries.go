package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/smithy-go"
)

// The lists of saved queries.
const (
	bookmarks = "bookmarks"
	history   = "history"
)

const (
	// queriesMax limits the queries of one request, and the queries read per principal.
	queriesMax = 2000
	// titleMax and addressMax limit a query, in bytes.
	titleMax   = 4 << 10
	addressMax = 16 << 10
)

// query is a query that the page can reopen.
type query struct {
	Title string `json:"title"`
	// Address is the part of the page's address from # on.
	Address string    `json:"address"`
	At      time.Time `json:"at,omitzero"` // when it was run or bookmarked
}

// keptQueries are the queries of a principal.
type keptQueries struct {
	// In says where queries are kept: "table", "file" (bookmarks only) or "browser".
	In string `json:"in"`
	// Why says why the browser keeps them: "readOnly", "noTable" or "denied".
	Why       string  `json:"why,omitempty"`
	Bookmarks []query `json:"bookmarks"` // by title
	History   []query `json:"history"`   // newest first
}

// queryChange adds queries to a list and removes others by their addresses. Other queries of the list are unaffected, so two tabs
// do not overwrite each other's.
type queryChange struct {
	Add    []query  `json:"add"`
	Remove []string `json:"remove"`
}

func (c *queryChange) check() error {
	if len(c.Add)+len(c.Remove) > queriesMax {
		return fmt.Errorf("the change has more than %d queries", queriesMax)
	}
	for _, q := range c.Add {
		switch {
		case q.Title == "" || len(q.Title) > titleMax:
			return fmt.Errorf("a title has %d bytes: want 1 to %d", len(q.Title), titleMax)
		case !strings.HasPrefix(q.Address, "#/") || len(q.Address) > addressMax:
			return fmt.Errorf("%.100q is no address of the console: want one that begins with #/ and has at most %d bytes", q.Address, addressMax)
		}
	}
	return nil
}

// queryKeeper keeps the queries of one principal.
type queryKeeper interface {
	read(context.Context) (*keptQueries, error)
	change(ctx context.Context, list string, change *queryChange) error
}

// kept adds the requests for queries.
func (c *Console) kept() {
	c.mux.Handle("GET "+Path+"queries", c.own(c.keeping(func(r *http.Request, k queryKeeper) (any, error) { return k.read(r.Context()) })))
	c.mux.Handle("POST "+Path+"queries/table", c.own(c.keeping(func(r *http.Request, k queryKeeper) (any, error) {
		table, is := k.(*queriesTable)
		if !is {
			return nil, &refusal{"ValidationException", "This console stores its queries elsewhere."}
		}
		if err := table.create(r.Context()); err != nil {
			return nil, err
		}
		return k.read(r.Context())
	})))
	c.mux.Handle("POST "+Path+"queries/{list}", c.own(c.keeping(func(r *http.Request, k queryKeeper) (any, error) {
		list := r.PathValue("list")
		var change queryChange
		if err := json.NewDecoder(r.Body).Decode(&change); err != nil {
			return nil, fmt.Errorf("the change is not JSON, or has more than %d MB: %w", bodyMax>>20, err)
		}
		if list != bookmarks && list != history {
			return nil, fmt.Errorf("there is no list %q", list)
		}
		if err := change.check(); err != nil {
			return nil, err
		}
		return struct{}{}, k.change(r.Context(), list, &change)
	})))
}

// keeping calls f with the storage for the queries of the request's principal. A read-only console changes nothing.
func (c *Console) keeping(f func(*http.Request, queryKeeper) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if c.options.ReadOnly && r.Method != http.MethodGet {
			refuse(w, r, http.StatusForbidden, "ReadOnly", "The console is read-only: it does not store queries.")
			return
		}
		var out any
		keeper, err := c.keeper(r)
		if err == nil {
			out, err = f(r, keeper)
		}
		if err != nil {
			if r.Context().Err() == nil {
				status := http.StatusBadRequest
				if codeOf(err, "") == "SignedOut" {
					status = http.StatusUnauthorized
				}
				refuse(w, r, status, codeOf(err, "ValidationException"), err.Error())
			}
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_ = json.NewEncoder(w).Encode(out) // on failure, the page has disconnected
	}
}

// keeper returns the storage for the queries of a request's principal.
func (c *Console) keeper(r *http.Request) (queryKeeper, error) {
	switch {
	case c.options.Bookmarks != "":
		return &bookmarksFile{c.options.Bookmarks}, nil
	case c.options.ReadOnly:
		return browserKeeps{"readOnly"}, nil
	}
	credentials, err := c.credentials(r)
	if err != nil {
		return nil, err
	}
	principal, err := c.principal(r, credentials)
	if err != nil {
		return nil, endpointFault(err)
	}
	return &queriesTable{
		client: c.sdk(r, credentials, &recorder{}), principal: principal, creates: c.options.KeepQueries, now: c.options.Now,
	}, nil
}

// browserKeeps is the queryKeeper for queries kept by the browser, with the reason.
type browserKeeps struct{ why string }

func (b browserKeeps) read(context.Context) (*keptQueries, error) {
	return &keptQueries{In: "browser", Why: b.why, Bookmarks: []query{}, History: []query{}}, nil
}

func (b browserKeeps) change(context.Context, string, *queryChange) error {
	return errors.New("the browser keeps the queries")
}

// sortQueries sorts bookmarks by title, so that a file of them has small diffs.
func sortQueries(queries []query) {
	slices.SortFunc(queries, func(a, b query) int { return cmp.Or(cmp.Compare(a.Title, b.Title), cmp.Compare(a.Address, b.Address)) })
}

// refusedWith reports whether an error of the endpoint has one of the codes.
func refusedWith(err error, codes ...string) bool {
	refused, is := errors.AsType[smithy.APIError](err)
	return is && slices.Contains(codes, refused.ErrorCode())
}
