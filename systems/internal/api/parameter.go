package api

import "github.com/monotable/monotable/design/table"

// The headers of Keyed and Seen.
const (
	idempotencyHeader = "Idempotency-Key"
	versionHeader     = "If-Match"
)

// PageQuery is embedded in inputs of operations that return pages.
type PageQuery struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"The maximum number of items in the page."`
	Cursor string `query:"cursor" maxLength:"4096" doc:"The previous page's next; omit it for the first page."`
}

// Options returns the options for generated data access.
func (q PageQuery) Options() table.PageOptions {
	return table.PageOptions{Limit: q.Limit, After: table.Cursor(q.Cursor)}
}

// Page is the response of operations that return pages.
type Page[T any] struct {
	Items []T    `json:"items" nullable:"false" doc:"The items, in the list's order."`
	Next  string `json:"next,omitempty" doc:"The cursor of the next page; absent on the last."`
}

// pager is an input that embeds PageQuery.
type pager interface{ Options() table.PageOptions }

// Keyed is embedded in inputs of operations that create or charge.
type Keyed struct {
	RequestKey string `header:"Idempotency-Key" required:"true" minLength:"1" maxLength:"200" pattern:"^[A-Za-z0-9._:@-]+$" patternDescription:"letters, digits and . _ : @ -" doc:"Identifies the request: repeated with the same key and body, it takes effect once and gets the first response."`
}

func (k Keyed) key() string { return k.RequestKey }

// keyed is an input that embeds Keyed.
type keyed interface{ key() string }

// KeyedBody is the input of operations with only a body and an Idempotency-Key.
type KeyedBody[T any] struct {
	Keyed
	Body T
}
