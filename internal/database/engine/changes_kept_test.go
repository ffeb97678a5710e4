package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

const third = `{"pk":{"S":"a"}}: {"pk":{"S":"a"},"v":{"S":"2"}} -> {"pk":{"S":"a"},"v":{"S":"3"}}`

// newFollowed opens an engine whose clock is set by hand, with the table Music.
func newFollowed(t *testing.T) (*engine.Engine, *clock) {
	t.Helper()
	c := new(clock)
	c.set(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	e := openOn(t, memkv.New(), engine.Options{Now: c.now, TTLInterval: -1, StreamShardRotation: -1})
	createTable(t, e, musicTable())
	return e, c
}

// TestChangesSurviveClockJump changes the table's definition right after the clock has jumped beyond the time for which
// the log was to be kept, as it does when a laptop wakes up: the follower still hears of every write.
func TestChangesSurviveClockJump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, c := newFollowed(t)
		defer e.Close()
		f := follow(e.Changes(t.Context(), "Music", engine.ChangesNow))
		music(t, e, "a", "1")
		f.want(t, first)
		c.set(c.now().Add(48 * time.Hour))
		send(t, e, "update-table", `{"TableName":"Music","DeletionProtectionEnabled":true}`)
		music(t, e, "a", "2")
		if err := e.TrimLogs(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.set(c.now().Add(time.Second))
		music(t, e, "a", "3")
		f.want(t, second, third)
	})
}

// TestChangesReportUnloggedWrites begins to iterate after the log was not kept for some time: a position before that
// time is trimmed, and ChangesKept begins after it.
func TestChangesReportUnloggedWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, c := newFollowed(t)
		defer e.Close()
		now := e.Changes(t.Context(), "Music", engine.ChangesNow)
		kept := e.Changes(t.Context(), "Music", engine.ChangesKept)
		ctx, cancel := context.WithCancel(t.Context())
		before := follow(e.Changes(ctx, "Music", engine.ChangesNow))
		music(t, e, "a", "1")
		before.want(t, first)
		after := before.last
		cancel()
		before.wantEnd(t, context.Canceled)

		c.set(c.now().Add(48 * time.Hour))
		// Without a follower, this change ends the keeping of the log. Nothing has been trimmed.
		send(t, e, "update-table", `{"TableName":"Music","DeletionProtectionEnabled":true}`)
		music(t, e, "a", "2")
		fromKept := follow(kept) // the log keeps changes again
		music(t, e, "a", "3")
		fromKept.want(t, third)
		follow(now).wantEnd(t, engine.ErrChangesTrimmed)
		follow(e.Changes(t.Context(), "Music", after)).wantEnd(t, engine.ErrChangesTrimmed)
	})
}

// TestChangesReportUnloggedWritesOfDeletedTable: once the table was removed, nothing says whether its log was kept until
// then, so a position is trimmed as soon as it may not have been.
func TestChangesReportUnloggedWritesOfDeletedTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, c := newFollowed(t)
		defer e.Close()
		changes := e.Changes(t.Context(), "Music", engine.ChangesNow)
		c.set(c.now().Add(48 * time.Hour))
		if err := e.TrimLogs(t.Context()); err != nil { // without a follower, this ends the keeping of the log
			t.Fatal(err)
		}
		music(t, e, "a", "1")
		send(t, e, "delete-table", `{"TableName":"Music"}`)
		follow(changes).wantEnd(t, engine.ErrChangesTrimmed)
	})
}

// TestChangesResumeWithinADay stops following long after the log was first followed, and resumes almost
// catalog.FollowedFor later.
func TestChangesResumeWithinADay(t *testing.T) {
	for _, followed := range []time.Duration{time.Minute, 11 * time.Hour, 23*time.Hour + 57*time.Minute, 60 * time.Hour} {
		t.Run(followed.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := openOn(t, memkv.New(), engine.Options{TTLInterval: -1})
				defer e.Close()
				createTable(t, e, musicTable())
				ctx, cancel := context.WithCancel(t.Context())
				f := follow(e.Changes(ctx, "Music", engine.ChangesNow))
				advance(followed)
				music(t, e, "a", "1")
				f.want(t, first)
				cancel()
				f.wantEnd(t, context.Canceled)
				advance(catalog.FollowedFor - time.Minute)
				music(t, e, "a", "2")
				follow(e.Changes(t.Context(), "Music", f.last)).want(t, second)
			})
		})
	}
}
