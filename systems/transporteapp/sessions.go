package transporteapp

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// sessionLasts is how long a log-in is stored: the 30 days of a user pool's refresh token and the day of its last access token.
const sessionLasts = 31 * 24 * time.Hour

// openSession lists the device of the caller's log-in. The session's id is the log-in's, which is in each of its tokens; a token
// without a log-in gets another id, with which nothing can be ended.
func (s *service) openSession(ctx context.Context, who auth.Principal, in api.KeyedBody[NuevaSesion]) (Sesion, bool, error) {
	r := newRequest(who.Sub, in.RequestKey, "createSesion", in.Body.Dispositivo)
	opened, replayed, err := keyed(ctx, s, r, func() (Sesion, error) {
		now := s.moment()
		x := db.Session{
			UserID: who.Sub, SessionID: cmp.Or(who.LogIn, s.newID()), Dispositivo: in.Body.Dispositivo, CreatedAt: now, TTL: now.Add(sessionLasts).Truncate(time.Second),
		}
		response := sesionOf(x)
		return response, again(ctx, func() error {
			done, err := s.db.AbrirSesion(ctx, abrirSesion(r.withResponse(response), x))
			return overtaken(done.Replayed, err)
		})
	})
	if errors.Is(err, db.ErrSessionExists) { // another request of this log-in
		was, err := s.db.SesionPorID(ctx, db.SesionPorIDInput{UserID: who.Sub, SessionID: who.LogIn})
		return sesionOf(was), true, err
	}
	return opened, replayed, err
}

// closeSession ends one of the caller's log-ins. It succeeds even if there is none.
func (s *service) closeSession(ctx context.Context, who auth.Principal, in sesionPath) error {
	_, err := s.db.CerrarSesion(ctx, db.CerrarSesionInput{UserID: who.Sub, SessionID: in.SessionID})
	if errors.Is(err, table.ErrNotFound) {
		return nil
	}
	return err
}

// admit rejects the tokens of a log-in that was closed, at every process with the next request. Log-ins that are not listed, and
// tokens without a log-in, are admitted.
func (s *service) admit(ctx context.Context, p auth.Principal) (auth.Principal, error) {
	return p, s.stillOpen(ctx, p.Sub, p.LogIn)
}

func (s *service) stillOpen(ctx context.Context, sub, logIn string) error {
	if logIn == "" {
		return nil
	}
	switch x, err := s.db.SesionPorID(ctx, db.SesionPorIDInput{UserID: sub, SessionID: logIn}); {
	case errors.Is(err, table.ErrNotFound):
		return nil
	case err != nil:
		return err
	case x.CerradaAt != nil:
		return problem.InvalidToken("the session has ended", nil)
	}
	return nil
}
