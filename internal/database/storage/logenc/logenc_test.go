package logenc_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
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
		Time:   1_700_000_000_123,
		Origin: logenc.OriginTTL,
		Key:    []byte("key"),
		Old:    itemenc.Encode(nil, attr.Item{{Name: "a", Value: attr.Null()}}),
	}
}

// TestFormat holds the bytes of version 1; they must never change.
func TestFormat(t *testing.T) {
	text, err := os.ReadFile("testdata/format_v1/removal")
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
	if got := logenc.Append(nil, sample()); !bytes.Equal(got, want) {
		t.Errorf("record is\n%swant\n%s", hex.Dump(got), hex.Dump(want))
	}
	got, err := logenc.Decode(want)
	if diff := cmp.Diff(sample(), got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestRoundTrip(t *testing.T) {
	old := itemenc.Encode(nil, attrtest.Item(attrtest.Rand(1)))
	updated := itemenc.Encode(nil, attrtest.Item(attrtest.Rand(2)))
	for name, c := range map[string]logenc.Change{
		"insert":  {Time: 0, Key: []byte("k"), New: updated},
		"update":  {Time: math.MaxInt64, Key: bytes.Repeat([]byte("k"), 3000), Old: old, New: updated},
		"removal": {Time: -1, Origin: logenc.OriginTTL, Key: []byte("k"), Old: old},
		"nothing": {},
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

func TestDecodeRefuses(t *testing.T) {
	record := logenc.Append(nil, sample())
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
	record[0] = logenc.Version + 1
	if _, err := logenc.Decode(record); !errors.Is(err, logenc.ErrVersion) {
		t.Errorf("an unknown version: %v", err)
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
		again, err := logenc.Decode(logenc.Append(nil, c))
		if diff := cmp.Diff(c, again); err != nil || diff != "" {
			t.Fatalf("%x: %v %s", data, err, diff)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	old := itemenc.Encode(nil, attrtest.Item(attrtest.Rand(1)))
	c := logenc.Change{Time: 1, Key: []byte("a key of some length"), Old: old, New: old}
	room := make([]byte, 0, 1<<16)
	b.ReportAllocs()
	for b.Loop() {
		logenc.Append(room, c)
	}
}
