package transporteapp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp"
)

// TestStaleIfMatchIsRejected: dispatchers who have read a driver, vehicle, trailer or trip do not overwrite each other's changes or
// assignments. Without If-Match the last write wins.
func TestStaleIfMatchIsRejected(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	driverID, vehicleID, trailerID := fleet(t, v, ana, "cs")
	trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "cs-1", bareTrip()).ViajeID
	send := func(method, path, match string, body any) *apitest.Response {
		v.Clock.Advance(time.Millisecond)
		r := as(method, path, "", body)
		if match != "" {
			r.Header = map[string]string{"If-Match": match}
		}
		return v.Do(t, r)
	}
	at, resources := "/viajes/"+trip, "/viajes/"+trip+"/recursos"
	chosen := object{"conductorId": driverID, "vehiculoId": vehicleID}
	for _, of := range []struct {
		name, read, write string
		first, second     any
	}{
		{"driver", "/conductores/" + driverID, "/conductores/" + driverID, with(driver(), object{"nombre": "Ana"}), with(driver(), object{"nombre": "Luis"})},
		{"vehicle", "/vehiculos/" + vehicleID, "/vehiculos/" + vehicleID, with(vehicle(), object{"polizaRespCivil": "P-1"}), with(vehicle(), object{"polizaRespCivil": "P-2"})},
		{"trailer", "/remolques/" + trailerID, "/remolques/" + trailerID, with(trailer(), object{"seguroVigencia": "2031-01-01"}), with(trailer(), object{"seguroVigencia": "2032-01-01"})},
		{"trip", at, at, with(bareTrip(), object{"nombre": "Uno"}), with(bareTrip(), object{"nombre": "Dos"})},
		{"assignment", at, resources, with(chosen, object{"remolqueId": trailerID}), chosen},
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
