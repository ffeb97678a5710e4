package patterns_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/test/generated/patterns"
)

// TestPeriod tests that a read of one partition counts its items, and that one of several continues from page to page and from
// partition to partition, past an empty one.
func TestPeriod(t *testing.T) {
	ctx := t.Context()
	db, _ := open(t)
	first := time.Date(2024, 2, 27, 12, 0, 0, 0, time.UTC)
	for i := range 10 { // two a day, and none on the third day
		at := first.Add(time.Duration(i) * 12 * time.Hour)
		if at.Day() == 29 {
			continue
		}
		_, err := db.Tell(ctx, patterns.TellInput{Source: "a", At: at, Text: "x"})
		must(t, err)
	}
	n, err := db.HowManyOfDay(ctx, patterns.HowManyOfDayInput{Source: "a", At: first.Add(20 * time.Hour)})
	if err != nil || n != 2 {
		t.Errorf("on the second day there are %d, %v; want 2", n, err)
	}
	from, to := first.Add(time.Hour), first.Add(100*time.Hour)
	in := patterns.EventsBetweenInput{Source: "a", AtFrom: &from, AtTo: &to}
	var got []time.Time
	for page, next := 0, table.Cursor(""); page == 0 || next != ""; page++ {
		p, err := db.EventsBetween(ctx, in, table.PageOptions{Limit: 2, After: next})
		must(t, err)
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
}

// TestKeys tests that keys without an item have no result, and that a scan finds only the items of its entity.
func TestKeys(t *testing.T) {
	ctx := t.Context()
	db, _ := open(t)
	putLamp(t, db)
	_, err := db.Visit(ctx, patterns.VisitInput{Visitor: "a"})
	must(t, err)
	visitor := patterns.Visitor{Visitor: "a", Visits: 1, Seen: begin}
	found, err := db.Visitors(ctx, []patterns.VisitorsInput{{Visitor: "b"}, {Visitor: "a"}})
	must(t, err)
	same(t, "the visitors", found, []*patterns.Visitor{nil, &visitor})
	_, err = db.Visitors(ctx, make([]patterns.VisitorsInput, 251))
	fails(t, "more keys than it takes", err, table.ErrLines)
	all, err := db.AllVisitors(ctx, table.PageOptions{})
	must(t, err)
	same(t, "all visitors", all, table.Page[patterns.Visitor]{Items: []patterns.Visitor{visitor}})
}

// TestLatest walks back from now, past weeks without an item, to the floor: a page passes at most ten days, the next one
// continues from there, and items added while a list is read do not disturb it.
func TestLatest(t *testing.T) {
	ctx := t.Context()
	now := time.Date(2025, 1, 20, 18, 0, 0, 0, time.UTC)
	requests := 0
	db, _ := open(t, func(c *patterns.Config) {
		c.Clock, c.Observe = func() time.Time { return now }, func(_ context.Context, c table.Call) { requests = c.Requests }
	})
	notify := func(at time.Time) {
		t.Helper()
		_, err := db.Tell(ctx, patterns.TellInput{Source: "a", At: at, Text: "x"})
		must(t, err)
	}
	floor := time.Date(2024, 11, 1, 0, 0, 0, 0, time.UTC)
	var want []time.Time
	for _, at := range []time.Time{now, now.Add(-time.Hour), now.AddDate(0, 0, -1), now.AddDate(0, 0, -25), now.AddDate(0, 0, -60), floor.Add(time.Hour), floor} {
		notify(at)
		want = append(want, at)
	}
	notify(floor.Add(-time.Millisecond)) // before the floor
	notify(now.Add(time.Minute))         // in the future
	for _, limit := range []int{0, 1, 2} {
		var got []time.Time
		pages, empty := 0, 0
		for next := table.Cursor(""); pages == 0 || next != ""; pages++ {
			p, err := db.LatestEvents(ctx, patterns.LatestEventsInput{Source: "a"}, table.PageOptions{Limit: limit, After: next})
			must(t, err)
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
	for e, err := range db.LatestEventsAll(ctx, patterns.LatestEventsInput{Source: "a"}) {
		must(t, err)
		all = append(all, e.At)
	}
	if !slices.EqualFunc(all, want, time.Time.Equal) {
		t.Errorf("all are %v; want %v", all, want)
	}
	from, to := now.AddDate(0, 0, -40), now.AddDate(0, 0, -1)
	page, err := db.LatestEvents(ctx, patterns.LatestEventsInput{Source: "a", AtFrom: &from, AtTo: &to}, table.PageOptions{})
	if err != nil || len(page.Items) != 1 || page.Next == "" {
		t.Errorf("between bounds there are %v, %v", page, err)
	}
	if _, err := db.LatestEvents(ctx, patterns.LatestEventsInput{Source: "a"}, table.PageOptions{After: page.Next}); !errors.Is(err, table.ErrCursor) {
		t.Errorf("the cursor of other bounds: %v", err)
	}
	early := floor.AddDate(-1, 0, 0)
	page, err = db.LatestEvents(ctx, patterns.LatestEventsInput{Source: "a", AtTo: &early}, table.PageOptions{})
	if err != nil || len(page.Items) != 0 || page.Next != "" {
		t.Errorf("before the floor there are %v, %v", page, err)
	}
	page, err = db.LatestEvents(ctx, patterns.LatestEventsInput{Source: "a", AtFrom: &early, AtTo: &floor}, table.PageOptions{})
	if err != nil || len(page.Items) != 1 || page.Next != "" {
		t.Errorf("up to the floor there are %v, %v", page, err)
	}
}

// TestParts tests that a band contains the numbers from its first to its last, that mod spreads keys, and that reads merge
// them.
func TestParts(t *testing.T) {
	ctx := t.Context()
	db, _ := open(t)
	for n := range int64(6) {
		_, err := db.Hire(ctx, patterns.HireInput{Number: n})
		must(t, err)
		_, err = db.Reward(ctx, patterns.RewardInput{Number: n, More: 99 + n})
		must(t, err)
	}
	for points, want := range map[int64][]int64{90: {0}, 105: {5, 4, 3, 2, 1}, 110: nil} {
		p, err := db.Band(ctx, patterns.BandInput{Points: points}, table.PageOptions{})
		must(t, err)
		n, err := db.BandSize(ctx, patterns.BandSizeInput{Points: points})
		if err != nil || n != len(want) || len(p.Items) != len(want) {
			t.Errorf("in the band of %d there are %v and %d, %v; want %v", points, p.Items, n, err, want)
			continue
		}
		for i, a := range p.Items {
			if a.Number != want[i] {
				t.Errorf("in the band of %d, %d is %d; want %d", points, i, a.Number, want[i])
			}
		}
	}
	all, err := db.AllAgents(ctx, table.PageOptions{})
	if err != nil || len(all.Items) != 6 || all.Items[5].Number != 5 {
		t.Errorf("all agents: %v, %v", all.Items, err)
	}
	one, err := db.AgentByNumber(ctx, patterns.AgentByNumberInput{Number: 4})
	if err != nil || one.Points != 103 {
		t.Errorf("agent 4: %v, %v", one, err)
	}
}
