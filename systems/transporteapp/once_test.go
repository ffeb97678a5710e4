package transporteapp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp"
)

// TestFirstAnswer: a repeated request is answered as it was, though what it made has changed since, and by many at once.
func TestFirstAnswer(t *testing.T) {
	v := open(t, transporteapp.Options{}, ana, bruno)
	request := as(http.MethodPost, "/viajes", "k", cartaTrip())
	answers := atOnce(t, v, 16, func(int) apitest.Request { return request })
	for _, a := range answers {
		if a.Status >= http.StatusMultipleChoices || string(a.Body) != string(answers[0].Body) {
			t.Fatalf("one answer is %d %s, another %s", a.Status, a.Body, answers[0].Body)
		}
	}
	var made transporteapp.ViajeConCarta
	answers[0].JSON(t, &made)
	post[object](t, v, http.StatusOK, ana, "/cartas/"+made.Carta.CartaID+"/cancelacion", "", object{})
	post[object](t, v, http.StatusOK, ana, "/viajes/"+made.ViajeID+"/cancelar", "", nil)
	if again := v.Do(t, request); again.Status != http.StatusOK || string(again.Body) != string(answers[0].Body) {
		t.Errorf("replayed as %d %s, want 200 %s", again.Status, again.Body, answers[0].Body)
	}
	if got := get[page[transporteapp.ViajeResumen]](t, v, ana, "/viajes"); len(got.Items) != 1 {
		t.Errorf("%d trips, want 1", len(got.Items))
	}
	theirs := request
	theirs.As = bruno
	if other := do[transporteapp.ViajeConCarta](t, v, http.StatusCreated, theirs); other.ViajeID == made.ViajeID || other.Carta.Folio != "CP-000001" {
		t.Errorf("another company's key made %+v", other)
	}
	v.Run(t, []apitest.Case{
		bad("key of another thing", as(http.MethodPost, "/conductores", "k", driver()), http.StatusUnprocessableEntity, problem.CodeKeyReused, ""),
	})
}

// TestKeyExpires: a key is remembered for a day.
func TestKeyExpires(t *testing.T) {
	v := open(t, transporteapp.Options{}, ana)
	request := as(http.MethodPost, "/viajes", "k", bareTrip())
	first := do[transporteapp.ViajeConCarta](t, v, http.StatusCreated, request)
	v.Clock.Advance(24*time.Hour - 2*time.Second)
	if same := do[transporteapp.ViajeConCarta](t, v, http.StatusOK, request); same.ViajeID != first.ViajeID {
		t.Errorf("before a day is over %s was made", same.ViajeID)
	}
	v.Clock.Advance(4 * time.Second)
	if other := do[transporteapp.ViajeConCarta](t, v, http.StatusCreated, request); other.ViajeID == first.ViajeID {
		t.Error("after a day the first trip was answered")
	}
}

// TestSessionsExpire: a device is listed for twelve hours.
func TestSessionsExpire(t *testing.T) {
	v := open(t, transporteapp.Options{}, ana)
	post[object](t, v, http.StatusCreated, ana, "/sesiones", "k", object{"dispositivo": "tractor"})
	v.Clock.Advance(12*time.Hour - time.Second)
	if n := len(get[page[object]](t, v, ana, "/sesiones").Items); n != 1 {
		t.Errorf("%d sessions before the end, want 1", n)
	}
	v.Clock.Advance(2 * time.Second)
	if n := len(get[page[object]](t, v, ana, "/sesiones").Items); n != 0 {
		t.Errorf("%d sessions after the end, want none", n)
	}
}

// TestLists: trips newest first, by state and by date, page by page, and cursors that are nobody else's.
func TestLists(t *testing.T) {
	const trips = 12
	v := open(t, transporteapp.Options{}, ana)
	var ids []string
	for i := range trips {
		begins := time.Date(2027, time.January, trips-i, 8, 0, 0, 0, time.UTC) // the last made begins first
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
			t.Fatalf("newest first: %v, made %v", newest, ids)
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
