package transporteapp_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/transporteapp"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// atOnce sends many requests concurrently to four processes in turn, and returns the responses in request order.
func atOnce(t *testing.T, v *apitest.Server, n int, request func(i int) apitest.Request) []*apitest.Response {
	t.Helper()
	const count = 4
	list := processes(t, v, transporteapp.Options{}, count)
	return apitest.Together(n, func(i int) *apitest.Response { return list[i%count].do(t, request(i)) })
}

// tally counts responses by their problem's code, with "" for successes.
func tally(t *testing.T, responses []*apitest.Response) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, a := range responses {
		if a.Status < http.StatusMultipleChoices {
			out[""]++
			continue
		}
		out[a.Problem(t).Code]++
	}
	return out
}

func plan(conductores, vehiculos, cartas, creditos int64) transporteapp.Options {
	p := transporteapp.DefaultPlan()
	p.Conductores, p.Vehiculos, p.CartasPorteMes, p.Creditos = conductores, vehiculos, cartas, creditos
	return transporteapp.Options{Plan: p}
}

// TestConcurrentCartasRespectLimits: 64 concurrent requests for the last ten cartas create ten, whether the plan or the credits limit them, with
// folios 1 to 10.
func TestConcurrentCartasRespectLimits(t *testing.T) {
	t.Parallel()
	const requests, left = 64, 10
	for _, c := range []struct {
		name    string
		options transporteapp.Options
		code    string
	}{
		{"plan", plan(1, 1, left, 1000), "limite_mensual"},
		{"credits", plan(1, 1, 1000, left), "sin_creditos"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := open(t, c.options, ana)
			responses := atOnce(t, v, requests, func(i int) apitest.Request {
				return apitest.Request{Method: http.MethodPost, Path: "/viajes", As: ana, Key: fmt.Sprint("k-", i), Body: cartaTrip()}
			})
			if got := tally(t, responses); got[""] != left || got[c.code] != requests-left {
				t.Fatalf("responses %v, want %d created and the rest %s", got, left, c.code)
			}
			all := companyOf(t, v, ana)
			all.noGaps(t)
			if len(all.trips) != left || len(all.cartas) != left || all.folios != left || all.usage != left {
				t.Errorf("%d trips, %d cartas, folio %d, %d used; want %d", len(all.trips), len(all.cartas), all.folios, all.usage, left)
			}
			if got := all.user.Credits; got.Reserved != left || got.Balance != all.user.Credits.Balance || got.Balance+got.Reserved != c.options.Plan.Creditos {
				t.Errorf("credits %+v of %d", got, c.options.Plan.Creditos)
			}
		})
	}
}

// noGaps fails the test unless the folios of a company's cartas are 1, 2, 3 and so on.
func (c company) noGaps(t *testing.T) {
	t.Helper()
	var folios []string
	for _, x := range c.cartas {
		folios = append(folios, x.Folio)
	}
	slices.Sort(folios)
	for i, f := range folios {
		if want := fmt.Sprintf("CP-%06d", i+1); f != want {
			t.Errorf("folio %s, want %s", f, want)
		}
	}
}

// TestConcurrentFleetChangesRespectPlan: only as many drivers and vehicles are added as the plan allows, however many requests are concurrent.
func TestConcurrentFleetChangesRespectPlan(t *testing.T) {
	t.Parallel()
	const requests, drivers, vehicles = 24, 5, 7
	v := open(t, plan(drivers, vehicles, 1, 1), ana)
	created := tally(t, atOnce(t, v, requests, func(i int) apitest.Request {
		return apitest.Request{Method: http.MethodPost, Path: "/conductores", As: ana, Key: fmt.Sprint("c-", i), Body: driver()}
	}))
	if created[""] != drivers || created["limite_conductores"] != requests-drivers {
		t.Errorf("drivers: %v, want %d", created, drivers)
	}
	created = tally(t, atOnce(t, v, requests, func(i int) apitest.Request {
		return apitest.Request{Method: http.MethodPost, Path: "/vehiculos", As: ana, Key: fmt.Sprint("v-", i), Body: own(vehicle(), "V", fmt.Sprint("v-", i))}
	}))
	if created[""] != vehicles || created["limite_vehiculos"] != requests-vehicles {
		t.Errorf("vehicles: %v, want %d", created, vehicles)
	}
	all := companyOf(t, v, ana)
	if len(all.drivers) != drivers || all.user.NumConductores != drivers || len(all.vehicles) != vehicles || all.user.NumVehiculos != vehicles {
		t.Errorf("%d drivers, %d vehicles, counted %d and %d", len(all.drivers), len(all.vehicles), all.user.NumConductores, all.user.NumVehiculos)
	}
	first := all.drivers[0].ConductorID
	gone := atOnce(t, v, 4, func(int) apitest.Request {
		return apitest.Request{Method: http.MethodDelete, Path: "/conductores/" + first, As: ana}
	})
	if got := tally(t, gone); got[""] != 1 || got["not_found"] != 3 {
		t.Errorf("a driver went %v, want once", got)
	}
	if n := companyOf(t, v, ana).user.NumConductores; n != drivers-1 {
		t.Errorf("counted %d drivers, want %d", n, drivers-1)
	}
}

// TestDoubleBooking: if many trips request the same driver with different vehicles, one gets the driver; the same holds for a
// trailer.
func TestDoubleBooking(t *testing.T) {
	t.Parallel()
	const trips = 16
	v := open(t, plan(trips+1, trips+1, 1, 1), ana)
	driverID, _, trailerID := fleet(t, v, ana, "one")
	var ids, vehicles, drivers []string
	for i := range trips {
		ids = append(ids, post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", fmt.Sprint("t-", i), bareTrip()).ViajeID)
		vehicles = append(vehicles, post[transporteapp.Vehiculo](t, v, http.StatusCreated, ana, "/vehiculos", fmt.Sprint("v-", i), own(vehicle(), "V", fmt.Sprint("v-", i))).VehiculoID)
		drivers = append(drivers, post[transporteapp.Conductor](t, v, http.StatusCreated, ana, "/conductores", fmt.Sprint("c-", i), driver()).ConductorID)
	}
	assign := func(i int, body object) apitest.Request {
		return apitest.Request{Method: http.MethodPut, Path: "/viajes/" + ids[i] + "/recursos", As: ana, Body: body}
	}
	responses := atOnce(t, v, trips, func(i int) apitest.Request {
		return assign(i, object{"conductorId": driverID, "vehiculoId": vehicles[i]})
	})
	if got := tally(t, responses); got[""] != 1 || got["conductor_ocupado"] != trips-1 {
		t.Fatalf("one driver for many trips: %v", got)
	}
	won := slices.IndexFunc(responses, func(a *apitest.Response) bool { return a.Status == http.StatusOK })
	consistent(t, v, 1)
	responses = atOnce(t, v, trips, func(i int) apitest.Request {
		return assign(i, object{"conductorId": drivers[i], "vehiculoId": vehicles[i], "remolqueId": trailerID})
	})
	if got := tally(t, responses); got[""] != 1 || got["remolque_ocupado"] != trips-1 {
		t.Fatalf("one trailer for many trips: %v", got)
	}
	second := slices.IndexFunc(responses, func(a *apitest.Response) bool { return a.Status == http.StatusOK })
	both := slices.Compact(slices.Sorted(slices.Values([]int{won, second}))) // the first one may also have got the trailer
	consistent(t, v, len(both))
	for _, i := range both {
		post[object](t, v, http.StatusOK, ana, "/viajes/"+ids[i]+"/cancelar", "", nil)
	}
	consistent(t, v, 0)
}

// TestConcurrentPeriods: processes concurrently assign, reassign, unassign and cancel trips with a few drivers, vehicles and
// trailers. None of these ever has two trips at the same time.
func TestConcurrentPeriods(t *testing.T) {
	t.Parallel()
	const trips, requests, few = 8, 96, 3
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	v := open(t, plan(few, few, 1, 1), ana)
	var at []string
	var drivers, vehicles, trailers [few]string
	for i := range few {
		drivers[i], vehicles[i], trailers[i] = fleet(t, v, ana, fmt.Sprint("fleet-", i))
	}
	first := v.Clock.Now().Truncate(time.Second)
	for i := range trips {
		begins := first.Add(time.Duration(random.IntN(10)) * time.Hour)
		body := with(bareTrip(), object{"fechaInicioProgramada": begins, "fechaFinProgramada": begins.Add(time.Duration(1+random.IntN(4)) * time.Hour)})
		at = append(at, "/viajes/"+post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", fmt.Sprint("t-", i), body).ViajeID)
	}
	var created [requests]apitest.Request
	for i := range created {
		trip := at[random.IntN(trips)]
		switch random.IntN(12) {
		case 0:
			created[i] = as(http.MethodPost, trip+"/cancelar", "", nil)
		case 1:
			created[i] = as(http.MethodPost, trip+"/iniciar", "", nil)
		case 2:
			created[i] = as(http.MethodPost, trip+"/completar", "", nil)
		case 3, 4:
			created[i] = as(http.MethodDelete, trip+"/recursos", "", nil)
		default:
			body := object{"conductorId": drivers[random.IntN(few)], "vehiculoId": vehicles[random.IntN(few)]}
			if random.IntN(2) == 0 {
				body["remolqueId"] = trailers[random.IntN(few)]
			}
			created[i] = as(http.MethodPut, trip+"/recursos", "", body)
		}
	}
	responses := atOnce(t, v, requests, func(i int) apitest.Request { return created[i] })
	for i, a := range responses {
		if a.Status != http.StatusOK && a.Status != http.StatusConflict {
			t.Errorf("%s %s: %d %s", created[i].Method, created[i].Path, a.Status, a.Body)
		}
	}
	got := tally(t, responses)
	t.Logf("responses %v", got)
	if got["recurso_cambio"] > 0 || got["conflict"] > 0 {
		t.Errorf("requests gave up: %v", got)
	}
	consistent(t, v, -1)
}

// consistent fails the test if a driver, vehicle or trailer has other trips than those that name it, has two at the same time, or
// is on a trip that has not started. It also fails if the number of trips with resources is not busy, unless busy is negative.
func consistent(t *testing.T, v *apitest.Server, busy int) {
	t.Helper()
	all := companyOf(t, v, ana)
	want, driving := map[string]map[string]db.Periodo{}, map[string]string{}
	assigned := 0
	for _, x := range all.trips {
		if x.Resources == nil || x.Estado != db.EstadoViajeProgramado && x.Estado != db.EstadoViajeEnCurso {
			continue
		}
		assigned++
		for _, id := range []*string{&x.Resources.ConductorID, &x.Resources.VehiculoID, x.Resources.RemolqueID} {
			if id == nil {
				continue
			}
			if want[*id] == nil {
				want[*id] = map[string]db.Periodo{}
			}
			p := db.Periodo{Desde: x.FechaInicioProgramada, Hasta: x.FechaFinProgramada}
			for other, q := range want[*id] {
				if p.Desde.Before(q.Hasta) && q.Desde.Before(p.Hasta) {
					t.Errorf("%s has trips %s and %s at one time", *id, x.ViajeID, other)
				}
			}
			want[*id][x.ViajeID] = p
			if x.Estado == db.EstadoViajeEnCurso {
				driving[*id] = x.ViajeID
			}
		}
	}
	for _, a := range all.agendas {
		if diff := gocmp.Diff(want[a.RecursoID], a.Periodos, cmpopts.EquateEmpty()); diff != "" || a.Abiertos != int64(len(a.Periodos)) {
			t.Errorf("the agenda of %s counts %d:\n%s", a.RecursoID, a.Abiertos, diff)
		}
		delete(want, a.RecursoID)
	}
	if busy >= 0 && assigned != busy || len(want) > 0 {
		t.Errorf("%d trips are assigned, want %d; without agendas are %v", assigned, busy, want)
	}
	onTheWay := func(id string, state db.EstadoRecurso, trip *string) {
		t.Helper()
		if now := driving[id]; (state == db.EstadoRecursoEnViaje) != (now != "") || trip != nil && *trip != now || trip == nil && now != "" {
			t.Errorf("%s is %s on trip %v, want %q", id, state, trip, now)
		}
	}
	for _, x := range all.drivers {
		onTheWay(x.ConductorID, x.Estado, x.Asignacion.ViajeActualID)
	}
	for _, x := range all.vehicles {
		onTheWay(x.VehiculoID, x.Estado, x.ViajeActualID)
	}
	for _, x := range all.trailers {
		onTheWay(x.RemolqueID, x.Estado, x.ViajeActualID)
	}
}

// TestConcurrentGoods: concurrent batches are all stored, numbered from 1, and included in the count and weight.
func TestConcurrentGoods(t *testing.T) {
	t.Parallel()
	const batches, each = 8, 20
	v := open(t, transporteapp.Options{}, ana)
	id := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t", cartaTrip()).Carta.CartaID
	responses := atOnce(t, v, 2*batches, func(i int) apitest.Request { // each batch is sent twice
		return apitest.Request{
			Method: http.MethodPost, Path: "/cartas/" + id + "/mercancias", As: ana, Key: fmt.Sprint("k-", i/2), Body: object{"mercancias": goods(each)},
		}
	})
	if got := tally(t, responses); got[""] != 2*batches {
		t.Fatalf("responses %v", got)
	}
	c := get[transporteapp.Carta](t, v, ana, "/cartas/"+id)
	if c.Totales.NumeroTotalMercancias != batches*each || c.Totales.PesoBrutoTotal.String() != "820" {
		t.Errorf("the carta counts %+v, want %d goods of 820 kg", c.Totales, batches*each)
	}
	var orders []int64
	for next := ""; ; {
		p := get[page[transporteapp.Mercancia]](t, v, ana, apitest.Query("/cartas/"+id+"/mercancias", "limit", "100", "cursor", next))
		for _, m := range p.Items {
			orders = append(orders, m.Orden)
		}
		if next = p.Next; next == "" {
			break
		}
	}
	for i, n := range orders {
		if n != int64(i)+1 {
			t.Fatalf("goods are numbered %v", orders)
		}
	}
	if len(orders) != batches*each {
		t.Errorf("%d goods, want %d", len(orders), batches*each)
	}
}

// TestStampOnce: however many requests stamp a carta, with one key or several, it is stamped once.
func TestStampOnce(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	for round, key := range []func(int) string{
		func(int) string { return "same" },
		func(i int) string { return fmt.Sprint("other-", i) },
	} {
		id := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", fmt.Sprint("t-", round), cartaTrip()).Carta.CartaID
		fill(t, v, ana, id, 1)
		responses := atOnce(t, v, 12, func(i int) apitest.Request {
			return apitest.Request{Method: http.MethodPost, Path: "/cartas/" + id + "/timbrado", As: ana, Key: key(i)}
		})
		got := tally(t, responses)
		if round == 0 && got[""] != 12 || round == 1 && (got[""] != 1 || got["carta_no_borrador"] != 11) {
			t.Errorf("responses %v", got)
		}
		for _, a := range responses {
			if round == 0 && string(a.Body) != string(responses[0].Body) {
				t.Errorf("one response is %s, another %s", a.Body, responses[0].Body)
			}
		}
		if n := companyOf(t, v, ana).user.Credits.TotalConsumed; n != int64(round)+1 {
			t.Errorf("%d credits are consumed, want %d", n, round+1)
		}
	}
}

// TestPlatesAreUnique: within a company a plate belongs to at most one vehicle and one trailer, however many requests are concurrent. It
// becomes free when the vehicle gets another plate or is deleted.
func TestPlatesAreUnique(t *testing.T) {
	t.Parallel()
	const requests = 12
	v := open(t, plan(1, 2*requests, 1, 1), ana, bruno)
	for _, unit := range []struct {
		path string
		body object
	}{{"/vehiculos", vehicle()}, {"/remolques", trailer()}} {
		responses := atOnce(t, v, requests, func(i int) apitest.Request {
			return apitest.Request{Method: http.MethodPost, Path: unit.path, As: ana, Key: fmt.Sprint(path.Base(unit.path), i), Body: unit.body}
		})
		if got := tally(t, responses); got[""] != 1 || got["placa_repetida"] != requests-1 {
			t.Errorf("%s with one plate: %v, want one created", unit.path, got)
		}
		won := responses[slices.IndexFunc(responses, func(a *apitest.Response) bool { return a.Status == http.StatusCreated })]
		first := unit.path + "/" + path.Base(won.Header.Get("Location"))
		post[object](t, v, http.StatusCreated, bruno, unit.path, "theirs-"+path.Base(unit.path), unit.body) // another company's
		moved := with(unit.body, object{"placa": "NEW-456"})
		put[object](t, v, ana, first, unit.body)
		put[object](t, v, ana, first, moved)
		freed := v.Do(t, as(http.MethodPost, unit.path, "second-"+path.Base(unit.path), unit.body))
		second := unit.path + "/" + path.Base(freed.Header.Get("Location"))
		v.Run(t, []apitest.Case{
			refused("taken by another", as(http.MethodPut, first, "", unit.body), "placa_repetida"),
			refused("taken by the first", as(http.MethodPut, second, "", moved), "placa_repetida"),
			good("gone", as(http.MethodDelete, second, "", nil), http.StatusNoContent),
			good("free again", as(http.MethodPut, first, "", unit.body), http.StatusOK),
		})
	}
}
