package transporteapp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp"
)

// longest has as many digits as DynamoDB can store: added to a larger number, the sum cannot be stored.
const longest = json.Number("1.0000000000000000000000000000000000001")

// TestLongDistances: a distance with many digits neither prevents a trip from ending nor causes a 500.
func TestLongDistances(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	driverID, vehicleID, _ := fleet(t, v, ana, "f")
	for i, km := range []any{longest, 99999, longest} {
		trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", fmt.Sprint("t-", i), bareTrip())
		at := "/viajes/" + trip.ViajeID
		put[object](t, v, ana, at+"/recursos", object{"conductorId": driverID, "vehiculoId": vehicleID})
		post[object](t, v, http.StatusOK, ana, at+"/iniciar", "", nil)
		post[object](t, v, http.StatusOK, ana, at+"/posiciones", "", object{"lat": 20, "lng": -100, "at": v.Clock.Now(), "distanciaRecorrida": km})
		post[object](t, v, http.StatusOK, ana, at+"/completar", "", nil)
	}
	d, w := get[transporteapp.Conductor](t, v, ana, "/conductores/"+driverID), get[transporteapp.Vehiculo](t, v, ana, "/vehiculos/"+vehicleID)
	if d.Performance.KmTotales.String() != "100001" || w.KmTotales.String() != "100001" {
		t.Errorf("driven %s and %s km, want 100001", d.Performance.KmTotales, w.KmTotales)
	}
	carta := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t", cartaTrip()).Carta.CartaID
	far := with(places()[1], object{"distanciaRecorrida": 99999})
	list := []object{places()[0], far, with(far, object{"idUbicacion": "DE000009", "distanciaRecorrida": longest})}
	v.Run(t, []apitest.Case{bad(
		"ways that cannot be added", as(http.MethodPut, "/cartas/"+carta+"/ubicaciones", "", object{"ubicaciones": list}),
		http.StatusBadRequest, problem.CodeInvalidBody, "body.ubicaciones",
	)})
}
