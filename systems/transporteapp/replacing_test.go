package transporteapp_test

import (
	"net/http"
	"strings"
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
	post[object](t, v, http.StatusOK, ana, old+"/cancelacion", "", object{"motivo": "01", "sustituye": stamped.Timbrado.UUIDFiscal})
	if now := get[transporteapp.Carta](t, v, ana, old); now.Status != "cancelada" {
		t.Errorf("the first carta is %s", now.Status)
	}
	has(draft.CartaID, "timbrada")
	v.Run(t, []apitest.Case{refused("cancelled twice", as(http.MethodPost, old+"/cancelacion", "", object{"motivo": "02"}), "carta_no_timbrada")})
}
