package transporteapp_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp"
)

// TestCartaIsReplaced: a stamped carta with errors is replaced as the tax office asks: another one is stamped, which names it, and then
// it is cancelled with reason 01 and the UUID of the other one. Until that is stamped it can be discarded, and the trip has the first one
// again.
func TestCartaIsReplaced(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	trip, id := sealedCarta(t, v, "t")
	at, old := "/viajes/"+trip, "/cartas/"+id
	body := object{"receptor": receiver(), "sustituye": id}
	v.Run(t, []apitest.Case{refused("a draft is replaced", as(http.MethodPost, at+"/cartas", "early", body), "carta_no_timbrada")})
	uuid := post[transporteapp.Carta](t, v, http.StatusCreated, ana, old+"/timbrado", "s", nil).Timbrado.UUIDFiscal
	other := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "other", cartaTrip()).ViajeID
	v.Run(t, []apitest.Case{
		refused("two cartas", as(http.MethodPost, at+"/cartas", "two", object{"receptor": receiver()}), "viaje_tiene_carta"),
		bad("a carta of another trip", as(http.MethodPost, "/viajes/"+other+"/cartas", "foreign", body), http.StatusNotFound, problem.CodeNotFound, ""),
	})
	has := func(want string, status string) {
		t.Helper()
		if now := get[transporteapp.ViajeConCarta](t, v, ana, at); now.Fiscal.CartaPorteID != want || string(now.Fiscal.CartaPorteStatus) != status || now.Carta.CartaID != want {
			t.Errorf("the trip has %+v, want %s %s", now.Fiscal, want, status)
		}
	}
	draft := post[transporteapp.Carta](t, v, http.StatusCreated, ana, at+"/cartas", "r-1", body)
	if s := draft.Sustituye; s == nil || s.CartaID != id || s.UUIDFiscal != uuid || s.Folio != "CP-000001" {
		t.Fatalf("the new carta replaces %+v", s)
	}
	has(draft.CartaID, "borrador")
	v.Run(t, []apitest.Case{
		refused("the first one is cancelled too early", as(http.MethodPost, old+"/cancelacion", "", object{"motivo": "02"}), "sustituta_sin_timbrar"),
		refused("replaced twice", as(http.MethodPost, at+"/cartas", "r-again", body), "viaje_tiene_carta"),
	})
	post[object](t, v, http.StatusOK, ana, "/cartas/"+draft.CartaID+"/cancelacion", "", object{})
	has(id, "timbrada")
	draft = post[transporteapp.Carta](t, v, http.StatusCreated, ana, at+"/cartas", "r-2", body)
	fill(t, v, ana, draft.CartaID, 1)
	stamped := post[transporteapp.Carta](t, v, http.StatusCreated, ana, "/cartas/"+draft.CartaID+"/timbrado", "s-2", nil)
	document := string(v.Do(t, as(http.MethodGet, "/cartas/"+draft.CartaID+"/xml", "", nil)).Body)
	if want := `<cfdi:CfdiRelacionados TipoRelacion="04"><cfdi:CfdiRelacionado UUID="` + uuid + `">`; !strings.Contains(document, want) {
		t.Errorf("the XML has no %s: %.1200s", want, document)
	}
	cancelled := func(name, by string) apitest.Case {
		return wrong(name, as(http.MethodPost, old+"/cancelacion", "", object{"motivo": "01", "sustituye": by}), "body.sustituye")
	}
	v.Run(t, []apitest.Case{
		cancelled("by itself", uuid),
		cancelled("by one that does not replace it", "01234567-89ab-8def-8123-456789abcdef"),
	})
	has(draft.CartaID, "timbrada")
	post[object](t, v, http.StatusOK, ana, old+"/cancelacion", "", object{"motivo": "01", "sustituye": strings.ToUpper(stamped.Timbrado.UUIDFiscal)})
	if now := get[transporteapp.Carta](t, v, ana, old); now.Status != "cancelada" {
		t.Errorf("the first carta is %s", now.Status)
	}
	has(draft.CartaID, "timbrada")
	v.Run(t, []apitest.Case{refused("cancelled twice", as(http.MethodPost, old+"/cancelacion", "", object{"motivo": "02"}), "carta_no_timbrada")})
}

// TestReplacementHasTheGoods: a carta that replaces another one begins with its goods, also if the process that copies them is stopped
// and the request is repeated. Repeated later, it adds nothing.
func TestReplacementHasTheGoods(t *testing.T) {
	t.Parallel()
	const all = 200
	v := open(t, transporteapp.Options{}, ana)
	trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t", cartaTrip())
	fill(t, v, ana, trip.Carta.CartaID, all)
	old := post[transporteapp.Carta](t, v, http.StatusCreated, ana, "/cartas/"+trip.Carta.CartaID+"/timbrado", "s", nil)
	var parts atomic.Int64
	broken := processesVia(t, v, failing(v.Database.DynamoDB, func() bool { return parts.Add(1) > 2 }), transporteapp.Options{}, 1)[0] // the draft and its first goods
	request := as(http.MethodPost, "/viajes/"+trip.ViajeID+"/cartas", "r", object{"receptor": receiver(), "sustituye": old.CartaID})
	if r := broken.do(t, request); r.Status < http.StatusInternalServerError {
		t.Fatalf("a request whose writes fail: %d %s", r.Status, r.Body)
	}
	created := do[transporteapp.Carta](t, v, http.StatusOK, request)
	at := "/cartas/" + created.CartaID
	has := func(n int) {
		t.Helper()
		var list []transporteapp.Mercancia
		for path := at + "/mercancias?limit=100"; path != ""; {
			got := get[page[transporteapp.Mercancia]](t, v, ana, path)
			if list, path = append(list, got.Items...), ""; got.Next != "" {
				path = apitest.Query(at+"/mercancias", "limit", "100", "cursor", got.Next)
			}
		}
		for i, m := range list {
			if want := fmt.Sprintf("Azúcar %d", i+1); m.Orden != int64(i)+1 || m.Descripcion != want {
				t.Fatalf("good %d is %d %s, want %s", i+1, m.Orden, m.Descripcion, want)
			}
		}
		if now := get[transporteapp.Carta](t, v, ana, at).Totales.NumeroTotalMercancias; len(list) != n || now != int64(n) {
			t.Fatalf("it has %d goods and counts %d, want %d", len(list), now, n)
		}
	}
	has(all)
	if got := get[transporteapp.Carta](t, v, ana, at).Totales; created.Totales.NumeroTotalMercancias != all || created.Totales != got || got.PesoBrutoTotal != old.Totales.PesoBrutoTotal {
		t.Errorf("the response has the totals %+v, the carta %+v, the one that it replaces %+v", created.Totales, got, old.Totales)
	}
	do[object](t, v, http.StatusOK, as(http.MethodDelete, at+"/mercancias/200", "", nil))
	do[transporteapp.Carta](t, v, http.StatusOK, request)
	has(all - 1)
}

// TestTripWithReplacedCartaIsNotCancelled: a trip is not cancelled while a carta of it is valid, even if that one was replaced and the
// one that replaces it is cancelled.
func TestTripWithReplacedCartaIsNotCancelled(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	trip, id := sealedCarta(t, v, "t")
	at, old := "/viajes/"+trip, "/cartas/"+id
	post[object](t, v, http.StatusCreated, ana, old+"/timbrado", "s", nil)
	other := post[transporteapp.Carta](t, v, http.StatusCreated, ana, at+"/cartas", "r", object{"receptor": receiver(), "sustituye": id}).CartaID
	put[object](t, v, ana, "/cartas/"+other+"/autotransporte", declared())
	put[object](t, v, ana, "/cartas/"+other+"/ubicaciones", object{"ubicaciones": places()})
	put[object](t, v, ana, "/cartas/"+other+"/figuras", object{"figuras": people()})
	post[object](t, v, http.StatusOK, ana, "/cartas/"+other+"/sellar", "", nil)
	post[object](t, v, http.StatusCreated, ana, "/cartas/"+other+"/timbrado", "s-2", nil)
	post[object](t, v, http.StatusOK, ana, "/cartas/"+other+"/cancelacion", "", object{"motivo": "02"})
	v.Run(t, []apitest.Case{refused("the first carta is valid", as(http.MethodPost, at+"/cancelar", "", nil), "carta_vigente")})
	elsewhere := object{"motivo": "01", "sustituye": "01234567-89ab-8def-8123-456789abcdef"} // a cancelled carta replaces nothing
	post[object](t, v, http.StatusOK, ana, old+"/cancelacion", "", elsewhere)
	post[object](t, v, http.StatusOK, ana, at+"/cancelar", "", nil)
}
