package transporteapp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/transporteapp"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte/cartaportetest"
)

// TestTrip covers a trip from beginning to end: it gets a carta, which is filled in, closed and stamped, and a driver, vehicle
// and trailer; it starts, is tracked, and arrives.
func TestTrip(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	driverID, vehicleID, trailerID := fleet(t, v, ana, "f")
	trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t-1", cartaTrip())
	if trip.Carta == nil || trip.Carta.Folio != "CP-000001" || trip.Fiscal.CartaPorteFolio != "CP-000001" || trip.Carta.Status != "borrador" {
		t.Fatalf("created %+v", trip)
	}
	if p := get[transporteapp.Perfil](t, v, ana, "/perfil"); p.Credits.Balance != 49 || p.Credits.Reserved != 1 || p.Credits.MonthlyUsed != 1 {
		t.Errorf("credits %+v, want 49 free, 1 reserved, 1 used", p.Credits)
	}
	at := "/viajes/" + trip.ViajeID
	assigned := put[transporteapp.Viaje](t, v, ana, at+"/recursos", object{"conductorId": driverID, "vehiculoId": vehicleID, "remolqueId": trailerID})
	if r := assigned.Resources; r == nil || r.ConductorNombre != "Pedro López" || r.VehiculoPlaca != "ABC-123" || r.RemolquePlaca != "REM-123" {
		t.Fatalf("assigned %+v", assigned.Resources)
	}
	if early := v.Do(t, apitest.Request{Method: http.MethodPost, Path: at + "/iniciar", As: ana}); early.Status != http.StatusConflict || early.Problem(t).Code != "carta_sin_timbrar" {
		t.Errorf("without a stamp the trip left: %d %s", early.Status, early.Body)
	}
	sealed := fill(t, v, ana, trip.Carta.CartaID, 3)
	if !sealed.Sellada || sealed.Totales.NumeroTotalMercancias != 3 || sealed.Totales.PesoBrutoTotal.String() != "15.375" || sealed.Totales.DistanciaTotal.String() != "500" {
		t.Errorf("sealed %+v", sealed.Totales)
	}
	stamped := post[transporteapp.Carta](t, v, http.StatusCreated, ana, "/cartas/"+trip.Carta.CartaID+"/timbrado", "s-1", nil)
	if stamped.Status != "timbrada" || stamped.Timbrado == nil || !stamped.Timbrado.Prueba || stamped.Timbrado.Leyenda != cartaporte.Leyenda {
		t.Fatalf("stamped %+v", stamped)
	}
	if p := get[transporteapp.Perfil](t, v, ana, "/perfil"); p.Credits.Balance != 49 || p.Credits.Reserved != 0 || p.Credits.TotalConsumed != 1 {
		t.Errorf("credits %+v, want 49 free, none reserved, 1 consumed", p.Credits)
	}
	document := v.Do(t, apitest.Request{Method: http.MethodGet, Path: "/cartas/" + trip.Carta.CartaID + "/xml", As: ana})
	if err := cartaportetest.Verify(document.Body); document.Status != http.StatusOK || err != nil {
		t.Fatalf("the XML: %d %v %.200s", document.Status, err, document.Body)
	}
	if !strings.HasPrefix(document.Header.Get("Content-Type"), "application/xml") {
		t.Errorf("the XML is of type %s", document.Header.Get("Content-Type"))
	}
	if now := get[transporteapp.ViajeConCarta](t, v, ana, at); now.Fiscal.CartaPorteStatus != "timbrada" || now.Carta.Status != "timbrada" {
		t.Errorf("the trip shows %+v", now.Fiscal)
	}
	post[transporteapp.Viaje](t, v, http.StatusOK, ana, at+"/iniciar", "", nil)
	follow(t, v, at, trip.ViajeID)
	post[transporteapp.Viaje](t, v, http.StatusOK, ana, at+"/completar", "", nil)
	d := get[transporteapp.Conductor](t, v, ana, "/conductores/"+driverID)
	if d.Estado != "disponible" || d.Asignacion.ViajeActualID != "" || d.Performance.ViajesCompletados != 1 || d.Performance.KmTotales.String() != "250" {
		t.Errorf("the driver is %+v", d)
	}
	w := get[transporteapp.Vehiculo](t, v, ana, "/vehiculos/"+vehicleID)
	r := get[transporteapp.Remolque](t, v, ana, "/remolques/"+trailerID)
	if w.Estado != "disponible" || w.KmTotales.String() != "250" || r.Estado != "disponible" || w.ViajeActualID+r.ViajeActualID != "" {
		t.Errorf("the vehicle is %+v, the trailer %+v", w, r)
	}
}

// follow reports a trip's positions and checks the result.
func follow(t *testing.T, v *apitest.Server, at, id string) {
	t.Helper()
	begun := v.Clock.Now()
	// A degree of latitude is 111.195 km on a sphere with the mean radius.
	first := ping(t, v, ana, id, 20.4326, -99.1332, begun.Add(time.Minute))
	if first.DistanciaRecorrida.String() != "111.195" || first.Progreso != 22 {
		t.Errorf("after a degree: %+v", first)
	}
	if same := ping(t, v, ana, id, 20.4326, -99.1332, begun.Add(time.Minute)); same.DistanciaRecorrida != first.DistanciaRecorrida {
		t.Errorf("a repeated ping: %+v", same)
	}
	post[transporteapp.Rastreo](t, v, http.StatusOK, ana, at+"/posiciones", "", object{"lat": 20.5, "lng": -100, "at": begun.Add(3 * time.Minute), "distanciaRecorrida": 250})
	if old := ping(t, v, ana, id, 20.45, -99.5, begun.Add(2*time.Minute)); old.DistanciaRecorrida.String() != "250" {
		t.Errorf("an older ping: %+v", old)
	}
	now := get[transporteapp.Rastreo](t, v, ana, at+"/posicion")
	if now.Progreso != 50 || now.UbicacionActual.Lat.String() != "20.5" || !now.UltimaActualizacion.Equal(begun.Add(3*time.Minute)) {
		t.Errorf("the trip is at %+v", now)
	}
	been := get[page[transporteapp.Posicion]](t, v, ana, at+"/posiciones")
	if len(been.Items) != 3 || been.Items[1].Lat.String() != "20.45" {
		t.Errorf("the trip has been at %+v", been.Items)
	}
}

// TestFirstPositionIsKept: the first position reported for a time is kept. A position expires after 180 days, whether or not DynamoDB has
// deleted it.
func TestFirstPositionIsKept(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	driverID, vehicleID, _ := fleet(t, v, ana, "f")
	trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t", bareTrip())
	at := "/viajes/" + trip.ViajeID
	put[object](t, v, ana, at+"/recursos", object{"conductorId": driverID, "vehiculoId": vehicleID})
	post[object](t, v, http.StatusOK, ana, at+"/iniciar", "", nil)
	now := v.Clock.Now()
	ping(t, v, ana, trip.ViajeID, 20, -100, now)
	if same := ping(t, v, ana, trip.ViajeID, 30, -110, now); same.UbicacionActual.Lat.String() != "20" {
		t.Errorf("the second place of a time: %+v", same)
	}
	list := func() []transporteapp.Posicion {
		return get[page[transporteapp.Posicion]](t, v, ana, at+"/posiciones").Items
	}
	if been := list(); len(been) != 1 || been[0].Lat.String() != "20" {
		t.Errorf("the trip has been at %+v, want the first place", been)
	}
	ping(t, v, ana, trip.ViajeID, 21, -100, now.Add(time.Second))
	first := get[page[transporteapp.Posicion]](t, v, ana, at+"/posiciones?limit=1")
	v.Clock.Advance(time.Minute) // a cursor is still valid later
	if second := get[page[transporteapp.Posicion]](t, v, ana, apitest.Query(at+"/posiciones", "limit", "1", "cursor", first.Next)); len(second.Items) != 1 || second.Items[0].Lat.String() != "21" {
		t.Errorf("the second page is %+v", second.Items)
	}
	v.Clock.Advance(180*24*time.Hour - time.Minute - time.Second)
	if been := list(); len(been) != 2 {
		t.Errorf("before 180 days are over: %+v", been)
	}
	v.Clock.Advance(2 * time.Second)
	if been := list(); len(been) != 0 {
		t.Errorf("after 180 days: %+v", been)
	}
	if still := get[transporteapp.Rastreo](t, v, ana, at+"/posicion"); still.UbicacionActual == nil {
		t.Errorf("the trip is nowhere: %+v", still)
	}
}

// TestCancelledTripFreesResources: a trip cancelled before it started has no position, and its driver, vehicle and trailer are available
// again.
func TestCancelledTripFreesResources(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	driverID, vehicleID, trailerID := fleet(t, v, ana, "f")
	for i, trailer := range []any{nil, trailerID} {
		trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", fmt.Sprint("t-", i), bareTrip())
		at := "/viajes/" + trip.ViajeID
		put[object](t, v, ana, at+"/recursos", with(object{"conductorId": driverID, "vehiculoId": vehicleID}, object{"remolqueId": trailer}))
		post[object](t, v, http.StatusOK, ana, at+"/cancelar", "", nil)
		if now := get[transporteapp.ViajeConCarta](t, v, ana, at); now.Estado != "cancelado" || now.Tracking != nil {
			t.Errorf("off: %+v, at %+v", now, now.Tracking)
		}
	}
}

// TestTripStart: a trip starts with a stamped carta, or without one if it is local, and not long before its planned start.
func TestTripStart(t *testing.T) {
	t.Parallel()
	const early = 24 * time.Hour
	v := open(t, transporteapp.Options{Anticipacion: early}, ana)
	driverID, vehicleID, _ := fleet(t, v, ana, "f")
	begins := v.Clock.Now().Add(60 * 24 * time.Hour)
	planned := with(bareTrip(), object{"fechaInicioProgramada": begins, "fechaFinProgramada": begins.Add(time.Hour)})
	assigned := func(key string, body object) (leave apitest.Request) {
		at := "/viajes/" + post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", key, body).ViajeID
		put[object](t, v, ana, at+"/recursos", object{"conductorId": driverID, "vehiculoId": vehicleID})
		return as(http.MethodPost, at+"/iniciar", "", nil)
	}
	leave := assigned("local", planned)
	v.Run(t, []apitest.Case{refused("two months early", leave, "viaje_anticipado")})
	v.Clock.Advance(60*24*time.Hour - early - time.Millisecond)
	v.Run(t, []apitest.Case{refused("a little early", leave, "viaje_anticipado")})
	v.Clock.Advance(time.Millisecond)
	v.Run(t, []apitest.Case{good("in time", leave, http.StatusOK)})
	post[object](t, v, http.StatusOK, ana, strings.Replace(leave.Path, "iniciar", "completar", 1), "", nil)
	v.Run(t, []apitest.Case{refused("without a carta", assigned("federal", with(planned, object{"local": nil})), "carta_sin_timbrar")})
}
