package transporteapp_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp"
)

// TestStaleIfMatchIsRejected: members who have read the profile, a driver, vehicle, trailer, trip or carta do not overwrite each other's changes
// or assignments. Without If-Match the last write wins.
func TestStaleIfMatchIsRejected(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	driverID, vehicleID, trailerID := fleet(t, v, ana, "cs")
	trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "cs-1", bareTrip()).ViajeID
	send := func(method, path, match string, body any) *apitest.Response {
		r := as(method, path, "", body)
		if match != "" {
			r.Header = map[string]string{"If-Match": match}
		}
		return v.Do(t, r)
	}
	at, resources := "/viajes/"+trip, "/viajes/"+trip+"/recursos"
	chosen := object{"conductorId": driverID, "vehiculoId": vehicleID}
	carta := "/cartas/" + post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "cs-2", cartaTrip()).Carta.CartaID
	three := append(places(), with(places()[1], object{"idUbicacion": "DE000002"}))
	two := append(people(), with(people()[0], object{"tipoFigura": "02"}))
	for _, of := range []struct {
		name, read, write string
		first, second     any
	}{
		{"driver", "/conductores/" + driverID, "/conductores/" + driverID, with(driver(), object{"nombre": "Ana"}), with(driver(), object{"nombre": "Luis"})},
		{"vehicle", "/vehiculos/" + vehicleID, "/vehiculos/" + vehicleID, with(vehicle(), object{"polizaRespCivil": "P-1"}), with(vehicle(), object{"polizaRespCivil": "P-2"})},
		{"trailer", "/remolques/" + trailerID, "/remolques/" + trailerID, with(trailer(), object{"seguroVigencia": "2031-01-01"}), with(trailer(), object{"seguroVigencia": "2032-01-01"})},
		{"profile", "/perfil", "/perfil", with(profile(), object{"fullName": "Uno"}), with(profile(), object{"fullName": "Dos"})},
		{"trip", at, at, with(bareTrip(), object{"nombre": "Uno"}), with(bareTrip(), object{"nombre": "Dos"})},
		{"assignment", at, resources, with(chosen, object{"remolqueId": trailerID}), chosen},
		{"receiver", carta, carta + "/receptor", with(receiver(), object{"nombre": "UNO"}), with(receiver(), object{"nombre": "DOS"})},
		{"declared vehicle", carta, carta + "/autotransporte", with(declared(), object{"polizaRespCivil": "P-1"}), with(declared(), object{"polizaRespCivil": "P-2"})},
		{"places", carta, carta + "/ubicaciones", object{"ubicaciones": three}, object{"ubicaciones": places()}},
		{"people", carta, carta + "/figuras", object{"figuras": two}, object{"figuras": people()}},
	} {
		read := send(http.MethodGet, of.read, "", nil).Header.Get("ETag")
		first := send(http.MethodPut, of.write, read, of.first)
		if first.Status != http.StatusOK {
			t.Fatalf("%s: %d %s", of.name, first.Status, first.Body)
		}
		second := send(http.MethodPut, of.write, read, of.second)
		if second.Status != http.StatusPreconditionFailed || second.Problem(t).Code != problem.CodeChanged {
			t.Errorf("%s that was changed since: %d %s", of.name, second.Status, second.Body)
		}
		for _, match := range []string{first.Header.Get("ETag"), ""} {
			if again := send(http.MethodPut, of.write, match, of.second); again.Status != http.StatusOK {
				t.Errorf("%s with %q: %d %s", of.name, match, again.Status, again.Body)
			}
		}
	}
	stale := send(http.MethodGet, at, "", nil).Header.Get("ETag")
	send(http.MethodPut, resources, "", with(chosen, object{"remolqueId": trailerID}))
	if r := send(http.MethodDelete, resources, stale, nil); r.Status != http.StatusPreconditionFailed {
		t.Errorf("an assignment that was changed since is taken back: %d %s", r.Status, r.Body)
	}
	if r := send(http.MethodDelete, resources, send(http.MethodGet, at, "", nil).Header.Get("ETag"), nil); r.Status != http.StatusOK {
		t.Errorf("an assignment is not taken back: %d %s", r.Status, r.Body)
	}
}

// TestGoodIsRemovedOnce: removing a good moves the last one to its place, so a repeated or concurrent request would remove another
// one. With the ETag of the carta as If-Match it removes nothing, and a change is not stored in place of another good.
func TestGoodIsRemovedOnce(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	id := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t", cartaTrip()).Carta.CartaID
	at := "/cartas/" + id
	list := goods(4)
	for i := range list {
		list[i] = with(list[i], object{"descripcion": fmt.Sprint("good ", i+1)})
	}
	post[transporteapp.Agregado](t, v, http.StatusCreated, ana, at+"/mercancias", "g", object{"mercancias": list})
	tag := func() string { return v.Do(t, as(http.MethodGet, at, "", nil)).Header.Get("ETag") }
	send := func(method, match string, body any) *apitest.Response {
		r := as(method, at+"/mercancias/1", "", body)
		r.Header = map[string]string{"If-Match": match}
		return v.Do(t, r)
	}
	left := func(want ...string) {
		t.Helper()
		found := get[page[transporteapp.Mercancia]](t, v, ana, at+"/mercancias").Items
		var names []string
		for i, m := range found {
			names = append(names, m.Descripcion)
			if m.Orden != int64(i)+1 {
				t.Errorf("good %d has the number %d", i+1, m.Orden)
			}
		}
		if fmt.Sprint(names) != fmt.Sprint(want) {
			t.Errorf("the goods are %q, want %q", names, want)
		}
		if n := get[transporteapp.Carta](t, v, ana, at).Totales.NumeroTotalMercancias; n != int64(len(want)) {
			t.Errorf("the carta counts %d goods, want %d", n, len(want))
		}
	}
	seen := tag()
	if r := send(http.MethodDelete, seen, nil); r.Status != http.StatusOK {
		t.Fatalf("a good is not removed: %d %s", r.Status, r.Body)
	}
	for _, stale := range []string{seen, `W/"1"`} {
		if r := send(http.MethodDelete, stale, nil); r.Status != http.StatusPreconditionFailed || r.Problem(t).Code != problem.CodeChanged {
			t.Errorf("a good is removed again: %d %s", r.Status, r.Body)
		}
	}
	if r := send(http.MethodPut, seen, goods(1)[0]); r.Status != http.StatusPreconditionFailed {
		t.Errorf("a good is stored in place of another one: %d %s", r.Status, r.Body)
	}
	left("good 4", "good 2", "good 3")
	if r := send(http.MethodPut, tag(), with(goods(1)[0], object{"descripcion": "good 5"})); r.Status != http.StatusOK {
		t.Errorf("a good is not changed: %d %s", r.Status, r.Body)
	}
	left("good 5", "good 2", "good 3")
	for _, names := range [][]string{{"good 3", "good 2"}, {"good 2"}, nil} {
		if r := send(http.MethodDelete, tag(), nil); r.Status != http.StatusOK {
			t.Errorf("a good is not removed: %d %s", r.Status, r.Body)
		}
		left(names...)
	}
}
