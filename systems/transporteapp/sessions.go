package transporteapp

import (
	"context"
	"time"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// sessionLasts is how long a device is listed.
const sessionLasts = 12 * time.Hour

// openSession adds a device to the list.
func (s *service) openSession(ctx context.Context, who auth.Principal, in api.KeyedBody[NuevaSesion]) (Sesion, bool, error) {
	r := newRequest(who.Sub, in.RequestKey, "createSesion", in.Body.Dispositivo)
	return keyed(ctx, s, r, func() (Sesion, error) {
		now := s.moment()
		x := db.Session{
			UserID: who.Sub, SessionID: s.newID(), Dispositivo: in.Body.Dispositivo, CreatedAt: now, TTL: now.Add(sessionLasts).Truncate(time.Second),
		}
		response := sesionOf(x)
		return response, again(ctx, func() error {
			done, err := s.db.AbrirSesion(ctx, abrirSesion(r.withResponse(response), x))
			return overtaken(done.Replayed, err)
		})
	})
}
