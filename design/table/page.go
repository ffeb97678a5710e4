package table

import (
	"context"
	"iter"

	"github.com/monotable/monotable/design/table/internal/query"
	"github.com/monotable/monotable/design/table/internal/schema"
)

// MaxPage is the maximum number of items on a page.
const MaxPage = 1000

// maxPageRounds is the maximum number of requests per partition for one page.
const maxPageRounds = 10

// PageOptions select a page.
type PageOptions struct {
	// Limit is the maximum number of items on the page; 0 means the pattern's own page size, and values above MaxPage
	// mean MaxPage.
	Limit int
	// After continues after a page; "" starts at the beginning.
	After Cursor
}

// Page is a part of a list. Next is "" at the end, and always without Config.CursorKey. A page may have fewer items than
// requested, or none, without being the last: if a filter, the owner or concurrent changes exclude items, each partition is
// queried at most ten times.
type Page[T any] struct {
	Items []T
	Next  Cursor
}

// size is the maximum number of items of a page.
func (o PageOptions) size(own int) int {
	size := o.Limit
	if size <= 0 {
		size = own
	}
	if size <= 0 {
		size = MaxPage
	}
	return min(size, MaxPage)
}

// Page runs a read of many and returns a page.
func (db *DB) Page(ctx context.Context, r *Read, in Input, o PageOptions) (p Page[Values], err error) {
	c := db.begin(r.Pattern)
	defer func() { c.end(ctx, err) }()
	p, err = db.page(ctx, c, r, in, o)
	return p, schema.Named(r.Pattern, err)
}

func (db *DB) page(ctx context.Context, c *call, r *Read, in Input, o PageOptions) (Page[Values], error) {
	from := position{left: r.Limit, now: db.now()}
	q, err := query.NewQuestion(r, in, from.now)
	if err != nil {
		return Page[Values]{}, err
	}
	s := query.OfRead(r)
	scope := db.scope(ctx, s, in, q.Names())
	if o.After != "" {
		if from, err = db.resume(scope, o.After, q, s); err != nil {
			return Page[Values]{}, err
		}
		if q, err = query.NewQuestion(r, in, from.now); err != nil { // as when the list began
			return Page[Values]{}, err
		}
	}
	reading, err := db.query(c, q, s, from)
	if reading == nil || err != nil {
		return Page[Values]{}, err
	}
	reading.most = s.MostPeriods()
	size := o.size(r.Page)
	if r.Limit > 0 {
		from.left = min(from.left, r.Limit)
		size = min(size, from.left)
	}
	var out Page[Values]
	for round := 0; round < maxPageRounds+reading.passed && len(out.Items) < size && !reading.done() && !reading.far(); round++ {
		found, err := db.results(ctx, q, reading, size-len(out.Items))
		if err != nil {
			return Page[Values]{}, err
		}
		out.Items = append(out.Items, found...)
	}
	from.left -= len(out.Items)
	if reading.done() || r.Limit > 0 && from.left == 0 {
		return out, nil
	}
	out.Next, err = db.behind(scope, from, reading)
	return out, err
}

// List runs a read of many and returns its items up to the limit, or all of them if it has none.
func (db *DB) List(ctx context.Context, r *Read, in Input) ([]Values, error) {
	var out []Values
	for v, err := range db.All(ctx, r, in) {
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// All iterates over all pages, up to the read's limit if it has one. Requests are sent only as needed. An error ends the
// iteration.
func (db *DB) All(ctx context.Context, r *Read, in Input) iter.Seq2[Values, error] {
	return func(yield func(Values, error) bool) {
		c := db.begin(r.Pattern)
		var err error
		defer func() { c.end(ctx, schema.Named(r.Pattern, err)) }()
		if err = db.walk(ctx, c, r, in, func(v Values) bool { return yield(v, nil) }); err != nil {
			yield(nil, schema.Named(r.Pattern, err))
		}
	}
}

// walk calls do for each result until it returns false.
func (db *DB) walk(ctx context.Context, c *call, r *Read, in Input, do func(Values) bool) error {
	return db.pages(ctx, c, r, in, func(page []Values) (bool, error) {
		for _, v := range page {
			if !do(v) {
				return false, nil
			}
		}
		return true, nil
	})
}

// pages calls do for each batch of results, until it returns false or fails.
func (db *DB) pages(ctx context.Context, c *call, r *Read, in Input, do func([]Values) (bool, error)) error {
	q, err := query.NewQuestion(r, in, db.now())
	if err != nil {
		return err
	}
	reading, err := db.query(c, q, query.OfRead(r), position{})
	if reading == nil || err != nil {
		return err
	}
	size := PageOptions{Limit: r.Page}.size(r.Limit)
	for given := 0; !reading.done() && (r.Limit == 0 || given < r.Limit); {
		n := size
		if r.Limit > 0 {
			n = min(size, r.Limit-given)
		}
		found, err := db.results(ctx, q, reading, n)
		if err != nil {
			return err
		}
		if more, err := do(found); !more || err != nil {
			return err
		}
		given += len(found)
	}
	return nil
}
