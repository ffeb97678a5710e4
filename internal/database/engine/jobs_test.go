package engine_test

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// failing is a store whose next range deletions fail.
type failing struct {
	kv.Store
	left atomic.Int32
}

func (f *failing) DeleteRange(ctx context.Context, lo, hi []byte) error {
	if f.left.Add(-1) >= 0 {
		return errors.New("the disk has had enough")
	}
	return f.Store.DeleteRange(ctx, lo, hi)
}

// TestJobRetries: a job survives failures of the store.
func TestJobRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &failing{Store: kv.Checked(memkv.New())}
		e := openOn(t, store, engine.Options{})
		defer e.Close()
		createTable(t, e, musicTable("a"))
		if err := putMusic(t.Context(), e, field("pk", "1"), field("a", "x")); err != nil {
			t.Fatal(err)
		}
		store.left.Store(2)
		deleteIndex(t, e, "a")
		advance(1500 * time.Millisecond)
		wantStatus(t, e, "UPDATING a=DELETING")
		advance(time.Second)
		wantStatus(t, e, "ACTIVE")
		wantVerified(t, e)
	})
}

// TestExpiryRunsInBackground: items are removed within the interval after their expiry time, and logs after a day.
func TestExpiryRunsInBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memkv.New()
		e := openOn(t, store, engine.Options{TTLInterval: 10 * time.Second})
		defer e.Close()
		createTable(t, e, streamedTable("KEYS_ONLY"))
		_, err := e.UpdateTimeToLive(t.Context(), &api.UpdateTimeToLiveInput{
			TableName:               new("Music"),
			TimeToLiveSpecification: &api.TimeToLiveSpecification{Enabled: new(true), AttributeName: new("exp")},
		})
		if err != nil {
			t.Fatal(err)
		}
		expires := time.Now().Add(25 * time.Second).Unix()
		err = putMusic(t.Context(), e, field("pk", "1"), attr.Field{Name: "exp", Value: attr.Number(strconv.FormatInt(expires, 10))})
		if err != nil {
			t.Fatal(err)
		}
		advance(24 * time.Second)
		if done := wantVerified(t, e); done.Items != 1 || done.TTLEntries != 1 {
			t.Errorf("before its time: %v", done)
		}
		advance(10 * time.Second)
		if done := wantVerified(t, e); done.Items != 0 || done.TTLEntries != 0 {
			t.Errorf("after its time: %v", done)
		}

		if _, err := e.DeleteTable(t.Context(), &api.DeleteTableInput{TableName: new("Music")}); err != nil {
			t.Fatal(err)
		}
		logged := func() int {
			t.Helper()
			records, _, err := store.ReadLog(t.Context(), 1, 0, 10)
			if err != nil {
				t.Fatal(err)
			}
			return len(records)
		}
		advance(23 * time.Hour)
		if n := logged(); n != 2 {
			t.Errorf("a deleted table's log has %d records within a day, want 2", n)
		}
		advance(2 * time.Hour)
		if n := logged(); n != 0 {
			t.Errorf("a deleted table's log has %d records after a day", n)
		}
	})
}
