package table

import (
	"errors"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
)

// TestRefusals tests that each failed condition returns the error that the design declares for the item's state, whether
// the item was read first or the request failed; nothing is written.
func TestRefusals(t *testing.T) {
	errOpen, errOther, errNone := errors.New("still open"), errors.New("something else"), errors.New("no such thing")
	paid := cond("#status = :paid", Item{":paid": AText("paid")})
	declared := []Else{{Err: errOpen, When: cond("#status = :open", Item{":open": AText("open")})}, {Err: errOther}}
	absentOnly := []Else{{Err: errOther, When: cond("attribute_exists(#status)", nil)}, {Err: errNone, When: cond("attribute_not_exists(#status)", nil)}}
	street := []Assignment{assign("street", constantly(AText("there")))} // nothing depends on it
	city := []Assignment{assign("city", constantly(AText("Lima")))}      // the order is read for it
	there, gone := Values{"orderId": AText("o1")}, Values{"orderId": AText("none")}
	for name, c := range map[string]struct {
		step func(s *store) Step
		in   Values
		want error
	}{
		"an update without the item": {func(s *store) Step { return Step{Action: Update, Entity: s.order, Set: street} }, gone, ErrNotFound},
		"an update with a condition, without the item": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.order, Set: street, When: paid, Else: declared}
			}, gone, ErrNotFound,
		},
		"an update without condition, with an error for the absence": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.order, Set: street, Else: []Else{{Err: errNone}}}
			}, gone, errNone,
		},
		"an update, the first error that holds": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.order, Set: street, When: paid, Else: declared}
			}, there, errOpen,
		},
		"an update, the error that holds always": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.order, Set: street, When: paid, Else: declared[1:]}
			}, there, errOther,
		},
		"an update without declared errors": {
			func(s *store) Step { return Step{Action: Update, Entity: s.order, Set: street, When: paid} }, there, ErrRefused,
		},
		"an update that reads, without the item": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.order, Set: city, When: paid, Else: declared}
			}, gone, ErrNotFound,
		},
		"an update that reads": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.order, Set: city, When: paid, Else: declared}
			}, there, errOpen,
		},
		"an upsert of an item that is not so": {
			func(s *store) Step {
				return Step{
					Action: Upsert, Entity: s.product, Add: []Assignment{assign("stock", constantly(ANumber("1")))},
					When: cond("attribute_not_exists(#productId) OR #stock > :much", Item{":much": ANumber("99")}), Else: []Else{{Err: errOther}},
				}
			}, Omit(s0().aProduct("p1", 0), "stock"), errOther,
		},
		"a creation of what is there": {func(s *store) Step { return Step{Action: Create, Entity: s.order} }, s0().anOrder("o1", "c1", 7), errOrderIs},
		"a creation with an error of its own": {
			func(s *store) Step { return Step{Action: Create, Entity: s.order, Else: []Else{{Err: errNone}}} }, s0().anOrder("o1", "c1", 7), errNone,
		},
		"a put of an item that is not so": {
			func(s *store) Step {
				return Step{Action: Put, Entity: s.product, When: cond("#stock > :much", Item{":much": ANumber("99")}), Else: []Else{{Err: errOther}}}
			}, s0().aProduct("p1", 0), errOther,
		},
		"a deletion with a condition, without the item": {
			func(s *store) Step { return Step{Action: Delete, Entity: s.order, When: paid, Else: absentOnly} }, gone, errNone,
		},
		"a deletion with a condition that no error is for": {
			func(s *store) Step { return Step{Action: Delete, Entity: s.order, When: paid, Else: absentOnly[:1]} }, gone, ErrNotFound,
		},
		"a deletion of an item that is not so": {
			func(s *store) Step { return Step{Action: Delete, Entity: s.order, When: paid, Else: absentOnly} }, there, errOther,
		},
		"a check without the item": {func(s *store) Step { return Step{Action: Check, Entity: s.order, When: paid, Else: absentOnly} }, gone, errNone},
		"a check of an item that is not so": {
			func(s *store) Step { return Step{Action: Check, Entity: s.order, When: paid, Else: absentOnly} }, there, errOther,
		},
		"a marker that is taken": {
			func(s *store) Step { return Step{Action: Create, Entity: s.customer} },
			Omit(Extend(s0().aCustomer("c9", "r1"), "email", "C1@example.com"), "orders", "spent"), errEmailTaken,
		},
		"a marker that is taken by a change": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.customer, Set: []Assignment{assign("email", constantly(AText("C2@example.com")))}}
			}, Values{"customerId": AText("c1")}, errEmailTaken,
		},
		"a counter that is not there": {func(s *store) Step { return Step{Action: Create, Entity: s.order} }, s0().anOrder("o2", "nobody", 7), errNoCustomer},
	} {
		t.Run(name, func(t *testing.T) {
			s, records := stocked(t)
			// A step before it that succeeds does not fail because of its own item.
			first := Step{Action: Update, Entity: s.product, By: []Assignment{assign("productId", constantly(AText("p2")))}, Add: []Assignment{assign("stock", constantly(ANumber("1")))}}
			s.load(s.product, s.aProduct("p2", 1))
			records = append(records, record{s.product, s.aProduct("p2", 1)})
			for at, steps := range [][]Step{{c.step(s)}, {first, c.step(s)}} {
				_, err := s.db.Write(t.Context(), &Write{Pattern: "Do", Steps: steps}, Input{Values: c.in})
				refusal := wantRefusal(t, err, at, -1, c.want)
				if (refusal.Old == nil) != (schema.SameValue(c.in["orderId"], AText("none")) || errors.Is(c.want, errNoCustomer)) {
					t.Errorf("the item that refused is %v", schema.Attributes(refusal.Old))
				}
				s.wantTable("the refusal", records...)
			}
		})
	}
}

// TestFirstFailureIsReported tests that the first of several failures in the order of steps and lines is reported, even if a later
// item was read and would fail.
func TestFirstFailureIsReported(t *testing.T) {
	s, records := stocked(t)
	take := Step{
		Action: Update, Entity: s.product, Each: true, Add: []Assignment{assign("stock", minus(ofLine("pieces")))}, When: cond("#stock >= :line_pieces", nil),
		Else: []Else{{Err: errOutOfStock}},
	}
	read := Step{Action: Update, Entity: s.customer, By: []Assignment{assign("customerId", constantly(AText("none")))}, Set: []Assignment{assign("tier", constantly(AText("gold")))}}
	w := &Write{Pattern: "Do", Lines: true, Steps: []Step{take, read}, LineParams: []Param{{Name: "pieces", Type: Type{Kind: schema.KindInt}}}}
	_, err := s.db.Write(t.Context(), w, Input{Lines: []Values{{"productId": AText("p1"), "pieces": ANumber("1")}, {"productId": AText("p2"), "pieces": ANumber("9")}}})
	_ = wantRefusal(t, err, 0, 1, errNoProduct)
	_, err = s.db.Write(t.Context(), w, Input{Lines: []Values{{"productId": AText("p1"), "pieces": ANumber("5")}, {"productId": AText("p2"), "pieces": ANumber("9")}}})
	if refusal := wantRefusal(t, err, 0, 0, errOutOfStock); !schema.SameValue(refusal.Old["stock"], ANumber("4")) || err.Error() != "Do, line 1: out of stock" {
		t.Errorf("%v, for %v", err, schema.Attributes(refusal.Old))
	}
	_, err = s.db.Write(t.Context(), w, Input{Lines: []Values{{"productId": AText("p1"), "pieces": ANumber("1")}}})
	_ = wantRefusal(t, err, 1, -1, errNoCustomer)
	s.wantTable("the refusals", records...)

	// If the first item was read, a request that is certain to fail is not sent.
	l := &listening{Client: s.client}
	_, err = s.open(l).Write(t.Context(), &Write{Pattern: "Do", Steps: []Step{read, {Action: Delete, Entity: s.product}}}, Input{Values: Values{"productId": AText("p1")}})
	_ = wantRefusal(t, err, 0, -1, errNoCustomer)
	if !slices.Equal(l.requests, []string{"Get"}) {
		t.Errorf("the requests are %v; want a read", l.requests)
	}
	s.wantTable("the refusal of what was read", records...)
}

// TestRequestFaults tests that an invalid request returns DynamoDB's own error.
func TestRequestFaults(t *testing.T) {
	s, records := stocked(t)
	odd := []Assignment{assign("total", theField("city"), constantly(ANumber("1")))} // a number from an absent field
	for _, steps := range [][]Step{
		{{Action: Update, Entity: s.product, Set: []Assignment{assign("price", theField("nothing"))}}},
		{{Action: Update, Entity: s.order, Set: odd}},
		{{Action: Update, Entity: s.product, Set: []Assignment{assign("stock", theField("name"), constantly(ANumber("1")))}}},
	} {
		_, err := s.db.Write(t.Context(), &Write{Pattern: "Do", Steps: steps}, Input{Values: Values{"orderId": AText("o1"), "productId": AText("p1")}})
		if _, refused := errors.AsType[*Refusal](err); err == nil || refused || errors.Is(err, ErrConflict) {
			t.Errorf("%v: %v; want a fault", steps[0].Set, err)
		}
	}
	_, err := s.db.Write(t.Context(), &Write{Pattern: "Do", Steps: []Step{{Action: Delete, Entity: &Entity{
		Name: "Elsewhere", Table: &Table{Name: "Elsewhere", Physical: "elsewhere", PK: s.table.PK}, Fields: s.product.Fields, Key: s.product.Key[:1],
	}}}}, Input{Values: Values{"productId": AText("p1")}})
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok {
		t.Errorf("a missing table: %v", err)
	}
	s.wantTable("the faults", records...)
}
