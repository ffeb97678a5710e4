package engine_test

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// TestStoredValues pins the small binary values that the engine stores besides items and records; they must never change.
func TestStoredValues(t *testing.T) {
	store := memkv.New()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	e := openOn(t, store, engine.Options{Now: func() time.Time { return at }, TTLInterval: -1, StreamShardRotation: -1})
	defer e.Close()
	send(t, e, "create-table", accountsTable)
	send(t, e, "transact-write-items", `{"ClientRequestToken":"once","TransactItems":[{"Put":{"TableName":"Accounts","Item":{"id":{"S":"a"}}}}]}`)
	if err := e.SetDelivered(t.Context(), &engine.Delivery{ID: 1}, 0x0102030405); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		lo, hi []byte
		want   string
	}{
		// The window, a slash, the token: the time and the fingerprint of the request.
		{"token", keyenc.Token(""), keyenc.PrefixEnd(keyenc.Token("")), "6b 303030303030326461373538 2f 6f6e6365:" +
			"000001a1f8d3ea00 1b1ea1f477418025f037eb11b1cf64ce69554ee1e920a007b0082773d54da43b"},
		{"delivery", keyenc.Delivery(1), keyenc.Delivery(2), "636b00000001: 0000000102030405"},
	} {
		if got := pairs(t, store, c.lo, c.hi); got != strings.ReplaceAll(c.want, " ", "") {
			t.Errorf("%s is %s, want %s", c.name, got, c.want)
		}
	}
	if got := hex.EncodeToString(engine.PositionValue(0x0102030405)); got != "0000000102030405" {
		t.Errorf("a position is %s", got)
	}
	if got := hex.EncodeToString(engine.ItemVersionValue(0x0102030405, "eu-west-1")); got != "000000010203040565752d776573742d31" {
		t.Errorf("the version of an item is %s", got)
	}
}

// pairs prints the keys and values of a range.
func pairs(t *testing.T, store kv.Store, lo, hi []byte) string {
	t.Helper()
	it, err := store.Iter(t.Context(), lo, hi, kv.IterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	var all []string
	for it.Next() {
		all = append(all, hex.EncodeToString(it.Key())+":"+hex.EncodeToString(it.Value()))
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}
