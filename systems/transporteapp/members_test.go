package transporteapp_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
)

// in sends a request for another company.
func in(company string, r apitest.Request) apitest.Request {
	r.Header = map[string]string{"Empresa": company}
	return r
}

// by sends a request as another user.
func by(sub string, r apitest.Request) apitest.Request {
	r.As = sub
	return r
}

// join makes a user a member of the first company.
func join(t *testing.T, v *apitest.Server, sub string, role object) {
	t.Helper()
	created := do[transporteapp.InvitacionHecha](t, v, http.StatusOK, as(http.MethodPost, "/invitaciones", "", with(role, object{"nombre": sub})))
	put[object](t, v, sub, "/empresas/"+ana+"/miembros/yo", object{"codigo": created.Codigo})
}

// memberRoutes are the operations for members and for the carta editor.
func memberRoutes(t *testing.T, v *apitest.Server) {
	t.Helper()
	driverID, _, _ := fleet(t, v, ana, "mr")
	join(t, v, "u-mr", object{"rol": "despachador"})
	kept := do[transporteapp.InvitacionHecha](t, v, http.StatusOK, as(http.MethodPost, "/invitaciones", "", object{"nombre": "x", "rol": "conductor", "conductorId": driverID}))
	trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "mr-1", cartaTrip())
	at := "/cartas/" + trip.Carta.CartaID
	post[object](t, v, http.StatusCreated, ana, at+"/mercancias", "mr-2", object{"mercancias": goods(3)})
	stampedTrip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "mr-3", cartaTrip())
	fill(t, v, ana, stampedTrip.Carta.CartaID, 1)
	post[object](t, v, http.StatusCreated, ana, "/cartas/"+stampedTrip.Carta.CartaID+"/timbrado", "mr-4", nil)
	v.Run(t, []apitest.Case{
		good("companies", by("u-mr", as(http.MethodGet, "/empresas", "", nil)), http.StatusOK),
		good("members", as(http.MethodGet, "/miembros", "", nil), http.StatusOK),
		good("invitations", as(http.MethodGet, "/invitaciones", "", nil), http.StatusOK),
		good("invitation taken back", as(http.MethodDelete, "/invitaciones/"+kept.InvitacionID, "", nil), http.StatusNoContent),
		wrong("a driver who is nobody", as(http.MethodPost, "/invitaciones", "", object{"nombre": "x", "rol": "conductor"}), "body.conductorId"),
		bad("a code that is over", as(http.MethodPut, "/empresas/"+bruno+"/miembros/yo", "", object{"codigo": kept.Codigo}), http.StatusNotFound, "invitacion_no_valida", ""),
		wrongQuery("page of no companies", "/empresas?limit=0", "query.limit"),
		wrongQuery("page of no members", "/miembros?limit=0", "query.limit"),
		wrongQuery("page of no invitations", "/invitaciones?limit=0", "query.limit"),
		wrongQuery("ends before today", "/vencimientos?dias=-1", "query.dias"),
		wrongQuery("trips of no driver", "/conductores/x/viajes", "path.id"),
		bad("no invitation", as(http.MethodDelete, "/invitaciones/x", "", nil), http.StatusBadRequest, problem.CodeInvalidParameter, "path.id"),
		bad("no good's place", as(http.MethodDelete, at+"/mercancias/0", "", nil), http.StatusBadRequest, problem.CodeInvalidParameter, "path.orden"),
		bad("no carta", as(http.MethodPost, "/cartas/x/revision", "", object{}), http.StatusBadRequest, problem.CodeInvalidParameter, "path.id"),
		bad("another company's events", in(bruno, as(http.MethodGet, "/eventos", "", nil)), http.StatusForbidden, "sin_acceso", ""),
		wrong("no role", as(http.MethodPut, "/miembros/u-mr", "", object{"rol": "jefe"}), "body.rol"),
		good("role", as(http.MethodPut, "/miembros/u-mr", "", object{"rol": "propietario"}), http.StatusOK),
		good("removed", as(http.MethodDelete, "/miembros/u-mr", "", nil), http.StatusNoContent),
		missing("removed again", as(http.MethodDelete, "/miembros/u-mr", "", nil)),
		refused("the last owner leaves", as(http.MethodDelete, "/miembros/"+ana, "", nil), "ultimo_propietario"),
		good("what ends soon", as(http.MethodGet, "/vencimientos?dias=366", "", nil), http.StatusOK),
		good("trips of a driver", as(http.MethodGet, "/conductores/"+driverID+"/viajes", "", nil), http.StatusOK),
		good("catalogue", as(http.MethodGet, "/catalogos/clave_unidad?q=caja", "", nil), http.StatusOK),
		wrongQuery("no catalogue", "/catalogos/planetas", "path.nombre"),
		good("good changed", as(http.MethodPut, at+"/mercancias/2", "", goods(1)[0]), http.StatusOK),
		missing("no such good", as(http.MethodPut, at+"/mercancias/9", "", goods(1)[0])),
		good("good removed", as(http.MethodDelete, at+"/mercancias/1", "", nil), http.StatusOK),
		{
			Name: "receiver", Request: as(http.MethodPut, at+"/receptor", "", with(receiver(), object{"nombre": "OTRO"})), Status: http.StatusOK,
			Check: func(tb testing.TB, r *apitest.Response) {
				tb.Helper()
				var c transporteapp.Carta
				if r.JSON(tb, &c); c.Receptor.Nombre != "OTRO" {
					tb.Errorf("the receiver is %+v", c.Receptor)
				}
			},
		},
		wrong("no receiver", as(http.MethodPut, at+"/receptor", "", with(receiver(), object{"rfc": "X"})), "body.rfc"),
		{
			Name: "what is missing", Request: as(http.MethodPost, at+"/revision", "", object{"figuras": []object{{"tipoFigura": "01", "rfcFigura": "X", "nombreFigura": ""}}}), Status: http.StatusOK,
			Check: func(tb testing.TB, r *apitest.Response) {
				tb.Helper()
				var out transporteapp.Revisado
				if r.JSON(tb, &out); out.Numero == 0 || len(out.Faltas) == 0 {
					tb.Errorf("nothing is missing: %s", r.Body)
				}
			},
		},
		{
			Name: "printed", Request: as(http.MethodGet, "/cartas/"+stampedTrip.Carta.CartaID+"/pdf", "", nil), Status: http.StatusOK,
			Check: func(tb testing.TB, r *apitest.Response) {
				tb.Helper()
				if kind := r.Header.Get("Content-Type"); kind != "application/pdf" || !bytes.HasPrefix(r.Body, []byte("%PDF-")) || !bytes.HasSuffix(bytes.TrimSpace(r.Body), []byte("%%EOF")) {
					tb.Errorf("%s of %d bytes is no PDF", kind, len(r.Body))
				}
			},
		},
		refused("a draft is not printed", as(http.MethodGet, at+"/pdf", "", nil), "carta_no_timbrada"),
	})
	left := get[transporteapp.Carta](t, v, ana, at)
	if left.Totales.NumeroTotalMercancias != 2 {
		t.Errorf("%+v, want two goods", left.Totales)
	}
	post[object](t, v, http.StatusOK, ana, at+"/cancelacion", "", object{})
}

// TestMembers: permissions depend on the role, a revoked role takes effect with the next request, and drivers see only their own
// trips.
func TestMembers(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana, bruno)
	driverID, vehicleID, _ := fleet(t, v, ana, "f")
	join(t, v, "u-desk", object{"rol": "despachador"})
	join(t, v, "u-wheel", object{"rol": "conductor", "conductorId": driverID})
	own := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t-1", with(bareTrip(), object{"local": true, "costos": object{"costoTotal": 5000, "precioCliente": 8000}}))
	other := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t-2", bareTrip())
	put[object](t, v, ana, "/viajes/"+own.ViajeID+"/recursos", object{"conductorId": driverID, "vehiculoId": vehicleID})
	wantStatus := func(want int, sub, method, path string, body any) {
		t.Helper()
		if got := v.Do(t, in(ana, by(sub, as(method, path, "", body)))); got.Status != want {
			t.Errorf("%s %s by %s: %d %s, want %d", method, path, sub, got.Status, got.Body, want)
		}
	}
	wantStatus(http.StatusOK, "u-desk", http.MethodGet, "/viajes", nil)
	wantStatus(http.StatusForbidden, "u-desk", http.MethodGet, "/miembros", nil)
	wantStatus(http.StatusForbidden, "u-desk", http.MethodPut, "/perfil", profile())
	wantStatus(http.StatusForbidden, "u-desk", http.MethodDelete, "/miembros/u-wheel", nil)
	wantStatus(http.StatusForbidden, bruno, http.MethodGet, "/viajes", nil)
	wantStatus(http.StatusForbidden, "u-wheel", http.MethodGet, "/viajes", nil)
	wantStatus(http.StatusForbidden, "u-wheel", http.MethodGet, "/conductores", nil)
	wantStatus(http.StatusOK, "u-wheel", http.MethodGet, "/viajes/"+own.ViajeID, nil)
	wantStatus(http.StatusNotFound, "u-wheel", http.MethodGet, "/viajes/"+other.ViajeID, nil)
	wantStatus(http.StatusNotFound, "u-wheel", http.MethodPost, "/viajes/"+other.ViajeID+"/iniciar", nil)
	wantStatus(http.StatusOK, "u-wheel", http.MethodGet, "/conductores/"+driverID+"/viajes", nil)
	wantStatus(http.StatusNotFound, "u-wheel", http.MethodGet, "/conductores/"+nowhere+"/viajes", nil)
	wantStatus(http.StatusOK, "u-wheel", http.MethodPost, "/viajes/"+own.ViajeID+"/iniciar", nil)
	wantStatus(http.StatusForbidden, "u-wheel", http.MethodPost, "/viajes/"+own.ViajeID+"/completar", object{"calificacion": 5}) // drivers cannot rate themselves
	for sub, sees := range map[string]bool{"u-desk": true, "u-wheel": false} {
		for _, path := range []string{"/viajes/" + own.ViajeID, "/conductores/" + driverID + "/viajes"} {
			if got := v.Do(t, in(ana, by(sub, as(http.MethodGet, path, "", nil)))); bytes.Contains(got.Body, []byte("precioCliente")) != sees {
				t.Errorf("%s for %s: %s; sees what the customer pays: want %t", path, sub, got.Body, sees)
			}
		}
	}

	put[object](t, v, ana, "/miembros/u-desk", object{"rol": "propietario"})
	wantStatus(http.StatusOK, "u-desk", http.MethodGet, "/miembros", nil)
	wantStatus(http.StatusNoContent, "u-desk", http.MethodDelete, "/miembros/"+ana, nil) // one of two owners
	wantStatus(http.StatusForbidden, ana, http.MethodGet, "/viajes", nil)
	if got := v.Do(t, as(http.MethodGet, "/me/data", "", nil)); got.Status != http.StatusForbidden {
		t.Errorf("a member who left can read the company's data: %d", got.Status)
	}
	wantStatus(http.StatusConflict, "u-desk", http.MethodDelete, "/miembros/u-desk", nil)
	wantStatus(http.StatusNoContent, "u-wheel", http.MethodDelete, "/miembros/u-wheel", nil)
	wantStatus(http.StatusForbidden, "u-wheel", http.MethodGet, "/viajes/"+own.ViajeID, nil)
}

// erases requests the erasure of a company's data, which must be refused.
func erases(t *testing.T, v *apitest.Server, code string) {
	t.Helper()
	r := as(http.MethodDelete, "/me", "", nil)
	r.Header = map[string]string{"Confirm": "erase"}
	before := stored(t, v)
	if p := do[problem.Problem](t, v, http.StatusConflict, r); p.Code != code {
		t.Errorf("erasure: %s, want %s", p.Code, code)
	}
	if after := stored(t, v); len(after) != len(before) {
		t.Errorf("%s: %d items were erased", code, len(before)-len(after))
	}
}

// TestErasureRefused: a company with a trip on the road, a carta at the PAC, or other members is not erased.
func TestErasureRefused(t *testing.T) {
	t.Parallel()
	t.Run("trip", func(t *testing.T) {
		t.Parallel()
		v := open(t, transporteapp.Options{}, ana)
		driverID, vehicleID, _ := fleet(t, v, ana, "f")
		trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t-1", with(bareTrip(), object{"local": true}))
		put[object](t, v, ana, "/viajes/"+trip.ViajeID+"/recursos", object{"conductorId": driverID, "vehiculoId": vehicleID})
		post[object](t, v, http.StatusOK, ana, "/viajes/"+trip.ViajeID+"/iniciar", "", nil)
		erases(t, v, "viaje_en_curso")
	})
	t.Run("carta", func(t *testing.T) {
		t.Parallel()
		v := open(t, transporteapp.Options{PAC: downPAC{}}, ana)
		trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t-1", cartaTrip())
		fill(t, v, ana, trip.Carta.CartaID, 1)
		do[object](t, v, http.StatusServiceUnavailable, as(http.MethodPost, "/cartas/"+trip.Carta.CartaID+"/timbrado", "s-1", nil))
		erases(t, v, "carta_en_proceso")
	})
	t.Run("members", func(t *testing.T) {
		t.Parallel()
		v := open(t, transporteapp.Options{}, ana)
		join(t, v, "u-desk", object{"rol": "despachador"})
		erases(t, v, "empresa_con_miembros")
	})
	t.Run("owner of another", func(t *testing.T) {
		t.Parallel()
		v := open(t, transporteapp.Options{}, ana, bruno)
		join(t, v, bruno, object{"rol": "propietario"})
		r := by(bruno, as(http.MethodDelete, "/me", "", nil))
		r.Header = map[string]string{"Confirm": "erase"}
		if p := do[problem.Problem](t, v, http.StatusConflict, r); p.Code != "propietario_de_empresa" {
			t.Errorf("erasure: %s", p.Code)
		}
		do[object](t, v, http.StatusNoContent, in(ana, by(bruno, as(http.MethodDelete, "/miembros/"+bruno, "", nil))))
		do[object](t, v, http.StatusOK, r)
	})
}

// downPAC is a PAC that does not respond.
type downPAC struct{ cartaporte.PAC }

func (downPAC) Timbrar(context.Context, cartaporte.Solicitud) (cartaporte.Timbre, error) {
	return cartaporte.Timbre{}, errors.New("no response")
}
