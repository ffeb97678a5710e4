package engine

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// itemVersion is when and where an item of a replica was last written: the last writer wins. The numbers of the store that the
// Regions share order all writes, and strictly those of one item in one Region. If two Regions assign the same number, the
// Regions' names break the tie.
//
// An item has a stored version, even after its deletion, for as long as an older change may still arrive (trimVersions).
type itemVersion struct {
	number uint64
	region string
}

func (v itemVersion) compare(other itemVersion) int {
	return cmp.Or(cmp.Compare(v.number, other.number), cmp.Compare(v.region, other.region))
}

func (v itemVersion) encode() []byte {
	return append(binary.BigEndian.AppendUint64(nil, v.number), v.region...)
}

func decodeItemVersion(data []byte) (itemVersion, error) {
	if data == nil {
		return itemVersion{}, nil
	}
	if len(data) <= 8 {
		return itemVersion{}, fmt.Errorf("engine: the version of an item is damaged: %x", data)
	}
	return itemVersion{binary.BigEndian.Uint64(data), string(data[8:])}, nil
}

// late reports whether the write comes from another replica and is older than the item.
func (w *write) late(txn kv.Txn) (bool, error) {
	if w.arrived == nil {
		return false, nil
	}
	data, err := txn.Get(keyenc.ItemVersion(nil, w.t.ID, w.pk, w.sk))
	if err != nil {
		return false, err
	}
	stored, err := decodeItemVersion(data)
	return w.arrived.compare(stored) < 0, err
}

// keepVersion stores the new version of a replica's item.
func (w *write) keepVersion(txn kv.Txn) {
	if w.t.Replica == "" {
		return
	}
	v := itemVersion{region: w.t.Replica}
	if w.arrived != nil {
		v = *w.arrived
	} else {
		v.number = uint64(txn.LogSeq())
	}
	w.outcome.version = v.number
	if v.number != 0 { // otherwise it was written before the table had replicas
		txn.Set(keyenc.ItemVersion(nil, w.t.ID, w.pk, w.sk), v.encode())
	}
}

const (
	// versionTrimInterval is how often versions that are no longer needed are removed.
	versionTrimInterval = time.Minute
	// versionSpare is how much longer versions are kept, because a change gets its version before its position in the log. A
	// commit never takes that long.
	versionSpare = 5 * time.Minute
	// versionGroup is how many versions are removed in one commit.
	versionGroup = 100
)

// trimVersions removes the versions that are older than all changes still on their way.
func (e *Engine) trimVersions(ctx context.Context) (err error) {
	for _, t := range e.catalog.Tables() {
		if t.Descriptor.Global == nil || t.Strong || t.Descriptor.BeingFilled() || t.Descriptor.Deleting() {
			continue
		}
		below, sure := e.replicatedBelow(ctx, t)
		if !sure {
			continue
		}
		if t.Replica == "" {
			below = ^uint64(0)
		} else {
			below = uint64(kv.SeqAt(max(0, kv.Seq(below).Millis()-versionSpare.Milliseconds())))
		}
		err = errors.Join(err, e.trimVersionsOf(ctx, t, below))
	}
	return err
}

// replicatedBelow returns a number below which the changes of all replicas have arrived at all others. sure is false if a
// Region is not served.
func (e *Engine) replicatedBelow(ctx context.Context, t *catalog.Table) (below uint64, sure bool) {
	replicas, err := e.group(ctx, t.Descriptor)
	if err != nil {
		return 0, false
	}
	below = ^uint64(0)
	for _, to := range replicas {
		for _, from := range replicas {
			if to == from {
				continue
			}
			p, err := to.engine.position(ctx, to.before.ID, from.engine.options.Region)
			if err != nil {
				return 0, false
			}
			below = min(below, uint64(p))
		}
	}
	return below, true
}

func (e *Engine) trimVersionsOf(ctx context.Context, t *catalog.Table, below uint64) error {
	lo, hi := keyenc.ItemVersions(t.ID)
	for lo != nil && ctx.Err() == nil {
		var items, versions [][]byte
		snapshot, err := e.store.Snapshot(ctx)
		if err != nil {
			return err
		}
		it := snapshot.Iter(lo, hi, kv.IterOptions{})
		for lo = nil; it.Next(); {
			if len(items) == versionGroup {
				lo = append(lo, it.Key()...)
				break
			}
			v, err := decodeItemVersion(it.Value())
			if err != nil || v.number >= below {
				continue
			}
			_, pk, sk, err := keyenc.ParseItemVersion(it.Key())
			if err != nil {
				continue
			}
			versions = append(versions, append([]byte(nil), it.Key()...))
			items = append(items, keyenc.Item(nil, t.ID, pk, sk))
		}
		err = it.Err()
		it.Close()
		if err := errors.Join(err, snapshot.Close()); err != nil {
			return err
		}
		if len(items) == 0 {
			return nil
		}
		err = e.store.Update(ctx, kv.Intent{Write: items, Frees: true}, func(txn kv.Txn) error {
			for _, key := range versions {
				data, err := txn.Get(key)
				if err != nil {
					return err
				}
				if v, err := decodeItemVersion(data); err == nil && v.number < below {
					txn.Delete(key)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
