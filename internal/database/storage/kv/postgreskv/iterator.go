package postgreskv

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/counters"
)

// The number of rows in a page: initially as many as the caller wants, then about a megabyte.
const (
	firstPageRows = 64
	pageRowsMin   = 16
	pageRowsMax   = 4096
	pageBytes     = 1 << 20
)

// iterator reads a range page by page. It starts before its first entry.
type iterator struct {
	ctx     context.Context //nolint:containedctx // the caller's: an iterator's methods have none
	q       querier
	src     source
	reverse bool
	limit   int   // rows of the next page
	view    *view // to close; nil if it belongs to someone else

	levels []level // the current path, of which the last one is read
	key    []byte
	value  []byte
	err    error
}

// level is the range of one p.
type level struct {
	within
	page  []row // the rest of it
	last  []byte
	begun bool
	ended bool // there are no more pages
}

type row struct {
	k, v  []byte
	flags int16
}

func newIterator(ctx context.Context, q querier, src source, lo, hi []byte, o kv.IterOptions) *iterator {
	it := &iterator{ctx: ctx, q: q, src: src, reverse: o.Reverse, limit: firstPageRows}
	if o.Limit > 0 {
		it.limit = min(o.Limit, pageRowsMax)
	}
	// The bounds belong to the caller.
	it.levels = []level{{within: within{p: src.root, lo: append([]byte{}, lo...)}}}
	if hi != nil {
		it.levels[0].hi = append([]byte{}, hi...)
	}
	return it
}

// begin starts a view together with the iterator's first page, in one round trip.
func (it *iterator) begin() error {
	var b pgx.Batch
	b.Queue(beginView)
	l := &it.levels[0]
	sql, args := it.query(l)
	b.Queue(sql, args...)
	return inTime(it.ctx, func(ctx context.Context) error {
		results := it.q.SendBatch(ctx, &b)
		if _, err := results.Exec(); err != nil {
			return errors.Join(err, results.Close())
		}
		rows, err := results.Query()
		if err == nil {
			err = it.collect(l, rows)
		}
		return errors.Join(err, results.Close())
	})
}

func (it *iterator) Next() bool {
	for len(it.levels) > 0 && it.err == nil {
		l := &it.levels[len(it.levels)-1]
		if len(l.page) == 0 {
			if l.ended {
				it.levels = it.levels[:len(it.levels)-1]
				continue
			}
			it.err = it.read(l)
			continue
		}
		r := &l.page[0]
		if r.flags&branchFlag != 0 && (it.reverse || r.v == nil) {
			r.flags &^= branchFlag
			it.levels = append(it.levels, level{within: l.beyond(r.k)})
			continue
		}
		found := r.v != nil && l.has(r.k)
		if r.flags&counterFlag != 0 && l.has(r.k) {
			found = it.count(l, r)
		}
		if found {
			it.key, it.value = append(append([]byte{}, l.prefix...), r.k...), r.v
		}
		if r.flags&branchFlag != 0 { // its continuations come next
			r.v, r.flags = nil, branchFlag
		} else {
			l.page = l.page[1:]
		}
		if found {
			return true
		}
	}
	it.key, it.value = nil, nil
	return false
}

// count sets the value of a row of counters, and reports whether it has any.
func (it *iterator) count(l *level, r *row) bool {
	if !it.src.counters { // a kept snapshot contains the sums
		return r.v != nil
	}
	sums, err := it.src.counter(it.ctx, it.q, append(append([]byte{}, l.prefix...), r.k...))
	if err != nil {
		it.err = err
		return false
	}
	r.v = counters.Append([]byte{}, sums)
	return sums != nil
}

// read reads the next page of a level.
func (it *iterator) read(l *level) error {
	sql, args := it.query(l)
	return inTime(it.ctx, func(ctx context.Context) error {
		rows, err := it.q.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		return it.collect(l, rows)
	})
}

// query requests the next page of a level: at most limit rows, and none after pageBytes have been reached, because the
// caller's limit says nothing about the size of rows.
func (it *iterator) query(l *level) (sql string, args []any) {
	first, last, through := l.bounds()
	args = []any{l.p, it.limit, pageBytes, first}
	order, from, to := "k", ">=", "<"
	if through {
		to = "<="
	}
	switch {
	case it.reverse:
		order = "k desc"
		if l.begun {
			last, to = l.last, "<"
		}
	case l.begun:
		args[3], from = l.last, ">"
	}
	var end string // a separate statement: with a parameter that says whether there is an end, the index would not be used
	if last != nil {
		end = " and k " + to + " $5"
		args = append(args, last)
	}
	return `select k, v, flags from (
		select k, v, flags, sum(octet_length(k) + coalesce(octet_length(v), 0)) over (order by ` + order + ` rows unbounded preceding) as through
		from ` + it.src.rows + ` where p = $1 and k ` + from + ` $4` + end + ` order by ` + order + ` limit $2
	) as page where through - octet_length(k) - coalesce(octet_length(v), 0) < $3 order by ` + order, args
}

// collect takes a page, and sets the size of the next one.
func (it *iterator) collect(l *level, rows pgx.Rows) error {
	size, read := 0, 0
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.k, &r.v, &r.flags); err != nil {
			rows.Close()
			return err
		}
		l.page = append(l.page, r)
		size += len(r.k) + len(r.v)
		read++
	}
	if err := rows.Err(); err != nil {
		return err
	}
	l.begun, l.ended = true, read < it.limit && size < pageBytes
	if read > 0 {
		l.last = l.page[len(l.page)-1].k
		it.limit = min(max(pageBytes/max(size/read, 1), pageRowsMin), pageRowsMax)
	}
	return nil
}

func (it *iterator) Key() []byte   { return it.key }
func (it *iterator) Value() []byte { return it.value }

func (it *iterator) Err() error { return translate(it.err) }

func (it *iterator) Close() error {
	if it.view != nil {
		it.view.close()
		it.view = nil
	}
	it.levels, it.key, it.value = nil, nil, nil
	return nil
}
