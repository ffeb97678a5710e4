package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/insights"
	"github.com/monotable/monotable/internal/database/observe"
)

const (
	maxBatchGetKeys  = 100
	maxBatchGetBytes = 16 << 20
)

// BatchGetItem reads up to 100 items independently: together they are not a consistent snapshot. Keys beyond 16 MB of items, and
// those without available capacity, are returned as UnprocessedKeys. If no key has capacity, the request fails.
func (e *Engine) BatchGetItem(ctx context.Context, in *api.BatchGetItemInput) (*api.BatchGetItemOutput, error) {
	gets, err := bindBatchGet(in.RequestItems)
	if err != nil {
		return nil, err
	}
	for i := range gets {
		if err := e.locate(ctx, &gets[i]); err != nil {
			return nil, err
		}
	}
	out := &api.BatchGetItemOutput{
		Responses:       make(map[string][]itemenc.Item, len(gets)),
		UnprocessedKeys: map[string]api.KeysAndAttributes{},
	}
	consumed := meters{detail: capacity.DetailOf(in.ReturnConsumedCapacity)}
	room, done := maxBatchGetBytes, 0
	var throttled error
	for i := range gets {
		g := &gets[i]
		if err := e.readBatch(ctx, g, &room, consumed.of(g.table)); err != nil {
			return nil, err
		}
		done += len(g.keys) - len(g.rest)
		throttled = cmp.Or(throttled, g.throttled)
		observe.From(ctx).Return(int64(len(g.items)))
		out.Responses[g.table] = g.items
		if g.rest != nil {
			rest := g.request
			rest.Keys = g.rest
			out.UnprocessedKeys[g.table] = rest
		}
	}
	if done == 0 && throttled != nil {
		return nil, throttled
	}
	out.ConsumedCapacity = consumed.reports()
	return out, nil
}

// batchGet is the part of a BatchGetItem for one table.
type batchGet struct {
	table       string // as named in the request
	request     api.KeysAndAttributes
	shape       shape
	consistency capacity.Consistency

	t      *catalog.Table
	counts *observe.Table
	keys   [][]byte
	items  []itemenc.Item

	rest      []attr.Item // the keys that were not read
	throttled error       // the first throttling error
}

// bindBatchGet checks everything that depends on the request alone. Tables are processed in the order of their names, so that the
// same request always fails, or is cut off, at the same point.
func bindBatchGet(requests map[string]api.KeysAndAttributes) ([]batchGet, error) {
	gets := make([]batchGet, 0, len(requests))
	total := 0
	for _, table := range slices.Sorted(maps.Keys(requests)) {
		r := requests[table]
		total += len(r.Keys)
		gets = append(gets, batchGet{table: table, request: r, consistency: capacity.ConsistencyOf(r.ConsistentRead)})
	}
	if total > maxBatchGetKeys {
		return nil, apierr.TooManyBatchGets.With()
	}
	if err := refuseMixedBatch(gets); err != nil {
		return nil, err
	}
	for i := range gets {
		r := &gets[i].request
		g := getter{"BatchGetItem", r.AttributesToGet, r.ProjectionExpression, r.ExpressionAttributeNames}
		var err error
		if gets[i].shape, err = g.bind(r.Keys...); err != nil {
			return nil, err
		}
		if hasDuplicates(r.Keys) {
			return nil, apierr.BatchRepeatsKey.With()
		}
	}
	return gets, nil
}

// refuseMixedBatch rejects AttributesToGet combined with a ProjectionExpression, even for different tables.
func refuseMixedBatch(gets []batchGet) error {
	return refuseMixing(
		[]parameter{{"AttributesToGet", slices.ContainsFunc(gets, func(g batchGet) bool { return g.request.AttributesToGet != nil })}},
		[]parameter{{"ProjectionExpression", slices.ContainsFunc(gets, func(g batchGet) bool { return g.request.ProjectionExpression != nil })}})
}

// hasDuplicates reports whether two keys are equal. Equal keys have equal encodings, because a key has no sets. AWS compares
// numbers as sent: 1000 and 1e3 are two keys here, although they address one item (locate).
func hasDuplicates(keys []attr.Item) bool {
	var all []byte
	ends := make([]int, len(keys))
	for i, key := range keys {
		all = itemenc.Encode(all, key)
		for i := range key {
			all = binary.BigEndian.AppendUint32(all, key[i].Value.Spelling())
		}
		ends[i] = len(all)
	}
	encoded, begin := make([][]byte, len(keys)), 0
	for i, end := range ends {
		encoded[i], begin = all[begin:end], end
	}
	slices.SortFunc(encoded, bytes.Compare)
	return len(slices.CompactFunc(encoded, bytes.Equal)) < len(keys)
}

// locate finds the table and the distinct store keys of the items.
func (e *Engine) locate(ctx context.Context, g *batchGet) error {
	t, counts, err := e.lookup(ctx, g.table)
	if err != nil {
		return err
	}
	g.t, g.counts = t, counts
	distinct := make([]attr.Item, 0, len(g.request.Keys))
	g.keys = make([][]byte, 0, len(g.request.Keys))
	// Only numbers have more than one spelling.
	numeric := t.PK.Kind == attr.KindNumber || t.SK.Kind == attr.KindNumber
	seen := map[string]struct{}{}
	for _, key := range g.request.Keys {
		place, err := storeKey(t, key)
		if err != nil {
			return err
		}
		if numeric {
			if _, repeated := seen[string(place)]; repeated {
				continue
			}
			seen[string(place)] = struct{}{}
		}
		g.keys, distinct = append(g.keys, place), append(distinct, key)
	}
	g.request.Keys = distinct
	return nestedKeyFault(t, g.shape.nested)
}

// readBatch reads the items of one table, as far as capacity and room allow.
func (e *Engine) readBatch(ctx context.Context, g *batchGet, room *int, m *capacity.Meter) error {
	g.items = make([]itemenc.Item, 0, len(g.keys))
	for i, key := range g.keys {
		if *room <= 0 {
			g.rest = append(g.rest, g.request.Keys[i:]...)
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		paid, err := e.admitItem(ctx, g.t, g.counts, key, g.consistency)
		if err != nil {
			g.throttled = cmp.Or(g.throttled, err)
			g.rest = append(g.rest, g.request.Keys[i])
			continue
		}
		fits, err := e.readOfBatch(ctx, g, key, room, m, paid)
		if err != nil {
			return err
		}
		if !fits {
			*room = 0
			g.rest = append(g.rest, g.request.Keys[i])
		}
	}
	return nil
}

// readOfBatch reads one item if it fits into the room.
func (e *Engine) readOfBatch(ctx context.Context, g *batchGet, key []byte, room *int, m *capacity.Meter, paid *reading) (fits bool, err error) {
	defer paid.end()
	data, err := e.reads(g.consistency).Get(ctx, key)
	if err != nil {
		return false, err
	}
	stored := itemenc.Item(data)
	size := sizeOf(stored)
	if size > *room {
		return false, nil
	}
	if *room > maxBatchGetBytes-api.LargeRead && *room-size <= maxBatchGetBytes-api.LargeRead {
		if err := api.ReserveMemory(ctx, maxBatchGetBytes); err != nil {
			return false, err
		}
	}
	*room -= size
	units := capacity.ReadUnits(size, g.consistency)
	paid.charge(units)
	g.counts.Capacity.Read.Add(units)
	observe.From(ctx).ConsumeRead(units)
	e.rankItem(insights.Accessed, g.t, key, units)
	m.Table(units)
	if stored == nil {
		return true, nil
	}
	part, err := g.shape.of(nil, stored)
	if err != nil {
		return false, err
	}
	g.items = append(g.items, part)
	return true, nil
}
