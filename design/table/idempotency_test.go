package table

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
)

// payment creates an order once per request key.
func (s *store) payment() *Write {
	return &Write{
		Pattern: "Pay", Params: []Param{{Name: "requestKey", Type: Type{Kind: schema.KindID}}},
		Idempotent: &Idempotent{Record: s.requests, Request: []string{"total", "note"}, Reused: errRequestReused},
		Steps: []Step{{Action: Create, Entity: s.order, Set: []Assignment{
			assign("orderId", Term{Kind: NewIDTerm}), assign("status", constantly(AText("open"))), assign("createdAt", Term{Kind: NowTerm}), assign("street", constantly(AText("here"))),
		}}},
	}
}

func aPayment(key, total string) Input {
	return Input{Values: Values{"requestKey": AText(key), "customerId": AText("c1"), "total": ANumber(total)}}
}

// orders is the number of orders.
func (s *store) orders() int {
	n := 0
	for _, r := range s.primaries() {
		if r.of == s.order {
			n++
		}
	}
	return n
}

func TestRepetition(t *testing.T) {
	s, _ := stocked(t)
	first := s.write(s.payment(), aPayment("k1", "12.0"))
	id := first.Items[0][0]["orderId"]
	want := Values{
		"customerId": AText("c1"), "requestKey": AText("k1"), "orderId": id, "at": s.now(), "expiresAt": s.seconds(24 * time.Hour),
	}
	if first.Replayed || first.Record != nil || s.orders() != 2 {
		t.Errorf("the first request is %+v, and there are %d orders", first, s.orders())
	}
	s.pass(time.Hour)
	again := s.write(s.payment(), aPayment("k1", "12")) // the same number
	request, _ := again.Record["request"].(*types.AttributeValueMemberS)
	if !again.Replayed || again.Items != nil || request == nil || len(request.Value) != 64 || !SameItem(Item(Omit(again.Record, "request")), Item(want)) {
		t.Errorf("the repetition is %+v; want the record %v", again, schema.Attributes(Item(want)))
	}
	_, err := s.db.Write(t.Context(), s.payment(), aPayment("k1", "13"))
	_ = wantRefusal(t, err, -1, -1, errRequestReused)
	if !errors.Is(err, ErrReused) {
		t.Errorf("%v is no ErrReused", err)
	}
	if n := s.orders(); n != 2 {
		t.Errorf("there are %d orders; want 2", n)
	}
	s.wantTable("repetitions", counted(s.primaries())...)

	s.pass(24 * time.Hour) // the record has expired, but still exists
	if later := s.write(s.payment(), aPayment("k1", "13")); later.Replayed || s.orders() != 3 {
		t.Errorf("the key's later use is %+v, and there are %d orders; want a new one", later, s.orders())
	}
	s.wantTable("the later use", counted(s.primaries())...)
}

// TestRepetitionAfterItemIsGone tests that a repetition is recognized although the write would now fail because of its first
// execution, whether the items are read first or not.
func TestRepetitionAfterItemIsGone(t *testing.T) {
	s, _ := stocked(t)
	for name, w := range map[string]*Write{
		"read first": {Pattern: "Remove", Steps: []Step{{Action: Delete, Entity: s.order, When: cond("#status = :open", Item{":open": AText("open")})}}},
		"not read":   {Pattern: "Retire", Steps: []Step{{Action: Update, Entity: s.product, Set: []Assignment{assign("active", constantly(ABool(false)))}, When: cond("#active = :yes", Item{":yes": ABool(true)})}}},
	} {
		w.Idempotent = &Idempotent{Record: s.requests, Reused: errRequestReused}
		in := Input{Values: Values{"customerId": AText("c1"), "requestKey": AText(w.Pattern), "orderId": AText("o1"), "productId": AText("p1")}}
		if out := s.write(w, in); out.Replayed {
			t.Errorf("%s: the first request is a repetition", name)
		}
		if out := s.write(w, in); !out.Replayed || !schema.SameValue(out.Record["orderId"], AText("o1")) {
			t.Errorf("%s: the repetition is %+v", name, out)
		}
		in.Values["requestKey"] = AText("another")
		_, err := s.db.Write(t.Context(), w, in)
		if _, refused := errors.AsType[*Refusal](err); !refused {
			t.Errorf("%s: another request is %v; want a refusal", name, err)
		}
	}
	s.wantTable("all", counted(s.primaries())...)
}

// TestRecordedFields tests the fields of a record: from the inputs, then from created items, then from the keys of others.
func TestRecordedFields(t *testing.T) {
	s, _ := stocked(t)
	w := &Write{
		Pattern: "Retire", Idempotent: &Idempotent{Record: s.requests},
		Params: []Param{{Name: "which", Type: Type{Kind: schema.KindID}}},
		Steps: []Step{
			{Action: Update, Entity: s.order, By: []Assignment{assign("orderId", given("which"))}, Set: []Assignment{assign("street", constantly(AText("there")))}},
			{Action: Create, Entity: s.order, By: []Assignment{assign("orderId", constantly(AText("o2")))}},
		},
	}
	in := Omit(s.anOrder("", "c1", 7), "orderId")
	in["which"], in["requestKey"] = AText("o1"), AText("k1")
	s.write(w, Input{Values: in})
	if it := s.item("CUSTOMER#c1", "REQUEST#k1"); !schema.SameValue(it["orderId"], AText("o2")) {
		t.Errorf("with a creation, the record is %v; want the created order", schema.Attributes(it))
	}
	w.Steps, in["requestKey"] = w.Steps[:1], AText("k2")
	s.write(w, Input{Values: in})
	if it := s.item("CUSTOMER#c1", "REQUEST#k2"); !schema.SameValue(it["orderId"], AText("o1")) {
		t.Errorf("without one, the record is %v; want the order that was changed", schema.Attributes(it))
	}
	delete(in, "requestKey")
	_, err := s.db.Write(t.Context(), w, Input{Values: in})
	WantValueError(t, err, "requestKey", "is missing", "a request without its key")
}

// TestRecordIsReadFirst tests that the record is read together with the items, before the items' current state can
// cause an error.
func TestRecordIsReadFirst(t *testing.T) {
	s, _ := stocked(t)
	w := &Write{
		Pattern: "Refund", Idempotent: &Idempotent{Record: s.requests, Reused: errRequestReused},
		Steps: []Step{{Action: Update, Entity: s.order, Add: []Assignment{assign("total", constantly(ANumber("-7")))}}},
	}
	in := Input{Values: Values{"customerId": AText("c1"), "requestKey": AText("k1"), "orderId": AText("o1")}}
	s.write(w, in)
	l := &listening{Client: s.client}
	if out, err := s.open(l).Write(t.Context(), w, in); err != nil || !out.Replayed || !slices.Equal(l.requests, []string{"BatchGet(2)"}) {
		t.Errorf("the repetition is %+v, %v, after %v", out, err, l.requests)
	}
	in.Values["requestKey"] = AText("k2")
	_, err := s.db.Write(t.Context(), w, in)
	WantValueError(t, err, "total", "cannot be used in a key", "another refund")
}

// TestConcurrentDuplicates tests that of many concurrent equal requests one takes effect, and all others get its record.
func TestConcurrentDuplicates(t *testing.T) {
	s, _ := stocked(t)
	var mu sync.Mutex
	ids := map[string]int{}
	effects := 0
	atOnce(16, func(i int) {
		w := s.payment()
		key := "k" + strconv.Itoa(i%2)
		var out Outcome
		err := ErrConflict
		for errors.Is(err, ErrConflict) {
			out, err = s.db.Write(t.Context(), w, aPayment(key, "12"))
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			t.Error(err)
		case out.Replayed:
			ids[key+Printed(out.Record["orderId"])]++
		default:
			effects++
			ids[key+Printed(out.Items[0][0]["orderId"])]++
		}
	})
	if effects != 2 || len(ids) != 2 || s.orders() != 3 {
		t.Errorf("%d effects, the orders are %v, of which the table has %d; want one for each of two keys, and the first", effects, ids, s.orders()-1)
	}
	s.wantTable("the duplicates", counted(s.primaries())...)
}
