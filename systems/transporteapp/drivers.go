package transporteapp

import (
	"context"
	"errors"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// check rejects what the schema cannot express.
func (in *NuevoConductor) check() error {
	var bad fields
	p, err := cartaporte.RFC(in.Rfc)
	bad.addIf(err != nil || p != cartaporte.Fisica, "body.rfc", "is not the RFC of a person")
	bad.addIf(cartaporte.CURP(in.Curp) != nil, "body.curp", "is not a CURP")
	if _, err := table.ParseDate(in.Licencia.Vigencia); err != nil {
		bad.add("body.licencia.vigencia", "is not a date such as 2027-06-15")
	}
	return bad.problem()
}

// createDriver creates a driver if the plan allows one more.
func (s *service) createDriver(ctx context.Context, who auth.Principal, in api.KeyedBody[NuevoConductor]) (Conductor, bool, error) {
	if err := in.Body.check(); err != nil {
		return Conductor{}, false, err
	}
	r := newRequest(who.Sub, in.RequestKey, "createConductor", in.Body)
	return keyed(ctx, s, r, func() (Conductor, error) {
		if err := s.hasVehicle(ctx, who.Sub, in.Body.VehiculoAsignadoID); err != nil {
			return Conductor{}, err
		}
		now := s.moment()
		c := db.Conductor{UserID: who.Sub, ConductorID: s.newID(), CreatedAt: now, UpdatedAt: now}
		in.Body.into(&c)
		response := conductorOf(c)
		return response, s.inTurn(ctx, who.Sub, func() error {
			done, err := s.db.CrearConductor(ctx, crearConductor(r.withResponse(response), c))
			return overtaken(done.Replayed, err)
		})
	})
}

// saveDriver changes a driver who is not on a trip.
func (s *service) saveDriver(ctx context.Context, who auth.Principal, in changedDriver) (db.Conductor, error) {
	c := db.Conductor{UserID: who.Sub, ConductorID: in.ConductorID}
	if err := in.Body.check(); err != nil {
		return c, err
	}
	if err := s.hasVehicle(ctx, who.Sub, in.Body.VehiculoAsignadoID); err != nil {
		return c, err
	}
	in.Body.into(&c)
	var saved db.Conductor
	err := s.change(ctx, &in.Seen, func() error {
		edited, err := s.db.EditarConductor(ctx, editarConductor(in.Seen, c))
		if saved = edited.Conductor; !errors.Is(err, db.ErrAgendaAfectada) {
			return err
		}
		if _, err = s.db.GuardarConductor(ctx, guardarConductor(in.Seen, c)); err == nil {
			saved, err = s.db.ConductorPorID(ctx, db.ConductorPorIDInput{UserID: who.Sub, ConductorID: in.ConductorID})
		}
		return err
	})
	return saved, err
}

// hasVehicle rejects a driver's vehicle unless it is the company's; "" means none. The company may delete the vehicle later,
// because a trip stores its own vehicle.
func (s *service) hasVehicle(ctx context.Context, userID, id string) error {
	if id == "" {
		return nil
	}
	_, err := s.db.VehiculoPorID(ctx, db.VehiculoPorIDInput{UserID: userID, VehiculoID: id})
	if errors.Is(err, table.ErrNotFound) {
		var bad fields
		bad.add("body.vehiculoAsignadoId", "is not one of your vehicles")
		return bad.problem()
	}
	return err
}

// deleteDriver deletes a driver without trips.
func (s *service) deleteDriver(ctx context.Context, who auth.Principal, in ConductorPath) error {
	return s.inTurn(ctx, who.Sub, func() error {
		return errorOf(s.db.BorrarConductor(ctx, db.BorrarConductorInput{UserID: who.Sub, ConductorID: in.ConductorID}))
	})
}

// listDrivers returns a page of a company's drivers: all of them, those in a state, or those available in a period.
func (s *service) listDrivers(ctx context.Context, who auth.Principal, in driverQuery) (table.Page[ConductorResumen], error) {
	free, err := in.period(string(in.Estado))
	switch {
	case err != nil:
		return table.Page[ConductorResumen]{}, err
	case in.Estado == "":
		page, err := s.drivers(ctx, who.Sub, free, in.Options())
		return api.Show(page, conductorEnLista), err
	default:
		page, err := s.db.ConductoresPorEstado(ctx, db.ConductoresPorEstadoInput{UserID: who.Sub, Estado: in.Estado}, in.Options())
		return api.Show(page, conductorPorEstado), err
	}
}
