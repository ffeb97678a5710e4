package transporteapp_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/seed"
	"github.com/monotable/monotable/systems/transporteapp"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// TestSample: a sample is consistent and reproducible, and its size need not be a multiple of a company's.
func TestSample(t *testing.T) {
	t.Parallel()
	const items, companies = 1_060, 9 // the ninth is incomplete
	v := apitest.Open(t, transporteapp.System(transporteapp.Options{}))
	sample := v.Host.Service(transporteapp.Name).Sample
	for range 2 { // the second run changes nothing
		stored, err := seed.Run(t.Context(), sample, seed.Options{Items: items, Seed: 7})
		if err != nil || stored != items {
			t.Fatalf("stored %d of %d: %v", stored, items, err)
		}
	}
	all := companyOf(t, v, ana)
	if len(all.trips) != 8*10 || len(all.cartas) != 8*10 || len(all.drivers) != 8*5 || len(all.vehicles) != 8*5 {
		t.Errorf("%d trips, %d cartas, %d drivers, %d vehicles", len(all.trips), len(all.cartas), len(all.drivers), len(all.vehicles))
	}
	for i := range companies {
		sub := fmt.Sprintf("u-%d", 123+i)
		p := get[transporteapp.Perfil](t, v, sub, "/perfil")
		drafts := get[page[object]](t, v, sub, "/cartas?status=borrador").Items
		drivers := get[page[object]](t, v, sub, "/conductores").Items
		if int64(len(drafts)) != p.Credits.Reserved || int64(len(drivers)) != p.NumConductores {
			t.Errorf("%s has %d drafts and %d drivers: %+v", sub, len(drafts), len(drivers), p)
		}
	}
	for _, c := range all.cartas {
		if int64(all.goods[c.CartaID]) != c.NumeroTotalMercancias {
			t.Errorf("%s counts %d goods and has %d", c.Folio, c.NumeroTotalMercancias, all.goods[c.CartaID])
		}
		response := v.Do(t, apitest.Request{Method: http.MethodGet, Path: "/cartas/" + c.CartaID + "/xml", As: c.UserID})
		if (response.Status == http.StatusOK) != (c.Status == db.EstadoCartaTimbrada) {
			t.Errorf("the XML of %s, which is %s: %d", c.Folio, c.Status, response.Status)
		}
	}
	trip := get[page[transporteapp.ViajeResumen]](t, v, ana, "/viajes?estado=en_curso").Items[0]
	post[object](t, v, http.StatusOK, ana, "/viajes/"+trip.ViajeID+"/completar", "", nil)
	draft := get[page[transporteapp.CartaResumen]](t, v, ana, "/cartas?status=borrador").Items[0]
	post[object](t, v, http.StatusOK, ana, "/cartas/"+draft.CartaID+"/sellar", "", nil)
	if created := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "next", cartaTrip()); created.Carta.Folio != "CP-000011" {
		t.Errorf("the next folio is %s", created.Carta.Folio)
	}
}
