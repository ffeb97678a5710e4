package backup_test

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/engine/backup"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

const (
	id   = "01795176000000-11121314"
	form = `{"format":1,"id":"` + id + `","name":"b","type":"SYSTEM","created":1795176000000,"expires":9,"making":true,"items":10,"bytes":11,` +
		`"table":{"format":2,"id":7,"version":0,"name":"Music","uuid":"","created":0,"attributes":null,"keys":[{"name":"pk"}],"billing":{}}}`
)

// save returns what is stored of a backup.
func save(t *testing.T, b *backup.Record) []byte {
	t.Helper()
	store := memkv.New()
	if err := store.Update(t.Context(), kv.Intent{Write: [][]byte{b.Key()}}, b.Save); err != nil {
		t.Fatal(err)
	}
	data, err := store.Get(t.Context(), b.Key())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestStoredForm pins the form that backups are stored in: a change here needs a new format.
func TestStoredForm(t *testing.T) {
	d := &catalog.Descriptor{Format: 2, ID: 7, Name: "Music", Keys: []catalog.KeyElement{{Name: "pk"}}}
	b, err := backup.New(id, "b", time.UnixMilli(1795176000000), d)
	if err != nil {
		t.Fatal(err)
	}
	b.Type, b.Expires, b.Making, b.Items, b.Bytes = backup.OfSystem, 9, true, 10, 11
	if diff := cmp.Diff(form, string(save(t, b))); diff != "" {
		t.Errorf("stored form (-want +got):\n%s", diff)
	}
	again, err := backup.Decode([]byte(form))
	if diff := cmp.Diff(b, again); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if key, want := hex.EncodeToString(b.Key()), "6362"+hex.EncodeToString([]byte(id)); key != want {
		t.Errorf("the key is %s, want %s", key, want)
	}
}

// TestKeptNames pins the names of kept snapshots, which are stored.
func TestKeptNames(t *testing.T) {
	const id, uuid = "01800000000000-0123abcd", "01234567-89ab-4cde-8f01-23456789abcd"
	for want, name := range map[string]string{
		"backup-" + id: backup.KeptOf(id), "restore-" + uuid: backup.KeptOfRestore(uuid), "export-" + id: backup.KeptOfExport(id),
	} {
		if name != want || !backup.OwnsSnapshot(name) {
			t.Errorf("%s: want %s, which belongs to the database: %v", name, want, backup.OwnsSnapshot(name))
		}
	}
	for _, name := range []string{id, "backup-backup-" + id, "restore-export-" + id, "export-restore-" + uuid, "2-backup-" + id} {
		if backup.OwnsSnapshot(name) || !backup.MayBeForeign(name) {
			t.Errorf("%s is taken for the Region's own", name)
		}
	}
}

func TestDecodeRejects(t *testing.T) {
	for _, text := range []string{"", "{}", "null", `{"format":2}`, `{"format":1}`, `{"format":1,"table":{"format":2}}`} {
		if b, err := backup.Decode([]byte(text)); err == nil {
			t.Errorf("%q is taken as %+v", text, b)
		}
	}
}

// FuzzRecord reads any bytes: what is accepted is stored and read again as the same.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(form))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := backup.Decode(data)
		if err != nil {
			return
		}
		stored := save(t, b)
		again, err := backup.Decode(stored)
		if err != nil || string(save(t, again)) != string(stored) {
			t.Fatalf("%s is stored as %s, which is read as %+v, %v", data, stored, again, err)
		}
	})
}
