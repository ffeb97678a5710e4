package appcore_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

// page is a response with transactions.
type page struct {
	Items []appcore.Transaction
	Next  string
}

func list(tb testing.TB, v *apitest.Server, sub string, query ...string) page {
	tb.Helper()
	response := v.Do(tb, apitest.Request{Method: http.MethodGet, Path: apitest.Query("/transactions", query...), As: sub})
	if response.Status != http.StatusOK {
		tb.Fatalf("list %q: %d %s", query, response.Status, response.Body)
	}
	var p page
	response.JSON(tb, &p)
	return p
}

// TestCreateOnce sends one request from many clients concurrently: one creates the transaction, and all get its response.
func TestCreateOnce(t *testing.T) {
	t.Parallel()
	const clients = 32
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	for round, bodies := range [][]string{
		{`{"amount":500,"currency":"ARS"}`},
		{`{"amount":500,"currency":"ARS"}`, `{"amount":501,"currency":"ARS"}`},
	} {
		key := fmt.Sprintf("round-%d", round)
		responses := make([]*apitest.Response, clients)
		var all sync.WaitGroup
		for i := range responses {
			all.Go(func() {
				responses[i] = v.Do(t, apitest.Request{Method: http.MethodPost, Path: "/transactions", As: ana, Key: key, Body: bodies[i%len(bodies)]})
			})
		}
		all.Wait()
		first := slices.IndexFunc(responses, func(r *apitest.Response) bool { return r.Status == http.StatusCreated })
		if first < 0 {
			t.Fatalf("no request created the transaction: %d %s", responses[0].Status, responses[0].Body)
		}
		for i, r := range responses {
			same := i%len(bodies) == first%len(bodies)
			switch {
			case i == first:
			case same && (r.Status != http.StatusOK || string(r.Body) != string(responses[first].Body)):
				t.Errorf("client %d: %d %s, want 200 %s", i, r.Status, r.Body, responses[first].Body)
			case !same && (r.Status != http.StatusUnprocessableEntity || r.Problem(t).Code != problem.CodeKeyReused):
				t.Errorf("client %d with another body: %d %s", i, r.Status, r.Body)
			}
		}
		s := scan(t, v)
		s.sound(t)
		if want := round + 1; len(s.truth) != want || len(s.requests) != want {
			t.Errorf("%d transactions and %d records of requests, want %d", len(s.truth), len(s.requests), want)
		}
	}
}

// TestReplayAfterSettlement: a retry gets the first response, although the transaction has been settled since.
func TestReplayAfterSettlement(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	request := apitest.Request{Method: http.MethodPost, Path: "/transactions", As: ana, Key: "k", Body: `{"amount":500,"currency":"ARS"}`}
	first := v.Do(t, request)
	v.Deliver(t)
	if now := list(t, v, ana).Items[0]; now.Status != "COMPLETED" {
		t.Fatalf("the transaction is %+v, want it settled", now)
	}
	if again := v.Do(t, request); again.Status != http.StatusOK || string(again.Body) != string(first.Body) {
		t.Errorf("replayed as %d %s, want 200 %s", again.Status, again.Body, first.Body)
	}
}

// TestKeyExpires: an idempotency key is remembered for a day.
func TestKeyExpires(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	first := create(t, v, ana, "k", 500)
	v.Clock.Advance(24*time.Hour - time.Second)
	response := v.Do(t, apitest.Request{Method: http.MethodPost, Path: "/transactions", As: ana, Key: "k", Body: `{"amount":500,"currency":"ARS"}`})
	if response.Status != http.StatusOK || !strings.Contains(string(response.Body), first.TxID) {
		t.Errorf("before a day is over: %d %s, want 200 with %s", response.Status, response.Body, first.TxID)
	}
	v.Clock.Advance(2 * time.Second)
	if second := create(t, v, ana, "k", 700); second.TxID == first.TxID {
		t.Error("after a day the response to the first transaction was replayed")
	}
}

// TestPages reads a user's transactions in pages, some of them created in the same millisecond, while other users create theirs.
func TestPages(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	created := map[string]bool{}
	for i := range 23 {
		created[create(t, v, ana, fmt.Sprint(i), int64(i+1)).TxID] = true
		create(t, v, bruno, fmt.Sprint(i), int64(i+1))
		if i%3 == 0 {
			v.Clock.Advance(time.Millisecond)
		}
	}
	var walked []appcore.Transaction
	var cursors []string
	for next := ""; ; {
		p := list(t, v, ana, "limit", "10", "cursor", next)
		walked = append(walked, p.Items...)
		if next = p.Next; next == "" {
			break
		}
		if len(p.Items) != 10 {
			t.Errorf("a page with %d items before the last, want 10", len(p.Items))
		}
		cursors = append(cursors, next)
	}
	if len(walked) != len(created) {
		t.Errorf("walked %d transactions, want %d", len(walked), len(created))
	}
	for i, tx := range walked {
		if !created[tx.TxID] {
			t.Errorf("%+v is not one of %s's, or is listed twice", tx, ana)
		}
		delete(created, tx.TxID)
		if i > 0 && (tx.CreatedAt.After(walked[i-1].CreatedAt) || tx.CreatedAt.Equal(walked[i-1].CreatedAt) && tx.TxID > walked[i-1].TxID) {
			t.Errorf("%+v is listed after %+v", tx, walked[i-1])
		}
	}
	refused := func(name, sub, path string, query ...string) apitest.Case {
		request := apitest.Request{Method: http.MethodGet, Path: apitest.Query(path, query...), As: sub}
		return apitest.Case{Name: name, Request: request, Status: http.StatusBadRequest, Code: problem.CodeInvalidCursor}
	}
	damaged := []byte(cursors[0])
	damaged[len(damaged)/2] ^= 1
	v.Run(t, []apitest.Case{
		refused("another's cursor", bruno, "/transactions", "cursor", cursors[0]),
		refused("another list's cursor", ana, "/notifications", "cursor", cursors[0]),
		refused("another period's cursor", ana, "/transactions", "cursor", cursors[0], "from", "2020-01-01T00:00:00Z"),
		refused("damaged cursor", ana, "/transactions", "cursor", string(damaged)),
	})
	if strings.Contains(cursors[0], "USER") || len(cursors) != 2 {
		t.Errorf("cursors %q, want two that reveal nothing", cursors)
	}
}

// TestPeriod: both limits are inclusive, either may be omitted, and times may be in any time zone.
func TestPeriod(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	var at []time.Time
	for i := range 4 {
		at = append(at, create(t, v, ana, fmt.Sprint(i), int64(i)+1).CreatedAt)
		v.Clock.Advance(time.Minute)
	}
	text := func(i int, plus time.Duration) string { return at[i].Add(plus).Format(time.RFC3339Nano) }
	zoned := at[1].In(time.FixedZone("", -3*60*60)).Format(time.RFC3339Nano)
	for _, c := range []struct {
		name  string
		query []string
		want  []int64 // amounts
	}{
		{"no bounds", nil, []int64{4, 3, 2, 1}},
		{"from", []string{"from", text(2, 0)}, []int64{4, 3}},
		{"to", []string{"to", text(1, 0)}, []int64{2, 1}},
		{"both", []string{"from", text(1, 0), "to", text(2, 0)}, []int64{3, 2}},
		{"one moment", []string{"from", text(1, 0), "to", text(1, 0)}, []int64{2}},
		{"just after", []string{"from", text(1, time.Millisecond), "to", text(3, -time.Millisecond)}, []int64{3}},
		{"another zone", []string{"from", zoned, "to", zoned}, []int64{2}},
		{"before all", []string{"to", text(0, -time.Millisecond)}, nil},
		{"behind all", []string{"from", text(3, time.Millisecond)}, nil},
		{"the first times", []string{"to", "0001-01-01T00:00:00Z"}, nil},
		{"all times", []string{"from", "0000-01-01T00:00:00Z", "to", "9999-12-31T23:59:59.999999999Z"}, []int64{4, 3, 2, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []int64
			for _, tx := range list(t, v, ana, c.query...).Items {
				got = append(got, tx.Amount)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("amounts %v, want %v", got, c.want)
			}
		})
	}
}

// TestLatest: the ten latest transactions of all users, each once, newest first, whichever shards they are in.
func TestLatest(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	latest := func() []appcore.LatestTransaction {
		var p struct{ Items []appcore.LatestTransaction }
		v.Do(t, apitest.Request{Method: http.MethodGet, Path: "/transactions/global", As: bruno}).JSON(t, &p)
		return p.Items
	}
	if got := latest(); got == nil || len(got) != 0 {
		t.Errorf("of no transactions the last are %v, want an empty list", got)
	}
	var want []appcore.LatestTransaction
	for i := range 25 {
		tx := create(t, v, []string{ana, bruno, "u-789"}[i%3], fmt.Sprint(i), int64(i+1))
		want = slices.Insert(want, 0, appcore.LatestTransaction{
			TxID: tx.TxID, Amount: tx.Amount, Currency: tx.Currency, Status: tx.Status, CreatedAt: tx.CreatedAt,
		})
		v.Clock.Advance(time.Millisecond)
	}
	want = want[:10]
	if got := latest(); !slices.Equal(got, want) {
		t.Errorf("the last are\n%v, want\n%v", got, want)
	}
	v.Deliver(t)
	for i := range want {
		want[i].Status = "COMPLETED"
	}
	if got := latest(); !slices.Equal(got, want) {
		t.Errorf("settled, the last are\n%v, want\n%v", got, want)
	}
}

// TestCreateAfterErasure: a key that was used before its user's data was erased is not used again.
func TestCreateAfterErasure(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	create := apitest.Request{Method: http.MethodPost, Path: "/transactions", As: ana, Key: "k", Body: `{"amount":500,"currency":"ARS"}`}
	erase := apitest.Request{Method: http.MethodDelete, Path: "/me", As: ana, Header: map[string]string{"Confirm": "erase"}}
	if first := v.Do(t, create); first.Status != http.StatusCreated {
		t.Fatalf("%d %s", first.Status, first.Body)
	}
	v.Deliver(t) // which settles it
	if erased := v.Do(t, erase); erased.Status != http.StatusOK {
		t.Fatalf("%d %s", erased.Status, erased.Body)
	}
	if again := v.Do(t, create); again.Status != http.StatusUnprocessableEntity || again.Problem(t).Code != problem.CodeKeyReused {
		t.Errorf("%d %s", again.Status, again.Body)
	}
	create.Key = "l"
	if other := v.Do(t, create); other.Status != http.StatusCreated {
		t.Errorf("with another key: %d %s", other.Status, other.Body)
	}
}
