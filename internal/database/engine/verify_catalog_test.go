package engine_test

import (
	"bytes"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// first returns the first key of a range and its value.
func (d damaged) first(lo, hi []byte) (key, value []byte) {
	d.t.Helper()
	it, err := d.store.Iter(d.t.Context(), lo, hi, kv.IterOptions{})
	if err != nil {
		d.t.Fatal(err)
	}
	defer it.Close()
	if !it.Next() {
		d.t.Fatal("there is nothing to damage")
	}
	return bytes.Clone(it.Key()), bytes.Clone(it.Value())
}

// edit replaces a text in the first value of a range.
func (d damaged) edit(lo, hi []byte, from, to string) {
	d.t.Helper()
	key, value := d.first(lo, hi)
	after := bytes.ReplaceAll(value, []byte(from), []byte(to))
	if bytes.Equal(value, after) {
		d.t.Fatalf("%s is not in %s", from, value)
	}
	d.set(key, after)
}

// move moves the first value of a range to another key.
func (d damaged) move(lo, hi, to []byte) {
	d.t.Helper()
	key, value := d.first(lo, hi)
	d.set(key, nil)
	d.set(to, value)
}

// kept is the name of the only kept snapshot.
func (d damaged) kept() string {
	d.t.Helper()
	kept, err := d.store.Kept(d.t.Context())
	if err != nil || len(kept) != 1 {
		d.t.Fatalf("%d snapshots are kept: %v", len(kept), err)
	}
	return kept[0].Name
}

// TestVerifyFindsInCatalog corrupts the records of streams and backups.
func TestVerifyFindsInCatalog(t *testing.T) {
	stream := func(from, to string) func(damaged) {
		return func(d damaged) {
			lo, hi := keyenc.Streams()
			d.edit(lo, hi, from, to)
		}
	}
	backup := func(from, to string) func(damaged) {
		return func(d damaged) {
			lo, hi := keyenc.Backups()
			d.edit(lo, hi, from, to)
		}
	}
	drop := func(d damaged) {
		if err := d.store.DropKept(d.t.Context(), d.kept()); err != nil {
			d.t.Fatal(err)
		}
	}
	keep := func(name string) func(damaged) {
		return func(d damaged) {
			if err := d.store.Keep(d.t.Context(), name, kv.Selection{Spans: []kv.Span{{Lo: []byte("x")}}}); err != nil {
				d.t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name   string
		damage func(damaged)
		want   []string
	}{
		{"stream not readable", stream("{", "?"), []string{"store: stream: record: "}},
		{"stream of a later format", stream(`"format":1`, `"format":9`), []string{"store: stream "}},
		{"stream at another key", func(d damaged) {
			lo, hi := keyenc.Streams()
			d.move(lo, hi, keyenc.Stream(1, "x"))
		}, []string{`Music: the stream does not have the key it is stored at: catalog/stream/table 1/"x"`}},
		{"stream closed", stream(`"created"`, `"disabledAt":1,"created"`), []string{
			"Music: the stream is open and its table has another or none, or the other way round: catalog/stream/table 1/",
			"Music: the stream is closed and has an open shard: ",
		}},
		{"shard with a bad id", stream("shardId-", "shard-"), []string{"Music: the stream has a shard that cannot be: "}},
		{"shard with bad hashes", stream(`"high":65535`, `"low":9,"high":8`), []string{"Music: the stream has a shard that cannot be: "}},
		{"shard gone", stream(`"high":65535`, `"high":65534`), []string{"Music: the stream has no open shard for some items: "}},
		{"backup not readable", backup("{", "?"), []string{"store: backup: record: "}},
		{"backup at another key", func(d damaged) {
			lo, hi := keyenc.Backups()
			d.move(lo, hi, keyenc.Backup("x"))
		}, []string{"store: backup "}},
		{"backup counted wrongly", backup(`"items":1`, `"items":2`), []string{
			`Music: the backup is of 2 items of 10 bytes, and keeps 1 of 10 bytes: catalog/backup "`,
		}},
		{"backup of another table", backup(`"id":1`, `"id":2`), []string{`Music: the backup does not keep its table: `}},
		{"backup's data gone", drop, []string{`Music: the backup has no kept snapshot: catalog/backup "`}},
		{"backup gone", func(d damaged) {
			lo, hi := keyenc.Backups()
			key, _ := d.first(lo, hi)
			d.set(key, nil) // as between two steps of making a backup: Open cleans up
		}, nil},
		{"unreferenced snapshot", keep("mine"), []string{"store: there is a kept snapshot mine, to which no record refers"}},
	} {
		t.Run(c.name, func(t *testing.T) { wantFindings(t, c.damage, c.want...) })
	}
}
