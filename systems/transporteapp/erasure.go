package transporteapp

import (
	"context"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// underWay refuses the erasure of a company with a trip on the road, or with a carta whose answer from the PAC is not known.
func (s *service) underWay(ctx context.Context, userID string) error {
	one := table.PageOptions{Limit: 1}
	trips, err := s.db.ViajesPorEstado(ctx, transporteappdb.ViajesPorEstadoInput{UserID: userID, Estado: transporteappdb.EstadoViajeEnCurso}, one)
	if err != nil {
		return err
	}
	if len(trips.Items) > 0 {
		return problem.Conflict("viaje_en_curso", "a trip is on the road: complete or cancel it first")
	}
	for _, status := range []transporteappdb.EstadoCarta{transporteappdb.EstadoCartaEnTimbrado, transporteappdb.EstadoCartaEnCancelacion} {
		cartas, err := s.db.CartasPorEstado(ctx, transporteappdb.CartasPorEstadoInput{UserID: userID, Status: status}, one)
		if err != nil {
			return err
		}
		if len(cartas.Items) > 0 {
			return problem.Conflict("carta_en_proceso", "the PAC has not yet said what becomes of a carta: ask for it again first")
		}
	}
	return nil
}
