package pebblekv_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// TestStoredForm pins the keys and values of change logs and of the store's own records; they must never change.
func TestStoredForm(t *testing.T) {
	s, err := pebblekv.Open("/data", pebblekv.Options{FS: vfs.NewMem(), MemTableBytes: 1 << 20, CacheBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, record := range []string{"first", "second"} {
		err := s.Update(t.Context(), kv.Intent{Write: [][]byte{[]byte("k")}}, func(txn kv.Txn) error {
			txn.Set([]byte("k"), []byte("v"))
			txn.AppendLog(0x01020304, []byte(record))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.TrimLog(t.Context(), 0x01020304, 1); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, pair := range s.OwnPairs(t) {
		got = append(got, fmt.Sprintf("%q: %q", pair[0], pair[1]))
	}
	want := []string{
		`"\xf0\x01\x02\x03\x04\x00\x00\x00\x00\x00\x00\x00\x02": "second"`,
		`"\xf1sequence": "\x00\x00\x00\x00\x0f\xa0\x00\x02"`,
		`"\xf1trimmed\x01\x02\x03\x04": "\x00\x00\x00\x00\x00\x00\x00\x01"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}
