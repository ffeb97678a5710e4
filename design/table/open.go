package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/design/table/internal/cursor"
)

// DB runs patterns on tables. It is safe for concurrent use.
type DB struct {
	client  Client
	names   map[string]string // of the tables, by their names in the design
	clock   func() time.Time
	observe func(context.Context, Call)
	cursors *cursor.Sealer // nil if there is no key
	caller  func(context.Context) string
	newID   func(Kind) string
	// sequential is Config.Sequential.
	sequential bool
}

// Open returns a DB for the tables of the patterns to run.
func Open(client Client, c Config, tables ...*Table) (*DB, error) {
	if client == nil {
		return nil, errors.New("open the tables: no client: pass a *dynamodb.Client")
	}
	names, err := physicalNames(c.Tables, tables)
	if err != nil {
		return nil, fmt.Errorf("open the tables: %w", err)
	}
	cursors, err := cursor.NewSealer(c.CursorKey, c.OldCursorKeys)
	if err != nil {
		return nil, fmt.Errorf("open the tables: %w", err)
	}
	clock := c.Clock
	if clock == nil {
		clock = time.Now
	}
	return &DB{
		client: client, names: names, clock: clock, observe: c.Observe, cursors: cursors, caller: c.Caller, newID: c.NewID, sequential: c.Sequential,
	}, nil
}

// atOnce returns how many of n requests may run concurrently.
func (db *DB) atOnce(n int) int {
	if db.sequential {
		return 1
	}
	return n
}

// physicalNames maps the design's table names to configured names, or else to those in the design.
func physicalNames(configured map[string]string, tables []*Table) (map[string]string, error) {
	names := make(map[string]string, len(tables))
	for _, t := range tables {
		name := cmp.Or(configured[t.Name], t.Physical)
		if configured[t.Name] == "" && strings.ContainsAny(name, "{}") {
			return nil, fmt.Errorf("the name of table %s is %s, which depends on the deployment: set Config.Tables[%q] to its name there",
				t.Name, t.Physical, t.Name)
		}
		names[t.Name] = name
	}
	for _, name := range slices.Sorted(maps.Keys(configured)) {
		if _, known := names[name]; !known {
			return nil, fmt.Errorf("Config.Tables names table %q, which is not in the design: %s",
				name, strings.Join(slices.Sorted(maps.Keys(names)), ", "))
		}
	}
	return names, nil
}

// tableName is the name of a table in requests.
func (db *DB) tableName(t *Table) *string {
	name, opened := db.names[t.Name]
	if !opened {
		name = t.Physical
	}
	return &name
}

// now is the time of a call, to the millisecond.
func (db *DB) now() time.Time { return db.clock().UTC().Truncate(time.Millisecond) }
