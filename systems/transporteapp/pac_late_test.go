package transporteapp_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/transporteapp"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
)

// scripted is a PAC whose responses a test controls call by call.
type scripted struct {
	cartaporte.PAC
	calls []func() error // the errors of the first requests
	after func()         // called between the PAC's action and its response
}

// refuse returns the next error.
func (s *scripted) refuse() error {
	call := s.calls[0]
	s.calls = s.calls[1:]
	return call()
}

func (s *scripted) Timbrar(ctx context.Context, in cartaporte.Solicitud) (cartaporte.Timbre, error) {
	if len(s.calls) > 0 {
		return cartaporte.Timbre{}, s.refuse()
	}
	stamp, err := s.PAC.Timbrar(ctx, in)
	s.after()
	return stamp, err
}

func (s *scripted) Cancelar(ctx context.Context, in cartaporte.Cancelacion) error {
	if len(s.calls) > 0 {
		return s.refuse()
	}
	err := s.PAC.Cancelar(ctx, in)
	s.after()
	return err
}

// TestLateRefusal: a late rejection by the PAC does not affect a later attempt.
func TestLateRefusal(t *testing.T) {
	t.Parallel()
	pac := &scripted{PAC: testPAC}
	v := open(t, transporteapp.Options{PAC: pac}, ana)
	trip, id := sealedCarta(t, v, "t")
	at := "/cartas/" + id
	stamp := func(key string) apitest.Request { return as(http.MethodPost, at+"/timbrado", key, nil) }
	pac.late(t, v, stamp("s-1"), []apitest.Case{
		refused("refused", stamp("s-2"), "pac_rechaza"),
		good("opened", as(http.MethodPost, at+"/abrir", "", nil), http.StatusOK),
		good("changed", as(http.MethodPost, at+"/mercancias", "g", object{"mercancias": goods(1)}), http.StatusCreated),
		good("sealed again", as(http.MethodPost, at+"/sellar", "", nil), http.StatusOK),
		good("stamped", stamp("s-3"), http.StatusCreated),
	})
	shows(t, v, trip, id, "timbrada")
	cancel := as(http.MethodPost, at+"/cancelacion", "", object{"motivo": "02"})
	pac.late(t, v, cancel, []apitest.Case{refused("refused", cancel, "pac_rechaza"), good("cancelled", cancel, http.StatusOK)})
	shows(t, v, trip, id, "cancelada")
}

// late sends a request that the PAC rejects, but only once the last of several other requests has reached the PAC. The first of
// these is rejected as well.
func (s *scripted) late(t *testing.T, v *apitest.Server, r apitest.Request, others []apitest.Case) {
	t.Helper()
	refusal := fmt.Errorf("%w: CFDI40108", cartaporte.ErrRechazado)
	asked, release, received := make(chan struct{}), make(chan struct{}), make(chan *apitest.Response, 1)
	var response *apitest.Response
	let := sync.OnceFunc(func() { close(release) })
	defer let() // in case no other request got this far
	s.calls = []func() error{
		func() error { close(asked); <-release; return refusal },
		func() error { return refusal },
	}
	s.after = func() { let(); response = <-received }
	go func() { received <- v.Do(t, r) }()
	<-asked
	v.Run(t, others)
	if response == nil || response.Status != http.StatusConflict || response.Problem(t).Code != "pac_rechaza" {
		t.Errorf("the first gets %+v, want the PAC's refusal", response)
	}
}
