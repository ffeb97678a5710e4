// Package catalog manages the definitions of tables and indexes: their stored form, a cache, and the changes of their life cycle.
//
// A Descriptor is the stored definition of one table, kept as versioned JSON under its name. A Table is the immutable form of it
// for the data plane. The cache is an immutable map from names to Tables behind one atomic pointer, so a lookup takes no lock.
//
//	keyenc.TableDescriptor(name) ─► Descriptor (JSON) ──► Table ─► cache ─► Lookup
//	keyenc.TableVersion(id)      ─► 8 bytes big endian    Table.Version
//	keyenc.NextTableID()         ─► 8 bytes big endian    the id of the next table
//
// States that only take time (CREATING, UPDATING, DELETING of a table) are timestamps in the descriptor, compared with the clock
// when read: nothing has to run for them to end. States that take work (the backfill of an index, the building of TTL entries)
// are advanced by the engine's jobs.
//
// Invariants:
//
//	I1  Table.Version equals the stored version exactly while the definition is current: Change writes
//	    descriptor and version in one transaction. A writer that checks the version in its own
//	    transaction therefore never uses an outdated definition, however old the cache is.
//	I2  A table id or index id is never reused.
//	I3  The cache never goes back: reloads read the store under mu.
//	I4  If several servers share the store (Share), a change returns when all of them have seen it, and a
//	    server that has fallen behind serves no tables.
//
// All methods of Catalog are safe for concurrent use. Errors for clients are *apierr.Error; any other error is the store's, or a
// descriptor that this program cannot read.
package catalog

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Catalog is the set of tables of one store.
type Catalog struct {
	store  kv.Store
	region string
	// account is the account id in ARNs.
	account string
	now     func() time.Time
	// followed reports whether the table currently has a follower in this process.
	followed func(keyenc.TableID) bool
	// changed is called when a definition replaces another; see OnChange.
	changed func(before, after *Table)
	peers   Peers // nil: the store is not shared

	mu     sync.Mutex // held by reloads
	tables atomic.Pointer[map[string]*Table]
}

// Open loads the catalog of a store. followed reports whether a table has a follower in this process: then changes of its
// definition do not stop its logging.
func Open(ctx context.Context, store kv.Store, region, account string, now func() time.Time,
	followed func(keyenc.TableID) bool,
) (*Catalog, error) {
	c := &Catalog{store: store, region: region, account: account, now: now, followed: followed, changed: func(_, _ *Table) {}}
	c.tables.Store(&map[string]*Table{})
	if err := c.Refresh(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// OnChange sets a function that is called with each definition that is new to the cache and with the previous one, or nil. It is
// called while reloads are blocked. OnChange must be called before the catalog is used.
func (c *Catalog) OnChange(changed func(before, after *Table)) { c.changed = changed }

// Peers are the other servers that share the store.
type Peers interface {
	// Current reports whether definitions read earlier may still be used.
	Current() bool
	// Await waits until all servers have seen what is stored.
	Await(ctx context.Context) error
}

// Share makes the catalog coordinate changes with other servers. It must be called before the catalog is used.
func (c *Catalog) Share(peers Peers) { c.peers = peers }

// ErrNotCurrent means that a server has lost contact with its store.
var ErrNotCurrent = errors.New("catalog: the server could not renew its lease, so its definitions of tables may be out of date")

// Lookup returns the table with a name or ARN for reading and writing items. It takes no lock and does not read the store. A
// table that does not exist, or is still being created or deleted, is a ResourceNotFoundException.
func (c *Catalog) Lookup(nameOrARN string) (*Table, error) {
	if c.peers != nil && !c.peers.Current() {
		return nil, ErrNotCurrent
	}
	tables := *c.tables.Load()
	t, ok := tables[nameOrARN]
	if !ok {
		name, err := c.Name(nameOrARN)
		if err != nil {
			return nil, err
		}
		if t, ok = tables[name]; !ok {
			return nil, apierr.NotFound.With()
		}
	}
	if d := t.Descriptor; d.ReadyAt != 0 || d.Deleting() || d.BeingFilled() {
		if s := d.Status(c.now()); s == StatusCreating || s == StatusDeleting {
			return nil, apierr.NotFound.With()
		}
	}
	return t, nil
}

// Tables returns the cached tables by name, read only, including those being created or deleted.
func (c *Catalog) Tables() map[string]*Table { return *c.tables.Load() }

// Renew is called when a transaction bound to these tables has found, by the version, that one of them is outdated. Of many
// concurrent callers one reads the store. If all tables are as stored, the store is corrupted: that is an error, because callers
// would otherwise retry forever.
func (c *Catalog) Renew(ctx context.Context, bound ...*Table) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	over := func(t *Table) bool { return (*c.tables.Load())[t.Name] != t }
	if slices.ContainsFunc(bound, over) {
		return nil
	}
	if err := c.refresh(ctx); err != nil || slices.ContainsFunc(bound, over) {
		return err
	}
	return fmt.Errorf("catalog: table %q: the descriptor has version %d, but the stored version differs",
		bound[0].Name, bound[0].Version)
}

// Refresh reloads all descriptors.
func (c *Catalog) Refresh(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refresh(ctx)
}

func (c *Catalog) refresh(ctx context.Context) error {
	snapshot, err := c.store.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("catalog: refresh: %w", err)
	}
	defer snapshot.Close()
	old := *c.tables.Load()
	tables, err := load(snapshot, old)
	if err != nil {
		return err
	}
	c.tables.Store(&tables)
	for name, t := range tables {
		if t != old[name] {
			c.changed(old[name], t)
		}
	}
	return nil
}

// Load reads the tables of a store from one consistent state.
func Load(r kv.Reader) (map[string]*Table, error) { return load(r, nil) }

// load builds the tables of r, reusing those of old that have not changed.
func load(r kv.Reader, old map[string]*Table) (map[string]*Table, error) {
	tables := make(map[string]*Table, len(old))
	lo, hi := keyenc.TableDescriptors()
	it := r.Iter(lo, hi, kv.IterOptions{})
	defer it.Close()
	for it.Next() {
		name, err := keyenc.ParseTableDescriptor(it.Key())
		if err != nil {
			return nil, fmt.Errorf("catalog: %w", err)
		}
		if t := old[name]; t != nil && bytes.Equal(t.stored, it.Value()) {
			tables[name] = t
		} else if tables[name], err = newStoredTable(it.Value()); err != nil {
			return nil, err
		}
	}
	if err := it.Err(); err != nil {
		return nil, fmt.Errorf("catalog: read tables: %w", err)
	}
	return tables, nil
}

// reload reloads one descriptor. It ignores the cancellation of ctx, because the cache must learn of a committed change.
func (c *Catalog) reload(ctx context.Context, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	data, err := c.store.Get(context.WithoutCancel(ctx), keyenc.TableDescriptor(name))
	if err != nil {
		return fmt.Errorf("catalog: reload table %q: %w", name, err)
	}
	tables := maps.Clone(*c.tables.Load())
	before := tables[name]
	if data == nil {
		delete(tables, name)
	} else if tables[name], err = newStoredTable(data); err != nil {
		return err
	}
	c.tables.Store(&tables)
	if after := tables[name]; after != nil {
		c.changed(before, after)
	}
	return nil
}

func newStoredTable(stored []byte) (*Table, error) {
	d, err := decodeDescriptor(stored)
	if err != nil {
		return nil, err
	}
	t := newTable(d)
	t.stored = bytes.Clone(stored)
	return t, nil
}

// Version reads the stored version of a table within a transaction or snapshot, or returns 0 if the table does not exist.
func Version(r kv.Reader, id keyenc.TableID) (uint64, error) {
	return readUint64(r, keyenc.TableVersion(id))
}

// StoredVersion reads the stored version of the table within a transaction or snapshot, or returns 0 if the table does not exist.
func (t *Table) StoredVersion(r kv.Reader) (uint64, error) { return readUint64(r, t.versionKey) }

func readUint64(r kv.Reader, key []byte) (uint64, error) {
	data, err := r.Get(key)
	if err != nil || data == nil {
		return 0, err
	}
	if len(data) != 8 {
		return 0, fmt.Errorf("catalog: key %x has %d bytes, want 8", key, len(data))
	}
	return binary.BigEndian.Uint64(data), nil
}

func encodeUint64(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

// Names lists the names of tables after a name, in bytewise order, at most limit; more reports whether others follow.
func (c *Catalog) Names(ctx context.Context, after string, limit int) (names []string, more bool, err error) {
	snapshot, err := c.store.Snapshot(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("catalog: list tables: %w", err)
	}
	defer snapshot.Close()
	lo, hi := keyenc.TableDescriptors()
	if after != "" {
		lo = append(keyenc.TableDescriptor(after), 0)
	}
	it := snapshot.Iter(lo, hi, kv.IterOptions{Limit: limit + 1})
	defer it.Close()
	names, now := []string{}, c.now()
	for it.Next() {
		d, err := decodeDescriptor(it.Value())
		if err != nil {
			return nil, false, err
		}
		if d.Gone(now) {
			continue
		}
		if len(names) == limit {
			return names, true, nil
		}
		names = append(names, d.Name)
	}
	return names, false, it.Err()
}
