package desk_test

import (
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/test/generated/desk"
)

func open(t *testing.T) *desk.DB {
	t.Helper()
	server, err := monotable.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	for _, in := range desk.CreateTables(desk.Config{}) {
		if _, err := server.Client().CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	key := sha256.Sum256([]byte("cursors"))
	db, err := desk.New(server.Client(), desk.Config{CursorKey: key[:]})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// TestEntries: a write that changes the state moves the item from one place in the index to the other, or out of it, and what
// changes a key of the entry that it does not have changes nothing there.
func TestEntries(t *testing.T) {
	ctx, db := t.Context(), open(t)
	expect := func(step string, openA, openB, done int) {
		t.Helper()
		for team, want := range map[string]int{"a": openA, "b": openB} {
			p, err := db.OpenOf(ctx, desk.OpenOfInput{Team: team}, table.PageOptions{})
			if err != nil || len(p.Items) != want {
				t.Errorf("%s: %d open of %s, %v; want %d", step, len(p.Items), team, err, want)
			}
		}
		p, err := db.DoneIn(ctx, desk.DoneInInput{DoneAt: time.Now()}, table.PageOptions{})
		if err != nil || len(p.Items) != done {
			t.Errorf("%s: %d done, %v; want %d", step, len(p.Items), err, done)
		}
	}
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"1", "2"} {
		must(db.Open(ctx, desk.OpenInput{TicketID: id, Team: "a"}))
	}
	expect("opened", 2, 0, 0)
	must(db.Hand(ctx, desk.HandInput{TicketID: "1", Team: "b"}))
	expect("handed", 1, 1, 0)
	must(db.Finish(ctx, desk.FinishInput{TicketID: "1"}))
	expect("finished", 1, 0, 1)
	if _, err := db.Finish(ctx, desk.FinishInput{TicketID: "1"}); !errors.Is(err, desk.ErrNotOpen) {
		t.Errorf("finished twice: %v", err)
	}
	must(db.Hand(ctx, desk.HandInput{TicketID: "1", Team: "a"}))
	expect("handed when done", 1, 0, 1)
	must(db.Mark(ctx, desk.MarkInput{TicketID: "1", To: desk.StateOpen}))
	expect("opened again", 2, 0, 0)
	must(db.Mark(ctx, desk.MarkInput{TicketID: "1", To: desk.StateDone})) // which has been done before
	expect("done again", 1, 0, 1)
	must(db.Mark(ctx, desk.MarkInput{TicketID: "1", To: desk.StateSpam}))
	must(db.Mark(ctx, desk.MarkInput{TicketID: "2", To: desk.StateDone})) // which never was
	expect("in neither", 0, 0, 0)
}

// TestParts: a band has the numbers from its first to its last, what a division leaves spreads keys, and reads gather them.
func TestParts(t *testing.T) {
	ctx, db := t.Context(), open(t)
	for n := range int64(6) {
		if _, err := db.Hire(ctx, desk.HireInput{Number: n}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Reward(ctx, desk.RewardInput{Number: n, More: 99 + n}); err != nil {
			t.Fatal(err)
		}
	}
	for points, want := range map[int64][]int64{0: {0}, 150: {5, 4, 3, 2, 1}, 200: nil} {
		p, err := db.Band(ctx, desk.BandInput{Points: points}, table.PageOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n, err := db.BandSize(ctx, desk.BandSizeInput{Points: points})
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
	one, err := db.AgentByNumber(ctx, desk.AgentByNumberInput{Number: 4})
	if err != nil || one.Points != 103 {
		t.Errorf("agent 4: %v, %v", one, err)
	}
}
