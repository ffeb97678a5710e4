package transporteapp

import (
	"context"
	"errors"
	"strconv"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/auth"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// cents is the number of decimals of an average.
const cents = 2

// schedule turns a draft into a planned trip.
func (s *service) schedule(ctx context.Context, userID, id string) (v Viaje, err error) {
	err = again(ctx, func() error {
		done, err := s.db.ProgramarViaje(ctx, db.ProgramarViajeInput{UserID: userID, ViajeID: id})
		v = seen(ctx, done.Viaje)
		return err
	})
	return v, err
}

// changeTrip changes the current state of a trip and returns the result. It retries if the trip has changed in the meantime.
func (s *service) changeTrip(ctx context.Context, userID, id string, change func(db.Viaje) error, when ...error) (Viaje, error) {
	key := db.ViajePorIDInput{UserID: userID, ViajeID: id}
	err := again(ctx, func() error {
		v, err := s.db.ViajePorID(ctx, key)
		if err != nil {
			return err
		}
		return change(v)
	}, append(when, db.ErrRecursoCambio)...)
	if err != nil {
		return Viaje{}, err
	}
	v, err := s.db.ViajePorID(ctx, key)
	return seen(ctx, v), err
}

// list returns a list with one text, or an empty list for "".
func list(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// begin starts a trip.
func (s *service) begin(ctx context.Context, userID, id string) (Viaje, error) {
	return s.changeTrip(ctx, userID, id, func(v db.Viaje) (err error) {
		switch {
		case v.Estado != db.EstadoViajeProgramado:
			return db.ErrViajeNoProgramado
		case v.Resources == nil:
			return db.ErrViajeSinRecursos
		}
		var lat, lng *table.Decimal
		if from := v.OrigenCoordenadas; from != nil {
			lat, lng = &from.Lat, &from.Lng
		}
		r, limit := v.Resources, s.moment().Add(s.early)
		if r.RemolqueID == nil {
			_, err = s.db.IniciarViaje(ctx, db.IniciarViajeInput{
				UserID: userID, ViajeID: id, Visto: v.Revision, DistanciaTotal: v.DistanciaTotal, Lat: lat, Lng: lng, Limite: limit,
				ConductorID: r.ConductorID, VehiculoID: r.VehiculoID,
			})
		} else {
			_, err = s.db.IniciarConRemolque(ctx, db.IniciarConRemolqueInput{
				UserID: userID, ViajeID: id, Visto: v.Revision, DistanciaTotal: v.DistanciaTotal, Lat: lat, Lng: lng, Limite: limit,
				ConductorID: r.ConductorID, VehiculoID: r.VehiculoID, RemolqueID: *r.RemolqueID,
			})
		}
		if errors.Is(err, db.ErrTrackingExists) { // the trip has already started
			return db.ErrViajeNoProgramado
		}
		return err
	})
}

// complete ends a trip, releases its driver, vehicle and trailer, and updates their statistics.
func (s *service) complete(ctx context.Context, who auth.Principal, in arrival) (Viaje, error) {
	userID, id := who.Sub, in.ViajeID
	var how Llegada
	if in.Body != nil {
		how = *in.Body
	}
	if how != (Llegada{}) && memberOf(ctx).Rol == db.RolConductor {
		return Viaje{}, errRol // drivers do not rate themselves
	}
	return s.changeTrip(ctx, userID, id, func(v db.Viaje) error {
		if v.Estado != db.EstadoViajeEnCurso || v.Resources == nil {
			return db.ErrViajeNoEnCurso
		}
		var (
			r      = v.Resources
			at     db.Tracking
			km     table.Decimal
			driver db.Conductor
		)
		err := firstError(
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
			return errorOf(s.db.CompletarViaje(ctx, db.CompletarViajeInput{
				UserID: userID, ViajeID: id, Visto: v.Revision, ConductorID: r.ConductorID, VehiculoID: r.VehiculoID, Km: km, Pings: at.Pings,
				Performance: driven, Completados: driver.Performance.ViajesCompletados, Llegada: v.Destino, Clave: id,
				Lines: each(idsOf(r), func(of string) db.CompletarViajeLine { return db.CompletarViajeLine{RecursoID: of} }),
			}))
		}
		return errorOf(s.db.CompletarConRemolque(ctx, db.CompletarConRemolqueInput{
			UserID: userID, ViajeID: id, Visto: v.Revision, ConductorID: r.ConductorID, VehiculoID: r.VehiculoID, RemolqueID: *r.RemolqueID,
			Km: km, Pings: at.Pings, Performance: driven, Completados: driver.Performance.ViajesCompletados, Llegada: v.Destino, Clave: id,
			Lines: each(idsOf(r), func(of string) db.CompletarConRemolqueLine { return db.CompletarConRemolqueLine{RecursoID: of} }),
		}))
	}, db.ErrPosicionCambio) // its position has changed in the meantime
}

// arrived adds a completed trip to a driver's statistics.
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

// average returns a mean with two decimals.
func average(total, count int64) (*table.Decimal, error) {
	d, err := table.ParseDecimal(strconv.FormatFloat(float64(total)/float64(count), 'f', cents, 64))
	return &d, err
}

// cancel cancels a trip and releases its driver, vehicle and trailer.
func (s *service) cancel(ctx context.Context, userID, id string) (Viaje, error) {
	return s.changeTrip(ctx, userID, id, func(v db.Viaje) (err error) {
		r, gone := v.Resources, v.Estado == db.EstadoViajeEnCurso
		if f := v.Fiscal; !gone && f != nil && f.CartaPorteStatus == db.EstadoCartaCancelada {
			if err := s.noneStamped(ctx, userID, id); err != nil {
				return err
			}
		}
		switch {
		case r == nil:
			_, err = s.db.CancelarViaje(ctx, db.CancelarViajeInput{UserID: userID, ViajeID: id})
		case !gone:
			_, err = s.db.CancelarAsignado(ctx, db.CancelarAsignadoInput{
				UserID: userID, ViajeID: id, Visto: v.Revision, Clave: id,
				Lines: each(idsOf(r), func(of string) db.CancelarAsignadoLine { return db.CancelarAsignadoLine{RecursoID: of} }),
			})
		case r.RemolqueID == nil:
			_, err = s.db.CancelarEnCurso(ctx, db.CancelarEnCursoInput{
				UserID: userID, ViajeID: id, Visto: v.Revision, ConductorID: r.ConductorID, VehiculoID: r.VehiculoID, Clave: id,
				Lines: each(idsOf(r), func(of string) db.CancelarEnCursoLine { return db.CancelarEnCursoLine{RecursoID: of} }),
			})
		default:
			_, err = s.db.CancelarEnCursoConRemolque(ctx, db.CancelarEnCursoConRemolqueInput{
				UserID: userID, ViajeID: id, Visto: v.Revision, ConductorID: r.ConductorID, VehiculoID: r.VehiculoID, RemolqueID: *r.RemolqueID,
				Clave: id, Lines: each(idsOf(r), func(of string) db.CancelarEnCursoConRemolqueLine {
					return db.CancelarEnCursoConRemolqueLine{RecursoID: of}
				}),
			})
		}
		return err
	})
}

// noneStamped rejects a trip that has a carta besides its last one that is not cancelled: a stamped one, which was replaced.
func (s *service) noneStamped(ctx context.Context, userID, id string) error {
	for item, err := range s.db.CartasDeViajeAll(ctx, db.CartasDeViajeInput{UserID: userID, ViajeID: id}) {
		if err != nil {
			return err
		}
		if item.Status == db.EstadoCartaCancelada {
			continue
		}
		c, err := s.carta(ctx, userID, item.CartaID) // the index lags behind
		if err != nil {
			return err
		}
		if c.Status != db.EstadoCartaCancelada {
			return errSustituidaVigente
		}
	}
	return nil
}
