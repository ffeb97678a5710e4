package cluster_test

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/cluster"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// slow is a store in which an update that takes the leader's lease is slow to commit.
type slow struct {
	kv.Store
	during func()
}

func (s slow) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	return s.Store.Update(ctx, in, func(txn kv.Txn) error {
		err := fn(txn)
		if len(in.Write) > 0 && bytes.Equal(in.Write[0], keyenc.Leader()) {
			s.during()
		}
		return err
	})
}

// TestSuspendedServerKeepsRenewedLease tests that a server that was suspended for hours and renews its lease while another one starts to lead keeps
// the lease.
func TestSuspendedServerKeepsRenewedLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memkv.New()
		one := join(t, store)
		defer one.Stop()
		one.paused.Store(true)
		<-time.After(2 * time.Hour)
		two := join(t, slow{store, func() {
			one.paused.Store(false)
			<-time.After(300 * time.Millisecond)
		}})
		defer two.Stop()
		n, err := cluster.Serving(t.Context(), timedStore{store})
		if err != nil || !one.Current() || !two.Current() || n != 2 {
			t.Errorf("%d leases, %v; both serve: %v, %v", n, err, one.Current(), two.Current())
		}
		// So Await does not wait for the first one.
		before := one.reads.Load()
		change(t, two)
		if err := two.Await(t.Context()); err != nil {
			t.Fatal(err)
		}
		if one.Current() && one.reads.Load() == before {
			t.Error("a change was acknowledged before a current server knew it")
		}
	})
}
