package transporteapp_test

import (
	"net/http"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp"
)

func cartaRoutes(t *testing.T, v *apitest.Server) {
	t.Helper()
	trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "cr-1", cartaTrip())
	bare := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "cr-2", bareTrip())
	off := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "cr-0", bareTrip())
	at, folio := "/cartas/"+trip.Carta.CartaID, trip.Carta.Folio
	mine := "/viajes/" + bare.ViajeID + "/cartas"
	first := post[transporteapp.Carta](t, v, http.StatusCreated, ana, mine, "cr-3", object{"receptor": receiver()})
	other := with(receiver(), object{"nombre": "OTRO"})
	v.Run(t, append(
		keyed(mine, "cr-3", object{"receptor": receiver()}, object{"receptor": other}),
		refused("a second carta", as(http.MethodPost, mine, "cr-4", object{"receptor": receiver()}), "viaje_tiene_carta"),
		missing("of no trip", as(http.MethodPost, "/viajes/"+nowhere+"/cartas", "cr-5", object{"receptor": receiver()})),
		refused("trip off with a carta", as(http.MethodPost, "/viajes/"+bare.ViajeID+"/cancelar", "", nil), "carta_vigente"),
		good("draft cancelled", as(http.MethodPost, "/cartas/"+first.CartaID+"/cancelacion", "", object{}), http.StatusOK),
		refused("cancelled again", as(http.MethodPost, "/cartas/"+first.CartaID+"/cancelacion", "", object{}), "carta_no_timbrada"),
		good("trip off", as(http.MethodPost, "/viajes/"+off.ViajeID+"/cancelar", "", nil), http.StatusOK),
		refused("carta of a trip that is off", as(http.MethodPost, "/viajes/"+off.ViajeID+"/cartas", "cr-9", object{"receptor": receiver()}), "viaje_no_programado"),
		good("another carta", as(http.MethodPost, mine, "cr-6", object{"receptor": receiver()}), http.StatusCreated),
		apitest.Case{Name: "cartas of the trip", Request: as(http.MethodGet, mine, "", nil), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var p page[transporteapp.CartaResumen]
			if r.JSON(tb, &p); len(p.Items) != 2 || p.Items[0].Folio == p.Items[1].Folio {
				tb.Errorf("cartas %+v, want two with folios of their own", p.Items)
			}
		}},
		wrongQuery("cartas of no ULID", "/viajes/x/cartas", "path.id"),
		good("head", as(http.MethodGet, at, "", nil), http.StatusOK),
		good("by folio", as(http.MethodGet, "/folios/"+folio, "", nil), http.StatusOK),
		missing("no folio", as(http.MethodGet, "/folios/CP-999999", "", nil)),
		wrongQuery("folio of another form", "/folios/15", "path.folio"),
		good("newest first", as(http.MethodGet, "/cartas", "", nil), http.StatusOK),
		good("by state", as(http.MethodGet, "/cartas?status=borrador", "", nil), http.StatusOK),
		wrongQuery("no state", "/cartas?status=perdida", "query.status"),
		missing("no carta", as(http.MethodGet, "/cartas/"+nowhere, "", nil)),
	))
	v.Run(t, contentCases(at))
	v.Run(t, stampCases(at))
}

func contentCases(at string) []apitest.Case {
	send := func(part string, body any) apitest.Request { return as(http.MethodPut, at+part, "", body) }
	add := func(key string, list []object) apitest.Request {
		return as(http.MethodPost, at+"/mercancias", key, object{"mercancias": list})
	}
	one := func(changes object) []object { return []object{with(goods(1)[0], changes)} }
	far := with(places()[1], object{"distanciaRecorrida": nil})
	return append(
		[]apitest.Case{
			refused("sealed with nothing", as(http.MethodPost, at+"/sellar", "", nil), "carta_incompleta"),
			good("goods", add("g-1", goods(2)), http.StatusCreated),
		},
		append(
			keyed(at+"/mercancias", "g-1", object{"mercancias": goods(2)}, object{"mercancias": goods(3)}),
			good("vehicle", send("/autotransporte", declared()), http.StatusOK),
			wrong("vehicle's permit", send("/autotransporte", with(declared(), object{"permSct": "X"})), "body.permSct"),
			missing("vehicle of no carta", as(http.MethodPut, "/cartas/"+nowhere+"/autotransporte", "", declared())),
			good("three places", send("/ubicaciones", object{"ubicaciones": append(places(), with(places()[1], object{"idUbicacion": "DE000002"}))}), http.StatusOK),
			good("two places", send("/ubicaciones", object{"ubicaciones": places()}), http.StatusOK),
			wrong("no places", send("/ubicaciones", object{"ubicaciones": []object{}}), "body.ubicaciones"),
			wrong("no way", send("/ubicaciones", object{"ubicaciones": []object{places()[0], far}}), "body.ubicaciones[1].distanciaRecorrida"),
			good("two people", send("/figuras", object{"figuras": append(people(), people()...)}), http.StatusOK),
			good("one person", send("/figuras", object{"figuras": people()}), http.StatusOK),
			wrong("nobody's RFC", send("/figuras", object{"figuras": []object{with(people()[0], object{"rfcFigura": "X"})}}), "body.figuras[0].rfcFigura"),
			wrong("no unit", add("g-2", one(object{"claveUnidad": "ZZZ"})), "body.mercancias[0].claveUnidad"),
			wrong("no product", add("g-2", one(object{"claveProdServ": "99999999"})), "body.mercancias[0].claveProdServ"),
			wrong("no weight", add("g-2", one(object{"pesoKg": 0})), "body.mercancias[0].pesoKg"),
			wrong("grams of grams", add("g-2", one(object{"pesoKg": 0.0001})), "body.mercancias[0].pesoKg"),
			wrong("none", add("g-2", nil), "body.mercancias"),
			missing("goods of no carta", as(http.MethodPost, "/cartas/"+nowhere+"/mercancias", "g-3", object{"mercancias": goods(1)})),
			good("listed goods", as(http.MethodGet, at+"/mercancias", "", nil), http.StatusOK),
			wrongQuery("too many goods", at+"/mercancias?limit=101", "query.limit"),
			apitest.Case{Name: "whole", Request: as(http.MethodGet, at+"/contenido", "", nil), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
				tb.Helper()
				var c transporteapp.Contenido
				if r.JSON(tb, &c); c.Autotransporte == nil || len(c.Ubicaciones) != 2 || len(c.Figuras) != 1 || len(c.Mercancias) != 2 || c.Next != "" {
					tb.Errorf("the carta lists %+v", c)
				}
			}},
			missing("nothing whole", as(http.MethodGet, "/cartas/"+nowhere+"/contenido", "", nil)),
		)...,
	)
}

func stampCases(at string) []apitest.Case {
	stamp := func(key string) apitest.Request { return as(http.MethodPost, at+"/timbrado", key, nil) }
	return []apitest.Case{
		refused("stamped open", stamp("s-0"), "carta_no_sellada"),
		refused("opened open", as(http.MethodPost, at+"/abrir", "", nil), "carta_no_sellada"),
		refused("XML of a draft", as(http.MethodGet, at+"/xml", "", nil), "carta_no_timbrada"),
		good("sealed", as(http.MethodPost, at+"/sellar", "", nil), http.StatusOK),
		refused("sealed again", as(http.MethodPost, at+"/sellar", "", nil), "carta_sellada"),
		refused("goods for a sealed one", as(http.MethodPost, at+"/mercancias", "g-9", object{"mercancias": goods(1)}), "carta_sellada"),
		refused("places for a sealed one", as(http.MethodPut, at+"/ubicaciones", "", object{"ubicaciones": places()}), "carta_sellada"),
		refused("people for a sealed one", as(http.MethodPut, at+"/figuras", "", object{"figuras": people()}), "carta_sellada"),
		refused("vehicle for a sealed one", as(http.MethodPut, at+"/autotransporte", "", declared()), "carta_sellada"),
		good("opened", as(http.MethodPost, at+"/abrir", "", nil), http.StatusOK),
		good("sealed once more", as(http.MethodPost, at+"/sellar", "", nil), http.StatusOK),
		bad("stamped without a key", stamp(""), http.StatusBadRequest, problem.CodeInvalidParameter, "header.Idempotency-Key"),
		good("stamped", stamp("s-1"), http.StatusCreated),
		good("stamped again", stamp("s-1"), http.StatusOK),
		refused("stamped with another key", stamp("s-2"), "carta_no_borrador"),
		bad("key of something else", stamp("g-1"), http.StatusUnprocessableEntity, problem.CodeKeyReused, ""),
		missing("no carta stamped", as(http.MethodPost, "/cartas/"+nowhere+"/timbrado", "s-3", nil)),
		refused("opened stamped", as(http.MethodPost, at+"/abrir", "", nil), "carta_no_borrador"),
		good("XML", as(http.MethodGet, at+"/xml", "", nil), http.StatusOK),
		missing("XML of none", as(http.MethodGet, "/cartas/"+nowhere+"/xml", "", nil)),
		wrong("cancelled for nothing", as(http.MethodPost, at+"/cancelacion", "", object{}), "body.motivo"),
		wrong("replaced by nothing", as(http.MethodPost, at+"/cancelacion", "", object{"motivo": "01"}), "body.sustituye"),
		wrong("no reason", as(http.MethodPost, at+"/cancelacion", "", object{"motivo": "09"}), "body.motivo"),
		good("cancelled", as(http.MethodPost, at+"/cancelacion", "", object{"motivo": "02"}), http.StatusOK),
		good("XML still", as(http.MethodGet, at+"/xml", "", nil), http.StatusOK),
	}
}

func sessionCases(t *testing.T, v *apitest.Server) []apitest.Case {
	t.Helper()
	s := post[transporteapp.Sesion](t, v, http.StatusCreated, ana, "/sesiones", "x-1", object{"dispositivo": "tractor"})
	return append(
		keyed("/sesiones", "x-1", object{"dispositivo": "tractor"}, object{"dispositivo": "otro"}),
		apitest.Case{Name: "listed", Request: as(http.MethodGet, "/sesiones", "", nil), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var p page[transporteapp.Sesion]
			if r.JSON(tb, &p); len(p.Items) != 1 || p.Items[0] != s {
				tb.Errorf("sessions %+v, want %+v", p.Items, s)
			}
		}},
		wrongQuery("no limit", "/sesiones?limit=x", "query.limit"),
		wrong("no device", as(http.MethodPost, "/sesiones", "x-2", object{"dispositivo": ""}), "body.dispositivo"),
		good("signed out", as(http.MethodDelete, "/sesiones/"+s.SessionID, "", nil), http.StatusNoContent),
		good("signed out again", as(http.MethodDelete, "/sesiones/"+s.SessionID, "", nil), http.StatusNoContent),
		bad("no session", as(http.MethodDelete, "/sesiones/x", "", nil), http.StatusBadRequest, problem.CodeInvalidParameter, "path.id"),
	)
}
