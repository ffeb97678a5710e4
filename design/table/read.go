package table

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/query"
	"github.com/monotable/monotable/design/table/internal/schema"
)

// Get runs a read of one item. If the item does not exist, does not match or has another owner, it returns ErrNotFound.
func (db *DB) Get(ctx context.Context, r *Read, in Input) (v Values, err error) {
	c := db.begin(r.Pattern)
	defer func() { c.end(ctx, err) }()
	q, err := query.NewQuestion(r, in, db.now())
	if err != nil {
		return nil, schema.Named(r.Pattern, err)
	}
	if r.Key != nil {
		v, err = db.getByKey(ctx, c, q)
	} else {
		v, err = db.getByQuery(ctx, c, q)
	}
	if err == nil && v == nil {
		err = ErrNotFound
	}
	return v, schema.Named(r.Pattern, err)
}

// getByKey reads the item with a key. For a marker, the second attempt uses a consistent read: the first may have seen the
// marker or the item before both changed.
func (db *DB) getByKey(ctx context.Context, c *call, q *query.Question) (Values, error) {
	r := q.Read
	key, err := r.Entity.KeyOf(r.Key, q.Input.Values)
	if err != nil {
		return nil, err
	}
	q.Here = true // GetItem has no filter
	for _, consistent := range []bool{r.Consistent, true} {
		response, err := db.client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: db.tableName(r.Entity.Table), Key: key, ConsistentRead: aws.Bool(consistent), ReturnConsumedCapacity: c.capacity(),
		})
		if err != nil {
			return nil, err
		}
		c.read(response.ConsumedCapacity)
		candidate := candidate{question: q, item: response.Item}
		if err := db.judge(ctx, c, r, consistent, &candidate); err != nil {
			return nil, err
		}
		if candidate.values != nil || response.Item == nil || r.Place.Kind != MarkerPlace || !candidate.strayed {
			return candidate.values, nil
		}
	}
	return nil, nil
}

// getByQuery queries until an item is found. It asks for one item, and for twice as many each time that all are dropped.
func (db *DB) getByQuery(ctx context.Context, c *call, q *query.Question) (Values, error) {
	s := query.OfRead(q.Read)
	reading, err := db.query(c, q, s, position{})
	if reading == nil || err != nil {
		return nil, err
	}
	for n := 1; !reading.done(); n = min(2*n, MaxPage) {
		found, err := db.results(ctx, q, reading, n)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return found[0], nil
		}
	}
	return nil, nil
}

// query starts the reading of a question after a position; nil if its bounds exclude everything.
func (db *DB) query(c *call, q *query.Question, s *query.Source, from position) (*reading, error) {
	walk, at, partitions, err := begin(q, s, from.at)
	if err != nil {
		return nil, err
	}
	request, err := s.Request(db.tableName(s.Table), q.Input)
	if err != nil || request == nil || q.Span.Empty() {
		return nil, err
	}
	q.Here = q.Read.Hydrate
	if err := q.Filter(s, request); err != nil {
		return nil, err
	}
	r := db.read(c, s, request, partitions, from.partitions)
	if r.walk = walk; at != "" {
		r.at = []string{at}
	}
	return r, nil
}

// begin returns the first partitions of a question, and the walk over further ones, with its first period.
func begin(q *query.Question, s *query.Source, from string) (walk *query.Walk, at string, partitions []Item, err error) {
	if !s.Walks() {
		partitions, err = s.Partitions(q.Input)
		return nil, "", partitions, err
	}
	if walk, err = s.Walk(q.Input, from); err == nil {
		at, partitions, err = walk.Next()
	}
	return walk, at, partitions, err
}

// results returns the results among the next n items of a reading.
func (db *DB) results(ctx context.Context, q *query.Question, r *reading, n int) ([]Values, error) {
	items, err := r.next(ctx, n)
	if err != nil {
		return nil, err
	}
	candidates := schema.Each(items, func(it Item) *candidate { return &candidate{question: q, item: it} })
	if err := db.judge(ctx, r.call, q.Read, q.Read.Consistent, candidates...); err != nil {
		return nil, err
	}
	var out []Values
	for _, c := range candidates {
		if c.values != nil {
			out = append(out, c.values)
		}
	}
	return out, nil
}

// candidate is an item that may be a result.
type candidate struct {
	question *query.Question
	item     Item
	values   Values // nil if there is none
	// strayed is set if the item that was read for it is gone, or no longer matches the candidate.
	strayed bool
}

// judge selects the results among candidates, and reads the items whose place lacks requested fields.
func (db *DB) judge(ctx context.Context, c *call, r *Read, consistent bool, candidates ...*candidate) error {
	for _, one := range candidates {
		v, is := r.Entity.Is(r.Place, one.item)
		if is && one.question.Matches(v, r.Place.Kind == KeyPlace) {
			one.values = v
		}
	}
	if r.Hydrate || r.Place.Kind == MarkerPlace {
		if err := db.hydrate(ctx, c, r, consistent, candidates); err != nil {
			return err
		}
	}
	for _, one := range candidates {
		if one.values == nil {
			continue
		}
		admitted, err := one.question.Admits(one.item, one.values)
		if err != nil {
			return err
		}
		one.values = restricted(one.values, r.Fields)
		if !admitted {
			one.values = nil
		}
	}
	return nil
}

// hydrate reads the items of candidates. Items that are gone or no longer match are not results.
func (db *DB) hydrate(ctx context.Context, c *call, r *Read, consistent bool, candidates []*candidate) error {
	var found []*candidate
	var keys []Item
	for _, one := range candidates {
		if one.values == nil {
			continue
		}
		key, err := hydrationKey(r, one.item, one.values)
		if err != nil {
			return err
		}
		found, keys = append(found, one), append(keys, key)
	}
	items, err := db.fetch(ctx, c, r.Entity.Table, keys, consistent)
	if err != nil {
		return err
	}
	for i, one := range found {
		v, is := r.Entity.Is(Place{Kind: KeyPlace}, items[i])
		if one.strayed = !is || !one.question.Matches(v, true); one.strayed {
			v = nil
		}
		one.item, one.values = items[i], v
	}
	return nil
}

// hydrationKey returns the key of the item behind an index entry or copy. An entry of the item itself has it, whatever else the
// index has.
func hydrationKey(r *Read, it Item, v Values) (Item, error) {
	e := r.Entity
	if r.Place.Kind != EntryPlace || r.Place.Copy != "" {
		return e.KeyOf(e.Key, v)
	}
	key := Item{}
	for _, a := range e.Key {
		if it[a.Name] == nil {
			return nil, fmt.Errorf("index %s returned an item without %s", r.Place.Index, a.Name)
		}
		key[a.Name] = it[a.Name]
	}
	return key, nil
}

// restricted are the values to return; nil fields means all.
func restricted(v Values, fields []string) Values {
	if fields == nil {
		return v
	}
	out := maps.Clone(v)
	maps.DeleteFunc(out, func(name string, _ types.AttributeValue) bool { return !slices.Contains(fields, name) })
	return out
}
