package transporteapp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/transporteapp"
)

// TestTenants calls every operation as one company with another company's ids: nothing is found, revealed or changed.
func TestTenants(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana, bruno)
	driverID, vehicleID, trailerID := fleet(t, v, ana, "f")
	trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t-1", cartaTrip())
	going := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t-2", bareTrip())
	put[object](t, v, ana, "/viajes/"+going.ViajeID+"/recursos", object{"conductorId": driverID, "vehiculoId": vehicleID, "remolqueId": trailerID})
	post[object](t, v, http.StatusOK, ana, "/viajes/"+going.ViajeID+"/iniciar", "", nil)
	ping(t, v, ana, going.ViajeID, 20, -100, v.Clock.Now())
	fill(t, v, ana, trip.Carta.CartaID, 2)
	post[object](t, v, http.StatusCreated, ana, "/cartas/"+trip.Carta.CartaID+"/timbrado", "s-1", nil)
	session := post[transporteapp.Sesion](t, v, http.StatusCreated, ana, "/sesiones", "x-1", object{"dispositivo": "tractor"})
	before := stored(t, v)
	secrets := []string{driverID, vehicleID, trailerID, trip.ViajeID, going.ViajeID, trip.Carta.CartaID, session.SessionID}

	viaje, rolling, carta := "/viajes/"+trip.ViajeID, "/viajes/"+going.ViajeID, "/cartas/"+trip.Carta.CartaID
	theirsByID := []apitest.Request{
		{Method: http.MethodGet, Path: "/conductores/" + driverID + "/viajes"},
		{Method: http.MethodPut, Path: carta + "/receptor", Body: receiver()},
		{Method: http.MethodPut, Path: carta + "/mercancias/1", Body: goods(1)[0]},
		{Method: http.MethodDelete, Path: carta + "/mercancias/1"},
		{Method: http.MethodPost, Path: carta + "/revision", Body: object{}},
		{Method: http.MethodGet, Path: carta + "/pdf"},
		{Method: http.MethodGet, Path: "/conductores/" + driverID},
		{Method: http.MethodPut, Path: "/conductores/" + driverID, Body: driver()},
		{Method: http.MethodDelete, Path: "/conductores/" + driverID},
		{Method: http.MethodGet, Path: "/vehiculos/" + vehicleID},
		{Method: http.MethodPut, Path: "/vehiculos/" + vehicleID, Body: vehicle()},
		{Method: http.MethodDelete, Path: "/vehiculos/" + vehicleID},
		{Method: http.MethodGet, Path: "/remolques/" + trailerID},
		{Method: http.MethodPut, Path: "/remolques/" + trailerID, Body: trailer()},
		{Method: http.MethodDelete, Path: "/remolques/" + trailerID},
		{Method: http.MethodGet, Path: viaje},
		{Method: http.MethodPut, Path: viaje, Body: bareTrip()},
		{Method: http.MethodPost, Path: viaje + "/programar"},
		{Method: http.MethodPut, Path: viaje + "/recursos", Body: object{"conductorId": driverID, "vehiculoId": vehicleID}},
		{Method: http.MethodDelete, Path: viaje + "/recursos"},
		{Method: http.MethodPost, Path: viaje + "/iniciar"},
		{Method: http.MethodPost, Path: rolling + "/completar"},
		{Method: http.MethodPost, Path: rolling + "/cancelar"},
		{Method: http.MethodPost, Path: viaje + "/cartas", Key: "i-1", Body: object{"receptor": receiver()}},
		{Method: http.MethodPost, Path: rolling + "/posiciones", Body: object{"lat": 1, "lng": 1, "at": v.Clock.Now()}},
		{Method: http.MethodGet, Path: rolling + "/posicion"},
		{Method: http.MethodGet, Path: rolling + "/posiciones"},
		{Method: http.MethodGet, Path: viaje + "/cartas"},
		{Method: http.MethodGet, Path: carta + "/mercancias"},
		{Method: http.MethodGet, Path: carta},
		{Method: http.MethodGet, Path: "/folios/" + trip.Carta.Folio},
		{Method: http.MethodGet, Path: carta + "/contenido"},
		{Method: http.MethodPut, Path: carta + "/autotransporte", Body: declared()},
		{Method: http.MethodPut, Path: carta + "/ubicaciones", Body: object{"ubicaciones": places()}},
		{Method: http.MethodPut, Path: carta + "/figuras", Body: object{"figuras": people()}},
		{Method: http.MethodPost, Path: carta + "/mercancias", Key: "i-2", Body: object{"mercancias": goods(1)}},
		{Method: http.MethodPost, Path: carta + "/sellar"},
		{Method: http.MethodPost, Path: carta + "/abrir"},
		{Method: http.MethodPost, Path: carta + "/timbrado", Key: "i-3"},
		{Method: http.MethodPost, Path: carta + "/timbrado", Key: "s-1"}, // the owner's key
		{Method: http.MethodGet, Path: carta + "/xml"},
		{Method: http.MethodPost, Path: carta + "/cancelacion", Body: object{"motivo": "02"}},
	}
	for _, r := range theirsByID {
		r.As = bruno
		if response := v.Do(t, r); response.Status != http.StatusNotFound {
			t.Errorf("%s %s of another company: %d %s, want 404", r.Method, r.Path, response.Status, response.Body)
		}
		if response := v.Do(t, in(ana, r)); response.Status != http.StatusForbidden { // naming a company does not make the caller a member
			t.Errorf("%s %s for another company: %d %s, want 403", r.Method, r.Path, response.Status, response.Body)
		}
	}
	for _, path := range []string{"/perfil", "/viajes", "/cartas", "/miembros", "/invitaciones", "/vencimientos", "/eventos", "/catalogos/estado"} {
		if response := v.Do(t, in(ana, apitest.Request{Method: http.MethodGet, Path: path, As: bruno})); response.Status != http.StatusForbidden {
			t.Errorf("%s for another company: %d %s, want 403", path, response.Status, response.Body)
		}
	}
	for _, path := range []string{
		"/perfil", "/conductores", "/conductores?estado=disponible", "/conductores?estado=en_viaje", "/vehiculos", "/vehiculos?estado=en_viaje",
		"/remolques", "/remolques?estado=en_viaje", "/viajes", "/viajes?estado=programado", "/viajes?estado=en_curso",
		"/viajes?desde=2020-01-01T00:00:00Z&hasta=2040-01-01T00:00:00Z", "/cartas", "/cartas?status=timbrada", "/sesiones", "/miembros", "/invitaciones", "/empresas", "/vencimientos?dias=366",
	} {
		wantNothingOf(t, v, apitest.Request{Method: http.MethodGet, Path: path}, secrets)
	}
	wantNothingOf(t, v, apitest.Request{
		Method: http.MethodPost, Path: "/recursos/consulta",
		Body: object{"conductores": []string{driverID}, "vehiculos": []string{vehicleID}, "remolques": []string{trailerID}},
	}, secrets)
	theirs := apitest.Request{
		Method: http.MethodPost, Path: "/conductores", As: bruno, Key: "i-4", Body: with(driver(), object{"vehiculoAsignadoId": vehicleID}),
	}
	if response := v.Do(t, theirs); response.Status != http.StatusBadRequest {
		t.Errorf("a driver with another company's vehicle: %d %s", response.Status, response.Body)
	}
	if gone := v.Do(t, apitest.Request{Method: http.MethodDelete, Path: "/sesiones/" + session.SessionID, As: bruno}); gone.Status != http.StatusNoContent {
		t.Errorf("sign out: %d %s", gone.Status, gone.Body)
	}
	after := stored(t, v)
	for key, item := range before {
		if after[key] != item {
			t.Errorf("%s was %s and is %s", key, item, after[key])
		}
	}
	for key := range after {
		if _, known := before[key]; !known {
			t.Errorf("%s was created", key)
		}
	}
}

// wantNothingOf sends a request as the other company. Its response must not reveal the ids.
func wantNothingOf(t *testing.T, v *apitest.Server, r apitest.Request, ids []string) {
	t.Helper()
	r.As = bruno
	response := v.Do(t, r)
	if response.Status != http.StatusOK {
		t.Errorf("%s %s: %d %s", r.Method, r.Path, response.Status, response.Body)
	}
	for _, id := range ids {
		if strings.Contains(string(response.Body), id) {
			t.Errorf("%s %s reveals %s: %s", r.Method, r.Path, id, response.Body)
		}
	}
}
