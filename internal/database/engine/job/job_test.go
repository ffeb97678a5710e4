package job_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// form is the stored form of whole.
const form = `{"format":1,"kind":114,"table":7,"name":"Music","index":8,"notBefore":9,"cursor":"/w==","backup":"b","region":"eu-west-1",` +
	`"restore":{"kept":"k","source":10,"at":11,"dropped":[12,13],"copied":true,"undone":14}}`

// whole is a job with all members.
func whole() *job.Record {
	return &job.Record{
		Kind: job.Restore, Table: 7, Name: "Music", Index: 8, NotBefore: 9, Cursor: []byte{0xFF}, Backup: "b", Region: "eu-west-1",
		Restore: &job.Restoration{Kept: "k", Source: 10, At: 11, Dropped: []keyenc.IndexID{12, 13}, Copied: true, Undone: 14},
	}
}

// stored returns a store that has a value as the record of a job.
func stored(t *testing.T, value []byte) kv.Store {
	t.Helper()
	store, key := memkv.New(), keyenc.Job(1, 2, 'b')
	err := store.Update(t.Context(), kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error {
		txn.Set(key, value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// read reads the jobs of a store.
func read(t *testing.T, store kv.Store) ([]job.Record, error) {
	t.Helper()
	snapshot, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	return job.Stored(snapshot, func(job.Record) bool { return true })
}

// save returns what is stored of a job.
func save(t *testing.T, j *job.Record) []byte {
	t.Helper()
	store := memkv.New()
	if err := store.Update(t.Context(), kv.Intent{Write: [][]byte{j.Key()}}, j.Save); err != nil {
		t.Fatal(err)
	}
	data, err := store.Get(t.Context(), j.Key())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestStoredForm pins the form that jobs are stored in: a change here needs a new format.
func TestStoredForm(t *testing.T) {
	j := whole()
	if diff := cmp.Diff(form, string(save(t, j))); diff != "" {
		t.Errorf("stored form (-want +got):\n%s", diff)
	}
	found, err := read(t, stored(t, []byte(form)))
	if diff := cmp.Diff([]job.Record{*j}, found); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if key := hex.EncodeToString(j.Key()); key != "6a00000007000872" {
		t.Errorf("the key is %s", key)
	}
}

// TestKinds pins the kinds, whose values are in stored keys.
func TestKinds(t *testing.T) {
	kinds := []job.Kind{
		job.Backfill, job.DropIndex, job.BuildTTL, job.DropTTL, job.DropTable, job.DropLog, job.Restore, job.Replica, job.Leave,
	}
	var got strings.Builder
	for _, k := range kinds {
		got.WriteByte(byte(k))
	}
	if got.String() != "bitudlrge" {
		t.Errorf("the kinds are %q", got.String())
	}
}

func TestDecodeRejects(t *testing.T) {
	for _, text := range []string{"", "{}", "null", `{"format":2}`, `{"format":1,"table":-1}`} {
		if found, err := read(t, stored(t, []byte(text))); err == nil {
			t.Errorf("%q is taken as %+v", text, found)
		}
	}
}

// FuzzRecord reads any bytes: what is accepted is stored and read again as the same.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(form))
	f.Add([]byte(`{"format":1,"kind":98,"restore":{"dropped":[]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		found, err := read(t, stored(t, data))
		if err != nil || len(found) == 0 { // an empty value is a key that is not there
			return
		}
		saved := save(t, &found[0])
		again, err := read(t, stored(t, saved))
		if err != nil || len(again) != 1 || string(save(t, &again[0])) != string(saved) {
			t.Fatalf("%s is stored as %s, and that is %v, %v", data, saved, again, err)
		}
	})
}
