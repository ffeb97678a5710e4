package transporteapp

import (
	"context"

	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
)

// pdf is a stamped carta to be printed. It is made from the document that is kept, and takes a turn: thousands of goods are work.
func (s *service) pdf(ctx context.Context, userID, id string) ([]byte, error) {
	document, err := s.xml(ctx, userID, id)
	if err != nil {
		return nil, err
	}
	done, err := s.turns.take(ctx, "pdf "+userID)
	if err != nil {
		return nil, err
	}
	defer done()
	return cartaporte.Imprimir(document)
}
