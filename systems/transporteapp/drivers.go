package transporteapp

import (
	"context"
	"errors"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// check refuses what the schema cannot.
func (in *NuevoConductor) check() error {
	var bad fields
	p, err := cartaporte.RFC(in.Rfc)
	bad.addIf(err != nil || p != cartaporte.Fisica, "body.rfc", "is no person's RFC")
	bad.addIf(cartaporte.CURP(in.Curp) != nil, "body.curp", "is no CURP")
	if _, err := table.ParseDate(in.Licencia.Vigencia); err != nil {
		bad.add("body.licencia.vigencia", "is no date as 2027-06-15")
	}
	return bad.problem()
}

// createDriver makes a driver, if the plan allows one more.
func (s *service) createDriver(ctx context.Context, userID, key string, in NuevoConductor) (Conductor, bool, error) {
	if err := in.check(); err != nil {
		return Conductor{}, false, err
	}
	r := newRequest(userID, key, "createConductor", in)
	return once(ctx, s, r, func() (Conductor, bool, error) {
		if err := s.hasVehicle(ctx, userID, in.VehiculoAsignadoID); err != nil {
			return Conductor{}, false, err
		}
		id, err := s.newID()
		if err != nil {
			return Conductor{}, false, err
		}
		c := db.Conductor{UserID: userID, ConductorID: id, CreatedAt: s.moment()}
		in.into(&c)
		c.UpdatedAt = c.CreatedAt
		answer, replayed := conductorOf(c), false
		err = s.inTurn(ctx, userID, func() error {
			done, err := s.db.CrearConductor(ctx, db.CrearConductorInput{
				RequestKey: r.key, Operacion: r.operation, Huella: r.fingerprint, Respuesta: encode(answer),
				UserID: c.UserID, ConductorID: c.ConductorID, Nombre: c.Nombre, Rfc: c.Rfc, Curp: c.Curp, Email: c.Email,
				Telefono: c.Telefono, Estado: c.Estado, Activo: c.Activo, Licencia: c.Licencia, Compensacion: c.Compensacion,
				Performance: c.Performance, Asignacion: c.Asignacion, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
			})
			replayed = done.Replayed
			return err
		})
		return answer, replayed, err
	})
}

// saveDriver changes a driver who is not on a trip.
func (s *service) saveDriver(ctx context.Context, userID, id string, in NuevoConductor) (Conductor, error) {
	if err := in.check(); err != nil {
		return Conductor{}, err
	}
	if err := s.hasVehicle(ctx, userID, in.VehiculoAsignadoID); err != nil {
		return Conductor{}, err
	}
	var c db.Conductor
	in.into(&c)
	err := again(ctx, func() error {
		_, err := s.db.GuardarConductor(ctx, db.GuardarConductorInput{
			UserID: userID, ConductorID: id, Nombre: c.Nombre, Rfc: c.Rfc, Curp: c.Curp, Email: c.Email, Telefono: c.Telefono,
			Estado: c.Estado, Activo: c.Activo, Licencia: c.Licencia, Compensacion: c.Compensacion,
			UbicacionActual: c.Asignacion.UbicacionActual, VehiculoAsignadoID: c.Asignacion.VehiculoAsignadoID,
		})
		return err
	})
	if err != nil {
		return Conductor{}, err
	}
	return s.driver(ctx, userID, id)
}

// hasVehicle refuses a vehicle that a driver is to have, "" for none, and that is not one of the company's. It may be taken off
// the company later: which vehicle a trip has, the trip says.
func (s *service) hasVehicle(ctx context.Context, userID, id string) error {
	if id == "" {
		return nil
	}
	_, err := s.db.VehiculoPorID(ctx, db.VehiculoPorIDInput{UserID: userID, VehiculoID: id})
	if errors.Is(err, table.ErrNotFound) {
		var bad fields
		bad.add("body.vehiculoAsignadoId", "is no vehicle of yours")
		return bad.problem()
	}
	return err
}

// deleteDriver takes a driver who has no trips off the company.
func (s *service) deleteDriver(ctx context.Context, userID, id string) error {
	return s.inTurn(ctx, userID, func() error {
		_, err := s.db.BorrarConductor(ctx, db.BorrarConductorInput{UserID: userID, ConductorID: id})
		return err
	})
}

func (s *service) driver(ctx context.Context, userID, id string) (Conductor, error) {
	c, err := s.db.ConductorPorID(ctx, db.ConductorPorIDInput{UserID: userID, ConductorID: id})
	return conductorOf(c), err
}
