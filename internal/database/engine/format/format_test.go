package format

import (
	"errors"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// TestClaim: a store opens in the build that wrote it and in all later ones; once a later one has opened it, earlier
// ones reject it.
func TestClaim(t *testing.T) {
	store := memkv.New()
	for _, step := range []struct {
		version uint64
		want    string
	}{
		{1, ""},
		{1, ""},
		{3, ""},
		{2, "the store has format version 3 and this program knows versions up to 2: " +
			"open it with the program that wrote it, or a newer one"},
		{3, ""},
		{4, ""},
	} {
		err := claim(t.Context(), store, step.version, Unshared)
		if got := message(err); got != step.want {
			t.Errorf("version %d: %q, want %q", step.version, got, step.want)
		}
	}
	key := keyenc.FormatVersion()
	err := store.Update(t.Context(), kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error {
		txn.Set(key, []byte("x"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = "the store's format version is corrupted: 78, want 8 bytes"
	if got := message(claim(t.Context(), store, 4, Unshared)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestClaimShared: a later version is recorded only if no server prevents it; if the version is already recorded, no
// check is made.
func TestClaimShared(t *testing.T) {
	store := memkv.New()
	busy := errors.New("servers are there")
	refuse := func(kv.Txn, uint64) error { return busy }
	if err := claim(t.Context(), store, 3, refuse); err != nil {
		t.Errorf("an empty store: %v", err)
	}
	if err := claim(t.Context(), store, 3, refuse); err != nil {
		t.Errorf("the version that it has: %v", err)
	}
	if err := claim(t.Context(), store, 4, refuse); !errors.Is(err, busy) {
		t.Errorf("a later version while servers run: %v", err)
	}
	if err := claim(t.Context(), store, 3, refuse); err != nil {
		t.Errorf("the version that it has, after a refused claim: %v", err)
	}
	if err := claim(t.Context(), store, 4, Unshared); err != nil {
		t.Errorf("a later version without servers: %v", err)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
