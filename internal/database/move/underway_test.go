package move_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/engine/transfer"
	"github.com/monotable/monotable/internal/database/move"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// slowFollower takes a time for each round.
type slowFollower struct {
	move.Follower
	round int
	takes func(round int) time.Duration
}

func (f *slowFollower) Cut() (kv.Snapshot, kv.Changes, error) {
	f.round++
	<-time.After(f.takes(f.round))
	return f.Follower.Cut()
}

// TestLiveWaitsForImport: a move that has waited for an import may take long to copy its last items, and does not take the rounds
// of the wait for ones that should have become shorter.
func TestLiveWaitsForImport(t *testing.T) {
	fs, today := disk(t), time.Now()
	synctest.Test(t, func(t *testing.T) {
		<-time.After(time.Until(today))
		from, to := open(t, fs, "/source"), open(t, fs, "/target")
		defer closeStore(t, from)
		defer closeStore(t, to)
		imported := &transfer.Record{Kind: transfer.Import, ID: "1", Table: "films", Status: transfer.InProgress}
		save := func() {
			if err := from.Update(t.Context(), kv.Intent{Write: [][]byte{imported.Key()}}, imported.Save); err != nil {
				t.Fatal(err)
			}
		}
		save()
		var left atomic.Bool
		o := liveOptions(t, from, nil, &left)
		follow, over := o.Follow, 10
		takes := func(round int) time.Duration {
			switch {
			case round < over:
				return 100 * time.Millisecond
			case round > over:
				return 0
			}
			imported.Status, imported.Ended = transfer.Completed, time.Now().UnixMilli()
			save()
			return 3 * time.Second
		}
		o.Follow = func() (move.Follower, error) {
			f, err := follow()
			return &slowFollower{f, 0, takes}, err
		}
		if _, err := move.RunLive(t.Context(), from, to, o); err != nil || !left.Load() {
			t.Errorf("left: %v, %v", left.Load(), err)
		}
	})
}
