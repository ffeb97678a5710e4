package transporteapp

import (
	"context"
	"slices"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/problem"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// Libres restricts a list to what is available in a period.
type Libres struct {
	Desde time.Time `query:"desde" doc:"With hasta: only those available from this time on. A page may then have fewer items than its limit, even none, and still have a next one"`
	Hasta time.Time `query:"hasta" doc:"The end of that trip"`
}

// period returns the requested period, or nil for an unrestricted list. It cannot be combined with a state.
func (q Libres) period(state string) (*db.Periodo, error) {
	if q.Desde.IsZero() && q.Hasta.IsZero() {
		return nil, nil //nolint:nilnil // no period is a valid question
	}
	refuse := func(name, message string) (*db.Periodo, error) {
		return nil, problem.BadRequest(problem.CodeInvalidParameter, "the period is not valid", problem.Field{Field: "query." + name, Message: message})
	}
	switch {
	case q.Desde.IsZero():
		return refuse("desde", "is missing, but hasta is set")
	case q.Hasta.IsZero():
		return refuse("hasta", "is missing, but desde is set")
	case q.Hasta.Before(q.Desde):
		return refuse("hasta", "is before desde")
	case state != "":
		return refuse("estado", "requires desde and hasta")
	}
	return &db.Periodo{Desde: q.Desde, Hasta: q.Hasta}, nil
}

// freeOf filters a page to items that can make a trip and are not booked in a period. It reads the page's agendas in one
// BatchGetItem. Another request may book them before they are assigned, so the assignment checks again.
func freeOf[T any](ctx context.Context, s *service, userID string, p db.Periodo, page table.Page[T], id func(T) string, able func(T) bool) (table.Page[T], error) {
	page.Items = slices.DeleteFunc(page.Items, func(x T) bool { return !able(x) })
	agendas, err := s.agendas(ctx, userID, each(page.Items, id))
	page.Items = slices.DeleteFunc(page.Items, func(x T) bool {
		a := agendas[id(x)]
		return a == nil || taken(a, p, "")
	})
	return page, err
}

// drivers returns a page of a company's drivers: all of them, or those available in a period and licensed until its end.
func (s *service) drivers(ctx context.Context, userID string, p *db.Periodo, o table.PageOptions) (table.Page[db.Conductor], error) {
	page, err := s.db.ConductoresDeUsuario(ctx, db.ConductoresDeUsuarioInput{UserID: userID}, o)
	if err != nil || p == nil || len(page.Items) == 0 { // a company without a profile has none
		return page, err
	}
	last, err := s.dayOf(ctx, userID, p.Hasta)
	if err != nil {
		return page, err
	}
	return freeOf(ctx, s, userID, *p, page, func(c db.Conductor) string { return c.ConductorID }, func(c db.Conductor) bool {
		return c.Activo && atWork(c.Estado) && licensed(c.Licencia.Vigencia.String(), last)
	})
}

// vehicles returns a page of a company's vehicles: all of them, or those available in a period.
func (s *service) vehicles(ctx context.Context, userID string, p *db.Periodo, o table.PageOptions) (table.Page[db.Vehiculo], error) {
	page, err := s.db.VehiculosDeUsuario(ctx, db.VehiculosDeUsuarioInput{UserID: userID}, o)
	if err != nil || p == nil {
		return page, err
	}
	return freeOf(ctx, s, userID, *p, page, func(v db.Vehiculo) string { return v.VehiculoID }, func(v db.Vehiculo) bool { return atWork(v.Estado) })
}

// trailers returns a page of a company's trailers: all of them, or those available in a period.
func (s *service) trailers(ctx context.Context, userID string, p *db.Periodo, o table.PageOptions) (table.Page[db.Remolque], error) {
	page, err := s.db.RemolquesDeUsuario(ctx, db.RemolquesDeUsuarioInput{UserID: userID}, o)
	if err != nil || p == nil {
		return page, err
	}
	return freeOf(ctx, s, userID, *p, page, func(r db.Remolque) string { return r.RemolqueID }, func(r db.Remolque) bool { return atWork(r.Estado) })
}
