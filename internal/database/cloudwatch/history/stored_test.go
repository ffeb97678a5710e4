package history

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStoredForm pins the form that a minute's metrics are stored in: they are read for 15 hours, also by a later release.
func TestStoredForm(t *testing.T) {
	measured := map[Series]Sample{
		{Name: "UserErrors"}: {Count: 2, Sum: 3},
		{Name: "SuccessfulRequestLatency", Table: "t", Index: "i", Operation: "Query", Stream: "s", Receiver: "r"}: {
			Count: 1, Sum: 0.1, Low: 0.5, High: 1e6, Ranged: true, Buckets: []uint64{0, 1, 300},
		},
	}
	text, err := os.ReadFile("testdata/format_v1/minute")
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
	got, err := encode(measured)
	if err != nil || string(got) != string(want) {
		t.Errorf("%v: the record is\n%swant\n%s", err, hex.Dump(got), hex.Dump(want))
	}
	points, err := decode(want)
	read := map[Series]Sample{}
	for _, p := range points {
		read[p.Series] = p.Sample
	}
	if diff := cmp.Diff(measured, read); err != nil || diff != "" {
		t.Errorf("%v: read as (-want +got):\n%s", err, diff)
	}
}

// FuzzRecord reads any bytes: what is accepted is written and read again as the same.
func FuzzRecord(f *testing.F) {
	f.Add([]byte{0x80})
	seed, err := encode(map[Series]Sample{{Name: "a", Table: "t"}: {Count: 1, Buckets: []uint64{1}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		points, err := decode(data)
		if err != nil || len(data) == 0 {
			return
		}
		all := merged(data, map[Series]Sample{})
		if len(all) > len(points) {
			t.Fatalf("%x: %d series of %d measurements", data, len(all), len(points))
		}
		record, err := encode(all)
		if err != nil {
			t.Fatalf("%x: %v", data, err)
		}
		if again, err := encode(merged(record, map[Series]Sample{})); err != nil || len(all) <= seriesMax && string(again) != string(record) {
			t.Fatalf("%x is written as %x, and that as %x, %v", data, record, again, err)
		}
	})
}
