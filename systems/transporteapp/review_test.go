package transporteapp_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/transporteapp"
)

// TestReview: unsaved input is checked against the tax office's rules, in the caller's language, and not stored.
func TestReview(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	id := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t-1", cartaTrip()).Carta.CartaID
	faults := func(body object) []string {
		t.Helper()
		r := as(http.MethodPost, "/cartas/"+id+"/revision", "", body)
		r.Header = map[string]string{"Accept-Language": "es-MX"}
		got := do[transporteapp.Revisado](t, v, http.StatusOK, r)
		if got.Numero != len(got.Faltas) {
			t.Errorf("%d of %d faults", len(got.Faltas), got.Numero)
		}
		var out []string
		for _, f := range got.Faltas {
			out = append(out, f.Campo+" "+f.Mensaje)
		}
		return out
	}
	before := stored(t, v)
	all := object{"autotransporte": declared(), "ubicaciones": places(), "figuras": people(), "mercancias": goods(2)}
	for name, c := range map[string]struct {
		body object
		want []string
	}{
		"nothing typed": {object{}, []string{"ubicaciones", "mercancias", "autotransporte", "figuras"}},
		"all is there":  {all, nil},
		"half a place":  {with(all, object{"ubicaciones": append(places()[:1:1], object{"tipo": "Destino"})}), []string{"ubicaciones[1]"}},
		"a receiver":    {with(all, object{"receptor": with(receiver(), object{"usoCfdi": "XX"})}), []string{"receptor.usoCfdi no es un uso de c_UsoCFDI para este receptor"}},
		"too many digits": {with(all, object{
			"ubicaciones": []object{{"distanciaRecorrida": json.Number("1e-100")}, {"distanciaRecorrida": 1}},
			"mercancias":  []object{{"pesoKg": json.Number("1e-100")}, {"pesoKg": 1}},
		}), []string{"totales.distanciaTotal", "mercancias[0].pesoKg"}},
		"no good": {with(all, object{"mercancias": []object{{}}}), []string{"mercancias[0]", "totales.pesoBrutoTotal"}},
	} {
		got := faults(c.body)
		for _, want := range c.want {
			if !slices.ContainsFunc(got, func(f string) bool { return len(f) >= len(want) && f[:len(want)] == want }) {
				t.Errorf("%s: %q says nothing of %s", name, got, want)
			}
		}
		if c.want == nil && len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
	if after := stored(t, v); len(after) != len(before) {
		t.Errorf("a review stored %d items", len(after)-len(before))
	}
}

// TestDraftFollowsTaxDetails: a draft whose company has wrong tax details can be stamped once they have been corrected.
func TestDraftFollowsTaxDetails(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	config, _ := profile()["config"].(object)
	issuing := func(changes object) {
		put[object](t, v, ana, "/perfil", with(profile(), object{"config": with(config, changes)}))
	}
	issuing(object{"regimenFiscal": "612"}) // of persons
	id := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t", cartaTrip()).Carta.CartaID
	faults := func() (list []string) {
		for _, f := range post[transporteapp.Revisado](t, v, http.StatusOK, ana, "/cartas/"+id+"/revision", "", object{}).Faltas {
			if strings.HasPrefix(f.Campo, "emisor") {
				list = append(list, f.Campo)
			}
		}
		return list
	}
	if list := faults(); len(list) != 1 || list[0] != "emisor.regimenFiscal" {
		t.Errorf("the faults of the issuer are %q", list)
	}
	issuing(object{"razonSocial": "ESCUELA KEMPER URGATE DEL SUR"})
	if list := faults(); len(list) != 0 {
		t.Errorf("after the correction the faults of the issuer are %q", list)
	}
	if c := fill(t, v, ana, id, 1); c.Emisor.RegimenFiscal != "601" || c.Emisor.Nombre != "ESCUELA KEMPER URGATE DEL SUR" {
		t.Errorf("the issuer is %+v", c.Emisor)
	}
	issuing(object{"razonSocial": "OTRA"})
	if c := post[transporteapp.Carta](t, v, http.StatusCreated, ana, "/cartas/"+id+"/timbrado", "s", nil); c.Emisor.Nombre != "ESCUELA KEMPER URGATE DEL SUR" {
		t.Errorf("a closed carta has changed to %+v", c.Emisor)
	}
}
