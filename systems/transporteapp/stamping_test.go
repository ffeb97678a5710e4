package transporteapp_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/transporteapp"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte/cartaportetest"
)

// TestThousandsOfGoods: a carta with thousands of goods is saved in batches, read back completely, closed and stamped. A retried request
// adds its goods only once.
func TestThousandsOfGoods(t *testing.T) {
	t.Parallel()
	const total = 2500
	v := open(t, transporteapp.Options{}, ana)
	id := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t", cartaTrip()).Carta.CartaID
	all := goods(total)
	at := "/cartas/" + id
	post[transporteapp.Agregado](t, v, http.StatusCreated, ana, at+"/mercancias", "k-0", object{"mercancias": all[:1000]})
	for i := range 3 {
		part := all[i*1000 : min(total, (i+1)*1000)]
		status := http.StatusCreated
		if i == 0 {
			status = http.StatusOK
		}
		post[transporteapp.Agregado](t, v, status, ana, at+"/mercancias", fmt.Sprint("k-", i), object{"mercancias": part})
	}
	put[object](t, v, ana, at+"/autotransporte", declared())
	put[object](t, v, ana, at+"/ubicaciones", object{"ubicaciones": places()})
	put[object](t, v, ana, at+"/figuras", object{"figuras": people()})
	var read []transporteapp.Mercancia
	var others int
	for next := ""; ; {
		p := get[transporteapp.Contenido](t, v, ana, apitest.Query(at+"/contenido", "limit", "100", "cursor", next))
		read = append(read, p.Mercancias...)
		others += len(p.Figuras) + len(p.Ubicaciones)
		if next = p.Next; next == "" {
			break
		}
	}
	if p := get[transporteapp.Contenido](t, v, ana, at+"/contenido?sinMercancias=true"); p.Autotransporte == nil || len(p.Figuras) != 1 || len(p.Ubicaciones) != 2 || len(p.Mercancias) != 0 || p.Next != "" {
		t.Errorf("without goods: %+v", p)
	}
	if len(read) != total || others != 3 {
		t.Fatalf("read %d goods and %d others, want %d and 3", len(read), others, total)
	}
	for i, m := range read {
		if m.Orden != int64(i)+1 || m.Descripcion != all[i]["descripcion"] {
			t.Fatalf("good %d is %+v", i+1, m)
		}
	}
	post[object](t, v, http.StatusOK, ana, at+"/sellar", "", nil)
	stamped := post[transporteapp.Carta](t, v, http.StatusCreated, ana, at+"/timbrado", "s", nil)
	if stamped.Totales.NumeroTotalMercancias != total || stamped.Totales.PesoBrutoTotal.String() != "12812.5" {
		t.Errorf("stamped %+v", stamped.Totales)
	}
	document := v.Do(t, apitest.Request{Method: http.MethodGet, Path: at + "/xml", As: ana}).Body
	if int64(len(document)) != stamped.Timbrado.Bytes || len(document) < 400_000 {
		t.Errorf("the XML has %d bytes, want %d, more than an item holds", len(document), stamped.Timbrado.Bytes)
	}
	if n := bytes.Count(document, []byte("<cartaporte31:Mercancia ")); n != total {
		t.Errorf("the XML has %d goods, want %d", n, total)
	}
	if err := cartaportetest.Verify(document); err != nil {
		t.Error(err)
	}
}

// TestStaleSeal: a carta that was closed three days ago cannot be stamped.
func TestStaleSeal(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	id := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t", cartaTrip()).Carta.CartaID
	fill(t, v, ana, id, 1)
	v.Clock.Advance(72*time.Hour + time.Second)
	v.Run(t, []apitest.Case{
		refused("stale", as(http.MethodPost, "/cartas/"+id+"/timbrado", "s", nil), "carta_vencida"),
		good("opened", as(http.MethodPost, "/cartas/"+id+"/abrir", "", nil), http.StatusOK),
		good("sealed", as(http.MethodPost, "/cartas/"+id+"/sellar", "", nil), http.StatusOK),
		good("fresh", as(http.MethodPost, "/cartas/"+id+"/timbrado", "s", nil), http.StatusCreated),
	})
}

// TestCredits: cancelling a draft refunds its credit, cancelling a stamped carta does not. Each folio is issued once.
func TestCredits(t *testing.T) {
	t.Parallel()
	v := open(t, plan(1, 1, 3, 2), ana)
	first := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t-1", cartaTrip())
	second := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t-2", cartaTrip())
	v.Run(t, []apitest.Case{
		refused("no credit", as(http.MethodPost, "/viajes", "t-3", cartaTrip()), "sin_creditos"),
		good("without a carta", as(http.MethodPost, "/viajes", "t-4", bareTrip()), http.StatusCreated),
		good("cancelled", as(http.MethodPost, "/cartas/"+first.Carta.CartaID+"/cancelacion", "", object{}), http.StatusOK),
		good("the refused key again", as(http.MethodPost, "/viajes", "t-3", cartaTrip()), http.StatusCreated),
		good("trip off", as(http.MethodPost, "/viajes/"+first.ViajeID+"/cancelar", "", nil), http.StatusOK),
	})
	fill(t, v, ana, second.Carta.CartaID, 1)
	post[object](t, v, http.StatusCreated, ana, "/cartas/"+second.Carta.CartaID+"/timbrado", "s", nil)
	post[object](t, v, http.StatusOK, ana, "/cartas/"+second.Carta.CartaID+"/cancelacion", "", object{"motivo": "02"})
	p := get[transporteapp.Perfil](t, v, ana, "/perfil")
	if want := (transporteapp.Creditos{Balance: 0, Reserved: 1, MonthlyUsed: 3, TotalConsumed: 1}); p.Credits != want {
		t.Errorf("credits %+v, want %+v", p.Credits, want)
	}
	var folios []string
	for _, c := range get[page[transporteapp.CartaResumen]](t, v, ana, "/cartas").Items {
		folios = append(folios, c.Folio)
	}
	if len(folios) != 3 || strings.Join(folios, " ") == "" {
		t.Errorf("folios %v", folios)
	}
	for n := 1; n <= 3; n++ {
		get[object](t, v, ana, fmt.Sprintf("/folios/CP-%06d", n))
	}
}

// TestMonth: the plan limits cartas per month in the company's time zone.
func TestMonth(t *testing.T) {
	t.Parallel()
	v := open(t, plan(1, 1, 1, 10), ana)
	post[object](t, v, http.StatusCreated, ana, "/viajes", "t-1", cartaTrip())
	v.Run(t, []apitest.Case{refused("used up", as(http.MethodPost, "/viajes", "t-2", cartaTrip()), "limite_mensual")})
	place, err := time.LoadLocation("America/Mexico_City")
	if err != nil {
		t.Fatal(err)
	}
	here := v.Clock.Now().In(place)
	next := time.Date(here.Year(), here.Month()+1, 1, 0, 0, 0, 0, place)
	v.Clock.Advance(next.Sub(here) - time.Second)
	v.Run(t, []apitest.Case{refused("the month's last second", as(http.MethodPost, "/viajes", "t-3", cartaTrip()), "limite_mensual")})
	v.Clock.Advance(time.Second)
	post[object](t, v, http.StatusCreated, ana, "/viajes", "t-4", cartaTrip())
}

// TestSubscription: a company without a paid subscription cannot create anything.
func TestSubscription(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	v.Clock.Advance(transporteapp.DefaultPlan().Lasts)
	makes := []apitest.Request{
		as(http.MethodPost, "/viajes", "t", cartaTrip()), as(http.MethodPost, "/viajes", "t", bareTrip()),
		as(http.MethodPost, "/conductores", "c", driver()), as(http.MethodPost, "/vehiculos", "v", vehicle()), as(http.MethodPost, "/remolques", "r", trailer()),
	}
	for _, r := range makes {
		v.Run(t, []apitest.Case{refused("expired"+r.Path, r, "suscripcion_inactiva")})
	}
	office := apitest.Request{Method: http.MethodPut, Path: "/empresas/" + ana + "/suscripcion", As: "u-office", Groups: []string{transporteapp.AdminGroup}, Body: object{
		"planId": "p", "planName": "P", "status": "suspended", "expiresAt": v.Clock.Now().Add(time.Hour),
		"limits": object{"conductores": 10, "vehiculos": 10, "cartasPorteMes": 10},
	}}
	do[object](t, v, http.StatusOK, office)
	for _, r := range makes {
		v.Run(t, []apitest.Case{refused("suspended"+r.Path, r, "suscripcion_inactiva")})
	}
}

// TestLicence: a licence is valid until the end of its last day in the company's time zone (Mexico City, six hours behind UTC),
// and must be valid for the whole trip.
func TestLicence(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	for i, test := range []struct {
		begins, ends string
		valid        bool
	}{
		{"2027-01-15T08:00:00Z", "2027-01-15T18:00:00Z", true},
		{"2027-01-16T02:00:00Z", "2027-01-16T05:59:59Z", true}, // from 20:00 on the 15th
		{"2027-01-16T02:00:00Z", "2027-01-16T06:00:00Z", false},
		{"2027-01-16T08:00:00Z", "2027-01-16T18:00:00Z", false},
	} {
		key := fmt.Sprint("licence-", i)
		_, vehicleID, _ := fleet(t, v, ana, key)
		ending := with(driver(), object{"licencia": object{"tipo": "E", "numero": "ABC123456", "vigencia": "2027-01-15"}})
		d := post[transporteapp.Conductor](t, v, http.StatusCreated, ana, "/conductores", key+"-d", ending)
		planned := with(bareTrip(), object{"fechaInicioProgramada": test.begins, "fechaFinProgramada": test.ends})
		trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", key, planned)
		assign := as(http.MethodPut, "/viajes/"+trip.ViajeID+"/recursos", "", object{"conductorId": d.ConductorID, "vehiculoId": vehicleID})
		want := apitest.Case{Name: key, Request: assign, Status: http.StatusOK}
		if !test.valid {
			want = refused(key, assign, "licencia_vencida")
		}
		v.Run(t, []apitest.Case{want})
	}
}

// TestAllFaultsAreReported: all faults for which the tax office would reject the carta are reported.
func TestAllFaultsAreReported(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	id := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t", cartaTrip()).Carta.CartaID
	response := v.Do(t, as(http.MethodPost, "/cartas/"+id+"/sellar", "", nil))
	p := response.Problem(t)
	var fields []string
	for _, f := range p.Errors {
		fields = append(fields, f.Field)
	}
	if got, want := strings.Join(fields, " "), "ubicaciones mercancias autotransporte figuras"; got != want {
		t.Errorf("of an empty carta, the missing fields are %q, want %q", got, want)
	}
}

// TestStampedXML: the XML contains what was declared.
func TestStampedXML(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	created := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t", cartaTrip())
	fill(t, v, ana, created.Carta.CartaID, 2)
	stamped := post[transporteapp.Carta](t, v, http.StatusCreated, ana, "/cartas/"+created.Carta.CartaID+"/timbrado", "s", nil)
	var read struct {
		Serie, Folio, Fecha string `xml:",attr"`
		Complemento         struct {
			CartaPorte struct {
				IDCCP      string `xml:"IdCCP,attr"`
				Mercancias struct {
					Total string `xml:"NumTotalMercancias,attr"`
				}
			}
			TimbreFiscalDigital struct {
				UUID    string `xml:",attr"`
				Leyenda string `xml:",attr"`
			}
		}
	}
	if err := xml.Unmarshal(v.Do(t, as(http.MethodGet, "/cartas/"+created.Carta.CartaID+"/xml", "", nil)).Body, &read); err != nil {
		t.Fatal(err)
	}
	stamp := read.Complemento.TimbreFiscalDigital
	if read.Serie+"-"+read.Folio != created.Carta.Folio || read.Complemento.CartaPorte.Mercancias.Total != "2" || stamp.Leyenda != "PRUEBA, sin validez fiscal" {
		t.Errorf("the XML says %+v", read)
	}
	if read.Complemento.CartaPorte.IDCCP != stamped.Timbrado.IDCcp || stamp.UUID != stamped.Timbrado.UUIDFiscal {
		t.Errorf("the XML says %+v, the carta %+v", read, stamped.Timbrado)
	}
}

// TestCancelledCartaIsPrintedAsCancelled: the copy of a cancelled carta cannot be taken for a valid one.
func TestCancelledCartaIsPrintedAsCancelled(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	_, id := sealedCarta(t, v, "t")
	at := "/cartas/" + id
	post[object](t, v, http.StatusCreated, ana, at+"/timbrado", "s", nil)
	printed := func() int {
		return cartaportetest.Printed(v.Do(t, as(http.MethodGet, at+"/pdf", "", nil)).Body, "CANCELADA")
	}
	if n := printed(); n != 0 {
		t.Errorf("a valid carta is printed as cancelled %d times", n)
	}
	post[object](t, v, http.StatusOK, ana, at+"/cancelacion", "", object{"motivo": "02"})
	if n := printed(); n != 2 {
		t.Errorf("a cancelled carta is printed as cancelled %d times, want 2", n)
	}
}

// TestReassignedTripDiffersFromItsCarta: a trip that is reassigned after its carta was filled in says in what they differ, until the
// carta follows or is cancelled.
func TestReassignedTripDiffersFromItsCarta(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	driverID, vehicleID, trailerID := fleet(t, v, ana, "f")
	other := post[transporteapp.Conductor](t, v, http.StatusCreated, ana, "/conductores", "other", with(driver(), object{"nombre": "Luis Núñez", "rfc": "FUNK671228PH6"})).ConductorID
	_, otherVehicle, _ := fleet(t, v, ana, "second")
	trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t", cartaTrip())
	at, resources, carta := "/viajes/"+trip.ViajeID, "/viajes/"+trip.ViajeID+"/recursos", "/cartas/"+trip.Carta.CartaID
	differs := func(want ...string) {
		t.Helper()
		if got := get[transporteapp.ViajeConCarta](t, v, ana, at).Discrepancias; !slices.Equal(got, want) {
			t.Errorf("the trip differs in %q, want %q", got, want)
		}
	}
	whole := object{"conductorId": driverID, "vehiculoId": vehicleID, "remolqueId": trailerID}
	put[object](t, v, ana, resources, whole)
	differs() // nothing is filled in yet
	fill(t, v, ana, trip.Carta.CartaID, 1)
	differs()
	put[object](t, v, ana, resources, with(whole, object{"conductorId": other}))
	differs("conductor")
	put[object](t, v, ana, resources, object{"conductorId": other, "vehiculoId": otherVehicle})
	differs("conductor", "vehiculo", "remolque")
	post[object](t, v, http.StatusCreated, ana, carta+"/timbrado", "s", nil)
	differs("conductor", "vehiculo", "remolque")
	put[object](t, v, ana, resources, whole)
	differs()
	put[object](t, v, ana, resources, with(whole, object{"conductorId": other}))
	post[object](t, v, http.StatusOK, ana, carta+"/cancelacion", "", object{"motivo": "02"})
	differs()
}

// TestMovedTripMovesItsDraft: a trip that gets other times moves the places of its draft that had them, and no others. A carta that is
// closed or stamped stays as it is, and the trip says in what they differ.
func TestMovedTripMovesItsDraft(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t", cartaTrip())
	at, carta := "/viajes/"+trip.ViajeID, "/cartas/"+trip.Carta.CartaID
	planned := with(bareTrip(), object{"local": nil})
	move := func(leaves, arrives string) {
		t.Helper()
		put[object](t, v, ana, at, with(planned, object{"fechaInicioProgramada": leaves, "fechaFinProgramada": arrives}))
	}
	has := func(leaves, arrives string, differs ...string) {
		t.Helper()
		var times []string
		for _, u := range get[transporteapp.Contenido](t, v, ana, carta+"/contenido").Ubicaciones {
			times = append(times, u.FechaHoraSalidaLlegada)
		}
		if want := []string{leaves, arrives}; !slices.Equal(times, want) {
			t.Errorf("the carta has the times %q, want %q", times, want)
		}
		if got := get[transporteapp.ViajeConCarta](t, v, ana, at).Discrepancias; !slices.Equal(got, differs) {
			t.Errorf("the trip differs in %q, want %q", got, differs)
		}
	}
	move("2027-01-14T08:00:00Z", "2027-01-14T18:00:00Z") // nothing is filled in yet
	move("2027-01-15T08:00:00Z", "2027-01-15T18:00:00Z")
	put[object](t, v, ana, carta+"/ubicaciones", object{"ubicaciones": places()})
	has("2027-01-15T02:00:00", "2027-01-15T12:00:00")
	read := v.Do(t, as(http.MethodGet, carta, "", nil)).Header.Get("ETag")
	move("2027-01-16T09:30:00Z", "2027-01-16T18:00:00Z")
	has("2027-01-16T03:30:00", "2027-01-16T12:00:00")
	stale := as(http.MethodPut, carta+"/ubicaciones", "", object{"ubicaciones": places()})
	stale.Header = map[string]string{"If-Match": read}
	if r := v.Do(t, stale); r.Status != http.StatusPreconditionFailed {
		t.Errorf("places that were read before are stored over the moved ones: %d %s", r.Status, r.Body)
	}
	list := places() // the dispatcher loads later than the trip begins
	list[0]["fechaHoraSalidaLlegada"], list[1]["fechaHoraSalidaLlegada"] = "2027-01-16T04:00:00", "2027-01-16T12:00:00"
	put[object](t, v, ana, carta+"/ubicaciones", object{"ubicaciones": list})
	has("2027-01-16T04:00:00", "2027-01-16T12:00:00", "salida")
	move("2027-01-16T09:30:00Z", "2027-01-17T18:00:00Z")
	has("2027-01-16T04:00:00", "2027-01-17T12:00:00", "salida")
	fill(t, v, ana, trip.Carta.CartaID, 1)
	move("2027-01-15T08:00:00Z", "2027-01-15T20:00:00Z")
	has("2027-01-15T02:00:00", "2027-01-15T12:00:00", "llegada")
	post[object](t, v, http.StatusCreated, ana, carta+"/timbrado", "s", nil)
	has("2027-01-15T02:00:00", "2027-01-15T12:00:00", "llegada")
}

// TestTripOfOtherDistanceChangesItsDraft: the place where a trip arrives gets the trip's new distance if it had the old one, and the
// draft's total with it. A distance that was entered by hand stays, and so do those of several places.
func TestTripOfOtherDistanceChangesItsDraft(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t", cartaTrip())
	at, carta := "/viajes/"+trip.ViajeID, "/cartas/"+trip.Carta.CartaID
	put[object](t, v, ana, carta+"/ubicaciones", object{"ubicaciones": places()})
	drive := func(km float64) {
		t.Helper()
		put[object](t, v, ana, at, with(bareTrip(), object{"local": nil, "distanciaTotal": km}))
	}
	has := func(total string, ways ...string) {
		t.Helper()
		var got []string
		for _, u := range get[transporteapp.Contenido](t, v, ana, carta+"/contenido").Ubicaciones {
			if u.DistanciaRecorrida != nil {
				got = append(got, u.DistanciaRecorrida.String())
			}
			if u.FechaHoraSalidaLlegada != "2027-01-15T02:00:00" && u.FechaHoraSalidaLlegada != "2027-01-15T12:00:00" {
				t.Errorf("a place has the time %s", u.FechaHoraSalidaLlegada)
			}
		}
		if now := get[transporteapp.Carta](t, v, ana, carta).Totales.DistanciaTotal.String(); now != total || !slices.Equal(got, ways) {
			t.Errorf("the carta has the distances %q and the total %s, want %q and %s", got, now, ways, total)
		}
	}
	drive(540.5)
	has("540.5", "540.5")
	list := places()
	list[1]["distanciaRecorrida"] = 530 // measured
	put[object](t, v, ana, carta+"/ubicaciones", object{"ubicaciones": list})
	drive(550)
	has("530", "530")
	list = append(places(), with(places()[1], object{"idUbicacion": "DE000002", "distanciaRecorrida": 550}))
	put[object](t, v, ana, carta+"/ubicaciones", object{"ubicaciones": list})
	drive(560)
	has("1050", "500", "550")
}

// TestTooLargeCartaCannotBeClosed: a carta whose document and stamp would be too large to store cannot be closed, so the PAC never stamps it.
func TestTooLargeCartaCannotBeClosed(t *testing.T) {
	t.Parallel()
	const requests, each = 8, 250
	v := open(t, transporteapp.Options{}, ana)
	at := "/cartas/" + post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t", cartaTrip()).Carta.CartaID
	put[object](t, v, ana, at+"/autotransporte", declared())
	put[object](t, v, ana, at+"/ubicaciones", object{"ubicaciones": places()})
	put[object](t, v, ana, at+"/figuras", object{"figuras": people()})
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // texts that do not pack well, the same each time
	for i := range requests {
		list := goods(each)
		for _, g := range list {
			text := make([]rune, 600)
			for j := range text {
				text[j] = rune('\u4e00' + random.IntN(20_000))
			}
			g["descripcion"] = string(text)
		}
		post[object](t, v, http.StatusCreated, ana, at+"/mercancias", fmt.Sprint("g-", i), object{"mercancias": list})
	}
	v.Run(t, []apitest.Case{refused("sealed", as(http.MethodPost, at+"/sellar", "", nil), "carta_enorme")})
}

// TestShorterPlaceListReplacesLonger: a shorter list of places replaces the longer one completely, including the distance.
func TestShorterPlaceListReplacesLonger(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	at := "/cartas/" + post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t", cartaTrip()).Carta.CartaID
	many := places()
	for i := range 48 {
		many = append(many, with(places()[1], object{"idUbicacion": fmt.Sprintf("DE%06d", i+2), "distanciaRecorrida": 1.25}))
	}
	put[object](t, v, ana, at+"/ubicaciones", object{"ubicaciones": many})
	if c := get[transporteapp.Carta](t, v, ana, at); c.NumUbicaciones != 50 || c.Totales.DistanciaTotal.String() != "560" {
		t.Errorf("fifty places: %+v", c)
	}
	put[object](t, v, ana, at+"/ubicaciones", object{"ubicaciones": places()})
	c, all := get[transporteapp.Carta](t, v, ana, at), get[transporteapp.Contenido](t, v, ana, at+"/contenido")
	if c.NumUbicaciones != 2 || c.Totales.DistanciaTotal.String() != "500" || len(all.Ubicaciones) != 2 {
		t.Errorf("two places: %+v, listed %+v", c, all.Ubicaciones)
	}
}
