package table_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design/table"
)

// brief is what a generated type would be.
type brief struct {
	OrderID string
	Total   int64
}

func toBrief(v table.Values) (brief, error) {
	d := table.Decode("Order", v)
	return brief{table.Get(d, "orderId", table.Text[string]()), table.Get(d, "total", table.Int())}, d.Err()
}

func same(in table.Input) table.Input { return in }

// TestTyped tests that the functions behind generated methods return the same results as the untyped ones.
func TestTyped(t *testing.T) {
	s := newStore(t)
	orders := firstOrders(20)
	s.put(s.order, orders...)
	want := []brief{}
	for _, v := range matching(orders, fieldIs("userId", "u-1"), descending(by("createdAt", "orderId"))) {
		one, err := toBrief(v)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, one)
	}
	in := given("userId", "u-1")
	first, err := table.Many(t.Context(), s.db, s.ordersOf(), in, table.PageOptions{Limit: 3}, toBrief)
	if err != nil || !cmp.Equal(first.Items, want[:3]) || first.Next == "" {
		t.Errorf("Many: %v, %v; want %v", first.Items, err, want[:3])
	}
	if all, err := table.First(t.Context(), s.db, s.ordersOf(), in, toBrief); err != nil || !cmp.Equal(all, want) {
		t.Errorf("First: %v, %v; want %v", all, err, want)
	}
	var walked []brief
	for o, err := range table.Each(t.Context(), s.db, s.ordersOf(), in, toBrief) {
		if err != nil {
			t.Fatal(err)
		}
		if walked = append(walked, o); len(walked) == 5 {
			break
		}
	}
	if !slices.Equal(walked, want[:5]) {
		t.Errorf("Each: %v; want %v", walked, want[:5])
	}
	id := given("orderId", "o-004", "userId", "u-1")
	if o, err := table.One(t.Context(), s.db, s.orderByID(), id, toBrief); err != nil || o != (brief{"o-004", 6}) {
		t.Errorf("One: %v, %v", o, err)
	}
	absent := given("orderId", "o-404", "userId", "u-1")
	if o, err := table.One(t.Context(), s.db, s.orderByID(), absent, toBrief); !errors.Is(err, table.ErrNotFound) {
		t.Errorf("One: %v, %v; want ErrNotFound", o, err)
	}
	batch, err := table.BatchOf(t.Context(), s.db, s.orderByID(), []table.Input{absent, id}, same, toBrief)
	if err != nil || len(batch) != 2 || batch[0] != nil || batch[1] == nil || *batch[1] != (brief{"o-004", 6}) {
		t.Errorf("BatchOf: %v, %v", batch, err)
	}
}

// TestTypedDecodeErrors tests that an item that cannot be decoded fails the call, with the pattern.
func TestTypedDecodeErrors(t *testing.T) {
	s := newStore(t)
	it := table.Item{"PK": text("ORDER#o-1"), "SK": text("ORDER"), "type": text("ORDER"), "orderId": text("o-1"), "userId": text("u-1")}
	s.putItem(it)
	id := given("orderId", "o-1", "userId", "u-1")
	_, err := table.One(t.Context(), s.db, s.orderByID(), id, toBrief)
	if found, is := errors.AsType[*table.DecodeError](err); !is || err.Error() != "OrderByID: stored Order.total is missing" {
		t.Errorf("%v, %v; want a *DecodeError of the total", found, err)
	}
	if _, err := table.BatchOf(t.Context(), s.db, s.orderByID(), []table.Input{id}, same, toBrief); err == nil {
		t.Error("BatchOf has no error")
	}
}

// TestDecodeOutcome tests the decoding of the items of a write's steps: nil if the response does not include one, and nothing
// after the first error.
func TestDecodeOutcome(t *testing.T) {
	whole, broken := table.Values{"orderId": text("o-1"), "total": number(6)}, table.Values{"orderId": text("o-2")}
	out := table.Outcome{Items: [][]table.Values{{whole}, {nil}, {whole, whole}, {broken}, {whole, broken, whole}}}
	want := brief{"o-1", 6}
	d := table.DecodeOutcome(out)
	if got := table.Made(d, 0, toBrief); got != want {
		t.Errorf("Made: %v", got)
	}
	if got := table.Known(d, 0, toBrief); got == nil || *got != want {
		t.Errorf("Known: %v", got)
	}
	if got := table.Known(d, 1, toBrief); got != nil || table.Made(d, 1, toBrief) != (brief{}) {
		t.Errorf("the unreported values are %v", got)
	}
	if got := table.MadeEach(d, 2, toBrief); !slices.Equal(got, []brief{want, want}) || d.Err() != nil {
		t.Errorf("MadeEach: %v, %v", got, d.Err())
	}
	if got := table.MadeEach(d, 4, toBrief); !slices.Equal(got, []brief{want}) || d.Err() == nil {
		t.Errorf("MadeEach with a fault: %v, %v", got, d.Err())
	}
	fault := d.Err()
	if got := table.Known(d, 0, toBrief); got != nil || table.Made(d, 3, toBrief) != (brief{}) || !errors.Is(d.Err(), fault) {
		t.Errorf("behind a fault: %v, %v", got, d.Err())
	}
}
