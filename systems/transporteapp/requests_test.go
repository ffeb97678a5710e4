package transporteapp_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/transporteapp"
)

// TestRequestsOfSaves: saving a driver, vehicle or trailer takes one database request, besides reading the member. It takes a
// transaction if it changes a plate or something that assignments depend on. In both cases the response is the item as a later
// read returns it.
func TestRequestsOfSaves(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	driverID, vehicleID, trailerID := fleet(t, v, ana, "rq")
	alone, whole := []string{"GetItem", "UpdateItem"}, []string{"GetItem", "GetItem", "TransactWriteItems", "UpdateItem"}
	vehicle, trailer := own(vehicle(), "V", "rq"), own(trailer(), "R", "rq")
	for _, c := range []struct {
		operation, path string
		body            object
		change          object
		want            []string
	}{
		{"putConductor", "/conductores/" + driverID, driver(), object{"nombre": "Luis"}, alone},
		{"putConductor", "/conductores/" + driverID, driver(), object{"estado": "inactivo"}, whole},
		{"putConductor", "/conductores/" + driverID, driver(), object{"activo": false}, whole},
		{"putConductor", "/conductores/" + driverID, driver(), object{"licencia": object{"tipo": "E", "numero": "ABC123456", "vigencia": "2031-06-15"}}, whole},
		{"putVehiculo", "/vehiculos/" + vehicleID, vehicle, object{"polizaRespCivil": "P-2", "seguroVigencia": "2031-01-01"}, alone},
		{"putVehiculo", "/vehiculos/" + vehicleID, vehicle, object{"estado": "taller"}, whole},
		{"putVehiculo", "/vehiculos/" + vehicleID, vehicle, object{"placa": "RQ-2222"}, whole},
		{"putRemolque", "/remolques/" + trailerID, trailer, object{"seguroVigencia": "2031-01-01"}, alone},
		{"putRemolque", "/remolques/" + trailerID, trailer, object{"estado": "taller"}, whole},
		{"putRemolque", "/remolques/" + trailerID, trailer, object{"placa": "RQ-3333"}, whole},
	} {
		put[object](t, v, ana, c.path, c.body) // only the change differs from the stored item
		v.Requests(c.operation)
		v.Clock.Advance(time.Second)
		saved := v.Do(t, as(http.MethodPut, c.path, "", with(c.body, c.change)))
		if saved.Status != http.StatusOK {
			t.Fatalf("%s: %d %s", c.operation, saved.Status, saved.Body)
		}
		if sent := v.Requests(c.operation); !slices.Equal(sent, c.want) {
			t.Errorf("%s of %v sends %v; want %v", c.operation, c.change, sent, c.want)
		}
		if read := v.Do(t, as(http.MethodGet, c.path, "", nil)); saved.Header.Get("ETag") != read.Header.Get("ETag") {
			t.Errorf("%s of %v responds with %s; a later read returns %s", c.operation, c.change, saved.Body, read.Body)
		}
	}
}
