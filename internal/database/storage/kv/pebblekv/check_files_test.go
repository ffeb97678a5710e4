package pebblekv_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// TestFlippedBits: a changed bit in any of Pebble's files is an error, or changes nothing. It never makes data disappear.
func TestFlippedBits(t *testing.T) {
	fs := vfs.NewMem()
	s, err := pebblekv.Open("db", onMemory(fs))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1200 {
		set(t, s, fmt.Sprintf("key %d", i%700), fmt.Sprint(i)+strings.Repeat("x", 600))
	}
	want := allContents(t, s)
	crashed := vfs.NewMem()
	if _, err := vfs.Clone(fs, crashed, "db", "db"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, image := range []vfs.FS{fs, crashed} {
		for name, text := range allFiles(t, image, "db/pebble") {
			for range 6 {
				if text == "" {
					continue
				}
				data, at := []byte(text), rng.IntN(len(text))
				if strings.HasSuffix(name, ".log") {
					at = rng.IntN(min(len(text), 64<<10)) // most of it is not written yet
				}
				data[at] ^= 1 << rng.IntN(8)
				if got, err := contentsWith(t, image, name, data); err == nil && !maps.Equal(got, want) {
					t.Errorf("byte %d of %s: %d values, want %d", at, name, len(got), len(want))
				}
			}
		}
	}
}

// withValue is a disk with the directory of a closed store that has a value.
func withValue(t *testing.T) vfs.FS {
	t.Helper()
	fs := vfs.NewMem()
	s, err := pebblekv.Open("db", onMemory(fs))
	if err != nil {
		t.Fatal(err)
	}
	set(t, s, "key", "value")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return fs
}

// TestMissingLog: a directory without a log is damaged, because the latest writes were in one.
func TestMissingLog(t *testing.T) {
	fs := withValue(t)
	removeLogs(t, fs)
	if _, err := pebblekv.Open("db", onMemory(fs)); !isDamage(err) {
		t.Errorf("opened with %v", err)
	}
}

// TestMissingNewestLog: a directory without the log of the latest writes is damaged, although an older one is there, whose writes are in tables.
func TestMissingNewestLog(t *testing.T) {
	fs := vfs.NewMem()
	s, err := pebblekv.Open("db", onMemory(fs))
	if err != nil {
		t.Fatal(err)
	}
	set(t, s, "before", "value")
	if err := s.Compact(t.Context(), nil, nil); err != nil { // flushes
		t.Fatal(err)
	}
	set(t, s, "after", "value")
	crashed := vfs.NewMem()
	if _, err := vfs.Clone(fs, crashed, "db", "db"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var logs []string
	for name := range allFiles(t, crashed, "db/pebble") {
		if strings.HasSuffix(name, ".log") {
			logs = append(logs, name)
		}
	}
	if len(logs) < 2 {
		t.Fatalf("there are the logs %v, want an older one, which is to be used again", logs)
	}
	if err := crashed.Remove(slices.Max(logs)); err != nil {
		t.Fatal(err)
	}
	if _, err := pebblekv.Open("db", onMemory(crashed)); !isDamage(err) {
		t.Errorf("opened with %v", err)
	}
}

func removeLogs(t *testing.T, fs vfs.FS) {
	t.Helper()
	for name := range allFiles(t, fs, "db/pebble") {
		if strings.HasSuffix(name, ".log") {
			if err := fs.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// withoutNewLogs is a disk that fails when a log is created.
type withoutNewLogs struct{ vfs.FS }

func (fs withoutNewLogs) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasSuffix(name, ".log") {
		return nil, errors.New("no logs")
	}
	return fs.FS.Create(name, category)
}

// TestLogBetween: while a store is being opened there is a moment without a log: the old one may have been removed before the new
// one is created. If the disk fails then, or the power, the directory is not damaged.
func TestLogBetween(t *testing.T) {
	fs := withValue(t)
	if _, err := pebblekv.Open("db", onMemory(withoutNewLogs{fs})); err == nil || isDamage(err) {
		t.Fatalf("opened with %v", err)
	}
	removeLogs(t, fs) // as Pebble does about then
	for range 2 {
		s, err := pebblekv.Open("db", onMemory(fs))
		if err != nil {
			t.Fatal(err)
		}
		if v, err := s.Get(t.Context(), []byte("key")); string(v) != "value" || err != nil {
			t.Errorf("key is %q, %v", v, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTornRecord: a record that a crash tore is no damage, whatever a client has written into it: what looks like a chunk of the log that was
// written later, or a sector with a single bit, which is lost.
func TestTornRecord(t *testing.T) {
	const sector = 512
	chunks := []byte{}
	for number := range uint32(64) { // of all logs that the store may use
		chunks = append(chunks, chunkOf(number, 1<<40)...)
	}
	bit := make([]byte, 4*sector)
	bit[2*sector] = 1
	for what, test := range map[string]struct {
		value []byte
		tear  func(log []byte, at int) // at is where the value begins
	}{
		"a chunk in the value": {append(chunks, bytes.Repeat([]byte("x"), 4*sector)...), func(log []byte, at int) { clear(log[at+len(chunks)+sector:]) }},
		"a lost sector with one bit": {bit, func(log []byte, at int) {
			first := (at/sector + 1) * sector
			clear(log[first : first+2*sector])
		}},
	} {
		fs := vfs.NewMem()
		s, err := pebblekv.Open("db", onMemory(fs))
		if err != nil {
			t.Fatal(err)
		}
		set(t, s, "before", "value")
		set(t, s, "torn", string(test.value))
		crashed := vfs.NewMem()
		if _, err := vfs.Clone(fs, crashed, "db", "db"); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		torn := 0
		for name, text := range allFiles(t, crashed, "db/pebble") {
			at := strings.Index(text, string(test.value))
			if !strings.HasSuffix(name, ".log") || at < 0 {
				continue
			}
			torn++
			data := []byte(text)
			test.tear(data, at)
			got, err := contentsWith(t, crashed, name, data)
			if err != nil || got["before"] != "value" || got["torn"] != "" {
				t.Errorf("%s: %d values, %v", what, len(got), err)
			}
		}
		if torn != 1 {
			t.Errorf("%s: found the value in %d logs", what, torn)
		}
	}
}

// chunkOf returns a chunk of a log that says how much of the file had been synced before.
func chunkOf(number uint32, synced uint64) []byte {
	const header = 19
	chunk := append(make([]byte, header), "data"...)
	binary.LittleEndian.PutUint16(chunk[4:], uint16(len(chunk)-header))
	chunk[6] = 9
	binary.LittleEndian.PutUint32(chunk[7:], number)
	binary.LittleEndian.PutUint64(chunk[11:], synced)
	sum := crc32.Checksum(chunk[6:], crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint32(chunk, (sum>>15|sum<<17)+0xa282ead8)
	return chunk
}

func isDamage(err error) bool {
	_, is := errors.AsType[*kv.DamageError](err)
	return is
}

// contentsWith returns the contents of a store, one of whose files has other data.
func contentsWith(t *testing.T, image vfs.FS, name string, data []byte) (map[string]string, error) {
	t.Helper()
	changed := vfs.NewMem()
	if _, err := vfs.Clone(image, changed, "db", "db"); err != nil {
		t.Fatal(err)
	}
	f, err := changed.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := pebblekv.Open("db", onMemory(changed))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	it, err := s.Iter(t.Context(), nil, nil, kv.IterOptions{})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	all := map[string]string{}
	for it.Next() {
		all[string(it.Key())] = string(it.Value())
	}
	return all, it.Err()
}
