package engine

import (
	"bytes"
	"context"
	"fmt"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/engine/derive"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// maxPageBytes ends a page: the entry with which this amount of evaluated data is reached is the page's last.
const maxPageBytes = 1 << 20

// entriesBetweenChecks is how many entries a walk reads between checks for cancellation: few enough to take well under a second
// even if each is read from disk, and enough to make the checks free.
const entriesBetweenChecks = 64

// pagePlan is a page to read: entries of source in [lo, hi), in order, until limit entries or maxPageBytes have been evaluated.
type pagePlan struct {
	source  readSource
	lo, hi  []byte
	reverse bool
	limit   int  // 0: no limit
	single  bool // the range holds at most one item, so no further page follows
	filter  *eval.Condition
	shape   shape
	count   bool // Select COUNT: items are counted, not returned
	// A local index returns attributes that it does not project by fetching the item from the table: before filtering if the
	// filter of a Scan or SELECT reads such attributes, else only for the returned items.
	fetchToFilter, fetchToReturn bool
	consistency                  capacity.Consistency

	counts  *observe.Table      // of the source's table
	clauses []eval.KeyPredicate // of a Query
	// affordable is the number of bytes there is capacity for, or 0 if capacity is not enforced.
	affordable int
}

// page is the result of a plan.
type page struct {
	plan   pagePlan
	reader kv.Reader // for fetches; nil if there are none
	arena  *arena    // of the returned items; nil if the plan only counts

	passed, scanned int64     // entries that passed the filter, and entries that were evaluated
	last            attr.Item // LastEvaluatedKey; nil at the end of the range
	evaluatedBytes  int
	fetchUnits      float64
	fetchedBytes    int
	large, long     bool   // room for a large read has been requested, and more than api.LongRead has been read
	spread          spread // if capacity is enforced
}

// readPage reads one page from a consistent state and charges for it.
func (e *Engine) readPage(ctx context.Context, plan pagePlan) (*page, error) {
	paid, err := e.admitPage(ctx, &plan)
	if err != nil {
		return nil, err
	}
	defer paid.end()
	p, err := e.readAdmitted(ctx, plan)
	if err != nil {
		return nil, err
	}
	paid.chargePage(p)
	return p, nil
}

func (e *Engine) readAdmitted(ctx context.Context, plan pagePlan) (*page, error) {
	p := &page{plan: plan}
	if !plan.count {
		p.arena = e.arenas.get()
	}
	if bytes.Compare(plan.lo, plan.hi) >= 0 { // from BETWEEN, or a start key at the end of the range
		return p, nil
	}
	it, done, err := e.iterate(ctx, p)
	if err != nil {
		return nil, err
	}
	defer done()
	defer it.Close() // its errors are returned by the walk
	request := observe.From(ctx)
	begun := request.BeginRead()
	err = p.walk(ctx, it)
	request.EndRead(begun)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// iterate opens the iterator over the page's entries. A reader is only needed if the page also fetches items, and only a global
// index may be read in a past state.
func (e *Engine) iterate(ctx context.Context, p *page) (it kv.Iterator, done func(), err error) {
	plan := &p.plan
	o := kv.IterOptions{Reverse: plan.reverse}
	if !plan.single { // else the walk looks for the end
		o.Limit = plan.limit
	}
	switch {
	case plan.source.isGlobalIndex() && e.past != nil:
		p.reader, done, err = e.pastReader()
	case plan.fetchToFilter || plan.fetchToReturn:
		var snapshot kv.Snapshot
		snapshot, err = e.reads(plan.consistency).Snapshot(ctx)
		p.reader, done = snapshot, func() { _ = snapshot.Close() }
	default:
		it, err = e.reads(plan.consistency).Iter(ctx, plan.lo, plan.hi, o)
		return it, func() {}, err
	}
	if err != nil {
		return nil, nil, err
	}
	return p.reader.Iter(plan.lo, plan.hi, o), done, nil
}

// items returns the page's items: nil if it only counts, else not nil.
func (p *page) items() []itemenc.Item {
	if p.arena == nil {
		return nil
	}
	return p.arena.items
}

func (p *page) walk(ctx context.Context, it kv.Iterator) error {
	for it.Next() {
		if p.scanned%entriesBetweenChecks == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		entry := itemenc.Item(it.Value())
		p.scanned++
		p.evaluatedBytes += entry.Size()
		if p.plan.affordable > 0 {
			p.spread.add(hashOf(it.Key()), entry.Size())
		}
		if err := p.evaluate(entry); err != nil {
			return err
		}
		if p.evaluatedBytes+p.fetchedBytes > api.LargeRead {
			if err := p.ask(ctx); err != nil {
				return err
			}
		}
		if p.isFull() && !p.plan.single {
			// As on AWS, a full page always has a LastEvaluatedKey, whether or not anything follows.
			last, err := entry.Select(p.plan.source.positionNames())
			p.last = last
			return err
		}
	}
	return it.Err()
}

// ask asks for the room of a large page, and says when it takes long.
func (p *page) ask(ctx context.Context) error {
	if !p.large {
		p.large = true
		if err := api.ReservePage(ctx, maxPageBytes); err != nil {
			return err
		}
	}
	if !p.long && p.evaluatedBytes+p.fetchedBytes > api.LongRead {
		p.long = true
		return api.TakesLong(ctx)
	}
	return nil
}

// isFull reports whether the page ends with the last evaluated entry.
func (p *page) isFull() bool {
	bytes := p.evaluatedBytes + p.fetchedBytes
	return p.scanned == int64(p.plan.limit) || bytes >= maxPageBytes || p.plan.affordable > 0 && bytes >= p.plan.affordable
}

// evaluate filters one entry, and counts and keeps it if it passes.
func (p *page) evaluate(entry itemenc.Item) error {
	item := entry
	var err error
	if p.plan.fetchToFilter {
		if item, err = p.fetch(entry); err != nil {
			return err
		}
	}
	if passes, err := matches(p.plan.filter, item); err != nil || !passes {
		return err
	}
	p.passed++
	if p.plan.count {
		return nil
	}
	switch {
	case !p.plan.fetchToReturn:
		item = entry // of an index, what it projects is returned
	case !p.plan.fetchToFilter:
		if item, err = p.fetch(entry); err != nil {
			return err
		}
	}
	return p.keep(item)
}

// keep copies the returned part of the item: the iterator's bytes are only valid until its next step.
func (p *page) keep(item itemenc.Item) error {
	more := 0
	if p.plan.limit > 0 {
		more = p.plan.limit - int(p.scanned) + 1
	}
	room := p.arena.room(len(item), more)
	if p.plan.shape.projection == nil {
		p.arena.keep(append(room, item...))
		return nil
	}
	part, err := p.plan.shape.of(room, item)
	if err != nil {
		return err
	}
	p.arena.keep(part)
	return nil
}

// fetch reads the item of a local index entry. It costs as much as a separate read.
func (p *page) fetch(entry itemenc.Item) (itemenc.Item, error) {
	t := p.plan.source.table
	pk, sk, err := derive.PrimaryKey(t, entry)
	if err != nil {
		return nil, err
	}
	key := keyenc.Item(nil, t.ID, pk, sk)
	item, err := p.reader.Get(key)
	if err != nil {
		return nil, err
	}
	if item == nil {
		return nil, fmt.Errorf("engine: table %q: index %q has an entry for item %x, which does not exist",
			t.Name, p.plan.source.index.Name, key)
	}
	size := itemenc.Item(item).Size()
	p.fetchedBytes += size
	p.fetchUnits += capacity.ReadUnits(size, p.plan.consistency)
	return item, nil
}

// ownUnits returns what the page consumed of its source: everything evaluated, rounded once.
func (p *page) ownUnits() float64 { return capacity.ReadUnits(p.evaluatedBytes, p.plan.consistency) }

// units returns what the page consumed, including each fetch.
func (p *page) units() float64 { return p.ownUnits() + p.fetchUnits }

// charge reports what the page consumed.
func (p *page) charge(m *capacity.Meter) {
	units := p.ownUnits()
	switch s := &p.plan.source; {
	case s.isGlobalIndex():
		m.Global(s.index.Name, units)
	case s.isLocalIndex():
		m.Local(s.index.Name, units)
		m.Table(p.fetchUnits)
	default:
		m.Table(units)
	}
}

// matches evaluates a filter on a stored item, decoding only the attributes it uses. A nil filter is always true.
func matches(filter *eval.Condition, item itemenc.Item) (bool, error) {
	if filter == nil {
		return true, nil
	}
	read, err := item.Select(filter.Attributes())
	if err != nil {
		return false, err
	}
	if read == nil {
		read = attr.Item{} // the item exists even if it has none of the filter's attributes
	}
	passes, err := filter.Eval(read)
	return passes, expressionError(err)
}
