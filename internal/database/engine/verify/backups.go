package verify

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/monotable/monotable/internal/database/engine/backup"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// backups checks the records of backups: each must be readable, and its data must exist.
func (v *verification) backups() error {
	err := v.walk("cb", func(key, value []byte) error {
		v.done.Backups++
		v.progress.uncounted()
		b, err := backup.Decode(value)
		switch {
		case err != nil:
			v.finding(Finding{Key: key, What: err.Error()})
		case !bytes.Equal(b.Key(), key):
			v.finding(Finding{Key: key, What: fmt.Sprintf("backup %s does not have the key it is stored at", b.ID)})
		case !b.Making:
			return v.keptBackup(b)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return v.strayKept()
}

// keptBackup opens a backup's kept snapshot.
func (v *verification) keptBackup(b *backup.Record) error {
	found := func(format string, args ...any) {
		v.finding(Finding{Table: b.Table.Name, Key: b.Key(), What: "the backup " + fmt.Sprintf(format, args...)})
	}
	kept, err := v.store.OpenKept(v.ctx, b.Kept())
	if errors.Is(err, kv.ErrNotKept) {
		// It may have been deleted since the snapshot.
		now, err := v.store.Get(v.ctx, b.Key())
		if err == nil && now != nil {
			found("has no kept snapshot")
		}
		return err
	}
	if err != nil {
		found("cannot be opened: %v", err)
		return v.ctx.Err()
	}
	defer kept.Close()
	if b.Type != backup.OfSystem { // the descriptor of a deleted table is gone by then
		table, err := catalog.ReadDescriptor(kept, b.Table.Name)
		if err != nil || table == nil || table.ID != b.Table.ID {
			found("does not keep its table: %v", err)
			return nil
		}
	}
	counters, err := kept.Counter([]byte(statisticsKey(b.Table.ID, 0)))
	if err != nil {
		found("cannot be read: %v", err)
		return nil
	}
	got := count{}
	if len(counters) >= 2 {
		got = count{counters[0], counters[1]}
	}
	if want := (count{b.Items, b.Bytes}); got != want {
		found("is of %d items of %d bytes, and keeps %d of %d bytes", want.items, want.bytes, got.items, got.bytes)
	}
	return nil
}

// keptOfRegion is the prefix of the names of kept snapshots that belong to other Regions, which are stores within this one
// (package kv/part) and are verified separately.
const keptOfRegion = "r-"

// strayKept looks for kept snapshots that will never be dropped. Those named for a backup or a restore that no longer exists are
// dropped by the engine at Open, and some may be in creation.
func (v *verification) strayKept() error {
	kept, err := v.store.Kept(v.ctx)
	for _, k := range kept {
		if !backup.OwnsSnapshot(k.Name) && !backup.MayBeForeign(k.Name) && !strings.HasPrefix(k.Name, keptOfRegion) {
			v.finding(Finding{What: fmt.Sprintf("there is a kept snapshot %s, to which no record refers", k.Name)})
		}
	}
	return err
}
