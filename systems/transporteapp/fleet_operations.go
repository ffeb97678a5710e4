package transporteapp

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// Vehiculo is a vehicle.
type Vehiculo struct {
	VehiculoID         string           `json:"vehiculoId" doc:"A ULID"`
	Placa              string           `json:"placa"`
	Estado             db.EstadoRecurso `json:"estado" enum:"disponible,en_viaje,inactivo,taller"`
	ConfigVehicular    string           `json:"configVehicular"`
	AnioModeloVM       int64            `json:"anioModeloVm"`
	PesoBrutoVehicular Decimal          `json:"pesoBrutoVehicular"`
	PermSct            string           `json:"permSct"`
	NumPermisoSct      string           `json:"numPermisoSct"`
	AseguraRespCivil   string           `json:"aseguraRespCivil"`
	PolizaRespCivil    string           `json:"polizaRespCivil"`
	KmTotales          Decimal          `json:"kmTotales"`
	ViajeActualID      string           `json:"viajeActualId,omitempty"`
	CreatedAt          time.Time        `json:"createdAt"`
	UpdatedAt          time.Time        `json:"updatedAt"`
}

func vehiculoOf(v db.Vehiculo) Vehiculo {
	return Vehiculo{
		VehiculoID: v.VehiculoID, Placa: v.Placa, Estado: v.Estado, ConfigVehicular: v.ConfigVehicular, AnioModeloVM: v.AnioModeloVM,
		PesoBrutoVehicular: Decimal{v.PesoBrutoVehicular}, PermSct: v.PermSct, NumPermisoSct: v.NumPermisoSct,
		AseguraRespCivil: v.AseguraRespCivil, PolizaRespCivil: v.PolizaRespCivil, KmTotales: Decimal{v.KmTotales},
		ViajeActualID: text(v.ViajeActualID), CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
	}
}

// NuevoVehiculo is what is said of a vehicle.
type NuevoVehiculo struct {
	Placa              string           `json:"placa" pattern:"^[A-Z0-9-]{5,10}$" patternDescription:"capitals, digits and -"`
	Estado             db.EstadoRecurso `json:"estado,omitempty" enum:"disponible,inactivo,taller" default:"disponible" doc:"A trip sets en_viaje by itself"`
	ConfigVehicular    string           `json:"configVehicular" maxLength:"10" doc:"Key of c_ConfigAutotransporte, as T3S2"`
	AnioModeloVM       int64            `json:"anioModeloVm" minimum:"1900" maximum:"2099"`
	PesoBrutoVehicular Decimal          `json:"pesoBrutoVehicular" minimum:"0.01" maximum:"999" doc:"Tons"`
	PermSct            string           `json:"permSct" maxLength:"6" doc:"Key of c_TipoPermiso, as TPAF01"`
	NumPermisoSct      string           `json:"numPermisoSct" minLength:"1" maxLength:"50"`
	AseguraRespCivil   string           `json:"aseguraRespCivil" minLength:"3" maxLength:"50"`
	PolizaRespCivil    string           `json:"polizaRespCivil" minLength:"3" maxLength:"30"`
}

func (in *NuevoVehiculo) into(v *db.Vehiculo) {
	v.Placa, v.Estado, v.ConfigVehicular, v.AnioModeloVM = in.Placa, in.Estado, in.ConfigVehicular, in.AnioModeloVM
	v.PesoBrutoVehicular, v.PermSct, v.NumPermisoSct = in.PesoBrutoVehicular.Decimal, in.PermSct, in.NumPermisoSct
	v.AseguraRespCivil, v.PolizaRespCivil = in.AseguraRespCivil, in.PolizaRespCivil
}

// Remolque is a trailer.
type Remolque struct {
	RemolqueID    string           `json:"remolqueId" doc:"A ULID"`
	Placa         string           `json:"placa"`
	SubTipoRem    string           `json:"subTipoRem"`
	Estado        db.EstadoRecurso `json:"estado" enum:"disponible,en_viaje,inactivo,taller"`
	ViajeActualID string           `json:"viajeActualId,omitempty"`
	CreatedAt     time.Time        `json:"createdAt"`
	UpdatedAt     time.Time        `json:"updatedAt"`
}

func remolqueOf(v db.Remolque) Remolque {
	return Remolque{
		RemolqueID: v.RemolqueID, Placa: v.Placa, SubTipoRem: v.SubTipoRem, Estado: v.Estado, ViajeActualID: text(v.ViajeActualID),
		CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
	}
}

// NuevoRemolque is what is said of a trailer.
type NuevoRemolque struct {
	Placa      string           `json:"placa" pattern:"^[A-Z0-9-]{5,10}$" patternDescription:"capitals, digits and -"`
	SubTipoRem string           `json:"subTipoRem" maxLength:"6" doc:"Key of c_SubTipoRem, as CTR007"`
	Estado     db.EstadoRecurso `json:"estado,omitempty" enum:"disponible,inactivo,taller" default:"disponible" doc:"A trip sets en_viaje by itself"`
}

// UnidadResumen is a vehicle or a trailer in a list.
type UnidadResumen struct {
	VehiculoID string           `json:"vehiculoId,omitempty"`
	RemolqueID string           `json:"remolqueId,omitempty"`
	Placa      string           `json:"placa"`
	Estado     db.EstadoRecurso `json:"estado" enum:"disponible,en_viaje,inactivo,taller"`
	UpdatedAt  time.Time        `json:"updatedAt"`
}

// RecursosConsulta are ids.
type RecursosConsulta struct {
	Conductores []string `json:"conductores,omitempty" nullable:"false" maxItems:"100" doc:"Ids of drivers"`
	Vehiculos   []string `json:"vehiculos,omitempty" nullable:"false" maxItems:"100" doc:"Ids of vehicles"`
	Remolques   []string `json:"remolques,omitempty" nullable:"false" maxItems:"100" doc:"Ids of trailers"`
}

// RecursosHallados are those of the ids that are there.
type RecursosHallados struct {
	Conductores []Conductor `json:"conductores" nullable:"false"`
	Vehiculos   []Vehiculo  `json:"vehiculos" nullable:"false"`
	Remolques   []Remolque  `json:"remolques" nullable:"false"`
}

func (s *service) registerFleet(a huma.API) {
	one := []int{http.StatusNotFound}
	change := []int{http.StatusNotFound, http.StatusConflict}
	vehicles, trailers := []string{"Vehículos"}, []string{"Remolques"}
	huma.Register(a, huma.Operation{
		OperationID: "createVehiculo", Method: http.MethodPost, Path: "/vehiculos", Tags: vehicles,
		Summary: "Add a vehicle", Description: "As many as the plan allows.", DefaultStatus: http.StatusCreated,
	}, s.createVehiculo)
	huma.Register(a, huma.Operation{
		OperationID: "listVehiculos", Method: http.MethodGet, Path: "/vehiculos", Tags: vehicles,
		Summary: "Your vehicles, those in a state by plate, or those that are free in a period",
	}, s.listVehiculos)
	huma.Register(a, huma.Operation{
		OperationID: "getVehiculo", Method: http.MethodGet, Path: "/vehiculos/{id}", Tags: vehicles, Summary: "One of your vehicles", Errors: one,
	}, s.getVehiculo)
	huma.Register(a, huma.Operation{
		OperationID: "putVehiculo", Method: http.MethodPut, Path: "/vehiculos/{id}", Tags: vehicles,
		Summary: "Change a vehicle that is not on a trip", Errors: change,
	}, s.putVehiculo)
	huma.Register(a, huma.Operation{
		OperationID: "deleteVehiculo", Method: http.MethodDelete, Path: "/vehiculos/{id}", Tags: vehicles,
		Summary: "Take a vehicle off the company", Errors: change,
	}, s.deleteVehiculo)
	huma.Register(a, huma.Operation{
		OperationID: "createRemolque", Method: http.MethodPost, Path: "/remolques", Tags: trailers,
		Summary: "Add a trailer", DefaultStatus: http.StatusCreated,
	}, s.createRemolque)
	huma.Register(a, huma.Operation{
		OperationID: "listRemolques", Method: http.MethodGet, Path: "/remolques", Tags: trailers,
		Summary: "Your trailers, those in a state by plate, or those that are free in a period",
	}, s.listRemolques)
	huma.Register(a, huma.Operation{
		OperationID: "getRemolque", Method: http.MethodGet, Path: "/remolques/{id}", Tags: trailers, Summary: "One of your trailers", Errors: one,
	}, s.getRemolque)
	huma.Register(a, huma.Operation{
		OperationID: "putRemolque", Method: http.MethodPut, Path: "/remolques/{id}", Tags: trailers,
		Summary: "Change a trailer that is not on a trip", Errors: change,
	}, s.putRemolque)
	huma.Register(a, huma.Operation{
		OperationID: "deleteRemolque", Method: http.MethodDelete, Path: "/remolques/{id}", Tags: trailers,
		Summary: "Take a trailer off the company", Errors: change,
	}, s.deleteRemolque)
	huma.Register(a, huma.Operation{
		OperationID: "findRecursos", Method: http.MethodPost, Path: "/recursos/consulta", Tags: []string{"Viajes"},
		Summary: "Drivers, vehicles and trailers by their ids, at once", Description: "What is not yours is left out.",
	}, s.findRecursos)
}

type createVehiculoInput struct {
	api.IdempotencyKey
	Body NuevoVehiculo
}

type createVehiculoOutput struct {
	Status   int
	Location string `header:"Location" doc:"Where the vehicle is"`
	Body     Vehiculo
}

func (s *service) createVehiculo(ctx context.Context, in *createVehiculoInput) (*createVehiculoOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	v, replayed, err := s.createVehicle(ctx, who.Sub, in.IdempotencyKey.IdempotencyKey, in.Body)
	if err != nil {
		return nil, err
	}
	return &createVehiculoOutput{api.CreatedStatus(replayed), "vehiculos/" + v.VehiculoID, v}, nil
}

type listUnidadesInput struct {
	api.PageQuery
	Libres
	Estado string `query:"estado" enum:"disponible,en_viaje,inactivo,taller" doc:"Only those in this state, by plate"`
}

func (s *service) listVehiculos(ctx context.Context, in *listUnidadesInput) (*api.PageOutput[UnidadResumen], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	free, err := in.period(in.Estado)
	if err != nil {
		return nil, err
	}
	if in.Estado == "" {
		page, err := s.vehicles(ctx, who.Sub, free, in.Options())
		return api.PageOf(page, func(v db.Vehiculo) UnidadResumen {
			return UnidadResumen{VehiculoID: v.VehiculoID, Placa: v.Placa, Estado: v.Estado, UpdatedAt: v.UpdatedAt}
		}), err
	}
	page, err := s.db.VehiculosPorEstado(ctx, db.VehiculosPorEstadoInput{UserID: who.Sub, Estado: db.EstadoRecurso(in.Estado)}, in.Options())
	return api.PageOf(page, func(v db.VehiculosPorEstadoItem) UnidadResumen {
		return UnidadResumen{VehiculoID: v.VehiculoID, Placa: v.Placa, Estado: v.Estado, UpdatedAt: v.UpdatedAt}
	}), err
}

type vehiculoOutput struct{ Body Vehiculo }

func (s *service) getVehiculo(ctx context.Context, in *ItemPath) (*vehiculoOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	v, err := s.db.VehiculoPorID(ctx, db.VehiculoPorIDInput{UserID: who.Sub, VehiculoID: in.ID})
	return &vehiculoOutput{vehiculoOf(v)}, err
}

type putVehiculoInput struct {
	ItemPath
	Body NuevoVehiculo
}

func (s *service) putVehiculo(ctx context.Context, in *putVehiculoInput) (*vehiculoOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	v, err := s.saveVehicle(ctx, who.Sub, in.ID, in.Body)
	return &vehiculoOutput{v}, err
}

func (s *service) deleteVehiculo(ctx context.Context, in *ItemPath) (*struct{}, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	return nil, s.deleteVehicle(ctx, who.Sub, in.ID)
}

type createRemolqueInput struct {
	api.IdempotencyKey
	Body NuevoRemolque
}

type createRemolqueOutput struct {
	Status   int
	Location string `header:"Location" doc:"Where the trailer is"`
	Body     Remolque
}

func (s *service) createRemolque(ctx context.Context, in *createRemolqueInput) (*createRemolqueOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	v, replayed, err := s.createTrailer(ctx, who.Sub, in.IdempotencyKey.IdempotencyKey, in.Body)
	if err != nil {
		return nil, err
	}
	return &createRemolqueOutput{api.CreatedStatus(replayed), "remolques/" + v.RemolqueID, v}, nil
}

func (s *service) listRemolques(ctx context.Context, in *listUnidadesInput) (*api.PageOutput[UnidadResumen], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	free, err := in.period(in.Estado)
	if err != nil {
		return nil, err
	}
	if in.Estado == "" {
		page, err := s.trailers(ctx, who.Sub, free, in.Options())
		return api.PageOf(page, func(v db.Remolque) UnidadResumen {
			return UnidadResumen{RemolqueID: v.RemolqueID, Placa: v.Placa, Estado: v.Estado, UpdatedAt: v.UpdatedAt}
		}), err
	}
	page, err := s.db.RemolquesPorEstado(ctx, db.RemolquesPorEstadoInput{UserID: who.Sub, Estado: db.EstadoRecurso(in.Estado)}, in.Options())
	return api.PageOf(page, func(v db.RemolquesPorEstadoItem) UnidadResumen {
		return UnidadResumen{RemolqueID: v.RemolqueID, Placa: v.Placa, Estado: v.Estado, UpdatedAt: v.UpdatedAt}
	}), err
}

type remolqueOutput struct{ Body Remolque }

func (s *service) getRemolque(ctx context.Context, in *ItemPath) (*remolqueOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	v, err := s.db.RemolquePorID(ctx, db.RemolquePorIDInput{UserID: who.Sub, RemolqueID: in.ID})
	return &remolqueOutput{remolqueOf(v)}, err
}

type putRemolqueInput struct {
	ItemPath
	Body NuevoRemolque
}

func (s *service) putRemolque(ctx context.Context, in *putRemolqueInput) (*remolqueOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	v, err := s.saveTrailer(ctx, who.Sub, in.ID, in.Body)
	return &remolqueOutput{v}, err
}

func (s *service) deleteRemolque(ctx context.Context, in *ItemPath) (*struct{}, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	return nil, s.deleteTrailer(ctx, who.Sub, in.ID)
}

type recursosOutput struct{ Body RecursosHallados }

func (s *service) findRecursos(ctx context.Context, in *struct{ Body RecursosConsulta }) (*recursosOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	list, err := s.resources(ctx, who.Sub, in.Body)
	return &recursosOutput{list}, err
}
