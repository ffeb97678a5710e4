package transporteapp_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp"
)

// TestRetryGetsFirstResponse: a retry, even a concurrent one, gets the first response, although the result has changed since.
func TestRetryGetsFirstResponse(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana, bruno)
	request := as(http.MethodPost, "/viajes", "k", cartaTrip())
	responses := atOnce(t, v, 16, func(int) apitest.Request { return request })
	for _, a := range responses {
		if a.Status >= http.StatusMultipleChoices || string(a.Body) != string(responses[0].Body) {
			t.Fatalf("one response is %d %s, another %s", a.Status, a.Body, responses[0].Body)
		}
	}
	var created transporteapp.ViajeConCarta
	responses[0].JSON(t, &created)
	post[object](t, v, http.StatusOK, ana, "/cartas/"+created.Carta.CartaID+"/cancelacion", "", object{})
	post[object](t, v, http.StatusOK, ana, "/viajes/"+created.ViajeID+"/cancelar", "", nil)
	if again := v.Do(t, request); again.Status != http.StatusOK || string(again.Body) != string(responses[0].Body) {
		t.Errorf("replayed as %d %s, want 200 %s", again.Status, again.Body, responses[0].Body)
	}
	if got := get[page[transporteapp.ViajeResumen]](t, v, ana, "/viajes"); len(got.Items) != 1 {
		t.Errorf("%d trips, want 1", len(got.Items))
	}
	theirs := request
	theirs.As = bruno
	if other := do[transporteapp.ViajeConCarta](t, v, http.StatusCreated, theirs); other.ViajeID == created.ViajeID || other.Carta.Folio != "CP-000001" {
		t.Errorf("another company's key created %+v", other)
	}
	v.Run(t, []apitest.Case{
		bad("key of another thing", as(http.MethodPost, "/conductores", "k", driver()), http.StatusUnprocessableEntity, problem.CodeKeyReused, ""),
	})
}

// TestConcurrentRetriesCountOnce: two requests with one key count as one, even if the second begins before the first has completed and continues after
// it. The second must not be rejected because the first has used up the plan's last unit or the carta's draft.
func TestConcurrentRetriesCountOnce(t *testing.T) {
	t.Parallel()
	v := open(t, plan(1, 1, 2, 2), ana)
	trip, sealed := sealedCarta(t, v, "t")
	var (
		look  atomic.Pointer[func()] // called after a request has looked for an earlier one with its key
		slow  = processesVia(t, v, watched(v.Database.DynamoDB, &look), transporteapp.Options{}, 1)[0]
		quick = processes(t, v, transporteapp.Options{}, 1)[0]
	)
	for _, c := range []struct {
		path string
		body any
	}{
		{"/conductores", driver()},
		{"/vehiculos", vehicle()},
		{"/remolques", trailer()},
		{"/viajes", cartaTrip()},
		{"/cartas/" + sealed + "/timbrado", nil},
		{"/sesiones", object{"dispositivo": "tractor"}},
	} {
		request := as(http.MethodPost, c.path, "twin-"+strings.ReplaceAll(c.path, "/", "."), c.body)
		var first *apitest.Response
		once := sync.OnceFunc(func() { first = quick.do(t, request) })
		look.Store(&once)
		second := slow.do(t, request)
		look.Store(nil)
		if first == nil || first.Status != http.StatusCreated || second.Status != http.StatusOK || string(first.Body) != string(second.Body) {
			t.Errorf("%s: the first is %+v, the second %d %s", c.path, first, second.Status, second.Body)
		}
	}
	shows(t, v, trip, sealed, "timbrada")
	if all := companyOf(t, v, ana); len(all.drivers) != 1 || len(all.vehicles) != 1 || len(all.trailers) != 1 || len(all.cartas) != 2 {
		t.Errorf("%d drivers, %d vehicles, %d trailers, %d cartas", len(all.drivers), len(all.vehicles), len(all.trailers), len(all.cartas))
	}
}

// watched returns a client that calls a function after each read of an idempotency record.
func watched(client *dynamodb.Client, look *atomic.Pointer[func()]) *dynamodb.Client {
	watch := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleInitialize(ctx, in)
		if get, ok := in.Parameters.(*dynamodb.GetItemInput); ok {
			key, _ := get.Key["SK"].(*types.AttributeValueMemberS)
			if do := look.Load(); do != nil && strings.HasPrefix(key.Value, "IDEMPOTENCY#") {
				(*do)()
			}
		}
		return out, metadata, err
	}
	return dynamodb.New(client.Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("watch", watch), middleware.After)
		})
	})
}

// failing returns a client whose transactions fail when a function says so.
func failing(client *dynamodb.Client, fails func() bool) *dynamodb.Client {
	fail := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		if _, ok := in.Parameters.(*dynamodb.TransactWriteItemsInput); ok && fails() {
			return middleware.InitializeOutput{}, middleware.Metadata{}, errors.New("the process is stopped")
		}
		return next.HandleInitialize(ctx, in)
	}
	return dynamodb.New(client.Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("fail", fail), middleware.After)
		})
	})
}

// TestKeyExpires: an idempotency key is remembered for a day.
func TestKeyExpires(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	request := as(http.MethodPost, "/viajes", "k", bareTrip())
	first := do[transporteapp.ViajeConCarta](t, v, http.StatusCreated, request)
	v.Clock.Advance(24*time.Hour - 2*time.Second)
	if same := do[transporteapp.ViajeConCarta](t, v, http.StatusOK, request); same.ViajeID != first.ViajeID {
		t.Errorf("within a day %s was created", same.ViajeID)
	}
	v.Clock.Advance(4 * time.Second)
	if other := do[transporteapp.ViajeConCarta](t, v, http.StatusCreated, request); other.ViajeID == first.ViajeID {
		t.Error("after a day the response to the first trip was replayed")
	}
}

// TestSessionsExpire: a device is listed for 31 days.
func TestSessionsExpire(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	post[object](t, v, http.StatusCreated, ana, "/sesiones", "k", object{"dispositivo": "tractor"})
	post[object](t, v, http.StatusCreated, ana, "/sesiones", "k-2", object{"dispositivo": "oficina"})
	first := get[page[object]](t, v, ana, "/sesiones?limit=1")
	v.Clock.Advance(time.Second) // a cursor is still valid later
	if second := get[page[object]](t, v, ana, apitest.Query("/sesiones", "limit", "1", "cursor", first.Next)); len(second.Items) != 1 {
		t.Errorf("the second page is %+v", second)
	}
	v.Clock.Advance(31*24*time.Hour - 2*time.Second)
	if n := len(get[page[object]](t, v, ana, "/sesiones").Items); n != 2 {
		t.Errorf("%d sessions before the end, want 2", n)
	}
	v.Clock.Advance(2 * time.Second)
	if n := len(get[page[object]](t, v, ana, "/sesiones").Items); n != 0 {
		t.Errorf("%d sessions after the end, want none", n)
	}
}

// TestLists: trips are listed newest first, by state and by date, page by page. Only their owner can use the cursors.
func TestLists(t *testing.T) {
	t.Parallel()
	const trips = 12
	v := open(t, transporteapp.Options{}, ana)
	var ids []string
	for i := range trips {
		begins := time.Date(2027, time.January, trips-i, 8, 0, 0, 0, time.UTC) // the last one created starts first
		trip := with(bareTrip(), object{"fechaInicioProgramada": begins, "fechaFinProgramada": begins.Add(time.Hour)})
		if i%3 == 0 {
			trip["estado"] = "borrador"
		}
		ids = append(ids, post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", begins.Format("02"), trip).ViajeID)
		v.Clock.Advance(time.Millisecond)
	}
	walk := func(query ...string) (got []string, cursor string) {
		for next := ""; ; {
			p := get[page[transporteapp.ViajeResumen]](t, v, ana, apitest.Query("/viajes", append(query, "limit", "5", "cursor", next)...))
			for _, x := range p.Items {
				got = append(got, x.ViajeID)
			}
			if next = p.Next; next == "" {
				return got, cursor
			}
			cursor = next
		}
	}
	newest, cursor := walk()
	soonest, _ := walk("desde", "2027-01-03T08:00:00Z", "hasta", "2027-01-05T08:00:00Z")
	drafts, _ := walk("estado", "borrador")
	for i, id := range newest {
		if id != ids[trips-1-i] {
			t.Fatalf("newest first: %v, created %v", newest, ids)
		}
	}
	if len(newest) != trips || len(soonest) != 3 || soonest[0] != ids[trips-3] || soonest[2] != ids[trips-5] {
		t.Errorf("from the third to the fifth: %v of %v", soonest, ids)
	}
	if len(drafts) != 4 || drafts[0] != ids[9] || drafts[3] != ids[0] {
		t.Errorf("drafts: %v of %v", drafts, ids)
	}
	theirs := as(http.MethodGet, apitest.Query("/viajes", "limit", "5", "cursor", cursor), "", nil)
	theirs.As = bruno
	v.Run(t, []apitest.Case{
		bad("another's cursor", theirs, http.StatusBadRequest, problem.CodeInvalidCursor, ""),
		bad("another list's cursor", as(http.MethodGet, apitest.Query("/cartas", "cursor", cursor), "", nil), http.StatusBadRequest, problem.CodeInvalidCursor, ""),
	})
}

// TestClientKeysDoNotCollide: keys sent by clients cannot collide with generated keys or with each other.
func TestClientKeysDoNotCollide(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	at := "/cartas/" + post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t", cartaTrip()).Carta.CartaID + "/mercancias"
	office := func(who, key string, n int) apitest.Request {
		return apitest.Request{Method: http.MethodPost, Path: "/empresas/" + ana + "/creditos", As: who, Groups: []string{transporteapp.AdminGroup}, Key: key, Body: object{"creditos": n}}
	}
	v.Run(t, []apitest.Case{
		good("in two parts", as(http.MethodPost, at, "k", object{"mercancias": goods(100)}), http.StatusCreated),
		good("named as a part", as(http.MethodPost, at, "k.1", object{"mercancias": goods(1)}), http.StatusCreated),
		good("named as a record", as(http.MethodPost, at, "p:1:k", object{"mercancias": goods(2)}), http.StatusCreated),
		good("named as the office's", as(http.MethodPost, at, "abono:o", object{"mercancias": goods(3)}), http.StatusCreated),
		good("the office's", office("u-office", "o", 1), http.StatusCreated),
		good("the office's again", office("u-office", "o", 1), http.StatusOK),
		good("another one's of the office", office("u-other", "o", 2), http.StatusCreated),
		bad("reused by the office", office("u-office", "o", 3), http.StatusUnprocessableEntity, problem.CodeKeyReused, ""),
	})
	if p := get[transporteapp.Perfil](t, v, ana, "/perfil"); p.Credits.Balance != 52 {
		t.Errorf("%d credits, want 50 and 3 that were bought, less one", p.Credits.Balance)
	}
}
