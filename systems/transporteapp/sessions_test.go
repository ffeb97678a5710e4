package transporteapp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp"
)

// TestSignedOut: a device that is signed out from another one makes no further request, with any token of its log-in, and receives
// no further event. Other devices and other users are not affected.
func TestSignedOut(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	join(t, v, "u-desk", object{"rol": "despachador"})
	const phone, office, none = "7f9c2b1e-0000-4000-8000-00000000a001", "7f9c2b1e-0000-4000-8000-00000000a002", "7f9c2b1e-0000-4000-8000-00000000a003"
	from := func(sub, logIn string, r apitest.Request) apitest.Request {
		r.As, r.Token = "", v.TokenWith(t, sub, "origin_jti", logIn)
		return r
	}
	register := as(http.MethodPost, "/sesiones", "first", object{"dispositivo": "Chrome · Android"})
	listed := do[transporteapp.Sesion](t, v, http.StatusCreated, from("u-desk", phone, register))
	if listed.SessionID != phone {
		t.Errorf("the session is %s, want its log-in", listed.SessionID)
	}
	register.Key = "second"
	if again := do[transporteapp.Sesion](t, v, http.StatusOK, from("u-desk", phone, register)); again != listed {
		t.Errorf("registered again: %+v, want %+v", again, listed)
	}
	stream := watching(t, v, from("u-desk", phone, as(http.MethodGet, "/eventos", "", nil)))
	v.Work(t)
	stream.wantEvent(t, "ready", "") // the process consumes the table's stream
	list := as(http.MethodGet, "/sesiones", "", nil)
	if seen := do[page[transporteapp.Sesion]](t, v, http.StatusOK, from("u-desk", office, list)); len(seen.Items) != 1 || seen.Items[0] != listed {
		t.Errorf("another device lists %+v", seen.Items)
	}
	requests := []apitest.Request{
		in(ana, as(http.MethodGet, "/viajes", "", nil)), as(http.MethodGet, "/empresas", "", nil), list, register,
		as(http.MethodGet, "/acts", "", nil), as(http.MethodPut, "/empresas/"+ana+"/suscripcion", "", object{}),
		as(http.MethodDelete, "/sesiones/"+none, "", nil), as(http.MethodPut, "/empresas/"+ana+"/miembros/yo", "", object{"codigo": "x"}),
	}
	refused := func(sub, logIn string, want bool) {
		t.Helper()
		for _, r := range requests {
			response := v.Do(t, from(sub, logIn, r))
			if (response.Status == http.StatusUnauthorized) != want {
				t.Errorf("%s %s by %s: %d %s", r.Method, r.Path, logIn, response.Status, response.Body)
			}
			if response.Status == http.StatusUnauthorized && response.Problem(t).Code != problem.CodeInvalidToken {
				t.Errorf("%s %s: %s", r.Method, r.Path, response.Body)
			}
		}
	}
	refused("u-desk", phone, false)
	end := as(http.MethodDelete, "/sesiones/"+phone, "", nil)
	do[struct{}](t, v, http.StatusNoContent, from("u-desk", office, end))
	stream.ends(t)
	refused("u-desk", phone, true)
	refused("u-desk", office, false)
	refused("u-other", phone, false) // a log-in is of one user
	do[struct{}](t, v, http.StatusNoContent, from("u-desk", office, end))
	if left := do[page[transporteapp.Sesion]](t, v, http.StatusOK, from("u-desk", office, list)).Items; len(left) != 1 || left[0].SessionID != office {
		t.Errorf("left are %+v, want the device that signed the other out", left)
	}
	v.Clock.Advance(30 * 24 * time.Hour)
	refused("u-desk", phone, true)
}
