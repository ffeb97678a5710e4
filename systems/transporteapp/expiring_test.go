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

// ending returns the expiries: whose, which document, and in how many days.
func ending(t *testing.T, v *apitest.Server, days int) []string {
	t.Helper()
	today := v.Clock.Now().UTC().Truncate(24 * time.Hour)
	var out []string
	for _, x := range get[transporteapp.Vencimientos](t, v, ana, fmt.Sprintf("/vencimientos?dias=%d", days)).Items {
		ends, err := time.Parse(time.DateOnly, x.Vence)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(x.Nombre, " ", x.Documento, " ", int(ends.Sub(today).Hours()/24)))
	}
	return out
}

// TestExpiringDocumentsAreListed: the list has licences of active drivers, permits and insurance policies that have expired or expire soon, sorted
// by date. Renewed ones and those of inactive drivers are omitted.
func TestExpiringDocumentsAreListed(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	put[object](t, v, ana, "/perfil", with(profile(), object{"timezone": "UTC"}))
	in := func(days int) string { return v.Clock.Now().UTC().AddDate(0, 0, days).Format(time.DateOnly) }
	licensed := func(name string, days int) object {
		return with(driver(), object{"nombre": name, "licencia": object{"tipo": "E", "numero": "ABC123456", "vigencia": in(days)}})
	}
	pedro := post[transporteapp.Conductor](t, v, http.StatusCreated, ana, "/conductores", "c-1", licensed("Pedro", -3))
	post[object](t, v, http.StatusCreated, ana, "/conductores", "c-2", licensed("Luis", 30))
	post[object](t, v, http.StatusCreated, ana, "/conductores", "c-3", licensed("Rosa", 31))
	truck := with(vehicle(), object{"placa": "AAA-111", "permisoVigencia": in(40), "seguroVigencia": in(5)})
	created := post[transporteapp.Vehiculo](t, v, http.StatusCreated, ana, "/vehiculos", "v-1", truck)
	post[object](t, v, http.StatusCreated, ana, "/vehiculos", "v-2", with(vehicle(), object{"placa": "BBB-222"}))
	post[object](t, v, http.StatusCreated, ana, "/remolques", "r-1", with(trailer(), object{"placa": "CCC-333", "seguroVigencia": in(0)}))

	want := []string{"Pedro licencia -3", "CCC-333 seguro 0", "AAA-111 seguro 5", "Luis licencia 30"}
	if got := ending(t, v, 30); !slices.Equal(got, want) {
		t.Errorf("within 30 days end %q, want %q", got, want)
	}
	want = []string{"Pedro licencia -3", "CCC-333 seguro 0"}
	if got := ending(t, v, 0); !slices.Equal(got, want) {
		t.Errorf("today end %q, want %q", got, want)
	}
	put[object](t, v, ana, "/conductores/"+pedro.ConductorID, with(licensed("Pedro", -3), object{"activo": false}))
	put[object](t, v, ana, "/vehiculos/"+created.VehiculoID, with(truck, object{"seguroVigencia": in(365)}))
	want = []string{"CCC-333 seguro 0", "Luis licencia 30", "Rosa licencia 31", "AAA-111 permiso 40"}
	if got := ending(t, v, 60); !slices.Equal(got, want) {
		t.Errorf("within 60 days end %q, want %q", got, want)
	}
}

// TestExpiringWhenClocksChange: a day counts as one, although the next one has 23 hours.
func TestExpiringWhenClocksChange(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	put[object](t, v, ana, "/perfil", with(profile(), object{"timezone": "America/New_York"}))
	place, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	noon := func(day time.Time) (offset int) {
		_, offset = time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, place).Zone()
		return offset
	}
	eve := v.Clock.Now().In(place)
	for noon(eve.AddDate(0, 0, 1)) <= noon(eve) {
		eve = eve.AddDate(0, 0, 1)
	}
	for days, name := range []string{"Today", "Tomorrow", "Later"} {
		valid := eve.AddDate(0, 0, days).Format(time.DateOnly)
		post[object](t, v, http.StatusCreated, ana, "/conductores", name, with(driver(), object{
			"nombre": name, "licencia": object{"tipo": "E", "numero": "ABC123456", "vigencia": valid},
		}))
	}
	late := time.Date(eve.Year(), eve.Month(), eve.Day(), 23, 30, 0, 0, place)
	v.Clock.Advance(max(0, late.Sub(v.Clock.Now())))
	for days := range 3 {
		if got := get[transporteapp.Vencimientos](t, v, ana, fmt.Sprintf("/vencimientos?dias=%d", days)).Items; len(got) != days+1 {
			t.Errorf("at %s within %d days end %+v", late, days, got)
		}
	}
}
