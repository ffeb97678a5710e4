package table

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
)

// note is a companion: it puts a separate product.
func (s *store) note(db *DB, id string) *Op[Outcome] {
	return op(db, &Write{Pattern: "Note", Steps: []Step{{Action: Put, Entity: s.product}}}, Input{Values: s.aProduct(id, 1)})
}

// noted reports whether a companion was written.
func (s *store) noted(id string) bool { return s.item("PRODUCT#"+id, "PRODUCT") != nil }

// TestWithCompanion tests that a companion is part of the write's transaction, and that the write returns the same as alone.
func TestWithCompanion(t *testing.T) {
	product := Values{"productId": AText("p1")}
	order := Values{"orderId": AText("o1")}
	for name, c := range map[string]struct {
		step func(s *store) Step
		in   Values
		want string
	}{
		"a create": {func(s *store) Step { return Step{Action: Create, Entity: s.product} }, s0().aProduct("p9", 3), "Transact(2)"},
		"a put":    {func(s *store) Step { return Step{Action: Put, Entity: s.product} }, s0().aProduct("p1", 3), "Transact(2)"},
		"a delete": {func(s *store) Step { return Step{Action: Delete, Entity: s.product} }, product, "Transact(2)"},
		"a delete of no item": {
			func(s *store) Step { return Step{Action: Delete, Entity: s.product} },
			Values{"productId": AText("p9")},
			"Transact(2)",
		},
		"an update of one field": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.product, Set: []Assignment{assign("price", constantly(ANumber("7")))}}
			},
			product, "Get>Transact(2)",
		},
		"a sum": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.product, Add: []Assignment{assign("stock", constantly(ANumber("-3")))}}
			},
			product, "Get>Transact(2)",
		},
		"an item that is read anyway": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.product, Set: []Assignment{assign("name", constantly(AText("Té")))}}
			},
			product, "Get>Transact(2)",
		},
		"an upsert of all fields": {
			func(s *store) Step {
				return Step{Action: Upsert, Entity: s.product, Set: []Assignment{
					assign("name", given("name")), assign("price", given("price")), assign("stock", given("stock")), assign("active", given("active")),
				}}
			},
			s0().aProduct("p1", 9), "Transact(2)",
		},
		"an upsert that makes an item": {
			func(s *store) Step {
				return Step{
					Action: Upsert, Entity: s.product, Add: []Assignment{assign("stock", given("stock"))},
					Set: []Assignment{assign("name", given("name")), assign("price", given("price")), assign("active", given("active"))},
				}
			},
			s0().aProduct("p9", 9), "Get>Transact(2)",
		},
		"several items": {func(s *store) Step { return Step{Action: Delete, Entity: s.order} }, order, "Get>Get>Get>Transact(6)"},
	} {
		t.Run(name, func(t *testing.T) {
			alone, _ := stocked(t)
			step := c.step(alone)
			want := alone.write(&Write{Pattern: "Do", Steps: []Step{step}}, Input{Values: c.in})
			s, _ := stocked(t)
			l := &listening{Client: s.client}
			db := s.open(l)
			ctx, companion := WithCompanion(t.Context(), s.note(db, "note"))
			got, err := db.Write(ctx, &Write{Pattern: "Do", Steps: []Step{c.step(s)}}, Input{Values: c.in})
			if err != nil {
				t.Fatal(err)
			}
			if requests := strings.Join(l.requests, ">"); requests != c.want {
				t.Errorf("the requests are %s; want %s", requests, c.want)
			}
			if !SameItem(Item(got.Items[0][0]), Item(want.Items[0][0])) {
				t.Errorf("it returns %v; alone %v", schema.Attributes(Item(got.Items[0][0])), schema.Attributes(Item(want.Items[0][0])))
			}
			if !companion.Done() || !s.noted("note") {
				t.Errorf("the companion is done: %v; in the table: %v", companion.Done(), s.noted("note"))
			}
			alone.load(alone.product, alone.aProduct("note", 1))
			if !sameTable(s.all(), alone.all()) {
				t.Error("the table differs from the results of the write and its companion")
			}
			if _, err := db.Write(ctx, &Write{Pattern: "Second", Steps: []Step{{Action: Delete, Entity: s.cart}}}, Input{Values: Values{"customerId": AText("c1"), "productId": AText("p1")}}); !errors.Is(err, ErrAccompanied) {
				t.Errorf("a second write: %v", err)
			}
		})
	}
}

// TestWithCompanionRefused tests that a failed or repeated write does not write its companion, and the next write does.
func TestWithCompanionRefused(t *testing.T) {
	s, _ := stocked(t)
	sell := &Write{Pattern: "Sell", Steps: []Step{{
		Action: Update, Entity: s.product, Add: []Assignment{assign("stock", constantly(ANumber("-9")))}, When: cond("#stock >= :n", Item{":n": ANumber("9")}),
		Else: []Else{{Err: errOutOfStock}},
	}}}
	ctx, companion := WithCompanion(t.Context(), s.note(s.db, "note"))
	_, err := s.db.Write(ctx, sell, Input{Values: Values{"productId": AText("p1")}})
	_ = wantRefusal(t, err, 0, -1, errOutOfStock)
	_, err = s.db.Write(ctx, sell, Input{Values: Values{"productId": AText("none")}})
	_ = wantRefusal(t, err, 0, -1, errNoProduct)
	s.write(s.payment(), aPayment("k1", "12"))
	if out, err := s.db.Write(ctx, s.payment(), aPayment("k1", "12")); err != nil || !out.Replayed {
		t.Errorf("a repetition: %+v, %v", out, err)
	}
	if companion.Done() || s.noted("note") {
		t.Fatal("the companion of a refused write and of a repetition was written")
	}
	if out, err := s.db.Write(ctx, s.payment(), aPayment("k2", "12")); err != nil || out.Replayed || !companion.Done() || !s.noted("note") {
		t.Errorf("a first request: %+v, %v; the companion is done: %v", out, err, companion.Done())
	}
	// The repetition has a different companion, but it is still the same request.
	again, other := WithCompanion(t.Context(), s.note(s.db, "other"))
	if out, err := s.db.Write(again, s.payment(), aPayment("k2", "12")); err != nil || !out.Replayed || other.Done() || s.noted("other") {
		t.Errorf("a repetition with another companion: %+v, %v, done %v", out, err, other.Done())
	}
	s.wantTable("the writes", counted(s.primaries())...)
}

// TestWithCompanionTx tests that a Tx takes a companion along, too.
func TestWithCompanionTx(t *testing.T) {
	s, _ := stocked(t)
	l := &listening{Client: s.client}
	db := s.open(l)
	ctx, companion := WithCompanion(t.Context(), s.note(db, "note"))
	first := op(db, &Write{Pattern: "A", Steps: []Step{{Action: Create, Entity: s.product}}}, Input{Values: s.aProduct("p8", 1)})
	second := op(db, &Write{Pattern: "B", Steps: []Step{{Action: Create, Entity: s.product}}}, Input{Values: s.aProduct("p9", 1)})
	if err := db.Tx(ctx, first, second); err != nil || !companion.Done() || strings.Join(l.requests, ">") != "Transact(3)" {
		t.Errorf("%v, done %v, after %v", err, companion.Done(), l.requests)
	}
}

// TestWithCompanionRefuses tests that writes that cannot share a transaction with a companion fail before any request.
func TestWithCompanionRefuses(t *testing.T) {
	s, _ := stocked(t)
	l := &listening{Client: s.client}
	db := s.open(l)
	create := &Write{Pattern: "Create", Steps: []Step{{Action: Create, Entity: s.product}}}
	for name, c := range map[string]struct {
		companion *Op[Outcome]
		write     *Write
		in        Input
	}{
		"another DB":    {s.note(s.db, "note"), create, Input{Values: s.aProduct("p9", 1)}},
		"the same item": {s.note(db, "p9"), create, Input{Values: s.aProduct("p9", 1)}},
		"a batch": {
			s.note(db, "note"), &Write{Pattern: "Import", Lines: true, Batch: true, Steps: []Step{{Action: Put, Each: true, Entity: s.product}}},
			Input{Lines: []Values{s.aProduct("p9", 1)}},
		},
		"an idempotent companion": {op(db, s.payment(), aPayment("k", "1")), create, Input{Values: s.aProduct("p9", 1)}},
	} {
		ctx, companion := WithCompanion(t.Context(), c.companion)
		if _, err := db.Write(ctx, c.write, c.in); err == nil || companion.Done() || len(l.requests) > 0 || s.noted("p9") {
			t.Errorf("%s: %v, done %v, after %v", name, err, companion.Done(), l.requests)
		}
	}
}

// TestWithCompanionConcurrently tests that exactly one of many concurrent writes with one context succeeds, with the companion.
func TestWithCompanionConcurrently(t *testing.T) {
	s, _ := stocked(t)
	ctx, companion := WithCompanion(t.Context(), s.note(s.db, "note"))
	var created, late atomic.Int64
	atOnce(8, func(i int) {
		_, err := s.db.Write(ctx, &Write{Pattern: "Create", Steps: []Step{{Action: Create, Entity: s.product}}}, Input{Values: s.aProduct("n"+string(rune('a'+i)), 1)})
		switch {
		case err == nil:
			created.Add(1)
		case errors.Is(err, ErrAccompanied):
			late.Add(1)
		default:
			t.Error(err)
		}
	})
	if created.Load() != 1 || late.Load() != 7 || !companion.Done() || !s.noted("note") {
		t.Errorf("%d writes were made, %d were late, done %v", created.Load(), late.Load(), companion.Done())
	}
}
