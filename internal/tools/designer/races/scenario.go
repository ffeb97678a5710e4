package races

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/expression"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// beginning is the start time of every scenario.
var beginning = time.Date(2024, 1, 15, 10, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant

// scenario is a race to be explored.
type scenario struct {
	race      *design.Race
	byDefault bool // not declared in the design
	optional  bool // patterns that cannot be run are reported instead of failing
}

// world explores a design's scenarios, one after another.
type world struct {
	design     *design.Design
	program    *lower.Program
	faults     error // patterns that cannot be run
	database   *database
	invariants []*expression.Invariant
	options    Options
}

func openWorld(ctx context.Context, d *design.Design, o Options) (*world, error) {
	w := &world{design: d, options: o}
	w.program, w.faults = lower.Lower(d)
	for _, f := range faultsIn(w.faults) {
		if f.Pattern == "" {
			return nil, w.faults
		}
	}
	var err error
	if w.invariants, err = expression.Compile(d); err != nil {
		return nil, err
	}
	if w.database, err = openDatabase(ctx, d, w.program.Tables); err != nil {
		return nil, err
	}
	return w, nil
}

// explore explores a scenario.
func (w *world) explore(ctx context.Context, s scenario) (*Scenario, error) {
	x, start, err := w.prepare(ctx, s.race)
	if err != nil {
		return nil, err
	}
	if err := x.run(ctx, start); err != nil {
		return nil, err
	}
	return x.report(s), nil
}

// prepare creates the initial content and the processes of a race.
func (w *world) prepare(ctx context.Context, r *design.Race) (*exploration, *content, error) {
	v := newValues(w.design, beginning)
	k, err := newKeeper(w.program, v)
	if err != nil {
		return nil, nil, err
	}
	if err := w.database.empty(ctx, newLibrary(k.recognize, k.judge)); err != nil {
		return nil, nil, err
	}
	c := newCaller(w.program, w.faults, v)
	start, err := w.start(ctx, r, c)
	if err == nil {
		start, err = w.counted(ctx, r, c, k, start)
	}
	if err != nil {
		return nil, nil, err
	}
	x := &exploration{
		scheduler: newScheduler(c, w.database), race: r, invariants: w.invariants, keeper: k,
		limits: limits{
			depth:  cmp.Or(w.options.Depth, r.Depth, DefaultDepth),
			states: cmp.Or(w.options.States, r.States, DefaultStates),
		},
		progress: func(int) {},
	}
	if r.Expire {
		k.now = lastExpiry(start, x.now) + 1
		x.now = time.Unix(k.now, 0).UTC()
	}
	if w.options.Progress != nil {
		x.progress = func(states int) { w.options.Progress(r.Name, states, x.limits.states) }
	}
	for _, call := range r.Run {
		for range max(call.Times, 1) {
			prepared, err := c.call(call)
			if err != nil {
				return nil, nil, err
			}
			x.processes = append(x.processes, &process{call: prepared, number: len(x.processes)})
		}
	}
	return x, start, nil
}

// lastExpiry is the latest expiry time of the items; the current time if none expires.
func lastExpiry(c *content, now time.Time) int64 {
	last := now.Unix()
	for _, s := range c.items {
		if at, goes := expiry(s); goes {
			last = max(last, at)
		}
	}
	return last
}

// start creates the initial content of a race: each step runs to its end before the next.
func (w *world) start(ctx context.Context, r *design.Race, c *caller) (*content, error) {
	now := w.database.holds
	for _, x := range r.Start {
		if x.Put != "" {
			after, err := w.put(ctx, now, x, c)
			if err != nil {
				return nil, err
			}
			now = after
			continue
		}
		prepared, err := c.call(x)
		if err != nil {
			return nil, err
		}
		sch := newScheduler(c, w.database)
		p := &process{call: prepared, number: startNumber}
		n, err := sch.root(ctx, p, 0)
		if err != nil {
			return nil, err
		}
		for n = at(n); n != nil; {
			e, err := w.database.execute(ctx, now, n.next)
			if err != nil {
				return nil, err
			}
			child, err := sch.child(ctx, n, e.response)
			if err != nil {
				return nil, err
			}
			if child.outcome != "" && child.again == nil {
				return nil, c.at(x.Pos, "race %s cannot start: %s ends with %s", r.Name, prepared.words(c.values), child.outcome)
			}
			now, n = e.after, at(child)
		}
	}
	return now, nil
}

// startNumber is the process that runs the start; its letter differs from those of the race.
const startNumber = 'S' - 'A'

// counted is a start whose counters count its items, unless the race gives them a value: a put changes no other item.
func (w *world) counted(ctx context.Context, r *design.Race, c *caller, k *keeper, now *content) (*content, error) {
	for range len(k.counters) * len(now.items) { // a counter may be the amount that another sums
		var at *counter
		values := table.Values{}
		k.miscounted(now, func(wrong *counter, holder *expression.Item, want types.AttributeValue) bool {
			if slices.ContainsFunc(r.Start, func(x *design.RaceCall) bool {
				_, given := x.Given[wrong.Field]
				return given && x.Put == wrong.holder.Name
			}) {
				return true
			}
			maps.Copy(values, holder.Values)
			at, values[wrong.Field] = wrong, want
			return false
		})
		if at == nil {
			break
		}
		after, err := w.load(ctx, now, r.Pos, w.program.Entity(at.holder.Name), values, c)
		if err != nil {
			return nil, err
		}
		now = after
	}
	return now, nil
}

// put puts an item as it is, with everything that belongs to it.
func (w *world) put(ctx context.Context, c *content, x *design.RaceCall, calls *caller) (*content, error) {
	e := w.design.Entity(x.Put)
	run := w.program.Entity(x.Put)
	values := table.Values{}
	for _, f := range e.Fields {
		l, given := x.Given[f.Name]
		counted := slices.ContainsFunc(e.Counters, func(c *design.Counter) bool { return c.Field == f.Name })
		switch {
		case given:
			v, err := calls.values.of(f.Type, l)
			if err != nil {
				return nil, calls.at(l.Pos, "%s: %v", f.Name, err)
			}
			if v != nil {
				values[f.Name] = v
			}
		case e.TTL != nil && e.TTL.Field == f.Name && e.TTL.After > 0:
			values[f.Name] = expression.Number(int(calls.values.now.Add(e.TTL.After).Unix()))
		case !f.Optional && !counted:
			values[f.Name] = calls.values.inventedValue(f.Name, f.Type)
		}
	}
	return w.load(ctx, c, x.Pos, run, values, calls)
}

// load puts a record, and reads the resulting content.
func (w *world) load(ctx context.Context, c *content, p design.Pos, e *table.Entity, v table.Values, calls *caller) (*content, error) {
	items, err := table.Items(e, v)
	if err != nil {
		if wrong, is := errors.AsType[*table.ValueError](err); is {
			return nil, calls.at(p, "%s: %v", e.Name, wrong)
		}
		return nil, err
	}
	names := newScheduler(calls, w.database).names
	db, err := table.Open(w.database.client, table.Config{Tables: names, Sequential: true}, w.program.Tables...)
	if err != nil {
		return nil, err
	}
	if err := w.database.hold(ctx, c); err != nil {
		return nil, err
	}
	one := func(yield func(table.Record) bool) { yield(table.Record{Entity: e, Values: v}) }
	if err := db.Load(ctx, iter.Seq[table.Record](one), nil); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	touched := map[string][]table.Item{}
	for _, it := range items {
		touched[e.Table.Name] = append(touched[e.Table.Name], keyOf(e.Table, it))
	}
	after, err := w.database.look(ctx, c, touched)
	if err == nil {
		w.database.holds = after
	}
	return after, err
}
