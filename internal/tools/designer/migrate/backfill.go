package migrate

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
	"github.com/monotable/monotable/internal/tools/pacing"
)

// backfill adds to items what the transition has beyond the old design.
//
// Every write is conditional on those parts of the item that it was computed from: if the application writes the item in
// between, the write fails, and the item is read again. So no write of the application is lost, and nothing that it has
// deleted comes back. An item that is already correct is not written.
type backfill struct {
	*run
	shape *shape
}

// attempts is the number of attempts on an item that others keep writing; verify and the next pass find the rest.
const attempts = 100

// job is an item of a page, and what its write depends on.
type job struct {
	entity *table.Entity
	place  table.Place
	item   table.Item
	values table.Values
	keys   []table.Item // of the items that belong to it, or of the item to which it belongs
}

func (b *backfill) page(ctx context.Context, t *table.Table, items []table.Item, report func(outcome)) error {
	var jobs []*job
	var keys []table.Item
	for _, item := range items {
		j := b.job(t, item)
		if j == nil {
			report(unchanged) // or it is not part of this migration: verify reports it
			continue
		}
		jobs, keys = append(jobs, j), append(keys, j.keys...)
	}
	found, err := b.fetch(ctx, t, keys)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		o, err := b.settle(ctx, t, j, found)
		if err != nil {
			return err
		}
		report(o)
	}
	return nil
}

// job is the work for an item; nil if there is none.
func (b *backfill) job(t *table.Table, item table.Item) *job {
	e, p, values := table.Recognize(b.shape.entities[t.Name], item)
	if e == nil {
		return nil
	}
	more := b.shape.surplus[e]
	j := &job{entity: e, place: p, item: item, values: values}
	switch {
	case more.whole, p.Kind == table.KeyPlace && !b.changes(e), p.Kind != table.KeyPlace && !more.has(p):
		return nil
	case p.Kind == table.KeyPlace:
		if others, err := b.others(e, b.filled(e, values)); err == nil {
			for _, o := range others {
				j.keys = append(j.keys, keyOf(t, o.item))
			}
		}
	default:
		key, known := owner(e, values)
		if !known {
			return nil
		}
		j.keys = []table.Item{key}
	}
	return j
}

// settle does a job, repeatedly while others write the same items.
func (b *backfill) settle(ctx context.Context, t *table.Table, j *job, found map[string]table.Item) (outcome, error) {
	for attempt := 0; j != nil && attempt < attempts; attempt++ {
		var actions []types.TransactWriteItem
		left := false
		if j.place.Kind == table.KeyPlace {
			var err error
			if actions, left, err = b.complete(ctx, t, j, found); err != nil {
				return skipped, err
			}
		} else {
			actions = b.orphan(t, j, found)
		}
		var err error
		if len(actions) > 0 {
			err = b.write(ctx, actions)
		}
		if refused, is := errors.AsType[*refusedError](err); is {
			b.o.Logf("an item of %s cannot be written: %s", j.entity.Name, refused)
			return skipped, nil
		}
		switch {
		case err == nil && left:
			return skipped, nil
		case err == nil && len(actions) == 0:
			return unchanged, nil
		case err == nil:
			return written, nil
		case !errors.Is(err, errStale):
			return skipped, err
		}
		if err := pacing.Pause(ctx, attempt/4); err != nil {
			return skipped, err
		}
		now, err := b.fetch(ctx, t, []table.Item{keyOf(t, j.item)})
		if err != nil {
			return skipped, err
		}
		item := now[identity(t, keyOf(t, j.item))]
		if item == nil {
			return unchanged, nil // the item is gone, together with those that belonged to it
		}
		if j = b.job(t, item); j != nil {
			if found, err = b.fetch(ctx, t, j.keys); err != nil {
				return skipped, err
			}
		}
	}
	if j == nil {
		return unchanged, nil
	}
	return skipped, nil
}

// filled are values with the given values for absent fields added.
func (b *backfill) filled(e *table.Entity, v table.Values) table.Values {
	out := maps.Clone(v)
	for _, f := range b.plan.fills[e.Name] {
		if out[f.field] != nil {
			continue
		}
		if value := f.of(v); value != nil {
			out[f.field] = value
		}
	}
	return out
}

// belonging is an item that must exist because of an entity's item.
type belonging struct {
	place   table.Place
	item    table.Item
	created bool // of a new entity: an existing item is kept
}

// others are the copies and markers that the old design does not have, and the items of new entities, for values.
func (b *backfill) others(e *table.Entity, v table.Values) ([]belonging, error) {
	items, err := table.Items(e, v)
	if err != nil {
		return nil, err
	}
	more := b.shape.surplus[e]
	var out []belonging
	for i := range e.Copies {
		if name := e.Copies[i].Name; more.copies[name] || more.changed[name] {
			out = append(out, belonging{place: table.Place{Kind: table.CopyPlace, Copy: name}, item: items[1+i]})
		}
	}
	for i := range e.Markers {
		if name := e.Markers[i].Name; more.markers[name] {
			out = append(out, belonging{place: table.Place{Kind: table.MarkerPlace, Marker: name}, item: items[1+len(e.Copies)+i]})
		}
	}
	created, err := b.created(e, v)
	return append(out, created...), err
}

// complete returns the writes that bring an entity's item to the transition's form. left means that something is impossible:
// no items can be made from the values, or another item has the place.
func (b *backfill) complete(ctx context.Context, t *table.Table, j *job, found map[string]table.Item) (actions []types.TransactWriteItem, left bool, err error) {
	v := b.filled(j.entity, j.values)
	items, err := table.Items(j.entity, v)
	if err != nil {
		return nil, true, nil //nolint:nilerr // verify reports the invalid values
	}
	others, err := b.others(j.entity, v)
	if err != nil {
		return nil, true, nil //nolint:nilerr // the same
	}
	own := newExpressions()
	b.own(own, j, items[0], v)
	own.as(t, j.item, b.shape.surplus[j.entity].needs)
	for _, o := range others {
		add, stuck, err := b.put(ctx, t, j, o, found)
		if err != nil {
			return nil, false, err
		}
		actions, left = append(actions, add...), left || stuck
	}
	if len(actions) > 0 || own.update() != "" {
		actions = append([]types.TransactWriteItem{own.itself(b.table(t), keyOf(t, j.item))}, actions...)
	}
	return actions, left, nil
}

// own changes the item itself: its absent fields, and the attributes of index keys.
func (b *backfill) own(x *expressions, j *job, want table.Item, v table.Values) {
	for _, name := range b.shape.surplus[j.entity].entered {
		switch have, should := j.item[name], want[name]; {
		case should != nil && !equal(have, should):
			x.set = append(x.set, x.path(name)+" = "+x.value(should))
		case should == nil && have != nil:
			x.remove = append(x.remove, x.path(name))
		}
	}
	for _, f := range b.plan.fills[j.entity.Name] {
		if j.values[f.field] != nil || v[f.field] == nil {
			continue
		}
		steps := fieldOf(j.entity, f.field).Path
		there, value := 1, v[f.field]
		for inside := j.item[steps[0]]; there < len(steps) && inside != nil; there++ {
			m, is := inside.(*types.AttributeValueMemberM)
			if !is {
				break
			}
			inside = m.Value[steps[there]]
		}
		for i := len(steps) - 1; i >= there; i-- {
			value = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{steps[i]: value}}
		}
		x.set = append(x.set, x.path(steps[:there]...)+" = "+x.value(value))
	}
}

// put puts an item that belongs to another, unless it exists. left means that its place is taken.
func (b *backfill) put(ctx context.Context, t *table.Table, j *job, o belonging, found map[string]table.Item) (actions []types.TransactWriteItem, left bool, err error) {
	there := found[identity(t, o.item)]
	x := newExpressions()
	if there == nil {
		x.is(t.PK.Name, nil)
		return []types.TransactWriteItem{x.put(b.table(t), o.item)}, false, nil
	}
	if o.created || same(there, o.item) {
		return nil, false, nil
	}
	e, p, values := table.Recognize([]*table.Entity{j.entity}, there)
	if e == nil || p != o.place {
		return nil, true, nil
	}
	// The item at the place may belong to another owner: one that still needs it, or one that has left it behind.
	key, known := owner(e, values)
	switch {
	case p.Kind == table.CopyPlace && (!known || identity(t, key) == identity(t, j.item)),
		p.Kind == table.MarkerPlace && known && identity(t, key) == identity(t, j.item):
		x.sameOwner(t, e, there)
		return []types.TransactWriteItem{x.put(b.table(t), o.item)}, false, nil
	case !known:
		return nil, true, nil
	}
	items, err := b.fetch(ctx, t, []table.Item{key})
	if err != nil {
		return nil, false, err
	}
	holder := items[identity(t, key)]
	if b.requires(t, e, holder, o) {
		return nil, true, nil
	}
	absent := newExpressions()
	absent.as(t, holder, b.shape.surplus[e].needs)
	for name := range there {
		x.is(name, there[name])
	}
	return []types.TransactWriteItem{absent.itself(b.table(t), key), x.put(b.table(t), o.item)}, false, nil
}

// requires reports whether an item requires the item at another's place and key.
func (b *backfill) requires(t *table.Table, e *table.Entity, item table.Item, o belonging) bool {
	found, p, values := table.Recognize([]*table.Entity{e}, item)
	if item == nil || found == nil || p.Kind != table.KeyPlace {
		return false
	}
	others, err := b.others(e, b.filled(e, values))
	if err != nil {
		return true // unknown: it stays
	}
	return slices.ContainsFunc(others, func(x belonging) bool { return x.place == o.place && identity(t, x.item) == identity(t, o.item) })
}

// orphan deletes a copy or marker whose item is gone or requires a different one: programs of the old design do not know of it
// and leave it behind.
func (b *backfill) orphan(t *table.Table, j *job, found map[string]table.Item) []types.TransactWriteItem {
	holder := found[identity(t, j.keys[0])]
	if b.requires(t, j.entity, holder, belonging{place: j.place, item: j.item}) {
		return nil
	}
	check, gone := newExpressions(), newExpressions()
	check.as(t, holder, b.shape.surplus[j.entity].needs)
	gone.sameOwner(t, j.entity, j.item)
	return []types.TransactWriteItem{check.itself(b.table(t), j.keys[0]), gone.delete(b.table(t), keyOf(t, j.item))}
}

// same compares the required attributes of an item with its actual ones; additional attributes are ignored.
func same(have, should table.Item) bool {
	for name, v := range should {
		if !equal(have[name], v) {
			return false
		}
	}
	return len(have) == len(should)
}

func equal(a, b types.AttributeValue) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return sdk.Value(a).Equal(sdk.Value(b))
}
