package transporteapp

import (
	"context"

	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// check refuses what the schema cannot.
func (in *NuevoVehiculo) check() error {
	var bad fields
	bad.addIf(!cartaporte.ConfigAutotransporte.Tiene(in.ConfigVehicular), "body.configVehicular", "is no key of c_ConfigAutotransporte")
	bad.addIf(!cartaporte.TipoPermiso.Tiene(in.PermSct), "body.permSct", "is no permit of c_TipoPermiso")
	return bad.problem()
}

func (in *NuevoRemolque) check() error {
	var bad fields
	bad.addIf(!cartaporte.SubTipoRem.Tiene(in.SubTipoRem), "body.subTipoRem", "is no key of c_SubTipoRem")
	return bad.problem()
}

// createVehicle makes a vehicle, if the plan allows one more.
func (s *service) createVehicle(ctx context.Context, userID, key string, in NuevoVehiculo) (Vehiculo, bool, error) {
	if err := in.check(); err != nil {
		return Vehiculo{}, false, err
	}
	r := newRequest(userID, key, "createVehiculo", in)
	return once(ctx, s, r, func() (Vehiculo, bool, error) {
		id, err := s.newID()
		if err != nil {
			return Vehiculo{}, false, err
		}
		v := db.Vehiculo{UserID: userID, VehiculoID: id, CreatedAt: s.moment()}
		in.into(&v)
		v.UpdatedAt = v.CreatedAt
		answer, replayed := vehiculoOf(v), false
		err = s.inTurn(ctx, userID, func() error {
			done, err := s.db.CrearVehiculo(ctx, db.CrearVehiculoInput{
				RequestKey: r.key, Operacion: r.operation, Huella: r.fingerprint, Respuesta: encode(answer),
				UserID: v.UserID, VehiculoID: v.VehiculoID, Placa: v.Placa, Estado: v.Estado, ConfigVehicular: v.ConfigVehicular,
				AnioModeloVM: v.AnioModeloVM, PesoBrutoVehicular: v.PesoBrutoVehicular, PermSct: v.PermSct, NumPermisoSct: v.NumPermisoSct,
				AseguraRespCivil: v.AseguraRespCivil, PolizaRespCivil: v.PolizaRespCivil, KmTotales: v.KmTotales,
				CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
			})
			replayed = done.Replayed
			return err
		})
		return answer, replayed, err
	})
}

// saveVehicle changes a vehicle that is not on a trip.
func (s *service) saveVehicle(ctx context.Context, userID, id string, in NuevoVehiculo) (Vehiculo, error) {
	if err := in.check(); err != nil {
		return Vehiculo{}, err
	}
	var v db.Vehiculo
	in.into(&v)
	err := again(ctx, func() error {
		_, err := s.db.GuardarVehiculo(ctx, db.GuardarVehiculoInput{
			UserID: userID, VehiculoID: id, Placa: v.Placa, Estado: v.Estado, ConfigVehicular: v.ConfigVehicular, AnioModeloVM: v.AnioModeloVM,
			PesoBrutoVehicular: v.PesoBrutoVehicular, PermSct: v.PermSct, NumPermisoSct: v.NumPermisoSct,
			AseguraRespCivil: v.AseguraRespCivil, PolizaRespCivil: v.PolizaRespCivil,
		})
		return err
	})
	if err != nil {
		return Vehiculo{}, err
	}
	v, err = s.db.VehiculoPorID(ctx, db.VehiculoPorIDInput{UserID: userID, VehiculoID: id})
	return vehiculoOf(v), err
}

// deleteVehicle takes a vehicle that has no trips off the company.
func (s *service) deleteVehicle(ctx context.Context, userID, id string) error {
	return s.inTurn(ctx, userID, func() error {
		_, err := s.db.BorrarVehiculo(ctx, db.BorrarVehiculoInput{UserID: userID, VehiculoID: id})
		return err
	})
}

// createTrailer makes a trailer.
func (s *service) createTrailer(ctx context.Context, userID, key string, in NuevoRemolque) (Remolque, bool, error) {
	if err := in.check(); err != nil {
		return Remolque{}, false, err
	}
	r := newRequest(userID, key, "createRemolque", in)
	return once(ctx, s, r, func() (Remolque, bool, error) {
		id, err := s.newID()
		if err != nil {
			return Remolque{}, false, err
		}
		v := db.Remolque{
			UserID: userID, RemolqueID: id, Placa: in.Placa, SubTipoRem: in.SubTipoRem, Estado: in.Estado,
			CreatedAt: s.moment(), UpdatedAt: s.moment(),
		}
		answer, replayed := remolqueOf(v), false
		err = again(ctx, func() error {
			done, err := s.db.CrearRemolque(ctx, db.CrearRemolqueInput{
				RequestKey: r.key, Operacion: r.operation, Huella: r.fingerprint, Respuesta: encode(answer),
				UserID: v.UserID, RemolqueID: v.RemolqueID, Placa: v.Placa, SubTipoRem: v.SubTipoRem, Estado: v.Estado,
				CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
			})
			replayed = done.Replayed
			return err
		})
		return answer, replayed, err
	})
}

// saveTrailer changes a trailer that is not on a trip.
func (s *service) saveTrailer(ctx context.Context, userID, id string, in NuevoRemolque) (Remolque, error) {
	if err := in.check(); err != nil {
		return Remolque{}, err
	}
	err := again(ctx, func() error {
		_, err := s.db.GuardarRemolque(ctx, db.GuardarRemolqueInput{
			UserID: userID, RemolqueID: id, Placa: in.Placa, SubTipoRem: in.SubTipoRem, Estado: in.Estado,
		})
		return err
	})
	if err != nil {
		return Remolque{}, err
	}
	v, err := s.db.RemolquePorID(ctx, db.RemolquePorIDInput{UserID: userID, RemolqueID: id})
	return remolqueOf(v), err
}

// deleteTrailer takes a trailer that has no trips off the company.
func (s *service) deleteTrailer(ctx context.Context, userID, id string) error {
	return again(ctx, func() error {
		return s.db.BorrarRemolque(ctx, db.BorrarRemolqueInput{UserID: userID, RemolqueID: id})
	})
}

// resources finds drivers, vehicles and trailers by their ids, each kind in one BatchGetItem, all at once. What is not there,
// or is another company's, is left out.
func (s *service) resources(ctx context.Context, userID string, ids RecursosConsulta) (RecursosHallados, error) {
	var (
		drivers  []*db.Conductor
		vehicles []*db.Vehiculo
		trailers []*db.Remolque
	)
	err := together(func() (err error) {
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

// each makes a list of another.
func each[S, T any](list []S, of func(S) T) []T {
	out := make([]T, len(list))
	for i, x := range list {
		out[i] = of(x)
	}
	return out
}

// found makes a list of what is there.
func found[S, T any](list []*S, of func(S) T) []T {
	out := []T{}
	for _, x := range list {
		if x != nil {
			out = append(out, of(*x))
		}
	}
	return out
}
