package transporteapp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
)

// flakyPAC is a PAC that fails before or after it acts, and lets other requests run in the meantime.
type flakyPAC struct {
	cartaporte.PAC
	before, after error
	meanwhile     func()
	stamps        []string
	cancelled     []string
}

func (m *flakyPAC) Timbrar(ctx context.Context, in cartaporte.Solicitud) (cartaporte.Timbre, error) {
	if m.before != nil {
		return cartaporte.Timbre{}, m.before
	}
	stamp, err := m.PAC.Timbrar(ctx, in)
	if err != nil {
		return cartaporte.Timbre{}, err
	}
	m.stamps = append(m.stamps, stamp.UUID)
	m.act()
	return stamp, m.after
}

func (m *flakyPAC) Cancelar(ctx context.Context, in cartaporte.Cancelacion) error {
	if m.before != nil {
		return m.before
	}
	if err := m.PAC.Cancelar(ctx, in); err != nil {
		return err
	}
	m.cancelled = append(m.cancelled, in.UUID)
	m.act()
	return m.after
}

// act lets other requests run, once.
func (m *flakyPAC) act() {
	if do := m.meanwhile; do != nil {
		m.meanwhile = nil
		do()
	}
}

// pacOutcomes are the ways in which a PAC can fail, and whether the outcome remains unknown.
var pacOutcomes = []struct {
	name          string
	before, after error
	status        int
	code          string
	open          bool
}{
	{"down", errors.New("connection refused"), nil, http.StatusServiceUnavailable, problem.CodeUnavailable, true},
	{"refuses", fmt.Errorf("%w: CFDI40108", cartaporte.ErrRechazado), nil, http.StatusConflict, "pac_rechaza", false},
	{"response lost", nil, io.ErrUnexpectedEOF, http.StatusServiceUnavailable, problem.CodeUnavailable, true},
}

// sealedCarta returns a company's carta that is ready to be stamped.
func sealedCarta(t *testing.T, v *apitest.Server, key string) (trip, id string) {
	t.Helper()
	created := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", key, cartaTrip())
	fill(t, v, ana, created.Carta.CartaID, 2)
	return created.ViajeID, created.Carta.CartaID
}

// shows fails the test unless a carta and its trip are in a state.
func shows(t *testing.T, v *apitest.Server, trip, id, status string) {
	t.Helper()
	c, on := get[transporteapp.Carta](t, v, ana, "/cartas/"+id), get[transporteapp.ViajeConCarta](t, v, ana, "/viajes/"+trip)
	if string(c.Status) != status || string(on.Fiscal.CartaPorteStatus) != status || !c.Sellada {
		t.Errorf("the carta is %s, sealed %v, and its trip shows %s; want %s", c.Status, c.Sellada, on.Fiscal.CartaPorteStatus, status)
	}
}

// TestPACFails: whatever the PAC does, a carta has a stamp only if the PAC issued one. While the PAC's response is unknown, the
// carta can be neither opened nor cancelled, however long that takes. A stamp whose response was lost is fetched unchanged.
func TestPACFails(t *testing.T) {
	t.Parallel()
	pac := &flakyPAC{PAC: testPAC}
	v := open(t, transporteapp.Options{PAC: pac}, ana)
	trip, id := sealedCarta(t, v, "t")
	at := "/cartas/" + id
	stamp := as(http.MethodPost, at+"/timbrado", "s", nil)
	for _, c := range pacOutcomes {
		pac.before, pac.after = c.before, c.after
		if response := v.Do(t, stamp); response.Status != c.status || response.Problem(t).Code != c.code {
			t.Errorf("%s: %d %s", c.name, response.Status, response.Body)
		}
		if !c.open {
			shows(t, v, trip, id, "borrador")
			continue
		}
		shows(t, v, trip, id, "en_timbrado")
		v.Run(t, []apitest.Case{
			refused("opened", as(http.MethodPost, at+"/abrir", "", nil), "carta_en_timbrado"),
			refused("cancelled", as(http.MethodPost, at+"/cancelacion", "", object{}), "carta_en_timbrado"),
			refused("more goods", as(http.MethodPost, at+"/mercancias", "g", object{"mercancias": goods(1)}), "carta_no_borrador"),
		})
		if p := get[transporteapp.Perfil](t, v, ana, "/perfil"); p.Credits.Reserved != 1 || p.Credits.TotalConsumed != 0 {
			t.Errorf("credits %+v", p.Credits)
		}
	}
	pac.before, pac.after = nil, nil
	v.Clock.Advance(100 * time.Hour) // past the deadline for stamping, but the PAC already knows the document
	done := do[transporteapp.Carta](t, v, http.StatusCreated, stamp)
	if len(pac.stamps) != 2 || pac.stamps[0] != pac.stamps[1] || done.Timbrado.UUIDFiscal != pac.stamps[0] {
		t.Errorf("stamped as %v, kept as %s: want one stamp", pac.stamps, done.Timbrado.UUIDFiscal)
	}
	shows(t, v, trip, id, "timbrada")
}

// TestConcurrentRequestsDuringStamping: concurrent requests during stamping never lead to a stamp that does not match its carta.
func TestConcurrentRequestsDuringStamping(t *testing.T) {
	t.Parallel()
	pac := &flakyPAC{PAC: testPAC}
	v := open(t, transporteapp.Options{PAC: pac}, ana)
	trip, id := sealedCarta(t, v, "t")
	at := "/cartas/" + id
	pac.meanwhile = func() {
		v.Run(t, []apitest.Case{
			refused("opened", as(http.MethodPost, at+"/abrir", "", nil), "carta_en_timbrado"),
			refused("cancelled", as(http.MethodPost, at+"/cancelacion", "", object{}), "carta_en_timbrado"),
			good("stamped with another key", as(http.MethodPost, at+"/timbrado", "s-2", nil), http.StatusCreated),
		})
	}
	v.Run(t, []apitest.Case{refused("stamped second", as(http.MethodPost, at+"/timbrado", "s-1", nil), "carta_no_borrador")})
	shows(t, v, trip, id, "timbrada")
	if c := get[transporteapp.Carta](t, v, ana, at); len(pac.stamps) != 2 || pac.stamps[0] != pac.stamps[1] || c.Timbrado.UUIDFiscal != pac.stamps[0] {
		t.Errorf("the PAC has stamped %v, the carta has %s", pac.stamps, c.Timbrado.UUIDFiscal)
	}
	if p := get[transporteapp.Perfil](t, v, ana, "/perfil"); p.Credits.TotalConsumed != 1 || p.Credits.Reserved != 0 {
		t.Errorf("credits %+v, want one consumed", p.Credits)
	}
}

// TestPACCancels: a stamped carta is cancelled once the PAC confirms it, and its trip cannot start until the response is known.
func TestPACCancels(t *testing.T) {
	t.Parallel()
	pac := &flakyPAC{PAC: testPAC}
	v := open(t, transporteapp.Options{PAC: pac}, ana)
	driverID, vehicleID, _ := fleet(t, v, ana, "f")
	trip, id := sealedCarta(t, v, "t")
	post[object](t, v, http.StatusCreated, ana, "/cartas/"+id+"/timbrado", "s", nil)
	put[object](t, v, ana, "/viajes/"+trip+"/recursos", object{"conductorId": driverID, "vehiculoId": vehicleID})
	cancel, leave := as(http.MethodPost, "/cartas/"+id+"/cancelacion", "", object{"motivo": "02"}), as(http.MethodPost, "/viajes/"+trip+"/iniciar", "", nil)
	for _, c := range pacOutcomes {
		pac.before, pac.after = c.before, c.after
		if response := v.Do(t, cancel); response.Status != c.status || response.Problem(t).Code != c.code {
			t.Errorf("%s: %d %s", c.name, response.Status, response.Body)
		}
		if !c.open {
			shows(t, v, trip, id, "timbrada")
			continue
		}
		shows(t, v, trip, id, "en_cancelacion")
		v.Run(t, []apitest.Case{refused("left", leave, "carta_sin_timbrar")})
	}
	pac.before, pac.after = nil, nil
	pac.meanwhile = func() { v.Run(t, []apitest.Case{refused("left meanwhile", leave, "carta_sin_timbrar")}) }
	do[transporteapp.Carta](t, v, http.StatusOK, cancel)
	shows(t, v, trip, id, "cancelada")
	if len(pac.cancelled) != 2 || pac.cancelled[0] != pac.cancelled[1] {
		t.Errorf("the PAC has cancelled %v, want one document, asked twice", pac.cancelled)
	}
	v.Run(t, []apitest.Case{refused("cancelled again", cancel, "carta_no_timbrada")})
}

// TestCartaOfStartedTripIsNotCancelled: the carta of a trip on the road is not cancelled, and the PAC is not called. If the trip is
// cancelled, for example after a breakdown, its driver is available again, and the carta can be cancelled.
func TestCartaOfStartedTripIsNotCancelled(t *testing.T) {
	t.Parallel()
	pac := &flakyPAC{PAC: testPAC}
	v := open(t, transporteapp.Options{PAC: pac}, ana)
	driverID, vehicleID, _ := fleet(t, v, ana, "f")
	trip, id := sealedCarta(t, v, "t")
	post[object](t, v, http.StatusCreated, ana, "/cartas/"+id+"/timbrado", "s", nil)
	put[object](t, v, ana, "/viajes/"+trip+"/recursos", object{"conductorId": driverID, "vehiculoId": vehicleID})
	post[object](t, v, http.StatusOK, ana, "/viajes/"+trip+"/iniciar", "", nil)
	v.Run(t, []apitest.Case{refused("cancelled", as(http.MethodPost, "/cartas/"+id+"/cancelacion", "", object{"motivo": "02"}), "viaje_en_marcha")})
	shows(t, v, trip, id, "timbrada")
	if len(pac.cancelled) != 0 {
		t.Errorf("the PAC has cancelled %v", pac.cancelled)
	}
	if off := post[transporteapp.Viaje](t, v, http.StatusOK, ana, "/viajes/"+trip+"/cancelar", "", nil); off.Estado != "cancelado" {
		t.Errorf("the trip is %s", off.Estado)
	}
	shows(t, v, trip, id, "timbrada")
	if d := get[transporteapp.Conductor](t, v, ana, "/conductores/"+driverID); d.Estado != "disponible" {
		t.Errorf("the driver is %s", d.Estado)
	}
	post[transporteapp.Carta](t, v, http.StatusOK, ana, "/cartas/"+id+"/cancelacion", "", object{"motivo": "03"})
	shows(t, v, trip, id, "cancelada")
}
