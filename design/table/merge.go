package table

import (
	"context"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/design/table/internal/cursor"
	"github.com/monotable/monotable/design/table/internal/query"
	"github.com/monotable/monotable/design/table/internal/schema"
)

// maxConcurrentQueries is the number of partitions queried at once.
const maxConcurrentQueries = 8

// reading reads the partitions of a source and merges their results.
type reading struct {
	db     *DB
	call   *call
	source *query.Source
	lanes  []*lane
	// walk creates the lanes of further periods; nil if there are no periods. at are the periods with lanes, passed counts those
	// read to their end, most limits how many may be started; 0 means no limit.
	walk         *query.Walk
	at           []string
	passed, most int
	template     *dynamodb.QueryInput
	// ahead is the number of groups of lanes queried at once: one, doubled after each round without results.
	ahead int
}

// lane is a partition being read: its buffered results, and the position consumed so far.
type lane struct {
	request dynamodb.QueryInput
	number  int // among the lanes
	buffer  []Item
	// next is where the next request starts; after a buffer, nil means that there is none.
	next Item
	cursor.Position
}

// read starts reading partitions at positions; nil means the start.
func (db *DB) read(c *call, s *query.Source, q *dynamodb.QueryInput, partitions []Item, positions []cursor.Position) *reading {
	r := &reading{db: db, call: c, source: s, ahead: 1, template: q}
	r.begin(partitions, positions)
	return r
}

// begin adds lanes.
func (r *reading) begin(partitions []Item, positions []cursor.Position) {
	for i, partition := range partitions {
		l := &lane{request: r.source.RequestOf(r.template, partition), number: i}
		l.request.ReturnConsumedCapacity = r.call.capacity()
		if positions != nil {
			l.Position, l.next = positions[i], positions[i].At
		}
		r.lanes = append(r.lanes, l)
	}
}

// extend adds the lanes of a walk's next period.
func (r *reading) extend() error {
	at, partitions, err := r.walk.Next()
	if err == nil && at != "" {
		r.at = append(r.at, at)
		r.begin(partitions, nil)
	}
	return err
}

// leave drops the lanes of periods that have been read to their end.
func (r *reading) leave() {
	for size := r.source.Shards; len(r.lanes) > 0 && !slices.ContainsFunc(r.lanes[:size], func(l *lane) bool { return !l.Done }); r.passed++ {
		r.lanes, r.at = r.lanes[size:], r.at[1:]
	}
}

// dry reports whether another request is needed to know the lane's next item.
func (l *lane) dry() bool { return len(l.buffer) == 0 && !l.Done }

// done reports whether everything is consumed.
func (r *reading) done() bool {
	if r.walk != nil {
		r.leave()
		return len(r.lanes) == 0 && r.walk.Ended()
	}
	return !slices.ContainsFunc(r.lanes, func(l *lane) bool { return !l.Done })
}

// far reports whether a walk has reached its limit of periods.
func (r *reading) far() bool { return r.most > 0 && r.passed >= r.most }

// groups returns the lanes that are read together, starting with the first unfinished group: all lanes, or those of one period
// each for a read over periods.
func (r *reading) groups(n int) ([]*lane, error) {
	if r.walk == nil {
		return r.lanes, nil
	}
	r.leave()
	if r.most > 0 {
		n = min(n, r.most-r.passed)
	}
	for len(r.at) < n && !r.walk.Ended() {
		if err := r.extend(); err != nil {
			return nil, err
		}
	}
	return r.lanes[:min(len(r.lanes), n*r.source.Shards)], nil
}

// current are the lanes of a walk's current, unfinished period.
func (r *reading) current() ([]*lane, error) {
	if r.leave(); len(r.at) == 0 {
		if err := r.extend(); err != nil {
			return nil, err
		}
	}
	return r.lanes[:r.source.Shards], nil
}

// positions are the positions up to which partitions are consumed.
func (r *reading) positions(lanes []*lane) []cursor.Position {
	return schema.Each(lanes, func(l *lane) cursor.Position { return l.Position })
}

// next consumes up to n items in the order of the source. It queries every dry partition once, for at most as many items; so
// it may return fewer, or none, before the end.
func (r *reading) next(ctx context.Context, n int) ([]Item, error) {
	if err := r.fill(ctx, n); err != nil {
		return nil, err
	}
	r.ahead = min(2*r.ahead, maxConcurrentQueries)
	var out []Item
	for len(out) < n {
		l, err := r.least()
		if l == nil || err != nil {
			return out, err
		}
		out, r.ahead = append(out, l.buffer[0]), 1
		l.consume(r.source)
	}
	return out, nil
}

// fill queries the dry partitions concurrently. The first error ends all.
func (r *reading) fill(ctx context.Context, limit int) error {
	var dry []*lane
	lanes, err := r.groups(r.ahead)
	if err != nil {
		return err
	}
	for _, l := range lanes {
		if l.dry() {
			dry = append(dry, l)
		}
	}
	return concurrently(ctx, len(dry), r.db.atOnce(maxConcurrentQueries), func(ctx context.Context, i int) error {
		return r.fetch(ctx, dry[i], limit)
	})
}

// fetch sends a lane's next request.
func (r *reading) fetch(ctx context.Context, l *lane, limit int) error {
	request := l.request
	request.Limit = aws.Int32(int32(limit)) //nolint:gosec // at most MaxPage, or a design's limit
	request.ExclusiveStartKey = l.next
	response, err := r.send(ctx, l, &request)
	if err != nil {
		return err
	}
	r.call.read(response.consumed)
	l.buffer, l.next = response.items, response.next
	if len(l.next) == 0 || len(l.buffer) > 0 && r.source.Single() {
		l.next = nil
	}
	l.settle()
	return nil
}

// settle moves a lane without a buffer to the start of its next request, or to its end.
func (l *lane) settle() {
	switch {
	case len(l.buffer) > 0:
	case l.next == nil:
		l.Position = cursor.Position{Done: true}
	default:
		l.Position = cursor.Position{At: l.next}
	}
}

// consume drops the buffer's first item and moves after it.
func (l *lane) consume(s *query.Source) {
	l.Position = cursor.Position{At: s.KeyOfItem(l.buffer[0])}
	l.buffer = l.buffer[1:]
	l.settle()
}

// least returns the lane with the next item in order; nil if there is none, or if a lane must be queried first.
func (r *reading) least() (*lane, error) {
	lanes, err := r.groups(1)
	var least *lane
	for _, l := range lanes {
		switch {
		case l.dry() && !r.source.Scan: // a Scan has no order
			return nil, nil //nolint:nilnil // see above
		case len(l.buffer) == 0:
		case least == nil || r.source.Compare(l.buffer[0], least.buffer[0]) < 0:
			least = l
		}
	}
	return least, err
}

// concurrently calls do for n numbers with bounded concurrency. The first error cancels the others and is returned.
func concurrently(ctx context.Context, n, atOnce int, do func(ctx context.Context, i int) error) error {
	if n == 1 {
		return do(ctx, 0)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		all   sync.WaitGroup
		once  sync.Once
		first error
	)
	free := make(chan struct{}, atOnce)
	for i := range n {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			err := ctx.Err()
			if err == nil {
				err = do(ctx, i)
			}
			if err != nil {
				once.Do(func() { first = err })
				cancel()
			}
		})
	}
	all.Wait()
	return first
}
