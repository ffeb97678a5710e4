package ways_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/test/generated/ways"
)

// TestWays calls each generated method: pages go on from day to day, and keys without an item have no answer.
func TestWays(t *testing.T) {
	ctx := t.Context()
	server, err := monotable.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	key := sha256.Sum256([]byte("cursors"))
	for _, in := range ways.CreateTables(ways.Config{}) {
		if _, err := server.Client().CreateTable(ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	db, err := ways.New(server.Client(), ways.Config{CursorKey: key[:]})
	if err != nil {
		t.Fatal(err)
	}
	first := time.Date(2024, 2, 27, 12, 0, 0, 0, time.UTC)
	for i := range 10 { // two a day, and none on the third day
		at := first.Add(time.Duration(i) * 12 * time.Hour)
		if at.Day() == 29 {
			continue
		}
		if _, err := db.Tell(ctx, ways.TellInput{Source: "a", At: at, Text: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	n, err := db.HowManyOfDay(ctx, ways.HowManyOfDayInput{Source: "a", At: first.Add(20 * time.Hour)})
	if err != nil || n != 2 {
		t.Errorf("on the second day there are %d, %v; want 2", n, err)
	}
	from, to := first.Add(time.Hour), first.Add(100*time.Hour)
	in := ways.EventsBetweenInput{Source: "a", AtFrom: &from, AtTo: &to}
	var got []time.Time
	for page, next := 0, table.Cursor(""); page == 0 || next != ""; page++ {
		p, err := db.EventsBetween(ctx, in, table.PageOptions{Limit: 2, After: next})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range p.Items {
			got = append(got, e.At)
		}
		next = p.Next
	}
	if len(got) != 6 || got[0].Day() != 28 || got[2].Day() != 1 {
		t.Errorf("between the bounds there are %v", got)
	}
	to = from.AddDate(0, 2, 0)
	var value *table.ValueError
	if _, err := db.EventsBetween(ctx, in, table.PageOptions{}); !errors.As(err, &value) {
		t.Errorf("two months: %v", err)
	}
	found, err := db.Sources(ctx, []ways.SourcesInput{{Source: "a"}, {Source: "b"}})
	if err != nil || len(found) != 2 || found[0] != nil {
		t.Errorf("sources: %v, %v", found, err)
	}
	if _, err := db.Sources(ctx, make([]ways.SourcesInput, 251)); !errors.Is(err, table.ErrLines) {
		t.Errorf("more keys than it takes: %v", err)
	}
	all, err := db.AllSources(ctx, table.PageOptions{})
	if err != nil || len(all.Items) != 0 || all.Next != "" {
		t.Errorf("all sources: %v, %v", all, err)
	}
}

// TestLatest walks back from now, past months without an item, to the floor: a page passes ten days at most, the next one goes on from
// there, and what is told while a list is read does not disturb it.
func TestLatest(t *testing.T) {
	ctx := t.Context()
	server, err := monotable.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	for _, in := range ways.CreateTables(ways.Config{}) {
		if _, err := server.Client().CreateTable(ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Date(2024, 5, 20, 18, 0, 0, 0, time.UTC)
	key := sha256.Sum256([]byte("cursors"))
	requests := 0
	db, err := ways.New(server.Client(), ways.Config{
		CursorKey: key[:], Clock: func() time.Time { return now }, Observe: func(_ context.Context, c table.Call) { requests = c.Requests },
	})
	if err != nil {
		t.Fatal(err)
	}
	tell := func(at time.Time) {
		t.Helper()
		if _, err := db.Tell(ctx, ways.TellInput{Source: "a", At: at, Text: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	floor := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	var want []time.Time
	for _, at := range []time.Time{now, now.Add(-time.Hour), now.AddDate(0, 0, -1), now.AddDate(0, 0, -25), now.AddDate(0, -3, 0), floor.Add(time.Hour), floor} {
		tell(at)
		want = append(want, at)
	}
	tell(floor.Add(-time.Millisecond)) // before the floor
	tell(now.Add(time.Minute))         // and not yet
	for _, limit := range []int{0, 1, 2} {
		var got []time.Time
		pages, empty := 0, 0
		for next := table.Cursor(""); pages == 0 || next != ""; pages++ {
			p, err := db.LatestEvents(ctx, ways.LatestEventsInput{Source: "a"}, table.PageOptions{Limit: limit, After: next})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range p.Items {
				got = append(got, e.At)
			}
			if len(p.Items) == 0 {
				empty++
			}
			if requests > 10+len(p.Items) {
				t.Errorf("a page takes %d requests", requests)
			}
			if len(p.Next) > 200 {
				t.Errorf("a cursor has %d bytes", len(p.Next))
			}
			next = p.Next
			now = now.Add(time.Second)
		}
		if !slices.EqualFunc(got, want, time.Time.Equal) || empty < 5 || pages > 25 {
			t.Errorf("limit %d: %d pages, %d empty: %v; want %v", limit, pages, empty, got, want)
		}
		now = now.Add(-time.Duration(pages) * time.Second)
	}
	var all []time.Time
	for e, err := range db.LatestEventsAll(ctx, ways.LatestEventsInput{Source: "a"}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.At)
	}
	if !slices.EqualFunc(all, want, time.Time.Equal) {
		t.Errorf("all are %v; want %v", all, want)
	}
	from, to := now.AddDate(0, 0, -40), now.AddDate(0, 0, -1)
	page, err := db.LatestEvents(ctx, ways.LatestEventsInput{Source: "a", AtFrom: &from, AtTo: &to}, table.PageOptions{})
	if err != nil || len(page.Items) != 1 || page.Next == "" {
		t.Errorf("between bounds there are %v, %v", page, err)
	}
	if _, err := db.LatestEvents(ctx, ways.LatestEventsInput{Source: "a"}, table.PageOptions{After: page.Next}); !errors.Is(err, table.ErrCursor) {
		t.Errorf("the cursor of other bounds: %v", err)
	}
	early := floor.AddDate(-1, 0, 0)
	page, err = db.LatestEvents(ctx, ways.LatestEventsInput{Source: "a", AtTo: &early}, table.PageOptions{})
	if err != nil || len(page.Items) != 0 || page.Next != "" {
		t.Errorf("before the floor there are %v, %v", page, err)
	}
}
