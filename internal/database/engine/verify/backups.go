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

// backups looks at what is known of backups of tables: each must be readable, and what it keeps be there.
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

// keptBackup opens what a backup keeps.
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
	if b.Type != backup.OfSystem { // a table that is deleted has lost its descriptor by then
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

// keptOfRegion begins the names of the kept snapshots of Regions beside the default one, which are stores of their own in this one (package
// kv/part): their own verification looks at them.
const keptOfRegion = "r-"

// strayKept looks for kept snapshots that nobody will ever drop. Of those named for a backup or a restore the
// engine drops at Open what has neither, and some may be in the making.
func (v *verification) strayKept() error {
	kept, err := v.store.Kept(v.ctx)
	for _, k := range kept {
		if !backup.OwnsKept(k.Name) && !strings.HasPrefix(k.Name, keptOfRegion) {
			v.finding(Finding{What: fmt.Sprintf("there is a kept snapshot %s, which nobody knows", k.Name)})
		}
	}
	return err
}
