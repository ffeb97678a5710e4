package table

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
)

// atOnce calls a function from many goroutines.
func atOnce(n int, do func(i int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	all.Wait()
}

// primaries are the values of all entities' own items in the table.
func (s *store) primaries() []record {
	s.tb.Helper()
	var out []record
	for _, it := range s.all() {
		for _, e := range []*Entity{s.region, s.customer, s.order, s.product, s.cart, s.seat, s.requests} {
			if v, ok := e.Is(Place{Kind: KeyPlace}, it); ok {
				out = append(out, record{e, v})
			}
		}
	}
	return out
}

// TestConcurrentWritesKeepTheDesign tests that after concurrent writes, copies, index attributes, markers and counters match
// the items.
func TestConcurrentWritesKeepTheDesign(t *testing.T) {
	_, seed := Seeded()
	t.Logf("seed %d", seed)
	s := newStore(t)
	for _, id := range []string{"r1", "r2"} {
		s.load(s.region, s.aRegion(id))
	}
	var refusals, conflicts, done atomic.Int64
	for range 4 {
		atOnce(8, func(i int) {
			l := &ledger{store: s, r: rand.New(rand.NewPCG(seed, uint64(i)))} //nolint:gosec // a test's values
			plays := []func() play{
				l.createCustomer, l.changeCustomer, l.promoteCustomer, l.moveCustomer, l.deleteCustomer, l.createOrder, l.createOrder, l.setStatus,
				l.tierByEmail, l.moveAndOrder, l.changeOrder, l.doubleOrder, l.giveOrder, l.deleteOrder, l.putProduct, l.upsertProduct, l.retireProduct, l.addToCart, l.buy,
			}
			for range 25 {
				p := plays[l.r.IntN(len(plays))]()
				_, err := s.db.Write(context.Background(), p.write, p.in)
				_, refused := errors.AsType[*Refusal](err)
				switch {
				case err == nil:
					done.Add(1)
				case refused:
					refusals.Add(1)
				case errors.Is(err, ErrConflict):
					conflicts.Add(1)
				default:
					t.Errorf("%s of %v: %v", p.write.Pattern, schema.Attributes(Item(p.in.Values)), err)
				}
			}
		})
		s.wantTable("many writes at once", counted(s.primaries())...)
	}
	t.Logf("%d writes done, %d rejected, %d conflicted too often", done.Load(), refusals.Load(), conflicts.Load())
	if done.Load() == 0 || refusals.Load() == 0 {
		t.Error("nothing was done, or nothing refused")
	}
}

// TestStockIsNotOversold tests that as many of many concurrent buyers succeed as there are pieces.
func TestStockIsNotOversold(t *testing.T) {
	s := newStore(t)
	s.load(s.product, s.aProduct("p1", 10))
	w := &Write{Pattern: "Buy", Steps: []Step{{
		Action: Update, Entity: s.product, Add: []Assignment{assign("stock", minus(given("pieces")))}, When: cond("#stock >= :pieces", nil),
		Else: []Else{{Err: errOutOfStock, When: cond("#stock < :pieces", nil)}, {Err: errPriceChanged}},
	}}, Params: []Param{{Name: "pieces", Type: Type{Kind: schema.KindInt}}}}
	var sold, refused atomic.Int64
	atOnce(32, func(int) {
		_, err := s.db.Write(context.Background(), w, Input{Values: Values{"productId": AText("p1"), "pieces": ANumber("1")}})
		switch {
		case err == nil:
			sold.Add(1)
		case errors.Is(err, errOutOfStock):
			refused.Add(1)
		default:
			t.Error(err)
		}
	})
	if sold.Load() != 10 || refused.Load() != 22 {
		t.Errorf("%d sold, %d refused; want 10 and 22", sold.Load(), refused.Load())
	}
	s.wantTable("the sale", record{s.product, s.aProduct("p1", 0)})
}

// TestUniqueUnderRaces tests that of many concurrent writes that want one email, by creation and by change, one gets it.
func TestUniqueUnderRaces(t *testing.T) {
	s := newStore(t)
	s.load(s.region, s.aRegion("r1"))
	create := &Write{Pattern: "Create", Steps: []Step{{Action: Create, Entity: s.customer}}}
	change := &Write{Pattern: "Change", Steps: []Step{{Action: Update, Entity: s.customer, Set: []Assignment{assign("email", given("email"))}}}}
	for i := range 8 {
		s.load(s.customer, s.aCustomer("old"+strconv.Itoa(i), "r1"))
	}
	var got atomic.Int64
	atOnce(16, func(i int) {
		w, in := create, Extend(s.aCustomer("new"+strconv.Itoa(i), "r1"), "email", "One@x.org")
		if i < 8 {
			w, in = change, Values{"customerId": AText("old" + strconv.Itoa(i)), "email": AText("one@X.org")}
		}
		_, err := s.db.Write(context.Background(), w, Input{Values: in})
		switch {
		case err == nil:
			got.Add(1)
		case !errors.Is(err, errEmailTaken) && !errors.Is(err, ErrConflict):
			t.Errorf("%d: %v", i, err)
		}
	})
	if got.Load() != 1 {
		t.Errorf("%d have the email; want 1", got.Load())
	}
	s.wantTable("the race", counted(s.primaries())...)
}

// TestCountersAreExact tests that concurrent creations, changes and deletions leave correct counters, without lost updates.
func TestCountersAreExact(t *testing.T) {
	s := newStore(t)
	s.load(s.region, s.aRegion("r1"))
	s.load(s.customer, s.aCustomer("c1", "r1"))
	create := &Write{Pattern: "Create", Steps: []Step{{Action: Create, Entity: s.order}}}
	cancel := &Write{Pattern: "Cancel", Steps: []Step{{Action: Update, Entity: s.order, Set: []Assignment{assign("status", constantly(AText("cancelled")))}}}}
	remove := &Write{Pattern: "Remove", Steps: []Step{{Action: Delete, Entity: s.order}}}
	atOnce(4, func(i int) {
		for n := range 6 {
			id := fmt.Sprintf("o%d-%d", i, n)
			writes := []*Write{create}
			switch n % 3 {
			case 1:
				writes = append(writes, cancel)
			case 2:
				writes = append(writes, cancel, remove)
			default:
			}
			for _, w := range writes {
				err := ErrConflict
				for errors.Is(err, ErrConflict) { // all conflict on one customer
					_, err = s.db.Write(context.Background(), w, Input{Values: s.anOrder(id, "c1", 7)})
				}
				if err != nil {
					t.Errorf("%s of %s: %v", w.Pattern, id, err)
				}
			}
		}
	})
	records := counted(s.primaries())
	s.wantTable("the rush", records...)
	for _, r := range records {
		if r.of == s.customer && (!schema.SameValue(r.Values["orders"], ANumber("16")) || !schema.SameValue(r.Values["spent"], ANumber("56"))) {
			t.Errorf("the customer has %s orders and spent %s; want 4×4 and 4×2×7", Printed(r.Values["orders"]), Printed(r.Values["spent"]))
		}
	}
}

// between is a client that calls a function before each transaction.
type between struct {
	Client
	do func(n int)
	n  int
}

func (b *between) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	b.n++
	b.do(b.n)
	return b.Client.TransactWriteItems(ctx, in, o...)
}

// TestGuards tests that a change between the read and the transaction restarts the write if anything depends on it, and only
// then.
func TestGuards(t *testing.T) {
	set := func(s *store, field string, v types.AttributeValue) *Write {
		return &Write{Pattern: "Set", Steps: []Step{{Action: Update, Entity: s.order, Set: []Assignment{assign(field, constantly(v))}}}}
	}
	pay := func(s *store) *Write { return set(s, "status", AText("paid")) }
	give := func(s *store) *Write { return set(s, "customerId", AText("c2")) }
	remove := func(s *store) *Write {
		return &Write{Pattern: "Remove", Steps: []Step{{Action: Delete, Entity: s.order}}}
	}
	for name, c := range map[string]struct {
		write, meanwhile func(s *store) *Write
		attempts         int
		err              error
	}{
		"the key of the copy":             {pay, give, 2, nil},
		"a sum":                           {pay, func(s *store) *Write { return set(s, "total", ANumber("9")) }, 2, nil},
		"a place that nothing depends on": {pay, func(s *store) *Write { return set(s, "street", AText("there")) }, 1, nil},
		"the field that is changed":       {pay, func(s *store) *Write { return set(s, "status", AText("cancelled")) }, 2, nil},
		"what moves with the copy":        {give, func(s *store) *Write { return set(s, "city", AText("Lima")) }, 2, nil},
		"that it is there":                {pay, remove, 1, ErrNotFound},
		"that it is there to be deleted":  {remove, remove, 2, nil},
		"the key of what is deleted too":  {remove, give, 2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			records := counted([]record{
				{s.region, s.aRegion("r1")}, {s.customer, s.aCustomer("c1", "r1")}, {s.customer, s.aCustomer("c2", "r1")}, {s.order, s.anOrder("o1", "c1", 7)},
			})
			for _, r := range records {
				s.load(r.of, r.Values)
			}
			in := Input{Values: Values{"orderId": AText("o1")}}
			b := &between{Client: s.client, do: func(n int) {
				if n == 1 {
					s.write(c.meanwhile(s), in)
				}
			}}
			var seen Call
			db := s.open(b)
			db.observe = func(_ context.Context, c Call) { seen = c }
			_, err := db.Write(t.Context(), c.write(s), in)
			if !errors.Is(err, c.err) || seen.Attempts != c.attempts {
				t.Errorf("%v, with %d attempts; want %v with %d", err, seen.Attempts, c.err, c.attempts)
			}
			s.wantTable("both writes", counted(s.primaries())...)
		})
	}
}

// apart is a client that calls a function before each GetItem.
type apart struct {
	Client
	do func(n int)
	n  int
}

func (r *apart) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	r.n++
	r.do(r.n)
	return r.Client.GetItem(ctx, in, o...)
}

// TestReadsAtDifferentTimes tests that an inconsistency between items read at different times is not an error, unless every attempt
// finds one.
func TestReadsAtDifferentTimes(t *testing.T) {
	remove := func(s *store) *Write {
		return &Write{Pattern: "Remove", Steps: []Step{{Action: Delete, Entity: s.order}}}
	}
	in := Input{Values: Values{"orderId": AText("o1")}}
	t.Run("once", func(t *testing.T) {
		s, _ := stocked(t)
		r := &apart{Client: s.client, do: func(n int) {
			if n == 2 { // between the order and its customer: otherwise the region's sum would be negative
				s.write(remove(s), in)
			}
		}}
		if _, err := s.open(r).Write(t.Context(), remove(s), in); err != nil {
			t.Fatal(err)
		}
		s.wantTable("both", counted(s.primaries())...)
	})
	t.Run("always", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, _ := stocked(t)
			s.load(s.region, s.aRegion("r1")) // its sum says that nothing was spent
			r := &apart{Client: s.client, do: func(int) {}}
			_, err := s.open(r).Write(t.Context(), remove(s), in)
			WantValueError(t, err, "spent", "cannot be used in a key", "a sum that is wrong")
			if r.n != 3*minAttempts {
				t.Errorf("%d items were read; want the order, the customer and the region, %d times", r.n, minAttempts)
			}
		})
	})
}

// TestConflict tests that a write with a conflict in each of its attempts gives up after five seconds, with pauses that double.
func TestConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		s.load(s.region, s.aRegion("r1"), s.aRegion("r2"))
		s.load(s.customer, s.aCustomer("c1", "r1"))
		rename := &Write{Pattern: "Rename", Steps: []Step{{Action: Update, Entity: s.customer, Set: []Assignment{assign("name", given("name"))}}}}
		tries := 0
		b := &between{Client: s.client, do: func(n int) {
			tries = n
			s.write(rename, Input{Values: Values{"customerId": AText("c1"), "name": AText("Ana " + strconv.Itoa(n))}})
		}}
		var seen Call
		db := s.open(b)
		db.observe = func(_ context.Context, c Call) { seen = c }
		move := &Write{Pattern: "Move", Steps: []Step{{Action: Update, Entity: s.customer, Set: []Assignment{assign("regionId", given("regionId"))}}}}
		_, err := db.Write(t.Context(), move, Input{Values: Values{"customerId": AText("c1"), "regionId": AText("r2")}})
		if !errors.Is(err, ErrConflict) || tries < 8 || seen.Attempts != tries || !errors.Is(seen.Err, ErrConflict) {
			t.Errorf("%v, after %d tries, observed %+v; want ErrConflict after 8 or more", err, tries, seen)
		}
		if seen.Duration < conflictTime || seen.Duration > conflictTime+longestBackoff {
			t.Errorf("it took %v; want %v and a pause of %v at most", seen.Duration, conflictTime, longestBackoff)
		}
		if tries > 100 { // the pauses of the later ones are 160 ms on average
			t.Errorf("%d tries in %v", tries, seen.Duration)
		}
	})
}

// TestSlowConflict tests that a write succeeds although it conflicts for seconds, as in a store that commits slowly.
func TestSlowConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		s.load(s.region, s.aRegion("r1"), s.aRegion("r2"))
		s.load(s.customer, s.aCustomer("c1", "r1"))
		db := s.open(&conflictingUntil{s.client, time.Now().Add(4 * time.Second)})
		move := &Write{Pattern: "Move", Steps: []Step{{Action: Update, Entity: s.customer, Set: []Assignment{assign("regionId", given("regionId"))}}}}
		if _, err := db.Write(t.Context(), move, Input{Values: Values{"customerId": AText("c1"), "regionId": AText("r2")}}); err != nil {
			t.Error(err)
		}
	})
}

// conflictingUntil is a client whose transactions all conflict until a time.
type conflictingUntil struct {
	Client
	until time.Time
}

func (c conflictingUntil) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if time.Now().Before(c.until) {
		return conflicting{}.TransactWriteItems(ctx, in)
	}
	return c.Client.TransactWriteItems(ctx, in, o...)
}

// TestCancelledPause tests that a write that waits for its next attempt ends with its context.
func TestCancelledPause(t *testing.T) {
	s := newStore(t)
	s.load(s.customer, s.aCustomer("c1", "r1"))
	ctx, cancel := context.WithCancel(t.Context())
	b := &between{Client: conflicting{s.client}, do: func(int) { cancel() }}
	w := &Write{Pattern: "Move", Steps: []Step{{Action: Update, Entity: s.customer, Set: []Assignment{assign("name", given("name"))}}}}
	_, err := s.open(b).Write(ctx, w, Input{Values: Values{"customerId": AText("c1"), "name": AText("Zoë")}})
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrConflict) {
		t.Errorf("%v; want that it was cancelled", err)
	}
}

// conflicting is a client whose transactions all conflict with another, as can happen in DynamoDB; the in-process database
// never lets them.
type conflicting struct{ Client }

func (conflicting) TransactWriteItems(_ context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	conflict := "TransactionConflict"
	reasons := make([]types.CancellationReason, len(in.TransactItems))
	reasons[len(reasons)-1].Code = &conflict
	return nil, &types.TransactionCanceledException{CancellationReasons: reasons}
}
