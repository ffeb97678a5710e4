package transporteapp_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp"
)

// TestRoutes calls every operation with valid and invalid input over each transport.
func TestRoutes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, transporteapp.System(transporteapp.Options{}), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		routes(t, v)
	})
}

// routes calls every operation with valid and invalid input.
func routes(t *testing.T, v *apitest.Server) {
	t.Helper()
	t.Run("profile", func(t *testing.T) { v.Run(t, profileCases()) })
	t.Run("back office", func(t *testing.T) { v.Run(t, officeCases()) })
	t.Run("drivers", func(t *testing.T) { v.Run(t, driverCases(t, v)) })
	t.Run("fleet", func(t *testing.T) { v.Run(t, fleetCases(t, v)) })
	t.Run("trips", func(t *testing.T) { tripRoutes(t, v) })
	t.Run("cartas", func(t *testing.T) { cartaRoutes(t, v) })
	t.Run("sessions", func(t *testing.T) { v.Run(t, sessionCases(t, v)) })
	t.Run("events", func(t *testing.T) { eventRoutes(t, v) })
	t.Run("members", func(t *testing.T) { memberRoutes(t, v) })
	t.Run("data", func(t *testing.T) {
		v.Person(t, apitest.Person{As: "u-leaving", Design: "transporteapp.design.yaml"})
	})
	v.Covered(t)
}

// TestUnauthenticatedRequestsAreRejected: without a valid token nothing is accessible.
func TestUnauthenticatedRequestsAreRejected(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, transporteapp.System(transporteapp.Options{}))
	v.RejectsUnauthenticated(t)
}

// as is a request by the first company.
func as(method, path, key string, body any) apitest.Request {
	return apitest.Request{Method: method, Path: path, As: ana, Key: key, Body: body}
}

// good is a request that must succeed with a status.
func good(name string, r apitest.Request, status int) apitest.Case {
	return apitest.Case{Name: name, Request: r, Status: status}
}

func bad(name string, r apitest.Request, status int, code, field string) apitest.Case {
	return apitest.Case{Name: name, Request: r, Status: status, Code: code, Field: field}
}

// wrong is a request whose body must be rejected.
func wrong(name string, r apitest.Request, field string) apitest.Case {
	return bad(name, r, http.StatusBadRequest, problem.CodeInvalidBody, field)
}

// wrongQuery is a request whose path or query must be rejected.
func wrongQuery(name, path, field string) apitest.Case {
	return bad(name, as(http.MethodGet, path, "", nil), http.StatusBadRequest, problem.CodeInvalidParameter, field)
}

// missing is a request for something that does not exist.
func missing(name string, r apitest.Request) apitest.Case {
	return bad(name, r, http.StatusNotFound, problem.CodeNotFound, "")
}

// refused is a request that the current state does not allow.
func refused(name string, r apitest.Request, code string) apitest.Case {
	return bad(name, r, http.StatusConflict, code, "")
}

// keyed are the ways to reuse a POST's idempotency key.
func keyed(path, key string, body, other any) []apitest.Case {
	return []apitest.Case{
		good("replayed", as(http.MethodPost, path, key, body), http.StatusOK),
		bad("key of another request", as(http.MethodPost, path, key, other), http.StatusUnprocessableEntity, problem.CodeKeyReused, ""),
		bad("no key", as(http.MethodPost, path, "", body), http.StatusBadRequest, problem.CodeInvalidParameter, "header.Idempotency-Key"),
		bad("long key", as(http.MethodPost, path, strings.Repeat("k", 201), body), http.StatusBadRequest, problem.CodeInvalidParameter, "header.Idempotency-Key"),
		bad("key with other characters", as(http.MethodPost, path, "k#1", body), http.StatusBadRequest, problem.CodeInvalidParameter, "header.Idempotency-Key"),
	}
}

func profileCases() []apitest.Case {
	save := func(body any) apitest.Request { return as(http.MethodPut, "/perfil", "", body) }
	config, _ := profile()["config"].(object)
	return []apitest.Case{
		missing("none yet", as(http.MethodGet, "/perfil", "", nil)),
		good("made", save(profile()), http.StatusOK),
		good("changed", save(with(profile(), object{"fullName": "Ana G."})), http.StatusOK),
		{Name: "read", Request: as(http.MethodGet, "/perfil", "", nil), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var p transporteapp.Perfil
			if r.JSON(tb, &p); p.FullName != "Ana G." || p.Subscription.Limits != (transporteapp.Limites{Conductores: 10, Vehiculos: 15, CartasPorteMes: 100}) {
				tb.Errorf("profile %+v", p)
			}
			if p.Credits.Balance != 50 || p.Config == nil || p.Config.DomicilioFiscal.CodigoPostal != "06600" {
				tb.Errorf("profile %+v", p)
			}
		}},
		wrong("no body", save(nil), ""),
		wrong("no JSON", save("{"), ""),
		wrong("no name", save(with(profile(), object{"fullName": nil})), "body"),
		wrong("long name", save(with(profile(), object{"fullName": strings.Repeat("ñ", 201)})), "body.fullName"),
		wrong("no address", save(with(profile(), object{"email": "ana"})), "body.email"),
		wrong("no time zone", save(with(profile(), object{"timezone": "Mexico/Nowhere"})), "body.timezone"),
		wrong("the server's time zone", save(with(profile(), object{"timezone": "localtime"})), "body.timezone"),
		wrong("a time zone with leap seconds", save(with(profile(), object{"timezone": "right/UTC"})), "body.timezone"),
		wrong("somebody's plan", save(with(profile(), object{"subscription": object{}})), "body.subscription"),
		wrong("no RFC", save(with(profile(), object{"config": with(config, object{"rfcEmisor": "EKU9003173C8"})})), "body.config.rfcEmisor"),
		wrong("everybody's RFC", save(with(profile(), object{"config": with(config, object{"rfcEmisor": "XAXX010101000"})})), "body.config.rfcEmisor"),
		wrong("no regime", save(with(profile(), object{"config": with(config, object{"regimenFiscal": "699"})})), "body.config.regimenFiscal"),
		wrong("another state's postal code", save(with(profile(), object{"config": with(config, object{"domicilioFiscal": with(address(), object{"codigoPostal": "44100"})})})), "body.config.domicilioFiscal.codigoPostal"),
	}
}

func officeCases() []apitest.Case {
	office := func(method, path, key string, body any) apitest.Request {
		return apitest.Request{Method: method, Path: path, As: "u-office", Groups: []string{transporteapp.AdminGroup}, Key: key, Body: body}
	}
	limits := object{"conductores": 11, "vehiculos": 15, "cartasPorteMes": 100}
	bought := object{"planId": "p", "planName": "P", "status": "active", "expiresAt": "2035-01-01T00:00:00Z", "limits": limits}
	credits := "/empresas/" + ana + "/creditos"
	return []apitest.Case{
		good("plan", office(http.MethodPut, "/empresas/"+ana+"/suscripcion", "", bought), http.StatusOK),
		missing("no company's plan", office(http.MethodPut, "/empresas/u-none/suscripcion", "", bought)),
		bad("own plan", as(http.MethodPut, "/empresas/"+ana+"/suscripcion", "", bought), http.StatusForbidden, problem.CodeForbidden, ""),
		wrong("limit below none", office(http.MethodPut, "/empresas/"+ana+"/suscripcion", "", with(bought, object{"limits": with(limits, object{"vehiculos": -1})})), "body.limits.vehiculos"),
		good("credits", office(http.MethodPost, credits, "o-1", object{"creditos": 10}), http.StatusCreated),
		{Name: "credits again", Request: office(http.MethodPost, credits, "o-1", object{"creditos": 10}), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var a transporteapp.Abono
			if r.JSON(tb, &a); a.Balance != 60 || a.UserID != ana {
				tb.Errorf("the first response was %+v", a)
			}
		}},
		{Name: "who did it", Request: office(http.MethodGet, "/acts?day=2026-01-01", "", nil), Status: http.StatusOK},
		bad("no day", office(http.MethodGet, "/acts", "", nil), http.StatusBadRequest, problem.CodeInvalidParameter, "query.day"),
		bad("others' acts", as(http.MethodGet, "/acts?day=2026-01-01", "", nil), http.StatusForbidden, problem.CodeForbidden, ""),
		bad("key of other credits", office(http.MethodPost, credits, "o-1", object{"creditos": 11}), http.StatusUnprocessableEntity, problem.CodeKeyReused, ""),
		bad("own credits", as(http.MethodPost, credits, "o-2", object{"creditos": 10}), http.StatusForbidden, problem.CodeForbidden, ""),
		wrong("no credits", office(http.MethodPost, credits, "o-3", object{"creditos": 0}), "body.creditos"),
		missing("no company's credits", office(http.MethodPost, "/empresas/u-none/creditos", "o-4", object{"creditos": 1})),
	}
}

func driverCases(t *testing.T, v *apitest.Server) []apitest.Case {
	t.Helper()
	created := post[transporteapp.Conductor](t, v, http.StatusCreated, ana, "/conductores", "d-1", driver())
	gone := post[transporteapp.Conductor](t, v, http.StatusCreated, ana, "/conductores", "d-2", driver())
	own := "/conductores/" + created.ConductorID
	create := func(changes object) apitest.Request {
		return as(http.MethodPost, "/conductores", "bad", with(driver(), changes))
	}
	licence, _ := driver()["licencia"].(object)
	return append(
		keyed("/conductores", "d-1", driver(), with(driver(), object{"nombre": "Otro"})),
		good("one", as(http.MethodGet, own, "", nil), http.StatusOK),
		good("all", as(http.MethodGet, "/conductores", "", nil), http.StatusOK),
		apitest.Case{Name: "available", Request: as(http.MethodGet, "/conductores?estado=disponible", "", nil), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var p page[transporteapp.ConductorResumen]
			if r.JSON(tb, &p); len(p.Items) != 2 || p.Items[0].Nombre != "Pedro López" || p.Items[0].Estado != "disponible" {
				tb.Errorf("available are %+v, want two", p.Items)
			}
		}},
		good("changed", as(http.MethodPut, own, "", with(driver(), object{"estado": "inactivo", "compensacion": object{"salarioBase": 15000.5}})), http.StatusOK),
		good("gone", as(http.MethodDelete, "/conductores/"+gone.ConductorID, "", nil), http.StatusNoContent),
		missing("gone again", as(http.MethodDelete, "/conductores/"+gone.ConductorID, "", nil)),
		missing("nobody", as(http.MethodGet, "/conductores/"+nowhere, "", nil)),
		missing("change nobody", as(http.MethodPut, "/conductores/"+nowhere, "", driver())),
		wrongQuery("no ULID", "/conductores/c-1", "path.id"),
		wrongQuery("no state", "/conductores?estado=feliz", "query.estado"),
		wrongQuery("no limit", "/conductores?limit=0", "query.limit"),
		wrong("company's RFC", create(object{"rfc": "EKU9003173C9"}), "body.rfc"),
		wrong("no CURP", create(object{"curp": "HEGG560427MVZRRL05"}), "body.curp"),
		wrong("on a trip by hand", create(object{"estado": "en_viaje"}), "body.estado"),
		wrong("no day", create(object{"licencia": with(licence, object{"vigencia": "2030-02-30"})}), "body.licencia.vigencia"),
		wrong("no name", create(object{"nombre": ""}), "body.nombre"),
		wrong("long name", create(object{"nombre": strings.Repeat("a", 101)}), "body.nombre"),
		wrong("vehicle of nobody", create(object{"vehiculoAsignadoId": nowhere}), "body.vehiculoAsignadoId"),
		wrong("vehicle that is a driver", as(http.MethodPut, own, "", with(driver(), object{"vehiculoAsignadoId": created.ConductorID})), "body.vehiculoAsignadoId"),
		wrong("CLABE", create(object{"compensacion": object{"bancoClabe": "1"}}), "body.compensacion.bancoClabe"),
		wrong("change to no RFC", as(http.MethodPut, own, "", with(driver(), object{"rfc": "X"})), "body.rfc"),
		bad("another media type", apitest.Request{
			Method: http.MethodPost, Path: "/conductores", As: ana, Key: "bad", Body: "nombre=x", Header: map[string]string{"Content-Type": "text/plain"},
		}, http.StatusUnsupportedMediaType, problem.CodeMediaType, ""),
	)
}

func fleetCases(t *testing.T, v *apitest.Server) []apitest.Case {
	t.Helper()
	w := post[transporteapp.Vehiculo](t, v, http.StatusCreated, ana, "/vehiculos", "v-1", vehicle())
	r := post[transporteapp.Remolque](t, v, http.StatusCreated, ana, "/remolques", "r-1", trailer())
	cases := keyed("/vehiculos", "v-1", vehicle(), with(vehicle(), object{"placa": "XYZ-999"}))
	cases = append(cases, keyed("/remolques", "r-1", trailer(), with(trailer(), object{"placa": "XYZ-999"}))...)
	return append(
		cases,
		good("vehicle", as(http.MethodGet, "/vehiculos/"+w.VehiculoID, "", nil), http.StatusOK),
		good("vehicles", as(http.MethodGet, "/vehiculos", "", nil), http.StatusOK),
		good("available vehicles", as(http.MethodGet, "/vehiculos?estado=disponible", "", nil), http.StatusOK),
		good("changed vehicle", as(http.MethodPut, "/vehiculos/"+w.VehiculoID, "", with(vehicle(), object{"estado": "taller"})), http.StatusOK),
		good("trailer", as(http.MethodGet, "/remolques/"+r.RemolqueID, "", nil), http.StatusOK),
		good("trailers", as(http.MethodGet, "/remolques", "", nil), http.StatusOK),
		good("available trailers", as(http.MethodGet, "/remolques?estado=disponible", "", nil), http.StatusOK),
		good("changed trailer", as(http.MethodPut, "/remolques/"+r.RemolqueID, "", trailer()), http.StatusOK),
		apitest.Case{Name: "by ids", Request: as(http.MethodPost, "/recursos/consulta", "", object{
			"vehiculos": []string{w.VehiculoID, nowhere}, "remolques": []string{r.RemolqueID},
		}), Status: http.StatusOK, Check: func(tb testing.TB, a *apitest.Response) {
			tb.Helper()
			var found transporteapp.RecursosHallados
			if a.JSON(tb, &found); len(found.Vehiculos) != 1 || found.Vehiculos[0].Estado != "taller" || len(found.Remolques) != 1 || found.Conductores == nil {
				tb.Errorf("found %+v", found)
			}
		}},
		bad("ids that are none", as(http.MethodPost, "/recursos/consulta", "", object{"vehiculos": []string{"x"}}), http.StatusBadRequest, "", ""),
		good("gone vehicle", as(http.MethodDelete, "/vehiculos/"+w.VehiculoID, "", nil), http.StatusNoContent),
		missing("vehicle gone again", as(http.MethodDelete, "/vehiculos/"+w.VehiculoID, "", nil)),
		good("gone trailer", as(http.MethodDelete, "/remolques/"+r.RemolqueID, "", nil), http.StatusNoContent),
		missing("no vehicle", as(http.MethodGet, "/vehiculos/"+nowhere, "", nil)),
		missing("no trailer", as(http.MethodGet, "/remolques/"+nowhere, "", nil)),
		missing("trailer gone again", as(http.MethodDelete, "/remolques/"+r.RemolqueID, "", nil)),
		missing("change no vehicle", as(http.MethodPut, "/vehiculos/"+nowhere, "", vehicle())),
		missing("change no trailer", as(http.MethodPut, "/remolques/"+nowhere, "", trailer())),
		wrong("configuration", as(http.MethodPost, "/vehiculos", "bad", with(vehicle(), object{"configVehicular": "T9S9"})), "body.configVehicular"),
		wrong("permit", as(http.MethodPost, "/vehiculos", "bad", with(vehicle(), object{"permSct": "TPAF99"})), "body.permSct"),
		wrong("plate", as(http.MethodPost, "/vehiculos", "bad", with(vehicle(), object{"placa": "abc"})), "body.placa"),
		wrong("year", as(http.MethodPost, "/vehiculos", "bad", with(vehicle(), object{"anioModeloVm": 1899})), "body.anioModeloVm"),
		wrong("weight as a text", as(http.MethodPost, "/vehiculos", "bad", with(vehicle(), object{"pesoBrutoVehicular": "17"})), "body.pesoBrutoVehicular"),
		wrong("kind of trailer", as(http.MethodPost, "/remolques", "bad", with(trailer(), object{"subTipoRem": "CTR099"})), "body.subTipoRem"),
		wrongQuery("state of vehicles", "/vehiculos?estado=x", "query.estado"),
		wrongQuery("state of trailers", "/remolques?estado=x", "query.estado"),
	)
}

func tripRoutes(t *testing.T, v *apitest.Server) {
	t.Helper()
	driverID, vehicleID, _ := fleet(t, v, ana, "tr")
	trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "tr-1", with(bareTrip(), object{"estado": "borrador"}))
	at := "/viajes/" + trip.ViajeID
	body := object{"conductorId": driverID, "vehiculoId": vehicleID}
	now := v.Clock.Now()
	place := object{"lat": 19.5, "lng": -99.2, "at": now}
	soon := with(bareTrip(), object{"fechaInicioProgramada": now, "fechaFinProgramada": now.Add(10 * time.Hour)})
	create := func(changes object) apitest.Request {
		return as(http.MethodPost, "/viajes", "bad", with(bareTrip(), changes))
	}
	v.Run(t, append(
		keyed("/viajes", "tr-1", with(bareTrip(), object{"estado": "borrador"}), bareTrip()),
		good("one", as(http.MethodGet, at, "", nil), http.StatusOK),
		good("newest first", as(http.MethodGet, "/viajes", "", nil), http.StatusOK),
		good("by state", as(http.MethodGet, "/viajes?estado=borrador", "", nil), http.StatusOK),
		good("changed", as(http.MethodPut, at, "", with(soon, object{"nombre": "Otro", "costos": object{"precioCliente": 8000}})), http.StatusOK),
		missing("no trip changed", as(http.MethodPut, "/viajes/"+nowhere, "", bareTrip())),
		wrong("changed to end before it begins", as(http.MethodPut, at, "", with(bareTrip(), object{"fechaFinProgramada": "2027-01-14T00:00:00Z"})), "body.fechaFinProgramada"),
		wrong("changed state by hand", as(http.MethodPut, at, "", with(bareTrip(), object{"estado": "completado"})), "body.estado"),
		wrong("made-up margin", as(http.MethodPut, at, "", with(bareTrip(), object{"costos": object{"precioCliente": 8000, "costoTotal": 5000, "margen": 3001}})), "body.costos.margen"),
		good("by date", as(http.MethodGet, "/viajes?desde=2027-01-01T00:00:00Z&hasta=2027-02-01T00:00:00Z", "", nil), http.StatusOK),
		refused("assign a draft", as(http.MethodPut, at+"/recursos", "", body), "viaje_no_programado"),
		good("planned", as(http.MethodPost, at+"/programar", "", nil), http.StatusOK),
		refused("planned again", as(http.MethodPost, at+"/programar", "", nil), "viaje_no_borrador"),
		refused("leaves without a driver", as(http.MethodPost, at+"/iniciar", "", nil), "viaje_sin_recursos"),
		missing("nobody drives", as(http.MethodPut, at+"/recursos", "", with(body, object{"conductorId": nowhere}))),
		wrong("no ULID drives", as(http.MethodPut, at+"/recursos", "", with(body, object{"conductorId": "x"})), "body.conductorId"),
		good("assigned", as(http.MethodPut, at+"/recursos", "", body), http.StatusOK),
		refused("changed with a driver", as(http.MethodPut, at, "", bareTrip()), "viaje_asignado"),
		good("assigned again", as(http.MethodPut, at+"/recursos", "", body), http.StatusOK),
		refused("assigned driver gone", as(http.MethodDelete, "/conductores/"+driverID, "", nil), "conductor_asignado"),
		refused("assigned vehicle gone", as(http.MethodDelete, "/vehiculos/"+vehicleID, "", nil), "vehiculo_asignado"),
		good("assigned driver ill", as(http.MethodPut, "/conductores/"+driverID, "", with(driver(), object{"estado": "inactivo"})), http.StatusOK),
		refused("leaves without the driver", as(http.MethodPost, at+"/iniciar", "", nil), "conductor_no_disponible"),
		good("taken back", as(http.MethodDelete, at+"/recursos", "", nil), http.StatusOK),
		good("taken back again", as(http.MethodDelete, at+"/recursos", "", nil), http.StatusOK),
		good("changed without a driver", as(http.MethodPut, at, "", soon), http.StatusOK),
		refused("assigned an ill driver", as(http.MethodPut, at+"/recursos", "", body), "conductor_no_disponible"),
		good("driver well", as(http.MethodPut, "/conductores/"+driverID, "", driver()), http.StatusOK),
		good("assigned after all", as(http.MethodPut, at+"/recursos", "", body), http.StatusOK),
		refused("arrives before it leaves", as(http.MethodPost, at+"/completar", "", nil), "viaje_no_en_curso"),
		missing("no place yet", as(http.MethodGet, at+"/posicion", "", nil)),
		missing("placed before it leaves", as(http.MethodPost, at+"/posiciones", "", place)),
		good("leaves", as(http.MethodPost, at+"/iniciar", "", nil), http.StatusOK),
		refused("leaves again", as(http.MethodPost, at+"/iniciar", "", nil), "viaje_no_programado"),
		refused("taken back on its way", as(http.MethodDelete, at+"/recursos", "", nil), "viaje_no_programado"),
		refused("busy driver changed", as(http.MethodPut, "/conductores/"+driverID, "", driver()), "conductor_en_viaje"),
		refused("busy driver gone", as(http.MethodDelete, "/conductores/"+driverID, "", nil), "conductor_en_viaje"),
		refused("busy vehicle gone", as(http.MethodDelete, "/vehiculos/"+vehicleID, "", nil), "vehiculo_en_viaje"),
		good("placed", as(http.MethodPost, at+"/posiciones", "", place), http.StatusOK),
		good("place", as(http.MethodGet, at+"/posicion", "", nil), http.StatusOK),
		good("places", as(http.MethodGet, at+"/posiciones?desde=2020-01-01T00:00:00Z", "", nil), http.StatusOK),
		wrong("no latitude", as(http.MethodPost, at+"/posiciones", "", with(place, object{"lat": 91})), "body.lat"),
		wrong("the future", as(http.MethodPost, at+"/posiciones", "", with(place, object{"at": now.Add(time.Hour)})), "body.at"),
		wrong("six of five stars", as(http.MethodPost, at+"/completar", "", object{"calificacion": 6}), "body.calificacion"),
		good("arrives", as(http.MethodPost, at+"/completar", "", nil), http.StatusOK),
		refused("arrives again", as(http.MethodPost, at+"/completar", "", nil), "viaje_no_en_curso"),
		refused("changed after it arrived", as(http.MethodPut, at, "", bareTrip()), "viaje_no_programado"),
		refused("placed after it arrived", as(http.MethodPost, at+"/posiciones", "", place), "viaje_no_en_curso"),
		refused("off after it arrived", as(http.MethodPost, at+"/cancelar", "", nil), "viaje_terminado"),
		missing("no trip", as(http.MethodGet, "/viajes/"+nowhere, "", nil)),
		missing("no trip is planned", as(http.MethodPost, "/viajes/"+nowhere+"/programar", "", nil)),
		missing("nobody is taken from no trip", as(http.MethodDelete, "/viajes/"+nowhere+"/recursos", "", nil)),
		missing("no trip is off", as(http.MethodPost, "/viajes/"+nowhere+"/cancelar", "", nil)),
		wrongQuery("state and date", "/viajes?estado=borrador&desde=2027-01-01T00:00:00Z", "query.estado"),
		wrongQuery("end before begin", "/viajes?desde=2027-02-01T00:00:00Z&hasta=2027-01-01T00:00:00Z", "query.hasta"),
		wrongQuery("places end before they begin", at+"/posiciones?desde=2027-02-01T00:00:00Z&hasta=2027-01-01T00:00:00Z", "query.hasta"),
		wrongQuery("no time", "/viajes?desde=ayer", "query.desde"),
		wrongQuery("places of no ULID", "/viajes/x/posiciones", "path.id"),
		wrongQuery("place of no ULID", "/viajes/x/posicion", "path.id"),
		bad("made-up cursor", as(http.MethodGet, "/viajes?cursor=AQ", "", nil), http.StatusBadRequest, problem.CodeInvalidCursor, ""),
		wrong("ends before it begins", create(object{"fechaFinProgramada": "2027-01-14T00:00:00Z"}), "body.fechaFinProgramada"),
		wrong("no distance", create(object{"distanciaTotal": 0}), "body.distanciaTotal"),
		wrong("next to no distance", create(object{"distanciaTotal": 1e-130}), "body.distanciaTotal"),
		wrong("costs beyond all", create(object{"costos": object{"costoTotal": 1e125}}), "body.costos.costoTotal"),
		wrong("begins as it likes", create(object{"estado": "en_curso"}), "body.estado"),
		wrong("receiver's RFC", create(object{"carta": object{"receptor": with(receiver(), object{"rfc": "YYY000000YYY"})}}), "body.carta.receptor.rfc"),
		wrong("receiver's use", create(object{"carta": object{"receptor": with(receiver(), object{"usoCfdi": "Z99"})}}), "body.carta.receptor.usoCfdi"),
		missing("without a profile", apitest.Request{Method: http.MethodPost, Path: "/viajes", As: bruno, Key: "n-1", Body: cartaTrip()}),
	))
}
