package trial

import (
	"slices"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
)

// shop is a small design with everything that writes must maintain.
const shop = `
design: 1
name: Shop
tables:
  Shop: { key: { pk: PK, sk: SK }, type_attr: kind, indexes: { ByState: { pk: SPK, sk: SSK } } }
types: { State: { enum: [open, paid] } }
entities:
  User:
    key: { pk: "U#{user}", sk: U }
    unique: { Mail: { pk: "M#{mail|lower}", sk: M } }
    counters: { orders: Order, open: { sum: Order.total, where: "state = 'open'" } }
    fields: { user: id, mail: email, orders: int, open: money }
  Order:
    key: { pk: "O#{order}", sk: O }
    copies: { byUser: { pk: "U#{user}", sk: "O#{order}", fields: [state, total] } }
    index: { ByState: { pk: "{state}", sk: "{order}", where: "total > 0" } }
    fields: { order: id, user: id, state: State, total: money, note: "text?" }
  Done: { key: { pk: "R#{key}", sk: R }, fields: { key: id, order: id, request: text } }
writes:
  Sign: { do: [{ create: User }] }
  Rename: { do: [{ update: User, set: { mail: ":mail" } }] }
  Place:
    params: { key: id }
    idempotent: { with: Done, request: [total] }
    do: [{ create: Order, set: { state: "'open'" } }]
  Pay: { do: [{ update: Order, set: { state: "'paid'" }, add: { total: "1" }, when: "state = 'open'", else: NotOpen }] }
  Drop: { do: [{ delete: Order }] }
`

func newShop(t *testing.T) *Trial {
	t.Helper()
	d, err := design.Parse("shop.yaml", []byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	run, err := New(d, Options{Seed: 3, Items: 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	})
	return run
}

// entityOf gives a step of a write its own copy of its entity, which a test can break.
func entityOf(run *Trial, write string) *table.Entity {
	s := &run.program.Write(write).Run.Steps[0]
	own := *s.Entity
	s.Entity = &own
	return &own
}

// TestWritesFail breaks one thing in the runtime. The independent model of the writes must find it.
func TestWritesFail(t *testing.T) {
	for _, c := range []struct {
		name, write string
		spoil       func(*Trial)
		want        Kind
	}{
		{"nothing", "", func(*Trial) {}, ""},
		{"the copy is not written", "Place", func(r *Trial) { entityOf(r, "Place").Copies = nil }, Inconsistent},
		{"the copy is not kept", "Pay", func(r *Trial) { entityOf(r, "Pay").Copies = nil }, Inconsistent},
		{"the copy is left behind", "Drop", func(r *Trial) { entityOf(r, "Drop").Copies = nil }, Inconsistent},
		{"the marker is not put", "Sign", func(r *Trial) { entityOf(r, "Sign").Markers = nil }, Inconsistent},
		{"the marker is not moved", "Rename", func(r *Trial) { entityOf(r, "Rename").Markers = nil }, Inconsistent},
		{"nothing is counted", "Place", func(r *Trial) { entityOf(r, "Place").Counts = nil }, Inconsistent},
		{"one counter is not moved", "Pay", func(r *Trial) { e := entityOf(r, "Pay"); e.Counts = e.Counts[:1] }, Inconsistent},
		{"the index keys are not changed", "Pay", func(r *Trial) { entityOf(r, "Pay").Entries = nil }, Inconsistent},
		{"the index holds all", "Place", func(r *Trial) {
			e := entityOf(r, "Place")
			e.Entries = slices.Clone(e.Entries)
			e.Entries[0].Where = nil
		}, Inconsistent},
		{"the condition is not asked", "Pay", func(r *Trial) { r.program.Write("Pay").Run.Steps[0].When = nil }, Failed},
		{"too much is added", "Pay", func(r *Trial) {
			r.program.Write("Pay").Run.Steps[0].Add[0].Value[0].Constant = numberValue("2")
		}, WrongWrite},
		{"another value is set", "Place", func(r *Trial) {
			r.program.Write("Place").Run.Steps[0].Set[0].Value[0].Constant = textValue("paid")
		}, WrongWrite},
		{"the record of a request is somewhere else", "Place", func(r *Trial) {
			own := *r.program.Write("Place").Run.Idempotent.Record
			own.Key = slices.Clone(own.Key)
			own.Key[0].Template = table.Template{{Literal: "R#"}, {Field: "order"}}
			r.program.Write("Place").Run.Idempotent.Record = &own
		}, WrongWrite},
		{"every request is taken for a repetition", "Place", func(r *Trial) { r.program.Write("Place").Run.Idempotent.Request = nil }, WrongWrite},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run := newShop(t)
			c.spoil(run)
			for _, w := range run.design.Writes {
				out, err := run.Try(t.Context(), Subject{WriteSubject, w.Name})
				if err != nil {
					t.Fatal(err)
				}
				kinds := []Kind{}
				for _, f := range out.Failures {
					kinds = append(kinds, f.Kind)
				}
				switch {
				case w.Name != c.write && len(kinds) > 0:
					t.Errorf("%s fails too: %s", w.Name, out.Failures[0].String())
				case w.Name == c.write && !slices.Contains(kinds, c.want):
					t.Errorf("%s fails with %v, want %s", w.Name, kinds, c.want)
				}
			}
		})
	}
}

// TestCapacity tests that a difference between consumed capacity and cost model is a failure, whether of one byte or one unit.
func TestCapacity(t *testing.T) {
	run := newShop(t)
	order := run.program.Write("Drop")
	w, err := newWorld(t.Context(), run.program, run.now, run.records, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	}()
	is, err := w.all(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	home := w.program.Tables[0]
	it := table.Item{home.PK.Name: textValue("O#o-1"), home.SK.Name: textValue("O"), "order": textValue("o-1")}
	was := map[string]table.Item{keyOf(home, it): it}
	seen := traffic{writes: []touch{{w.tables["Shop"], it, false}}}
	g := &writing{trial: run}
	for _, c := range []struct {
		units float64
		fails bool
	}{{1, false}, {2, true}, {0, true}} {
		m := g.consumed(w, order, table.Input{}, table.Call{Attempts: 1, WriteUnits: c.units}, seen, was, is)
		if (m != nil) != c.fails {
			t.Errorf("%g units for an item of some bytes: %+v", c.units, m)
		}
	}
	it["note"] = textValue(string(make([]byte, 1024)))
	if m := g.consumed(w, order, table.Input{}, table.Call{Attempts: 1, WriteUnits: 2}, seen, was, is); m != nil {
		t.Errorf("2 units for an item of more than 1 KB: %+v", m)
	}
	seen.writes = append(seen.writes, seen.writes[0], seen.writes[0], seen.writes[0])
	if m := g.consumed(w, order, table.Input{}, table.Call{Attempts: 1, WriteUnits: 16}, seen, was, is); m == nil {
		t.Error("four items where the plan has an item, a copy and a counter are no failure")
	}
}

// TestNumbersInKeys tests that writes get numbers that fit their keys, so that values rejected by the key do not count as
// defects of the design. A sum can still be too large, and is rejected for that or for a reason in the design.
func TestNumbersInKeys(t *testing.T) {
	d, err := design.Parse("board.yaml", []byte(`
design: 1
name: Board
tables: { Board: { key: { pk: PK, sk: SK }, type_attr: kind, indexes: { ByRating: { pk: RPK, sk: RSK } } } }
entities:
  Player:
    key: { pk: "PLAYER#{player}", sk: PROFILE }
    index: { ByRating: { pk: "LEAGUE#{league}", sk: "{rating|desc(3)}#{player}" } }
    fields: { player: id, league: id, rating: int, balance: int }
writes:
  Join: { params: { start: int }, do: [{ create: Player, set: { rating: ":start" } }] }
  Seed: { params: { start: int, bonus: int }, do: [{ create: Player, set: { rating: ":start + :bonus" } }] }
  Rate: { params: { score: int }, do: [{ update: Player, set: { rating: ":score" }, when: "balance > 9" }] }
  Raise: { params: { score: int, bonus: int }, do: [{ update: Player, set: { rating: ":score + :bonus" } }] }
  RateAll: { lines: { max: 3 }, params: { score: int }, do: [{ each: lines, update: Player, set: { rating: ":line.points" } }] }
`))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(6) {
		run, err := New(d, Options{Seed: seed, Items: 20})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range d.Writes {
			out, err := run.Try(t.Context(), Subject{WriteSubject, w.Name})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range out.Failures {
				t.Errorf("seed %d: %s", seed, f.String())
			}
		}
		for _, in := range run.program.Write("Rate").Inputs {
			if p := run.generator.pool(in.Name, in.Type); in.Name == "score" && len(scalarText(p.at(30))) > 3 {
				t.Errorf("score is drawn as %s, and rating has room for 3 digits", show(p.at(30)))
			}
		}
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestLinesWithOneUniqueValue tests lines that would put one marker twice: they are rejected before the request, not because the
// value is taken.
func TestLinesWithOneUniqueValue(t *testing.T) {
	d, err := design.Parse("squad.yaml", []byte(`
design: 1
name: Squad
tables: { Squad: { key: { pk: PK, sk: SK } } }
entities:
  Player:
    key: { pk: "TEAM#{teamId}", sk: "PLAYER#{playerId}" }
    unique: { Nick: { pk: "NICK#{nick|lower}", sk: NICK } }
    fields: { teamId: id, playerId: id, nick: slug }
writes:
  Add: { lines: { max: 10 }, do: [{ each: lines, create: Player }] }
`))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(8) {
		run, err := New(d, Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		out, err := run.Try(t.Context(), Subject{WriteSubject, "Add"})
		if err != nil || !out.OK() {
			t.Errorf("seed %d: %+v, %v", seed, out, err)
		}
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestExpiringMarkers tests an expiring item with a unique value: the marker expires with it, so it is written with a new expiry,
// and a read through it can leave out what has expired.
func TestExpiringMarkers(t *testing.T) {
	d, err := design.Parse("codes.yaml", []byte(`
design: 1
name: Codes
tables: { Codes: { key: { pk: PK, sk: SK }, ttl_attr: expiresAt } }
entities:
  Code:
    key: { pk: "CODE#{codeId}", sk: CODE }
    unique: { Text: { pk: "TEXT#{text|lower}", sk: TEXT } }
    fields: { codeId: ulid, text: slug, uses: int, expiresAt: ttl }
    ttl: { attr: expiresAt, after: 15m }
reads:
  ByText: { one: Code, via: Text, by: [text], filter: "expiresAt > :now" }
writes:
  Issue: { do: [{ create: Code, set: { uses: 0 } }] }
  Use: { do: [{ update: Code, add: { uses: 1 } }] }
  Extend: { do: [{ update: Code, set: { expiresAt: ":expiresAt" } }] }
`))
	if err != nil {
		t.Fatal(err)
	}
	run, err := New(d, Options{Seed: 1, Items: 40})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = run.Close() }() // nothing in it is needed
	for _, s := range run.Subjects() {
		out, err := run.Try(t.Context(), s)
		if err != nil || !out.OK() {
			t.Errorf("%s: %+v, %v", s.Name, out, err)
		}
	}
}
