package engine_test

import (
	"encoding/binary"
	"testing"

	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// TestNewerFormat opens a store that a newer program wrote.
func TestNewerFormat(t *testing.T) {
	store := memkv.New()
	damaged{t, store}.set(keyenc.FormatVersion(), binary.BigEndian.AppendUint64(nil, 6))
	_, err := engine.Open(t.Context(), kept{store}, engine.Options{})
	want := "the store has format version 6 and this program knows versions up to 5: open it with the program that " +
		"wrote it, or a newer one"
	if err == nil || err.Error() != want {
		t.Errorf("Open: %v", err)
	}
	if _, err := verify.Run(t.Context(), store, nil, verify.Options{}); err == nil || err.Error() != want {
		t.Errorf("Verify: %v", err)
	}

	store = memkv.New()
	damaged{t, store}.set(keyenc.TableDescriptor("Music"), []byte(`{"format":5,"name":"Music"}`))
	_, err = engine.Open(t.Context(), kept{store}, engine.Options{})
	want = `table "Music" is stored in format 5 and this program knows formats up to 4: open it with the program ` +
		"that wrote it, or a newer one"
	if err == nil || err.Error() != want {
		t.Errorf("Open: %v", err)
	}
}
