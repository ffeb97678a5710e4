package catalog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/monotable/monotable/internal/database/cluster"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// tablesMax is the maximum number of tables in an account and Region.
const tablesMax = 2500

// Get returns the stored descriptor of the table with a name or ARN, for operations on the table itself. A missing table is a
// ResourceNotFoundException that names it. The caller owns the result. A table that Get has returned is also found by Lookup,
// although the store knows of it a moment before the cache.
func (c *Catalog) Get(ctx context.Context, nameOrARN string) (*Descriptor, error) {
	name, err := c.Name(nameOrARN)
	if err != nil {
		return nil, err
	}
	data, err := c.store.Get(ctx, keyenc.TableDescriptor(name))
	if err != nil {
		return nil, fmt.Errorf("catalog: read table %q: %w", name, err)
	}
	d, err := c.live(name, data)
	if err != nil {
		return nil, err
	}
	if t := (*c.tables.Load())[name]; t == nil || !bytes.Equal(t.stored, data) {
		if err := c.reload(ctx, name); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// live decodes a descriptor and checks that its table still exists.
func (c *Catalog) live(name string, data []byte) (*Descriptor, error) {
	if data == nil {
		return nil, apierr.TableNotFound.With(name)
	}
	d, err := decodeDescriptor(data)
	if err != nil {
		return nil, err
	}
	if d.Gone(c.now()) {
		return nil, apierr.TableNotFound.With(name)
	}
	return d, nil
}

// Create stores a new table under d.Name, assigning the next id and version 1.
func (c *Catalog) Create(ctx context.Context, d *Descriptor) error {
	return c.CreateWith(ctx, d, kv.Intent{}, func(kv.Txn) error { return nil })
}

// CreateWith is Create with additional writes in the same transaction: with runs holding the keys of in, after d.ID is assigned.
// It may run more than once, and may write those keys and records of the table. If it fails, nothing is written.
func (c *Catalog) CreateWith(ctx context.Context, d *Descriptor, in kv.Intent, with func(txn kv.Txn) error) error {
	in.Write = append(slices.Clip(in.Write), NewKeys(d.Name)...)
	err := c.store.Update(ctx, in, func(txn kv.Txn) error { return c.Add(txn, d, with) })
	return c.follow(ctx, d.Name, err)
}

// follow reloads a table after an update of its definition that ended with err, unless nothing was written.
func (c *Catalog) follow(ctx context.Context, name string, err error) error {
	if err != nil && !errors.Is(err, kv.ErrUndetermined) {
		return err
	}
	if reloaded := c.reload(ctx, name); err != nil || reloaded != nil {
		return cmp.Or(err, reloaded)
	}
	return c.await(ctx)
}

// await waits for the other servers.
func (c *Catalog) await(ctx context.Context) error {
	if c.peers == nil {
		return nil
	}
	return c.peers.Await(ctx)
}

// NewKeys returns the keys that an update must hold to add a table.
func NewKeys(name string) [][]byte {
	return [][]byte{keyenc.TableDescriptor(name), keyenc.NextTableID()}
}

// Add stores a new table within an update of the catalog's store that holds its NewKeys; with writes the rest of it and can use
// d.ID. Call Reload after the commit.
func (c *Catalog) Add(txn kv.Txn, d *Descriptor, with func(kv.Txn) error) error {
	if err := c.nameIsFree(txn, d.Name); err != nil {
		return err
	}
	if err := c.checkTableCount(txn); err != nil {
		return err
	}
	next, err := readUint64(txn, keyenc.NextTableID())
	if err != nil {
		return err
	}
	next = max(next, 1)
	d.ID, d.Version = keyenc.TableID(next), 0
	txn.Set(keyenc.NextTableID(), encodeUint64(next+1))
	if err := with(txn); err != nil {
		return err
	}
	return c.put(txn, d)
}

func (c *Catalog) nameIsFree(r kv.Reader, name string) error {
	data, err := r.Get(keyenc.TableDescriptor(name))
	if err != nil || data == nil {
		return err
	}
	old, err := decodeDescriptor(data)
	if err != nil {
		return err
	}
	now := c.now()
	switch {
	case old.Gone(now):
		return nil
	case old.BeingRestored():
		return apierr.NameOfRestore.With(name)
	case old.Status(now) == StatusCreating:
		return apierr.TableBeingCreated.With(name)
	default:
		return apierr.TableExists.With(name)
	}
}

func (c *Catalog) checkTableCount(r kv.Reader) error {
	if len(*c.tables.Load()) < tablesMax {
		return nil
	}
	n := 0
	lo, hi := keyenc.TableDescriptors()
	it := r.Iter(lo, hi, kv.IterOptions{})
	defer it.Close()
	for it.Next() {
		n++
	}
	if err := it.Err(); err != nil {
		return err
	}
	if n >= tablesMax {
		return apierr.TooManyTables.With(tablesMax)
	}
	return nil
}

// Change applies edit to the stored descriptor of the table with a name or ARN, assigns the next version and returns the result.
// edit works on its own copy, may run more than once, and may write records of the table (its jobs) in the same transaction. If
// it fails, nothing is written. A descriptor that edit marks as gone is removed.
func (c *Catalog) Change(ctx context.Context, nameOrARN string, edit func(txn kv.Txn, d *Descriptor) error) (*Descriptor, error) {
	return c.change(ctx, nameOrARN, kv.Intent{Frees: true}, edit)
}

// Drop is a Change that starts the removal of a table. It also works when disk space is low.
func (c *Catalog) Drop(ctx context.Context, nameOrARN string, edit func(txn kv.Txn, d *Descriptor) error) (*Descriptor, error) {
	return c.change(ctx, nameOrARN, kv.Intent{Drops: true}, edit)
}

func (c *Catalog) change(ctx context.Context, nameOrARN string, in kv.Intent, edit func(kv.Txn, *Descriptor) error) (*Descriptor, error) {
	for {
		before, err := c.Get(ctx, nameOrARN)
		if err != nil {
			return nil, err
		}
		after, err := c.changeOnce(ctx, before, in, edit)
		if errors.Is(err, ErrReplaced) {
			continue
		}
		return after, err
	}
}

// ErrReplaced means that another table got the name between the lookup and the transaction.
var ErrReplaced = errors.New("catalog: the table was replaced by another")

// changeOnce changes the table described by before, holding its keys.
func (c *Catalog) changeOnce(ctx context.Context, before *Descriptor, intent kv.Intent, edit func(kv.Txn, *Descriptor) error) (*Descriptor, error) {
	var after *Descriptor
	intent.Write = before.Keyring()
	err := c.store.Update(ctx, intent, func(txn kv.Txn) (err error) {
		after, err = c.Edit(txn, before, edit)
		return err
	})
	if err := c.follow(ctx, before.Name, err); err != nil {
		return nil, err
	}
	return after, nil
}

// Keyring returns the keys that an update must hold to change the table.
func (d *Descriptor) Keyring() [][]byte {
	return [][]byte{keyenc.TableDescriptor(d.Name), keyenc.TableVersion(d.ID)}
}

// Edit changes the table described by before within an update of the catalog's store that holds its Keyring. Call Reload after
// the commit. ErrReplaced means that before no longer describes the table.
func (c *Catalog) Edit(txn kv.Txn, before *Descriptor, edit func(kv.Txn, *Descriptor) error) (*Descriptor, error) {
	data, err := txn.Get(keyenc.TableDescriptor(before.Name))
	if err != nil {
		return nil, err
	}
	after, err := c.live(before.Name, data)
	if err != nil {
		return nil, err
	}
	if after.ID != before.ID {
		return nil, ErrReplaced
	}
	if err := edit(txn, after); err != nil {
		return nil, err
	}
	return after, c.put(txn, after)
}

// Reload reloads the definition of one table, after an update of the store that called Add or Edit.
func (c *Catalog) Reload(ctx context.Context, name string) error { return c.follow(ctx, name, nil) }

func (c *Catalog) put(txn kv.Txn, d *Descriptor) error {
	c.raise(txn)
	if d.Gone(c.now()) {
		txn.Delete(keyenc.TableDescriptor(d.Name))
		txn.Delete(keyenc.TableVersion(d.ID))
		return nil
	}
	d.Version++
	now := c.now()
	if c.followed(d.ID) {
		d.Follow(now) // d.Followed may have passed, for example while the machine was asleep
	}
	d.Log = d.settledLog(now, txn.LogSeq())
	data, err := d.encode()
	if err != nil {
		return err
	}
	txn.Set(keyenc.TableDescriptor(d.Name), data)
	txn.Set(keyenc.TableVersion(d.ID), encodeUint64(d.Version))
	return nil
}

// raise signals a change to the other servers.
func (c *Catalog) raise(txn kv.Txn) {
	if c.peers != nil {
		cluster.Raise(txn)
	}
}

// Forget removes the version of a table whose deletion is complete, and its descriptor unless another table has taken its name.
func (c *Catalog) Forget(ctx context.Context, name string, id keyenc.TableID) error {
	intent := kv.Intent{Write: [][]byte{keyenc.TableDescriptor(name), keyenc.TableVersion(id)}, Drops: true}
	err := c.store.Update(ctx, intent, func(txn kv.Txn) error {
		txn.Delete(intent.Write[1])
		data, err := txn.Get(intent.Write[0])
		if err != nil || data == nil {
			return err
		}
		d, err := decodeDescriptor(data)
		if err != nil {
			return err
		}
		if d.ID == id {
			c.raise(txn)
			txn.Delete(intent.Write[0])
		}
		return nil
	})
	return c.follow(ctx, name, err)
}
