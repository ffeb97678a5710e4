package keyenc_test

import (
	"errors"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// TestHashOf reads from a key the hash of the partition key that it was made of.
func TestHashOf(t *testing.T) {
	pk, sk := attr.String("a partition"), attr.Number("7")
	want := keyenc.PartitionHash([]attr.Value{pk})
	for name, key := range map[string][]byte{
		"item":        keyenc.Item(nil, 3, pk, sk),
		"index entry": keyenc.IndexEntry(nil, 3, 1, []attr.Value{pk}, []attr.Value{sk}, attr.String("other"), sk),
	} {
		if got, err := keyenc.HashOf(key); err != nil || got != want {
			t.Errorf("%s: %x, %v; want %x", name, got, err, want)
		}
	}
	for name, key := range map[string][]byte{
		"nothing": nil, "a table's version": keyenc.TableVersion(3), "cut off": keyenc.Item(nil, 3, pk, sk)[:8],
	} {
		if _, err := keyenc.HashOf(key); !errors.Is(err, keyenc.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
