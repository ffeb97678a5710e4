package transporteapp_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/transporteapp"
)

// day is a time in January 2027, the month of these tests' trips.
func day(n, hour int) time.Time { return time.Date(2027, time.January, n, hour, 0, 0, 0, time.UTC) }

// planned creates a trip for a period and returns its path.
func planned(tb testing.TB, v *apitest.Server, key string, from, to time.Time) string {
	tb.Helper()
	body := with(bareTrip(), object{"fechaInicioProgramada": from, "fechaFinProgramada": to})
	return "/viajes/" + post[transporteapp.ViajeConCarta](tb, v, http.StatusCreated, ana, "/viajes", key, body).ViajeID
}

// TestPeriods: a driver, a vehicle and a trailer can have any number of consecutive trips, but no two that overlap.
func TestPeriods(t *testing.T) {
	t.Parallel()
	apitest.Each(t, transporteapp.System(transporteapp.Options{PAC: testPAC, Anticipacion: 100 * 365 * 24 * time.Hour}), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		put[object](t, v, ana, "/perfil", profile())
		driverID, vehicleID, trailerID := fleet(t, v, ana, "f")
		secondDriver, secondVehicle, secondTrailer := fleet(t, v, ana, "second")
		all := object{"conductorId": driverID, "vehiculoId": vehicleID, "remolqueId": trailerID}
		assign := func(trip string, body object) apitest.Request { return as(http.MethodPut, trip+"/recursos", "", body) }
		january := planned(t, v, "january", day(10, 8), day(12, 18))
		june := planned(t, v, "june", day(170, 8), day(172, 18))
		v.Run(t, []apitest.Case{
			good("January", assign(january, all), http.StatusOK),
			good("June", assign(june, all), http.StatusOK),
		})
		for i, c := range []struct {
			from, to time.Time
			free     bool
		}{
			{day(9, 0), day(10, 8), true}, // ends when the other begins
			{day(12, 18), day(13, 0), true},
			{day(9, 0), day(10, 9), false},
			{day(11, 0), day(11, 1), false},
			{day(12, 17), day(13, 0), false},
			{day(9, 0), day(13, 0), false},
			{day(10, 8), day(10, 8), false}, // an empty period at the start of the other
		} {
			trip := planned(t, v, fmt.Sprint("t-", i), c.from, c.to)
			if c.free {
				put[object](t, v, ana, trip+"/recursos", all)
				post[object](t, v, http.StatusOK, ana, trip+"/cancelar", "", nil)
				continue
			}
			v.Run(t, []apitest.Case{
				refused("driver", assign(trip, object{"conductorId": driverID, "vehiculoId": secondVehicle}), "conductor_ocupado"),
				refused("vehicle", assign(trip, object{"conductorId": secondDriver, "vehiculoId": vehicleID}), "vehiculo_ocupado"),
				refused("trailer", assign(trip, object{"conductorId": secondDriver, "vehiculoId": secondVehicle, "remolqueId": trailerID}), "remolque_ocupado"),
				good("others", assign(trip, object{"conductorId": secondDriver, "vehiculoId": secondVehicle, "remolqueId": secondTrailer}), http.StatusOK),
				good("off", as(http.MethodPost, trip+"/cancelar", "", nil), http.StatusOK),
			})
		}
		consistent(t, v, 2)
		between := planned(t, v, "between", day(11, 0), day(11, 5))
		v.Run(t, []apitest.Case{
			refused("taken", assign(between, all), "conductor_ocupado"),
			good("another driver", assign(january, with(all, object{"conductorId": secondDriver})), http.StatusOK),
			good("the driver is free", assign(between, object{"conductorId": driverID, "vehiculoId": secondVehicle}), http.StatusOK),
			refused("the vehicle is not", assign(between, object{"conductorId": driverID, "vehiculoId": vehicleID}), "vehiculo_ocupado"),
			refused("a vehicle that is taken", assign(january, object{"conductorId": secondDriver, "vehiculoId": secondVehicle}), "vehiculo_ocupado"),
			good("nobody", as(http.MethodDelete, january+"/recursos", "", nil), http.StatusOK),
			good("all are free", assign(between, all), http.StatusOK),
			good("it leaves", as(http.MethodPost, between+"/iniciar", "", nil), http.StatusOK),
			refused("the driver leaves twice", as(http.MethodPost, june+"/iniciar", "", nil), "conductor_en_viaje"),
			good("while on the way, another trip", assign(planned(t, v, "next", day(12, 0), day(12, 5)), all), http.StatusOK),
			refused("its time is still taken", assign(january, all), "conductor_ocupado"),
			good("it arrives", as(http.MethodPost, between+"/completar", "", nil), http.StatusOK),
			refused("the next one's too", assign(january, all), "conductor_ocupado"),
			good("in June it leaves", as(http.MethodPost, june+"/iniciar", "", nil), http.StatusOK),
			good("and is off", as(http.MethodPost, june+"/cancelar", "", nil), http.StatusOK),
		})
		consistent(t, v, 1)
	})
}

// TestFree: lists by period contain, page by page, only what is available then and belongs to the company.
func TestFree(t *testing.T) {
	t.Parallel()
	const drivers = 5
	v := open(t, plan(drivers+1, drivers+1, 1, 1), ana, bruno)
	driverID, vehicleID, trailerID := fleet(t, v, ana, "f")
	fleet(t, v, bruno, "theirs")
	var free []string
	for i := range drivers {
		body := with(driver(), object{"nombre": fmt.Sprint("Driver ", i)})
		switch i {
		case 0:
			body["estado"] = "inactivo"
		case 1:
			body["licencia"] = object{"tipo": "E", "numero": "ABC123456", "vigencia": "2027-01-11"}
		}
		id := post[transporteapp.Conductor](t, v, http.StatusCreated, ana, "/conductores", fmt.Sprint("c-", i), body).ConductorID
		if i > 1 {
			free = append(free, id)
		}
	}
	trip := planned(t, v, "t", day(10, 8), day(12, 18))
	put[object](t, v, ana, trip+"/recursos", object{"conductorId": driverID, "vehiculoId": vehicleID, "remolqueId": trailerID})
	ids := func(path string, from, to time.Time) (out []string) {
		t.Helper()
		for next := ""; ; {
			p := get[page[object]](t, v, ana, apitest.Query(path, "limit", "2", "cursor", next, "desde", from.Format(time.RFC3339), "hasta", to.Format(time.RFC3339)))
			for _, x := range p.Items {
				for _, name := range []string{"conductorId", "vehiculoId", "remolqueId"} {
					if id, ok := x[name].(string); ok && id != "" {
						out = append(out, id)
					}
				}
			}
			if next = p.Next; next == "" {
				slices.Sort(out)
				return out
			}
		}
	}
	slices.Sort(free)
	if got := ids("/conductores", day(11, 0), day(12, 12)); !slices.Equal(got, free) {
		t.Errorf("free drivers are %v, want %v", got, free)
	}
	if got := ids("/conductores", day(12, 18), day(13, 0)); len(got) != len(free)+1 || !slices.Contains(got, driverID) {
		t.Errorf("after the trip, free drivers are %v", got)
	}
	if got := ids("/conductores", day(2, 0), day(3, 0)); len(got) != len(free)+2 {
		t.Errorf("before the trip, free drivers are %v", got)
	}
	for _, path := range []string{"/vehiculos", "/remolques"} {
		if got := ids(path, day(11, 0), day(12, 0)); len(got) != 0 {
			t.Errorf("%s: %v are free", path, got)
		}
		if got := ids(path, day(13, 0), day(14, 0)); len(got) != 1 {
			t.Errorf("%s: %v are free after the trip", path, got)
		}
	}
	if got := get[page[object]](t, v, "u-new", "/conductores?desde=2027-01-11T00:00:00Z&hasta=2027-01-12T00:00:00Z"); len(got.Items) != 0 {
		t.Errorf("drivers of a company without a profile: %v", got.Items)
	}
	from, to := "desde=2027-01-11T00:00:00Z", "hasta=2027-01-12T00:00:00Z"
	for _, path := range []string{"/conductores", "/vehiculos", "/remolques"} {
		v.Run(t, []apitest.Case{
			wrongQuery("no end", path+"?"+from, "query.hasta"),
			wrongQuery("no beginning", path+"?"+to, "query.desde"),
			wrongQuery("ends first", path+"?desde=2027-02-01T00:00:00Z&"+to, "query.hasta"),
			wrongQuery("with a state", path+"?estado=disponible&"+from+"&"+to, "query.estado"),
		})
	}
}

// TestAgendaIsBounded: a driver has at most a hundred planned trips.
func TestAgendaIsBounded(t *testing.T) {
	t.Parallel()
	const most = 100
	v := open(t, transporteapp.Options{}, ana)
	driverID, vehicleID, _ := fleet(t, v, ana, "f")
	body := object{"conductorId": driverID, "vehiculoId": vehicleID}
	for i := range most {
		put[object](t, v, ana, planned(t, v, fmt.Sprint("t-", i), day(i+1, 0), day(i+1, 12))+"/recursos", body)
	}
	last := planned(t, v, "last", day(most+1, 0), day(most+1, 12))
	v.Run(t, []apitest.Case{refused("one too many", as(http.MethodPut, last+"/recursos", "", body), "agenda_llena")})
	for _, a := range companyOf(t, v, ana).agendas {
		if a.Abiertos > most {
			t.Errorf("an agenda has %d trips", a.Abiertos)
		}
	}
}

// TestBoard: the trips of a period are listed with driver and vehicle, up to date after each assignment.
func TestBoard(t *testing.T) {
	t.Parallel()
	apitest.Each(t, transporteapp.System(transporteapp.Options{PAC: testPAC}), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		put[object](t, v, ana, "/perfil", profile())
		driverID, vehicleID, trailerID := fleet(t, v, ana, "f")
		trip := planned(t, v, "k", day(10, 8), day(12, 18))
		onBoard := func() transporteapp.ViajeResumen {
			t.Helper()
			got := get[page[transporteapp.ViajeResumen]](t, v, ana, "/viajes?desde=2027-01-10T00:00:00Z&hasta=2027-01-11T00:00:00Z")
			if len(got.Items) != 1 {
				t.Fatalf("the board has %v, want one trip", got.Items)
			}
			return got.Items[0]
		}
		if got := onBoard(); got.Resources != nil {
			t.Errorf("an unassigned trip has %v", got.Resources)
		}
		put[object](t, v, ana, trip+"/recursos", object{"conductorId": driverID, "vehiculoId": vehicleID, "remolqueId": trailerID})
		if got := onBoard().Resources; got == nil || got.ConductorID != driverID || got.VehiculoID != vehicleID || got.RemolqueID != trailerID || got.ConductorNombre == "" {
			t.Errorf("an assigned trip has %v, want %s, %s and %s", got, driverID, vehicleID, trailerID)
		}
		v.Run(t, []apitest.Case{good("nobody", as(http.MethodDelete, trip+"/recursos", "", nil), http.StatusOK)})
		if got := onBoard(); got.Resources != nil {
			t.Errorf("a trip that was taken back has %v", got.Resources)
		}
	})
}
