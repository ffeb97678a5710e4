package pebblekv_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv/crashfs"
)

// allFiles returns the content of every file in a directory, by path.
func allFiles(t *testing.T, fs vfs.FS, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path := fs.PathJoin(dir, name)
		info, err := fs.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			maps.Copy(all, allFiles(t, fs, path))
			continue
		}
		f, err := fs.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		all[path] = string(data)
	}
	return all
}

func onMemory(fs vfs.FS) pebblekv.Options {
	return pebblekv.Options{FS: fs, MemTableBytes: 256 << 10, Logger: slog.New(slog.DiscardHandler)}
}

const secret = "a secret that no file may show"

// fillSecrets writes in every possible way.
func fillSecrets(t *testing.T, s *pebblekv.Store) {
	t.Helper()
	for i := range 300 {
		set(t, s, fmt.Sprintf("key %s %d", secret, i), secret+strings.Repeat(" "+secret, 40))
	}
	err := s.Load(t.Context(), func(put func(key, value []byte) error) error {
		return put([]byte("loaded "+secret), []byte(secret))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	set(t, s, "in the log", secret)
	keep(t, s, "kept")
	set(t, s, "in the log, too", secret)
}

// TestNothingIsReadable: no file of the store, its kept snapshots or its backups contains written data in readable form; without
// encryption they do.
func TestNothingIsReadable(t *testing.T) {
	for _, encrypted := range []bool{false, true} {
		fs := vfs.NewMem()
		o := onMemory(fs)
		if encrypted {
			o = encrypting(o).WithLargeUpdates(1000)
		}
		s, err := pebblekv.Open("/db", o)
		if err != nil {
			t.Fatal(err)
		}
		if s.Encrypted() != encrypted {
			t.Errorf("encrypted is %v", s.Encrypted())
		}
		fillSecrets(t, s)
		live := allFiles(t, fs, "/db")
		if err := errors.Join(s.Backup(t.Context(), "/backup", nil), s.Close(), pebblekv.Copy(t.Context(), fs, "/backup", "/copy", nil)); err != nil {
			t.Fatal(err)
		}
		shown := map[string]bool{}
		for _, files := range []map[string]string{live, allFiles(t, fs, "/")} {
			for path, data := range files {
				// Pebble compresses tables, so only part of a text may be left.
				if strings.Contains(data, secret) || strings.Contains(data, "no file may show") || strings.Contains(data, "leveldb.BytewiseComparator") {
					shown[path[strings.LastIndexAny(path, ".-/"):]] = true
				}
				bare := strings.HasSuffix(path, "/FORMAT") || strings.HasSuffix(path, "/KEYS") || strings.HasSuffix(path, "/LOCK")
				if encrypted && !bare && !strings.HasPrefix(data, "monoctr1") {
					t.Errorf("%s is not encrypted: %.20q", path, data)
				}
			}
		}
		if encrypted && len(shown) > 0 || !encrypted && (!shown[".sst"] || !shown[".log"]) {
			t.Errorf("encrypted %v: readable in files %v", encrypted, shown)
		}
	}
}

// TestMasterKey: an encrypted store only opens with its master key, and a failed attempt changes nothing.
func TestMasterKey(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, "/db", encrypting(onMemory(fs)))
	fillSecrets(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := fs.MkdirAll("/db/making/backup", 0o700); err != nil { // left unfinished
		t.Fatal(err)
	}
	writeFile(t, fs, "/db/making/backup/FORMAT", "")
	before := allFiles(t, fs, "/db")
	next := bytes.Repeat([]byte{8}, 32)
	refuse := func(dir string, change func(*pebblekv.Options), is error, want string) {
		t.Helper()
		o := onMemory(fs)
		change(&o)
		s, err := pebblekv.Open(dir, o)
		if err == nil {
			t.Errorf("opened; want %q", want)
			_ = s.Close()
			return
		}
		if !strings.Contains(err.Error(), want) || is != nil && !errors.Is(err, is) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	refuse("/db", func(*pebblekv.Options) {}, pebblekv.ErrMasterKey, "pass its master key (--master-key, Options.MasterKey)")
	refuse("/db", func(o *pebblekv.Options) { o.Encrypt = true }, pebblekv.ErrMasterKey, "pass its master key (--master-key, Options.MasterKey)")
	refuse("/db", func(o *pebblekv.Options) { o.MasterKey = next }, pebblekv.ErrMasterKey, "another master key than the one given")
	refuse("/db", func(o *pebblekv.Options) { o.MasterKey, o.PreviousMasterKey = next, bytes.Repeat([]byte{9}, 32) }, pebblekv.ErrMasterKey, "another master key")
	after := allFiles(t, fs, "/db")
	for path, data := range before {
		if after[path] != data {
			t.Errorf("%s has changed", path)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files are %d", len(before), len(after))
	}
	refuse("/new", func(o *pebblekv.Options) { o.Encrypt = true }, nil, "an encrypted directory needs a master key")

	// Without its key file the directory is not considered unencrypted, and a corrupt key file is reported as such.
	keys := after["/db/KEYS"]
	if err := fs.Remove("/db/KEYS"); err != nil {
		t.Fatal(err)
	}
	right := func(o *pebblekv.Options) { o.MasterKey = master }
	refuse("/db", right, nil, "its file KEYS is missing: restore it from a backup")
	writeFile(t, fs, "/db/KEYS", strings.Replace(keys, keys[40:44], "AAAA", 1))
	refuse("/db", right, nil, "it is corrupt: restore it from a backup")
	writeFile(t, fs, "/db/KEYS", keys)
	o := onMemory(fs)
	right(&o)
	s = open(t, "/db", o)
	expect(t, s, "in the log, too", secret)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	// A new master key only changes the key file, and the old one no longer opens anything.
	before = allFiles(t, fs, "/db")
	o.MasterKey, o.PreviousMasterKey = next, master
	s = open(t, "/db", o)
	expect(t, s, "loaded "+secret, secret)
	set(t, s, "later", secret)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	after = allFiles(t, fs, "/db")
	if before["/db/KEYS"] == after["/db/KEYS"] {
		t.Error("KEYS has not changed")
	}
	for path, data := range before {
		if strings.HasSuffix(path, ".sst") && after[path] != "" && after[path] != data {
			t.Errorf("%s has changed", path)
		}
	}
	refuse("/db", right, pebblekv.ErrMasterKey, "another master key")
	o.PreviousMasterKey = nil
	s = open(t, "/db", o)
	expect(t, s, "later", secret)
	expectKept(t, s, "kept", "in the log", secret)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRecrypt: a copy may be encrypted although its source is not, and vice versa, and with new keys.
func TestRecrypt(t *testing.T) {
	fs := vfs.NewMem()
	s, err := pebblekv.Open("/plain", onMemory(fs))
	if err != nil {
		t.Fatal(err)
	}
	fillSecrets(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = pebblekv.Open("/plain", encrypting(onMemory(fs)))
	if err == nil || !strings.Contains(err.Error(), "monotable restore /plain NEW --encrypt") {
		t.Errorf("a directory that is not encrypted, with Encrypt: %v", err)
	}
	from := "/plain"
	for i, encrypt := range []bool{true, true, false} {
		to := fmt.Sprintf("/copy%d", i)
		m := &meter{t: t}
		if err := pebblekv.Recrypt(t.Context(), fs, from, to, master, encrypt, m.progress); err != nil {
			t.Fatal(err)
		}
		m.end()
		o := onMemory(fs)
		if encrypt {
			o.MasterKey = master
		}
		s, err := pebblekv.Open(to, o)
		if err != nil {
			t.Fatal(err)
		}
		if s.Encrypted() != encrypt {
			t.Errorf("the copy %d: encrypted is %v", i, s.Encrypted())
		}
		expect(t, s, "in the log, too", secret)
		expect(t, s, "loaded "+secret, secret)
		expectKept(t, s, "kept", "in the log", secret)
		set(t, s, "k", "v")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		from = to
	}
	if err := pebblekv.Recrypt(t.Context(), fs, "/copy0", "/wrong", bytes.Repeat([]byte{1}, 32), false, nil); err == nil {
		t.Error("another master key opens the source")
	}
	if _, err := fs.Stat("/wrong"); err == nil {
		t.Error("a rejected operation has left files")
	}
}

// TestDamagedFile: a changed bit in any table is detected when it is read.
func TestDamagedFile(t *testing.T) {
	fs := vfs.NewMem()
	s, err := pebblekv.Open("/db", encrypting(onMemory(fs)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		set(t, s, fmt.Sprint("k", i), strings.Repeat(secret, 10))
	}
	if err := errors.Join(s.Compact(t.Context(), nil, nil), s.Close()); err != nil {
		t.Fatal(err)
	}
	for path, data := range allFiles(t, fs, "/db/pebble") {
		if !strings.HasSuffix(path, ".sst") {
			continue
		}
		for _, at := range []int{20, 4096, 4096 + 100} { // the header's nonce, the first block, within it
			changed := []byte(data)
			changed[at] ^= 4
			writeFile(t, fs, path, string(changed))
			s, err := pebblekv.Open("/db", encrypting(onMemory(fs)))
			if err != nil {
				continue // noticed early
			}
			if _, err := s.Get(t.Context(), []byte("k0")); err == nil {
				t.Errorf("%s: byte %d was changed without an error", path, at)
			}
			if err := s.Close(); err != nil {
				t.Log(err)
			}
		}
		writeFile(t, fs, path, data)
	}
}

func writeFile(t *testing.T, fs vfs.FS, path, text string) {
	t.Helper()
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write([]byte(text))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, s kv.Store, key, want string) {
	t.Helper()
	if v, err := s.Get(t.Context(), []byte(key)); string(v) != want || err != nil {
		t.Errorf("%s is %q, want %q: %v", key, v, want, err)
	}
}

// TestMasterKeyChangeSurvivesPowerFailure: a power failure at any moment of the first start, of a start with a new master key, or of one after it,
// leaves a directory that the same start can open, and no other key.
func TestMasterKeyChangeSurvivesPowerFailure(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	next := bytes.Repeat([]byte{8}, 32)
	start := func(t *testing.T, d memoryDisk) {
		t.Helper()
		s, err := pebblekv.Open("/srv/db", d.storeOptions())
		if err != nil {
			t.Fatal(err)
		}
		set(t, s, "k", secret)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	first := memoryDisk{encrypting(pebblekv.Options{}), crashfs.New()}
	rotated := first
	rotated.options.MasterKey, rotated.options.PreviousMasterKey = next, master
	started := false // the store exists and has a value
	for _, step := range []struct {
		name string
		disk memoryDisk
		keys [][]byte // under which the directory may be encrypted
	}{
		{"first start", first, [][]byte{master}},
		{"new master key", rotated, [][]byte{master, next}},
		{"start after it", rotated, [][]byte{next}},
	} {
		for i, crashed := range step.disk.crashDuring(seed, func() { start(t, step.disk) }) {
			opens := 0
			for _, key := range [][]byte{master, next, bytes.Repeat([]byte{9}, 32)} {
				again := crashed.crash(rand.New(rand.NewPCG(seed, 1)))
				again.options.MasterKey, again.options.PreviousMasterKey = key, nil
				s, err := pebblekv.Open("/srv/db", again.storeOptions())
				may := slices.ContainsFunc(step.keys, func(k []byte) bool { return bytes.Equal(k, key) })
				switch {
				case err == nil:
					opens++
					if started {
						expect(t, s, "k", secret)
					}
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				case !errors.Is(err, pebblekv.ErrMasterKey):
					t.Errorf("%s, cut %d: %v", step.name, i, err)
				}
				if started && err == nil && !may {
					t.Errorf("%s, cut %d: it opens under another master key", step.name, i)
				}
			}
			if started && opens != 1 {
				t.Errorf("%s, cut %d: %d master keys open it, want 1", step.name, i, opens)
			}
			start(t, crashed)
		}
		started = true
	}
}
