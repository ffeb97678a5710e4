package transporteapp

import (
	"context"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// checkFounder refuses export and erasure to a founder who is no longer an owner or member of the company.
func (s *service) checkFounder(ctx context.Context, userID string) error {
	m, err := s.member(ctx, userID, userID)
	if err == nil && m.Rol != transporteappdb.RolPropietario {
		return errRol
	}
	return err
}

var (
	errViajeEnCurso   = problem.Conflict("viaje_en_curso", "a trip is in progress: complete or cancel it first")
	errConMiembros    = problem.Conflict("empresa_con_miembros", "the company has other members: remove them first")
	errPropietario    = problem.Conflict("propietario_de_empresa", "you also own another company: leave it first")
	errCartaEnProceso = problem.Conflict("carta_en_proceso", "the PAC has not confirmed the state of a carta: query it again first")
)

// underWay refuses to erase a company that has a trip on the road or a pending response from the PAC.
func (s *service) underWay(ctx context.Context, userID string) error {
	one := table.PageOptions{Limit: 1}
	trips, err := s.db.ViajesPorEstado(ctx, transporteappdb.ViajesPorEstadoInput{UserID: userID, Estado: transporteappdb.EstadoViajeEnCurso}, one)
	if err != nil {
		return err
	}
	if len(trips.Items) > 0 {
		return errViajeEnCurso
	}
	// Only the sole member can erase a company, and must not leave another company without an owner.
	for m, err := range s.db.MiembrosDeEmpresaAll(ctx, transporteappdb.MiembrosDeEmpresaInput{UserID: userID}) {
		if err != nil {
			return err
		}
		if m.MiembroID != userID {
			return errConMiembros
		}
	}
	for m, err := range s.db.EmpresasDeMiembroAll(ctx, transporteappdb.EmpresasDeMiembroInput{MiembroID: userID}) {
		if err != nil {
			return err
		}
		if m.UserID != userID && m.Rol == transporteappdb.RolPropietario {
			return errPropietario
		}
	}
	for _, status := range []transporteappdb.EstadoCarta{transporteappdb.EstadoCartaEnTimbrado, transporteappdb.EstadoCartaEnCancelacion} {
		cartas, err := s.db.CartasPorEstado(ctx, transporteappdb.CartasPorEstadoInput{UserID: userID, Status: status}, one)
		if err != nil {
			return err
		}
		if len(cartas.Items) > 0 {
			return errCartaEnProceso
		}
	}
	return nil
}
