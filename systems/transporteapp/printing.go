package transporteapp

import (
	"context"

	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// since is what a printed carta says about what has happened to it since it was stamped.
var since = map[db.EstadoCarta]string{
	db.EstadoCartaCancelada: "CANCELADA", db.EstadoCartaEnCancelacion: "CANCELACIÓN EN PROCESO",
}

// pdf renders a stamped carta from the stored document. Requests take turns, because rendering thousands of goods takes time.
func (s *service) pdf(ctx context.Context, userID, id string) ([]byte, error) {
	status, document, err := s.xml(ctx, userID, id)
	if err != nil {
		return nil, err
	}
	done, err := s.turns.take(ctx, "pdf "+userID)
	if err != nil {
		return nil, err
	}
	defer done()
	return cartaporte.Imprimir(document, since[status])
}
