package transporteapp

import (
	"context"
	"errors"
	"strconv"

	"github.com/monotable/monotable/design/table"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// cents are the decimals of an average.
const cents = 2

// schedule makes a draft a planned trip.
func (s *service) schedule(ctx context.Context, userID, id string) (v Viaje, err error) {
	err = again(ctx, func() error {
		done, err := s.db.ProgramarViaje(ctx, db.ProgramarViajeInput{UserID: userID, ViajeID: id})
		v = viajeOf(done.Viaje)
		return err
	})
	return v, err
}

// changed is a trip after a change.
func (s *service) changed(ctx context.Context, userID, id string, err error) (Viaje, error) {
	if err != nil {
		return Viaje{}, err
	}
	v, err := s.db.ViajePorID(ctx, db.ViajePorIDInput{UserID: userID, ViajeID: id})
	return viajeOf(v), err
}

// assign gives a planned trip its driver, its vehicle and, unless trailerID is "", its trailer. What is written into the trip of
// them is what they are at that moment; whoever is not available then refuses the whole.
func (s *service) assign(ctx context.Context, userID, id, driverID, vehicleID, trailerID string) (Viaje, error) {
	err := again(ctx, func() error {
		v, err := s.db.ViajePorID(ctx, db.ViajePorIDInput{UserID: userID, ViajeID: id})
		if err != nil {
			return err
		}
		found, err := s.resources(ctx, userID, RecursosConsulta{
			Conductores: []string{driverID}, Vehiculos: []string{vehicleID}, Remolques: list(trailerID),
		})
		if err != nil {
			return err
		}
		if len(found.Conductores) == 0 || len(found.Vehiculos) == 0 || trailerID != "" && len(found.Remolques) == 0 {
			return table.ErrNotFound
		}
		driver, vehicle := found.Conductores[0], found.Vehiculos[0]
		last, err := s.dayOf(ctx, userID, v.FechaFinProgramada)
		if err != nil {
			return err
		}
		if ends, err := table.ParseDate(driver.Licencia.Vigencia); err != nil || ends.Compare(last) < 0 {
			return errLicenciaVencida
		}
		resources := db.Recursos{ConductorID: driverID, ConductorNombre: driver.Nombre, VehiculoID: vehicleID, VehiculoPlaca: vehicle.Placa}
		if trailerID == "" {
			_, err = s.db.AsignarRecursos(ctx, db.AsignarRecursosInput{
				UserID: userID, ViajeID: id, ConductorID: driverID, VehiculoID: vehicleID, Resources: resources,
				ConductorNombre: driver.Nombre, VehiculoPlaca: vehicle.Placa,
			})
			return err
		}
		plate := found.Remolques[0].Placa
		resources.RemolqueID, resources.RemolquePlaca = &trailerID, &plate
		_, err = s.db.AsignarConRemolque(ctx, db.AsignarConRemolqueInput{
			UserID: userID, ViajeID: id, ConductorID: driverID, VehiculoID: vehicleID, RemolqueID: trailerID, Resources: resources,
			ConductorNombre: driver.Nombre, VehiculoPlaca: vehicle.Placa, RemolquePlaca: plate,
		})
		return err
	}, db.ErrRecursoCambio)
	return s.changed(ctx, userID, id, err)
}

// list is a list of one text, or of none where it is "".
func list(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// begin lets a trip leave.
func (s *service) begin(ctx context.Context, userID, id string) (Viaje, error) {
	err := again(ctx, func() error {
		v, err := s.db.ViajePorID(ctx, db.ViajePorIDInput{UserID: userID, ViajeID: id})
		if err != nil {
			return err
		}
		in := db.IniciarViajeInput{UserID: userID, ViajeID: id, DistanciaTotal: v.DistanciaTotal, Limite: s.moment().Add(s.early)}
		if from := v.OrigenCoordenadas; from != nil {
			in.Lat, in.Lng = &from.Lat, &from.Lng
		}
		_, err = s.db.IniciarViaje(ctx, in)
		if errors.Is(err, db.ErrTrackingExists) { // a trip that has begun once
			return db.ErrViajeNoProgramado
		}
		return err
	})
	return s.changed(ctx, userID, id, err)
}

// complete ends a trip, frees who and what made it, and counts what they have driven, and how.
func (s *service) complete(ctx context.Context, userID, id string, how Llegada) (Viaje, error) {
	err := again(ctx, func() error {
		v, err := s.db.ViajePorID(ctx, db.ViajePorIDInput{UserID: userID, ViajeID: id})
		if err != nil {
			return err
		}
		if v.Estado != db.EstadoViajeEnCurso || v.Resources == nil {
			return db.ErrViajeNoEnCurso
		}
		var (
			r      = v.Resources
			at     db.Tracking
			km     table.Decimal
			driver db.Conductor
		)
		err = together(
			func() (err error) {
				if at, err = s.db.PosicionActual(ctx, db.PosicionActualInput{UserID: userID, ViajeID: id}); err == nil {
					km, err = kilometres(at.DistanciaRecorrida.Float64())
				}
				return err
			},
			func() (err error) {
				driver, err = s.db.ConductorPorID(ctx, db.ConductorPorIDInput{UserID: userID, ConductorID: r.ConductorID})
				return err
			},
		)
		if err != nil {
			return err
		}
		driven, err := arrived(driver.Performance, km, how, !s.now().After(v.FechaFinProgramada))
		if err != nil {
			return err
		}
		if r.RemolqueID == nil {
			_, err = s.db.CompletarViaje(ctx, db.CompletarViajeInput{
				UserID: userID, ViajeID: id, ConductorID: r.ConductorID, VehiculoID: r.VehiculoID, Km: km,
				Pings: at.Pings, Performance: driven, Visto: driver.Performance.ViajesCompletados, Llegada: v.Destino,
			})
			return err
		}
		_, err = s.db.CompletarConRemolque(ctx, db.CompletarConRemolqueInput{
			UserID: userID, ViajeID: id, ConductorID: r.ConductorID, VehiculoID: r.VehiculoID, RemolqueID: *r.RemolqueID, Km: km,
			Pings: at.Pings, Performance: driven, Visto: driver.Performance.ViajesCompletados, Llegada: v.Destino,
		})
		return err
	}, db.ErrPosicionCambio, db.ErrRecursoCambio) // it has moved meanwhile, or another request has ended it
	return s.changed(ctx, userID, id, err)
}

// arrived is how a driver has driven with a trip more.
func arrived(before db.Desempeno, km table.Decimal, how Llegada, punctual bool) (db.Desempeno, error) {
	p := before
	p.ViajesCompletados++
	p.Incidentes += how.Incidentes
	if punctual {
		p.ViajesPuntuales++
	}
	var errs [3]error
	p.KmTotales, errs[0] = sum(before.KmTotales, km)
	p.PuntualidadPromedio, errs[1] = average(whole*p.ViajesPuntuales, p.ViajesCompletados)
	if how.Calificacion > 0 {
		p.Calificaciones++
		p.SumaCalificaciones += how.Calificacion
		p.CalificacionPromedio, errs[2] = average(p.SumaCalificaciones, p.Calificaciones)
	}
	return p, errors.Join(errs[:]...)
}

// average is a mean with two decimals.
func average(total, count int64) (*table.Decimal, error) {
	d, err := table.ParseDecimal(strconv.FormatFloat(float64(total)/float64(count), 'f', cents, 64))
	return &d, err
}

// cancel calls a trip off and frees who and what was to make it.
func (s *service) cancel(ctx context.Context, userID, id string) (Viaje, error) {
	err := again(ctx, func() error {
		v, err := s.db.ViajePorID(ctx, db.ViajePorIDInput{UserID: userID, ViajeID: id})
		if err != nil {
			return err
		}
		r := v.Resources
		switch {
		case r == nil:
			_, err = s.db.CancelarViaje(ctx, db.CancelarViajeInput{UserID: userID, ViajeID: id})
		case r.RemolqueID == nil:
			_, err = s.db.CancelarAsignado(ctx, db.CancelarAsignadoInput{
				UserID: userID, ViajeID: id, ConductorID: r.ConductorID, VehiculoID: r.VehiculoID, Distancia: v.DistanciaTotal,
			})
		default:
			_, err = s.db.CancelarConRemolque(ctx, db.CancelarConRemolqueInput{
				UserID: userID, ViajeID: id, ConductorID: r.ConductorID, VehiculoID: r.VehiculoID, RemolqueID: *r.RemolqueID, Distancia: v.DistanciaTotal,
			})
		}
		return err
	}, db.ErrRecursoCambio) // somebody was assigned meanwhile
	return s.changed(ctx, userID, id, err)
}
