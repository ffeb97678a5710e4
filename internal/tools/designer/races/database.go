package races

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/provision"
)

// database is monotable in memory with a design's tables. It executes a request on any content: it first puts and deletes
// the items that differ.
type database struct {
	db      *monotable.DB
	client  *dynamodb.Client
	tables  map[string]*table.Table // by their names
	library *library
	holds   *content // what the tables hold
	// done are the executed requests, by content and request.
	done map[step]effect
}

// step is a request on a content.
type step struct {
	content int
	request string
}

// effect is the result of a step.
type effect struct {
	response *response
	after    *content
}

// keyNamesOf are the attributes of a table's primary key.
func keyNamesOf(t *table.Table) keyNames {
	if t.SK.Name == "" {
		return keyNames{t.PK.Name}
	}
	return keyNames{t.PK.Name, t.SK.Name}
}

// openDatabase creates the tables of a design, without streams, and without TTL: the exploration decides when expired
// items are removed.
func openDatabase(ctx context.Context, d *design.Design, tables []*table.Table) (*database, error) {
	db, err := monotable.OpenMemory(nil)
	if err != nil {
		return nil, err
	}
	out := &database{db: db, client: db.Client(), tables: map[string]*table.Table{}, done: map[step]effect{}}
	specs := provision.Specs(d, nil)
	for i := range specs {
		s := &specs[i]
		s.Name, s.Placeholders = tables[i].Name, nil
		s.TTLAttr, s.Stream = "", ""
		out.tables[s.Name] = tables[i]
	}
	if err := provision.Apply(ctx, out.client, specs, func(string, ...any) {}); err != nil {
		return nil, errors.Join(fmt.Errorf("create the tables of %s: %w", d.Name, err), db.Close())
	}
	return out, nil
}

func (db *database) close() error { return db.db.Close() }

// empty deletes everything, for another scenario with its own library.
func (db *database) empty(ctx context.Context, l *library) error {
	if db.holds != nil {
		if err := db.hold(ctx, &content{}); err != nil {
			return err
		}
	}
	db.library, db.done = l, map[step]effect{}
	db.holds = l.content(nil)
	return nil
}

// batchMax is the maximum number of writes in a BatchWriteItem, and of keys in a BatchGetItem.
const (
	batchMax    = 25
	batchGetMax = 100
)

// hold makes the tables hold a content.
func (db *database) hold(ctx context.Context, c *content) error {
	type write struct {
		table string
		types.WriteRequest
	}
	var writes []write
	for _, s := range db.holds.items {
		if c.get(s.address) == nil {
			writes = append(writes, write{s.table.Name, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: s.key}}})
		}
	}
	for _, s := range c.items {
		if db.holds.get(s.address) != s {
			writes = append(writes, write{s.table.Name, types.WriteRequest{PutRequest: &types.PutRequest{Item: s.item}}})
		}
	}
	for chunk := range slices.Chunk(writes, batchMax) {
		in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{}}
		for _, w := range chunk {
			in.RequestItems[w.table] = append(in.RequestItems[w.table], w.WriteRequest)
		}
		out, err := db.client.BatchWriteItem(ctx, in)
		if err != nil {
			return fmt.Errorf("restore a state: %w", err)
		}
		if len(out.UnprocessedItems) > 0 {
			return errors.New("restore a state: the database left items unprocessed")
		}
	}
	db.holds = c
	return nil
}

// execute executes a request on a content: it returns the response, and the content afterwards.
func (db *database) execute(ctx context.Context, c *content, r *request) (effect, error) {
	at := step{c.id, r.key}
	if known, is := db.done[at]; is {
		return known, nil
	}
	if err := db.hold(ctx, c); err != nil {
		return effect{}, err
	}
	output, err := r.send(ctx, db.client)
	if ctx.Err() != nil {
		return effect{}, ctx.Err()
	}
	e := effect{response: newResponse(output, err), after: c}
	if err == nil && r.touched != nil {
		if e.after, err = db.look(ctx, c, r.touched); err != nil {
			return effect{}, err
		}
		db.holds = e.after
	}
	db.done[at] = e
	return e, nil
}

// look reads the items that a request may have changed: it changes only items that it names.
func (db *database) look(ctx context.Context, c *content, touched map[string][]map[string]types.AttributeValue) (*content, error) {
	changes := map[string]*stored{}
	for name, keys := range touched {
		t := db.tables[name]
		for _, key := range keys {
			changes[address(t, key)] = nil
		}
		for chunk := range slices.Chunk(keys, batchGetMax) {
			out, err := db.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{name: {Keys: chunk, ConsistentRead: aws.Bool(true)}},
			})
			if err != nil {
				return nil, fmt.Errorf("read the effects of a request: %w", err)
			}
			if len(out.UnprocessedKeys) > 0 {
				return nil, errors.New("read the effects of a request: the database left keys unprocessed")
			}
			for _, it := range out.Responses[name] {
				s := db.library.item(t, it)
				changes[s.address] = s
			}
		}
	}
	return db.library.with(c, changes), nil
}
