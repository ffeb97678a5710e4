package ways_test

import (
	"crypto/sha256"
	"errors"
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
