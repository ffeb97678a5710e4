package logenc_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/attr/attrtest"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

func sample() logenc.Change {
	return logenc.Change{
		Origin:  logenc.OriginTTL,
		Existed: true,
		Key:     []byte("key"),
		Old:     itemenc.Encode(nil, attr.Item{{Name: "a", Value: attr.Null()}}),
	}
}

// golden reads the bytes of a record from a commented file.
func golden(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var digits strings.Builder
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	want, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	return want
}

// TestFormat holds the bytes of all versions; they must never change.
func TestFormat(t *testing.T) {
	keysOnly := logenc.Change{Existed: true, Exists: true, Key: []byte("key")}
	version1 := sample()
	version1.Time = 1_700_000_000_123
	replica := keysOnly
	replica.Origin, replica.Version = logenc.OriginReplica, 123456
	for name, c := range map[string]logenc.Change{
		"v1/removal": version1, "v2/removal": sample(), "v2/keys_only": keysOnly, "v2/replica": replica,
	} {
		want := golden(t, "testdata/format_"+name)
		if got := logenc.Append(nil, c); strings.HasPrefix(name, "v2") && !bytes.Equal(got, want) {
			t.Errorf("%s: record is\n%swant\n%s", name, hex.Dump(got), hex.Dump(want))
		}
		got, err := logenc.Decode(want)
		if diff := cmp.Diff(c, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	old := itemenc.Encode(nil, attrtest.Item(attrtest.Rand(1)))
	updated := itemenc.Encode(nil, attrtest.Item(attrtest.Rand(2)))
	for name, c := range map[string]logenc.Change{
		"insert":               {Exists: true, Key: []byte("k"), New: updated},
		"update":               {Existed: true, Exists: true, Key: bytes.Repeat([]byte("k"), 3000), Old: old, New: updated},
		"removal":              {Origin: logenc.OriginTTL, Existed: true, Key: []byte("k"), Old: old},
		"update with old only": {Existed: true, Exists: true, Key: []byte("k"), Old: old},
		"insert without image": {Exists: true, Key: []byte("k")},
		"nothing":              {},
		"version":              {Exists: true, Version: 1, Key: []byte("k")},
	} {
		got, err := logenc.Decode(logenc.Append(nil, c))
		if diff := cmp.Diff(c, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
		after := logenc.Append([]byte("before"), c)
		if !bytes.HasPrefix(after, []byte("before")) || !bytes.Equal(after[6:], logenc.Append(nil, c)) {
			t.Errorf("%s: appended to something it is another", name)
		}
		if allocs := testing.AllocsPerRun(10, func() { logenc.Append(nil, c) }); allocs > 1 && !attrtest.Race {
			t.Errorf("%s: Append allocates %v times", name, allocs)
		}
	}
}

func TestDecodeRejects(t *testing.T) {
	for _, version := range []string{"v1", "v2"} {
		record := golden(t, "testdata/format_"+version+"/removal")
		refuseDamaged(t, record)
	}
	record := logenc.Append(nil, sample())
	record[1] &^= 2 // the old image of an item that did not exist
	if _, err := logenc.Decode(record); !errors.Is(err, logenc.ErrCorrupt) {
		t.Errorf("an image of an absent item: %v", err)
	}
	record[0] = logenc.Version + 1
	if _, err := logenc.Decode(record); !errors.Is(err, logenc.ErrVersion) {
		t.Errorf("an unknown version: %v", err)
	}
}

func refuseDamaged(t *testing.T, record []byte) {
	t.Helper()
	for n := range record {
		if _, err := logenc.Decode(record[:n]); !errors.Is(err, logenc.ErrCorrupt) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
	}
	if _, err := logenc.Decode(append(record, 0)); !errors.Is(err, logenc.ErrCorrupt) {
		t.Errorf("a byte more: %v", err)
	}
	record[1] = 200
	if _, err := logenc.Decode(record); !errors.Is(err, logenc.ErrCorrupt) {
		t.Errorf("an unknown origin: %v", err)
	}
}

// FuzzDecode reads any bytes; what it accepts comes back from Append.
func FuzzDecode(f *testing.F) {
	f.Add(logenc.Append(nil, sample()))
	f.Add(logenc.Append(nil, logenc.Change{}))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := logenc.Decode(data)
		if err != nil {
			return
		}
		c.Time = 0 // only version 1 has it
		again, err := logenc.Decode(logenc.Append(nil, c))
		if diff := cmp.Diff(c, again); err != nil || diff != "" {
			t.Fatalf("%x: %v %s", data, err, diff)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	old := itemenc.Encode(nil, attrtest.Item(attrtest.Rand(1)))
	c := logenc.Change{Key: []byte("a key of some length"), Old: old, New: old}
	room := make([]byte, 0, 1<<16)
	b.ReportAllocs()
	for b.Loop() {
		logenc.Append(room, c)
	}
}
