package transporteapp_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/transporteapp"
)

// TestPerformance: a driver's statistics count each trip once, however many requests complete it.
func TestPerformance(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	driverID, vehicleID, _ := fleet(t, v, ana, "f")
	now := v.Clock.Now()
	for i, c := range []struct {
		how    any
		ends   time.Time
		rating string
		punct  string
	}{
		{nil, now.Add(time.Hour), "", "100"},
		{object{"calificacion": 5}, now.Add(-time.Second), "5", "50"},
		{object{"calificacion": 4, "incidentes": 2}, now.Add(-time.Second), "4.5", "33.33"},
		{object{"calificacion": 4, "incidentes": 1}, now, "4.33", "50"}, // just in time
	} {
		trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", fmt.Sprint("t-", i), with(bareTrip(), object{
			"fechaInicioProgramada": now.Add(-24 * time.Hour), "fechaFinProgramada": c.ends, "destino": "Destino " + c.punct,
		}))
		at := "/viajes/" + trip.ViajeID
		put[object](t, v, ana, at+"/recursos", object{"conductorId": driverID, "vehiculoId": vehicleID})
		post[object](t, v, http.StatusOK, ana, at+"/iniciar", "", nil)
		post[object](t, v, http.StatusOK, ana, at+"/posiciones", "", object{"lat": 20, "lng": -100, "at": now, "distanciaRecorrida": 10.5})
		responses := atOnce(t, v, 8, func(int) apitest.Request { return as(http.MethodPost, at+"/completar", "", c.how) })
		if got := tally(t, responses); got[""] != 1 || got["viaje_no_en_curso"] != 7 {
			t.Errorf("arrived %v, want once", got)
		}
		d := get[transporteapp.Conductor](t, v, ana, "/conductores/"+driverID)
		p := d.Performance
		rating := ""
		if p.CalificacionPromedio != nil {
			rating = p.CalificacionPromedio.String()
		}
		if p.ViajesCompletados != int64(i)+1 || rating != c.rating || p.PuntualidadPromedio.String() != c.punct || d.Asignacion.UbicacionActual != "Destino "+c.punct {
			t.Errorf("after trip %d: %+v, %+v; want %s stars, %s punctual", i+1, d.Performance, d.Asignacion, c.rating, c.punct)
		}
	}
	p := get[transporteapp.Conductor](t, v, ana, "/conductores/"+driverID).Performance
	if p.KmTotales.String() != "42" || p.Incidentes != 3 {
		t.Errorf("in all: %+v, want 42 km and 3 incidents", p)
	}
}
