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

// maxPageBytes ends a page: the entry with which the evaluated data exceeds it is the page's last.
const maxPageBytes = 1 << 20

// entriesBetweenLooks is how many entries a walk reads before it looks whether the request is still wanted: few enough that
// they take well under a second if each is fetched from disk, many enough that the look costs nothing.
const entriesBetweenLooks = 64

// pagePlan is one page to be read: entries of source in [lo, hi), in order, until limit entries or
// maxPageBytes have been evaluated.
type pagePlan struct {
	source  readSource
	lo, hi  []byte
	reverse bool
	limit   int  // 0: none
	single  bool // the range holds one item at most: no page goes on from it
	filter  *eval.Condition
	shape   shape
	count   bool // Select COUNT: items are counted and not returned
	// A local index serves attributes that it does not project by fetching the item from the table: before
	// the filter where that reads such attributes, else for the items that are returned.
	fetchToFilter, fetchToReturn bool
	consistency                  capacity.Consistency

	counts  *observe.Table      // of the source's table
	clauses []eval.KeyPredicate // of a Query
	// affordable is how many bytes there is capacity for, where that is enforced; 0 is as many as there are.
	affordable int
}

// page is what was read of a plan.
type page struct {
	plan   pagePlan
	reader kv.Reader // of what is fetched; nil where nothing is
	arena  *arena    // of the items that are returned; nil where the plan only counts

	passed, scanned int64     // entries that passed the filter, of those that were evaluated
	last            attr.Item // LastEvaluatedKey; nil where the range has ended
	evaluatedBytes  int
	fetchUnits      float64
	fetchedBytes    int
	large           bool   // has asked for room
	spread          spread // where capacity is enforced
}

// readPage reads one page from one consistent state, and pays for it.
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
	if bytes.Compare(plan.lo, plan.hi) >= 0 { // BETWEEN, or a start key at the range's end
		return p, nil
	}
	it, done, err := e.iterate(ctx, p)
	if err != nil {
		return nil, err
	}
	defer done()
	defer it.Close() // its errors are those of the walk
	request := observe.From(ctx)
	begun := request.BeginRead()
	err = p.walk(ctx, it)
	request.EndRead(begun)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// iterate opens the iterator over the page's entries. Only a page that fetches items beside them needs a
// reader, and only a global index can be seen in a state that is past.
func (e *Engine) iterate(ctx context.Context, p *page) (it kv.Iterator, done func(), err error) {
	plan := &p.plan
	o := kv.IterOptions{Reverse: plan.reverse, Limit: plan.limit}
	switch {
	case plan.source.isGlobalIndex() && e.past != nil:
		p.reader, done, err = e.past.reader()
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

// items are the page's: nil where it only counts, else not nil.
func (p *page) items() []itemenc.Item {
	if p.arena == nil {
		return nil
	}
	return p.arena.items
}

func (p *page) walk(ctx context.Context, it kv.Iterator) error {
	for it.Next() {
		if p.scanned%entriesBetweenLooks == 0 && ctx.Err() != nil {
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
		if !p.large && p.evaluatedBytes+p.fetchedBytes > api.LargeRead {
			p.large = true
			if err := api.AskForRoom(ctx, maxPageBytes); err != nil {
				return err
			}
		}
		if p.isFull() && !p.plan.single {
			// Whether anything follows is not looked at: like AWS's, a full page always says where to go on.
			last, err := entry.Select(p.plan.source.positionNames())
			p.last = last
			return err
		}
	}
	return it.Err()
}

// isFull reports whether the page ends with the entry that was evaluated last.
func (p *page) isFull() bool {
	bytes := p.evaluatedBytes + p.fetchedBytes
	return p.scanned == int64(p.plan.limit) || bytes > maxPageBytes || p.plan.affordable > 0 && bytes >= p.plan.affordable
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
	if p.plan.fetchToReturn && !p.plan.fetchToFilter {
		if item, err = p.fetch(entry); err != nil {
			return err
		}
	}
	return p.keep(item)
}

// keep copies the part of the item that is returned: the iterator's bytes are gone with its next step.
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

// fetch reads the whole item that an entry of a local index stands for. It costs like a read of its own.
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
		return nil, fmt.Errorf("engine: table %q: index %q has an entry for the item %x, which is not there",
			t.Name, p.plan.source.index.Name, key)
	}
	size := itemenc.Item(item).Size()
	p.fetchedBytes += size
	p.fetchUnits += capacity.ReadUnits(size, p.plan.consistency)
	return item, nil
}

// ownUnits is what the page consumed of its source: all that was evaluated, rounded once.
func (p *page) ownUnits() float64 { return capacity.ReadUnits(p.evaluatedBytes, p.plan.consistency) }

// units is what the page consumed, of its source and by each fetch.
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

// matches decides a filter over a stored item, decoding only what the filter reads. nil is always true.
func matches(filter *eval.Condition, item itemenc.Item) (bool, error) {
	if filter == nil {
		return true, nil
	}
	read, err := item.Select(filter.Attributes())
	if err != nil {
		return false, err
	}
	if read == nil {
		read = attr.Item{} // the item is there even where nothing the filter reads is
	}
	passes, err := filter.Eval(read)
	return passes, expressionError(err)
}
