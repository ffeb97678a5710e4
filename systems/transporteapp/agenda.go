package transporteapp

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// maxOpen is the maximum number of trips in an agenda, and limits the item's size.
const maxOpen = 100

// RecursosElegidos are the ids of the driver, vehicle and trailer for a trip.
type RecursosElegidos struct {
	ConductorID string `json:"conductorId" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID"`
	VehiculoID  string `json:"vehiculoId" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID"`
	RemolqueID  string `json:"remolqueId,omitempty" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID"`
}

// overlap reports whether two periods overlap. A period includes its start and excludes its end: a trip may begin when another
// ends.
func overlap(a, b db.Periodo) bool {
	return a.Desde.Equal(b.Desde) || a.Desde.Before(b.Hasta) && b.Desde.Before(a.Hasta)
}

// taken reports whether an agenda has another trip in a period.
func taken(a *db.Agenda, p db.Periodo, tripID string) bool {
	for id, other := range a.Periodos {
		if id != tripID && overlap(p, other) {
			return true
		}
	}
	return false
}

// atWork reports whether a driver, vehicle or trailer can be assigned. One that is on a trip can have a next one.
func atWork(state db.EstadoRecurso) bool {
	return state == db.EstadoRecursoDisponible || state == db.EstadoRecursoEnViaje
}

func periodOf(v *db.Viaje) db.Periodo {
	return db.Periodo{Desde: v.FechaInicioProgramada, Hasta: v.FechaFinProgramada}
}

// idsOf returns the ids of a trip's driver, vehicle and trailer, in order, or nothing if the trip has none.
func idsOf(r *db.Recursos) []string {
	if r == nil {
		return nil
	}
	return append([]string{r.ConductorID, r.VehiculoID}, list(text(r.RemolqueID))...)
}

// agendas finds agendas by the ids of their owners, which are distinct; missing ones are omitted.
func (s *service) agendas(ctx context.Context, userID string, ids []string) (map[string]*db.Agenda, error) {
	found, err := s.db.Agendas(ctx, each(ids, func(id string) db.AgendasInput { return db.AgendasInput{UserID: userID, RecursoID: id} }))
	out := map[string]*db.Agenda{}
	for _, a := range found {
		if a != nil {
			out[a.RecursoID] = a
		}
	}
	return out, err
}

// assign replaces the driver, vehicle and optional trailer of a trip that has not started. It retries if anything changes before
// the write.
func (s *service) assign(ctx context.Context, who auth.Principal, in chosenResources) (Viaje, error) {
	return s.reassign(ctx, who.Sub, in.ViajeID, in.Seen, &in.Body)
}

// unassign removes the driver, vehicle and trailer of a trip that has not started.
func (s *service) unassign(ctx context.Context, who auth.Principal, in takenBack) (Viaje, error) {
	return s.reassign(ctx, who.Sub, in.ViajeID, in.Seen, nil)
}

// reassign changes a trip if it still has the version that the caller has read. The write checks the trip's revision, so nothing
// that was read can change before it.
func (s *service) reassign(ctx context.Context, userID, id string, seen api.Seen, chosen *RecursosElegidos) (Viaje, error) {
	return s.changeTrip(ctx, userID, id, func(v db.Viaje) error {
		switch {
		case v.Estado != db.EstadoViajeProgramado:
			return db.ErrViajeNoProgramado
		case !seen.Has(v.UpdatedAt):
			return db.ErrViajeCambiado
		case chosen == nil && v.Resources == nil:
			return nil
		}
		var wanted []string
		if chosen != nil {
			wanted = append([]string{chosen.ConductorID, chosen.VehiculoID}, list(chosen.RemolqueID)...)
		}
		all := slices.Concat(idsOf(v.Resources), wanted)
		slices.Sort(all)
		all = slices.Compact(all)
		// Read the agendas first: a driver who changes afterwards has a different revision when the write checks it.
		agendas, err := s.agendas(ctx, userID, all)
		if err != nil {
			return err
		}
		in := db.AsignarRecursosInput{UserID: userID, ViajeID: id, Visto: v.Revision, At: s.moment()}
		if !in.At.After(v.UpdatedAt) { // a new version, even in the same millisecond
			in.At = api.After(v.UpdatedAt)
		}
		if chosen != nil {
			if in.Resources, err = s.fit(ctx, &v, *chosen, agendas); err != nil {
				return err
			}
			if v.Resources != nil && recursosOf(*v.Resources) == recursosOf(*in.Resources) {
				return nil
			}
		}
		for _, of := range all {
			a := agendas[of]
			if a == nil {
				return table.ErrNotFound
			}
			periods := maps.Clone(a.Periodos)
			delete(periods, id)
			if slices.Contains(wanted, of) {
				periods[id] = periodOf(&v)
			}
			if len(periods) > maxOpen {
				return errAgendaLlena
			}
			in.Lines = append(in.Lines, db.AsignarRecursosLine{RecursoID: of, Periodos: periods, Abiertos: int64(len(periods)), Visto: a.Revision})
		}
		return errorOf(s.db.AsignarRecursos(ctx, in))
	})
}

// fit returns the current state of the chosen driver, vehicle and trailer, or an error that says why one of them is unavailable.
func (s *service) fit(ctx context.Context, v *db.Viaje, chosen RecursosElegidos, agendas map[string]*db.Agenda) (*db.Recursos, error) {
	found, err := s.resources(ctx, v.UserID, RecursosConsulta{
		Conductores: []string{chosen.ConductorID}, Vehiculos: []string{chosen.VehiculoID}, Remolques: list(chosen.RemolqueID),
	})
	if err != nil {
		return nil, err
	}
	if len(found.Conductores) == 0 || len(found.Vehiculos) == 0 || chosen.RemolqueID != "" && len(found.Remolques) == 0 {
		return nil, table.ErrNotFound
	}
	driver, vehicle := found.Conductores[0], found.Vehiculos[0]
	last, err := s.dayOf(ctx, v.UserID, v.FechaFinProgramada)
	if err != nil {
		return nil, err
	}
	fits := func(id string, able bool, unable, busy error) error {
		a := agendas[id]
		switch {
		case a == nil:
			return table.ErrNotFound
		case !able:
			return unable
		case taken(a, periodOf(v), v.ViajeID):
			return busy
		}
		return nil
	}
	if !licensed(driver.Licencia.Vigencia, last) {
		return nil, errLicenciaVencida
	}
	if err := cmp.Or(
		fits(chosen.ConductorID, driver.Activo && atWork(driver.Estado), db.ErrConductorNoDisponible, errConductorOcupado),
		fits(chosen.VehiculoID, atWork(vehicle.Estado), db.ErrVehiculoNoDisponible, errVehiculoOcupado),
	); err != nil {
		return nil, err
	}
	r := &db.Recursos{ConductorID: driver.ConductorID, ConductorNombre: driver.Nombre, VehiculoID: vehicle.VehiculoID, VehiculoPlaca: vehicle.Placa}
	if chosen.RemolqueID == "" {
		return r, nil
	}
	trailer := found.Remolques[0]
	r.RemolqueID, r.RemolquePlaca = &trailer.RemolqueID, &trailer.Placa
	return r, fits(chosen.RemolqueID, atWork(trailer.Estado), db.ErrRemolqueNoDisponible, errRemolqueOcupado)
}

// licensed reports whether a licence is still valid on a trip's last day.
func licensed(valid string, last table.Date) bool {
	ends, err := table.ParseDate(valid)
	return err == nil && ends.Compare(last) >= 0
}
