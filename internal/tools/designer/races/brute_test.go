package races

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
)

// TestBruteForce runs every order separately, from the start, on its own database, with the processes as goroutines and no
// caching, and compares the number of orders and their final states with the exploration's.
func TestBruteForce(t *testing.T) {
	for _, c := range []struct {
		file, race string
		orders     int // counted by hand
	}{
		// Both read first, in 2 orders, followed by two puts each, C(4,2) = 6. Or one has put the product, and possibly the
		// sale, before the other reads, which then puts nothing. 2·6 + 2·2.
		{"stock.design.yaml", "ReadThenPut", 16},
		// Both read first, 2 orders, and then write, 2; or one finishes before the other reads and does nothing. 2·2 + 2.
		{"limit.design.yaml", "Look", 6},
		{"limit.design.yaml", "LookAndHire", 6},
		// Both see both votes: two votes in 2 orders, then two queries and a put each, C(6,3) = 20. Or one queries before
		// the other votes and makes no match: its last query can be at 5 places among four requests; 2·(20 + 5).
		{"trinity.documented.design.yaml", "Strong", 50},
	} {
		t.Run(c.race, func(t *testing.T) {
			d, err := design.Load("testdata/designs/" + c.file)
			if err != nil {
				t.Fatal(err)
			}
			x := explored(t, d, d.Race(c.race))
			if got := x.orders().String(); got != fmt.Sprint(c.orders) {
				t.Errorf("the exploration counts %s orders, and there are %d", got, c.orders)
			}
			ends := map[string]bool{}
			for _, s := range x.states {
				if s.over() {
					ends[contentText(s.content)] = true
				}
			}
			b := &brute{t: t, design: d, race: d.Race(c.race), ends: map[string]bool{}}
			b.extend(nil)
			if b.orders != c.orders {
				t.Errorf("%d orders were run, and there are %d", b.orders, c.orders)
			}
			if !maps.Equal(ends, b.ends) {
				t.Errorf("the exploration ends with\n%s\nand running with\n%s", lines(ends), lines(b.ends))
			}
		})
	}
}

func lines(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), "\n") }

// explored is the finished exploration of a race.
func explored(t *testing.T, d *design.Design, r *design.Race) *exploration {
	t.Helper()
	w, err := openWorld(t.Context(), d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.database.close(); err != nil {
			t.Error(err)
		}
	})
	x, start, err := w.prepare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.run(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	return x
}

func contentText(c *content) string {
	var texts []string
	for _, s := range c.items {
		texts = append(texts, itemText(s.table.Name, s.item))
	}
	return contentOf(texts)
}

func itemText(table string, it table.Item) string {
	var out strings.Builder
	out.WriteString(table)
	encode(&out, reflect.ValueOf(it))
	return out.String()
}

func contentOf(texts []string) string {
	slices.Sort(texts)
	return strings.Join(texts, " ")
}

// brute runs all orders of a race.
type brute struct {
	t      *testing.T
	design *design.Design
	race   *design.Race
	orders int
	ends   map[string]bool
}

// extend runs the start of an order, and all its continuations.
func (b *brute) extend(prefix []int) {
	b.t.Helper()
	alive, end := b.play(prefix)
	if len(alive) == 0 {
		b.orders++
		b.ends[end] = true
	}
	for _, p := range alive {
		b.extend(append(slices.Clone(prefix), p))
	}
}

// play runs the start of an order on a new database: it returns the processes that have a next request, and the final
// content.
func (b *brute) play(prefix []int) (alive []int, end string) {
	b.t.Helper()
	w, err := openWorld(b.t.Context(), b.design, Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() {
		if err := w.database.close(); err != nil {
			b.t.Error(err)
		}
	}()
	x, start, err := w.prepare(b.t.Context(), b.race)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := w.database.hold(b.t.Context(), start); err != nil {
		b.t.Fatal(err)
	}
	runners := make([]*runner, len(x.processes))
	for i, p := range x.processes {
		runners[i] = &runner{client: w.database.client, arrived: make(chan bool), turn: make(chan struct{}), stop: make(chan struct{})}
		go runners[i].run(b.t.Context(), x.scheduler, p)
		runners[i].alive = <-runners[i].arrived
	}
	for _, p := range prefix {
		runners[p].turn <- struct{}{}
		runners[p].alive = <-runners[p].arrived
	}
	for i, r := range runners {
		if r.alive {
			alive = append(alive, i)
			close(r.stop)
			<-r.arrived // it has ended
		}
		if r.err != nil {
			b.t.Fatal(r.err)
		}
	}
	return alive, b.stored(w)
}

// stored is the whole content of a database.
func (b *brute) stored(w *world) string {
	b.t.Helper()
	var texts []string
	for name := range w.database.tables {
		out, err := w.database.client.Scan(b.t.Context(), &dynamodb.ScanInput{TableName: &name})
		if err != nil || out.LastEvaluatedKey != nil {
			b.t.Fatal("scan: ", err)
		}
		for _, it := range out.Items {
			texts = append(texts, itemText(name, it))
		}
	}
	return contentOf(texts)
}

// runner is a process whose requests wait for their turns. It sends on arrived whether it has a request, once for each
// request.
type runner struct {
	client     *dynamodb.Client
	arrived    chan bool
	turn, stop chan struct{}
	alive      bool
	err        error // an error that no application should see
}

var errStopped = errors.New("stopped")

func (r *runner) run(ctx context.Context, s *scheduler, p *process) {
	defer func() { r.arrived <- false }()
	for attempt := range p.attempts {
		ids := 0
		newID := func(k table.Kind) string { ids++; return s.values.inventedID(k, p.number, attempt, ids) }
		db, err := table.Open(waiting{r}, table.Config{Tables: s.names, Clock: func() time.Time { return s.now }, NewID: newID}, s.program.Tables...)
		if err != nil {
			r.err = err
			return
		}
		one := &run{program: s.program, values: s.values, call: p.call, client: &replay{}, db: db, now: s.now, newID: newID}
		err = one.all(ctx)
		names := s.errorNames(err)
		switch {
		case err == nil, errors.Is(err, errStopped):
			return
		case len(names) == 0:
			r.err = err
			return
		case !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(p.retry, name) }):
			return
		}
	}
}

// wait waits for the turn of a request.
func (r *runner) wait() error {
	select {
	case <-r.stop:
		return errStopped
	case r.arrived <- true:
	}
	select {
	case <-r.stop:
		return errStopped
	case <-r.turn:
		return nil
	}
}

// waiting is a client whose requests wait for their turns; the races of the test make no other kinds of requests.
type waiting struct{ *runner }

func turn[In, Out any](ctx context.Context, r *runner, in *In, send func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)) (*Out, error) {
	if err := r.wait(); err != nil {
		return nil, err
	}
	return send(ctx, in)
}

func (w waiting) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return turn(ctx, w.runner, in, w.client.GetItem)
}

func (w waiting) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return turn(ctx, w.runner, in, w.client.BatchGetItem)
}

func (w waiting) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return turn(ctx, w.runner, in, w.client.Query)
}

func (w waiting) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return turn(ctx, w.runner, in, w.client.PutItem)
}

func (w waiting) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return turn(ctx, w.runner, in, w.client.UpdateItem)
}

func (w waiting) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return turn(ctx, w.runner, in, w.client.DeleteItem)
}

func (w waiting) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	return turn(ctx, w.runner, in, w.client.BatchWriteItem)
}

func (w waiting) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return turn(ctx, w.runner, in, w.client.TransactWriteItems)
}
