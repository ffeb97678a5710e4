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
func (in *NuevoVehiculo) check() error {
	var bad fields
	bad.addIf(!cartaporte.ConfigAutotransporte.Tiene(in.ConfigVehicular), "body.configVehicular", "is not a key of c_ConfigAutotransporte")
	bad.addIf(!cartaporte.TipoPermiso.Tiene(in.PermSct), "body.permSct", "is not a permit of c_TipoPermiso")
	return bad.problem()
}

func (in *NuevoRemolque) check() error {
	var bad fields
	bad.addIf(!cartaporte.SubTipoRem.Tiene(in.SubTipoRem), "body.subTipoRem", "is not a key of c_SubTipoRem")
	return bad.problem()
}

// createVehicle creates a vehicle if the plan allows one more.
func (s *service) createVehicle(ctx context.Context, who auth.Principal, in api.KeyedBody[NuevoVehiculo]) (Vehiculo, bool, error) {
	if err := in.Body.check(); err != nil {
		return Vehiculo{}, false, err
	}
	r := newRequest(who.Sub, in.RequestKey, "createVehiculo", in.Body)
	return keyed(ctx, s, r, func() (Vehiculo, error) {
		now := s.moment()
		v := db.Vehiculo{UserID: who.Sub, VehiculoID: s.newID(), CreatedAt: now, UpdatedAt: now}
		vehiculoInto(in.Body, &v)
		v.Vence = first(v.PermisoVigencia, v.SeguroVigencia)
		response := vehiculoOf(v)
		return response, s.inTurn(ctx, who.Sub, func() error {
			done, err := s.db.CrearVehiculo(ctx, crearVehiculo(r.withResponse(response), v))
			return overtaken(done.Replayed, err)
		})
	})
}

// saveVehicle changes a vehicle that is not on a trip.
func (s *service) saveVehicle(ctx context.Context, who auth.Principal, in changedVehicle) (v db.Vehiculo, err error) {
	if err := in.Body.check(); err != nil {
		return v, err
	}
	err = s.change(ctx, &in.Seen, func() error {
		edit := editarVehiculo(owner{who.Sub}, in)
		edit.Vence = first(edit.PermisoVigencia, edit.SeguroVigencia)
		edited, err := s.db.EditarVehiculo(ctx, edit)
		if v = edited.Vehiculo; !errors.Is(err, db.ErrAgendaAfectada) {
			return err
		}
		all := guardarVehiculo(owner{who.Sub}, in)
		all.Vence = first(all.PermisoVigencia, all.SeguroVigencia)
		saved, err := s.db.GuardarVehiculo(ctx, all)
		if err == nil {
			v = *saved.Vehiculo // read anyway for its previous plate
		}
		return err
	})
	return v, err
}

// deleteVehicle deletes a vehicle without trips.
func (s *service) deleteVehicle(ctx context.Context, who auth.Principal, in VehiculoPath) error {
	return s.inTurn(ctx, who.Sub, func() error {
		return errorOf(s.db.BorrarVehiculo(ctx, db.BorrarVehiculoInput{UserID: who.Sub, VehiculoID: in.VehiculoID}))
	})
}

// listVehicles returns a page of a company's vehicles: all of them, those in a state, or those available in a period.
func (s *service) listVehicles(ctx context.Context, who auth.Principal, in unitQuery) (table.Page[UnidadResumen], error) {
	free, err := in.period(string(in.Estado))
	switch {
	case err != nil:
		return table.Page[UnidadResumen]{}, err
	case in.Estado == "":
		page, err := s.vehicles(ctx, who.Sub, free, in.Options())
		return api.Show(page, vehiculoEnLista), err
	default:
		page, err := s.db.VehiculosPorEstado(ctx, db.VehiculosPorEstadoInput{UserID: who.Sub, Estado: in.Estado}, in.Options())
		return api.Show(page, vehiculoPorEstado), err
	}
}

// createTrailer creates a trailer.
func (s *service) createTrailer(ctx context.Context, who auth.Principal, in api.KeyedBody[NuevoRemolque]) (Remolque, bool, error) {
	if err := in.Body.check(); err != nil {
		return Remolque{}, false, err
	}
	r := newRequest(who.Sub, in.RequestKey, "createRemolque", in.Body)
	return keyed(ctx, s, r, func() (Remolque, error) {
		now := s.moment()
		v := db.Remolque{UserID: who.Sub, RemolqueID: s.newID(), CreatedAt: now, UpdatedAt: now}
		remolqueInto(in.Body, &v)
		v.Vence = v.SeguroVigencia
		response := remolqueOf(v)
		return response, again(ctx, func() error {
			done, err := s.db.CrearRemolque(ctx, crearRemolque(r.withResponse(response), v))
			return overtaken(done.Replayed, err)
		})
	})
}

// saveTrailer changes a trailer that is not on a trip.
func (s *service) saveTrailer(ctx context.Context, who auth.Principal, in changedTrailer) (v db.Remolque, err error) {
	if err := in.Body.check(); err != nil {
		return v, err
	}
	err = s.change(ctx, &in.Seen, func() error {
		edit := editarRemolque(owner{who.Sub}, in)
		edit.Vence = edit.SeguroVigencia
		edited, err := s.db.EditarRemolque(ctx, edit)
		if v = edited.Remolque; !errors.Is(err, db.ErrAgendaAfectada) {
			return err
		}
		all := guardarRemolque(owner{who.Sub}, in)
		all.Vence = all.SeguroVigencia
		saved, err := s.db.GuardarRemolque(ctx, all)
		if err == nil {
			v = *saved.Remolque // read anyway for its previous plate
		}
		return err
	})
	return v, err
}

// deleteTrailer deletes a trailer without trips.
func (s *service) deleteTrailer(ctx context.Context, who auth.Principal, in RemolquePath) error {
	return again(ctx, func() error {
		return s.db.BorrarRemolque(ctx, db.BorrarRemolqueInput{UserID: who.Sub, RemolqueID: in.RemolqueID})
	})
}

// listTrailers returns a page of a company's trailers: all of them, those in a state, or those available in a period.
func (s *service) listTrailers(ctx context.Context, who auth.Principal, in unitQuery) (table.Page[UnidadResumen], error) {
	free, err := in.period(string(in.Estado))
	switch {
	case err != nil:
		return table.Page[UnidadResumen]{}, err
	case in.Estado == "":
		page, err := s.trailers(ctx, who.Sub, free, in.Options())
		return api.Show(page, remolqueEnLista), err
	default:
		page, err := s.db.RemolquesPorEstado(ctx, db.RemolquesPorEstadoInput{UserID: who.Sub, Estado: in.Estado}, in.Options())
		return api.Show(page, remolquePorEstado), err
	}
}

// findResources calls resources for a request.
func (s *service) findResources(ctx context.Context, who auth.Principal, in api.Body[RecursosConsulta]) (RecursosHallados, error) {
	return s.resources(ctx, who.Sub, in.Body)
}

// resources finds drivers, vehicles and trailers by id, with one BatchGetItem per kind, in parallel. Unknown ids and other
// companies' ids are omitted.
func (s *service) resources(ctx context.Context, userID string, ids RecursosConsulta) (RecursosHallados, error) {
	var (
		drivers  []*db.Conductor
		vehicles []*db.Vehiculo
		trailers []*db.Remolque
	)
	err := firstError(func() (err error) {
		drivers, err = s.db.ConductorPorIDBatch(ctx, each(ids.Conductores, func(id string) db.ConductorPorIDInput {
			return db.ConductorPorIDInput{UserID: userID, ConductorID: id}
		}))
		return err
	}, func() (err error) {
		vehicles, err = s.db.VehiculoPorIDBatch(ctx, each(ids.Vehiculos, func(id string) db.VehiculoPorIDInput {
			return db.VehiculoPorIDInput{UserID: userID, VehiculoID: id}
		}))
		return err
	}, func() (err error) {
		trailers, err = s.db.RemolquePorIDBatch(ctx, each(ids.Remolques, func(id string) db.RemolquePorIDInput {
			return db.RemolquePorIDInput{UserID: userID, RemolqueID: id}
		}))
		return err
	})
	if err != nil {
		return RecursosHallados{}, err
	}
	return RecursosHallados{
		Conductores: found(drivers, conductorOf), Vehiculos: found(vehicles, vehiculoOf), Remolques: found(trailers, remolqueOf),
	}, nil
}

// each converts a list.
func each[S, T any](list []S, of func(S) T) []T {
	out := make([]T, len(list))
	for i, x := range list {
		out[i] = of(x)
	}
	return out
}

// found lists those that exist.
func found[S, T any](list []*S, of func(S) T) []T {
	out := []T{}
	for _, x := range list {
		if x != nil {
			out = append(out, of(*x))
		}
	}
	return out
}
