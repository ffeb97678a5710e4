package cryptfs_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv/cryptfs"
)

// fixture is an encrypting file system, and the one below.
type fixture struct {
	*cryptfs.FS
	below *vfs.MemFS
	keys  *cryptfs.Keys
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	keys, err := cryptfs.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	below := vfs.NewMem()
	return fixture{cryptfs.New(below, keys), below, keys}
}

func write(t *testing.T, fs vfs.FS, name string, parts ...[]byte) {
	t.Helper()
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if n, err := f.Write(bytes.Clone(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, fs vfs.FS, name string) []byte {
	t.Helper()
	f, err := fs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return data
}

// TestFile tests that written data is read back, sequentially and at any offset, and that sizes are the content's.
func TestFile(t *testing.T) {
	fs := newFixture(t)
	content := bytes.Repeat([]byte("0123456789abcdefghi"), 1000)
	write(t, fs, "f", content[:1], content[1:16], content[16:17], content[17:5000], content[5000:])
	if diff := cmp.Diff(content, read(t, fs, "f")); diff != "" {
		t.Error(diff)
	}
	f, err := fs.Open("f", vfs.RandomReadsOption)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ofName, err := fs.Stat("f")
	if err != nil {
		t.Fatal(err)
	}
	ofFile, err := f.Stat()
	if err != nil || ofFile.Size() != int64(len(content)) || ofName.Size() != ofFile.Size() {
		t.Errorf("%d and %d bytes, want %d: %v", ofFile.Size(), ofName.Size(), len(content), err)
	}
	p := make([]byte, 100)
	if n, err := f.ReadAt(p, int64(len(content)-50)); n != 50 || !errors.Is(err, io.EOF) || !bytes.Equal(p[:n], content[len(content)-50:]) {
		t.Errorf("a read over the end: %d, %v", n, err)
	}
	if n, err := f.ReadAt(p, -1); n != 0 || err == nil {
		t.Errorf("a read before the beginning: %d, %v", n, err)
	}
}

// TestKeyStreamIsNotReused tests that writes that would use one part of a key stream twice are rejected.
func TestKeyStreamIsNotReused(t *testing.T) {
	fs := newFixture(t)
	write(t, fs, "f", []byte("content"))
	if _, err := fs.OpenReadWrite("f", vfs.WriteCategoryUnspecified); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	f, err := fs.Create("g", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("x"), 0); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	opened, err := fs.Open("f")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opened.Write([]byte("x")); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestReuse tests that a reused file gets a new key stream.
func TestReuse(t *testing.T) {
	fs := newFixture(t)
	zeros := make([]byte, 100)
	write(t, fs, "old", zeros)
	old := read(t, fs.below, "old")
	f, err := fs.ReuseForWrite("old", "new", "pebble-wal")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(bytes.Clone(zeros[:50])); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	fresh := read(t, fs.below, "new")
	if bytes.Contains(fresh, old[cryptfs.HeaderBytes:cryptfs.HeaderBytes+16]) || len(fresh) != cryptfs.HeaderBytes+50 {
		t.Error("something of the old file is in the new one")
	}
	if _, err := fs.Stat("old"); err == nil {
		t.Error("the old file still exists")
	}
}

// TestDamage tests that an incomplete header counts as damage, unless there is nothing after it.
func TestDamage(t *testing.T) {
	fs := newFixture(t)
	write(t, fs, "f", []byte("content"))
	whole := read(t, fs.below, "f")
	other := newFixture(t)
	write(t, other, "f", []byte("content"))
	changed := func(at int) []byte {
		data := bytes.Clone(whole)
		data[at] ^= 1
		return data
	}
	for name, c := range map[string]struct {
		data []byte
		want string // "": the file is empty
	}{
		"nothing":                     {nil, ""},
		"part of a header":            {whole[:100], ""},
		"a header":                    {whole[:cryptfs.HeaderBytes], ""},
		"a header of zeros":           {make([]byte, cryptfs.HeaderBytes), ""},
		"a bad header without more":   {changed(20)[:cryptfs.HeaderBytes], ""},
		"short, and not encrypted":    {[]byte("[Version]"), "not encrypted"},
		"zeros":                       {make([]byte, cryptfs.HeaderBytes+1), "not encrypted"},
		"what is not encrypted":       {bytes.Repeat([]byte("x"), 10_000), "not encrypted"},
		"another directory's":         {read(t, other.below, "f"), "data key that is not in the key file"},
		"a change of the first byte":  {changed(0), "not encrypted"},
		"a change of the key's id":    {changed(8), "data key that is not in the key file"},
		"a change of the nonce":       {changed(16), "header is corrupt"},
		"a change of the check value": {changed(63), "header is corrupt"},
	} {
		write(t, fs.below, "g", c.data)
		f, err := fs.Open("g")
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			n, err := f.ReadAt(make([]byte, 1), 0)
			all, readErr := io.ReadAll(f)
			if n != 0 || !errors.Is(err, io.EOF) || len(all) != 0 || readErr != nil {
				t.Errorf("%s: %d, %v; %q, %v", name, n, err, all, readErr)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, pebble.ErrCorruption) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

// TestKnownCiphertexts tests that any part of a key stream equals the one that crypto/cipher makes from the beginning, with the
// key from HKDF.
func TestKnownCiphertexts(t *testing.T) {
	dataKey, nonce := bytes.Repeat([]byte{7}, 32), bytes.Repeat([]byte{9}, 32)
	derived, err := hkdf.Key(sha256.New, dataKey, nonce, "monotable file", 32+16)
	if err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(derived[:32])
	if err != nil {
		t.Fatal(err)
	}
	whole := make([]byte, 1<<16)
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(whole, whole)
	for offset := range int64(100) {
		for _, at := range []int64{offset, 4096 - 50 + offset, 1<<16 - 100 + offset} {
			part := make([]byte, min(70, 1<<16-at))
			if err := cryptfs.XORFrom(dataKey, nonce, part, at); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(part, whole[at:at+int64(len(part))]) {
				t.Fatalf("the key stream at %d is another", at)
			}
		}
	}
	// At distant offsets the counter is the AES of the block's number.
	for _, n := range []uint64{1<<28 - 1, 1 << 28, 1<<32 - 1, 1 << 32, 1<<59 - 1} {
		var number, want [16]byte
		for i := range 8 {
			number[15-i] = byte(n >> (8 * i))
		}
		block.Encrypt(want[:], number[:])
		var got [16]byte
		if err := cryptfs.XORFrom(dataKey, nonce, got[:], int64(n*16)); err != nil || got != want {
			t.Errorf("block %d: %x, want %x: %v", n, got, want, err)
		}
	}
}

// TestKeyFile tests that the keys are only read with the right master key, and that a damaged file is distinguished from a
// wrong key.
func TestKeyFile(t *testing.T) {
	fs := newFixture(t)
	write(t, fs, "first", []byte("content"))
	keys, err := fs.keys.WithNew()
	if err != nil {
		t.Fatal(err)
	}
	master, other := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	text, err := keys.Seal(master)
	if err != nil {
		t.Fatal(err)
	}
	again, err := cryptfs.OpenKeys(text, master)
	if err != nil {
		t.Fatal(err)
	}
	second := cryptfs.New(fs.below, again)
	write(t, second, "second", []byte("more"))
	if got := read(t, second, "first"); string(got) != "content" {
		t.Errorf("%q", got)
	}
	if _, err := fs.Open("second"); err == nil {
		t.Error("a file is not encrypted with the new key")
	}
	if _, err := cryptfs.OpenKeys(text, other); !errors.Is(err, cryptfs.ErrWrongKey) {
		t.Errorf("another master key: %v", err)
	}
	for at := range len(text) - 1 {
		changed := []byte(text)
		changed[at] ^= 2
		if _, err := cryptfs.OpenKeys(string(changed), master); err == nil || errors.Is(err, cryptfs.ErrWrongKey) {
			t.Fatalf("with byte %d changed: %v", at, err)
		}
		if _, err := cryptfs.OpenKeys(text[:at], master); err == nil || errors.Is(err, cryptfs.ErrWrongKey) {
			t.Fatalf("cut at %d: %v", at, err)
		}
	}
}

// FuzzReads: reads at random offsets are of what was written in random parts.
func FuzzReads(f *testing.F) {
	f.Add(uint64(1), []byte("content"), int64(2), 3)
	f.Add(uint64(2), bytes.Repeat([]byte("0123456789"), 1000), int64(4090), 4096)
	f.Fuzz(func(t *testing.T, seed uint64, content []byte, offset int64, length int) {
		fs, random := newFixture(t), rand.New(rand.NewPCG(seed, 0))
		var parts [][]byte
		for rest := content; len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			parts, rest = append(parts, rest[:n]), rest[n:]
		}
		write(t, fs, "f", parts...)
		file, err := fs.Open("f")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		p := make([]byte, max(0, min(length, 1<<16)))
		n, err := file.ReadAt(p, offset)
		if offset < 0 {
			if err == nil {
				t.Error("a negative offset is no error")
			}
			return
		}
		want := content[min(offset, int64(len(content))):]
		want = want[:min(len(want), len(p))]
		if !bytes.Equal(p[:n], want) {
			t.Errorf("%d bytes at %d are %q, want %q", n, offset, p[:n], want)
		}
		if n < len(p) && !errors.Is(err, io.EOF) {
			t.Errorf("a short read: %v", err)
		}
		if got := read(t, fs, "f"); !bytes.Equal(got, content) {
			t.Errorf("in a row: %q, want %q", got, content)
		}
	})
}
