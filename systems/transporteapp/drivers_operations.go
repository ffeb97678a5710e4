package transporteapp

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// Licencia is a driver's licence.
type Licencia struct {
	Tipo     string `json:"tipo" minLength:"1" maxLength:"10" doc:"Its class, as E"`
	Numero   string `json:"numero" minLength:"6" maxLength:"16"`
	Vigencia string `json:"vigencia" format:"date" doc:"The last day on which it is good"`
}

// Compensacion is what a driver gets; it stands in no list.
type Compensacion struct {
	SalarioBase        *Decimal `json:"salarioBase,omitempty" minimum:"0" maximum:"999999999999"`
	PorcentajeComision *Decimal `json:"porcentajeComision,omitempty" minimum:"0" maximum:"100"`
	BancoCuenta        string   `json:"bancoCuenta,omitempty" maxLength:"20"`
	BancoClabe         string   `json:"bancoClabe,omitempty" pattern:"^[0-9]{18}$" patternDescription:"18 digits"`
}

// Desempeno is how a driver has driven; completed trips make it.
type Desempeno struct {
	ViajesCompletados    int64    `json:"viajesCompletados"`
	KmTotales            Decimal  `json:"kmTotales"`
	CalificacionPromedio *Decimal `json:"calificacionPromedio,omitempty" doc:"Of the trips that a customer has rated, from 1 to 5"`
	PuntualidadPromedio  *Decimal `json:"puntualidadPromedio,omitempty" doc:"How many of 100 trips arrived by the time that was planned"`
	Incidentes           int64    `json:"incidentes"`
}

// Asignacion is what a driver has in hand.
type Asignacion struct {
	ViajeActualID      string `json:"viajeActualId,omitempty"`
	VehiculoAsignadoID string `json:"vehiculoAsignadoId,omitempty"`
	UbicacionActual    string `json:"ubicacionActual,omitempty"`
}

// Conductor is a driver.
type Conductor struct {
	ConductorID  string           `json:"conductorId" doc:"A ULID"`
	Nombre       string           `json:"nombre"`
	Rfc          string           `json:"rfc"`
	Curp         string           `json:"curp"`
	Email        string           `json:"email,omitempty"`
	Telefono     string           `json:"telefono,omitempty"`
	Estado       db.EstadoRecurso `json:"estado" enum:"disponible,en_viaje,inactivo,taller"`
	Activo       bool             `json:"activo"`
	Licencia     Licencia         `json:"licencia"`
	Compensacion *Compensacion    `json:"compensacion,omitempty"`
	Performance  Desempeno        `json:"performance"`
	Asignacion   Asignacion       `json:"asignacion"`
	CreatedAt    time.Time        `json:"createdAt"`
	UpdatedAt    time.Time        `json:"updatedAt"`
}

func conductorOf(c db.Conductor) Conductor {
	out := Conductor{
		ConductorID: c.ConductorID, Nombre: c.Nombre, Rfc: c.Rfc, Curp: c.Curp, Email: text(c.Email), Telefono: text(c.Telefono),
		Estado: c.Estado, Activo: c.Activo,
		Licencia: Licencia{Tipo: c.Licencia.Tipo, Numero: c.Licencia.Numero, Vigencia: c.Licencia.Vigencia.String()},
		Performance: Desempeno{
			ViajesCompletados: c.Performance.ViajesCompletados, KmTotales: Decimal{c.Performance.KmTotales},
			CalificacionPromedio: optional(c.Performance.CalificacionPromedio), PuntualidadPromedio: optional(c.Performance.PuntualidadPromedio),
			Incidentes: c.Performance.Incidentes,
		},
		Asignacion: Asignacion{
			ViajeActualID: text(c.Asignacion.ViajeActualID), VehiculoAsignadoID: text(c.Asignacion.VehiculoAsignadoID),
			UbicacionActual: text(c.Asignacion.UbicacionActual),
		},
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}
	if p := c.Compensacion; p != nil {
		out.Compensacion = &Compensacion{
			SalarioBase: optional(p.SalarioBase), PorcentajeComision: optional(p.PorcentajeComision),
			BancoCuenta: text(p.BancoCuenta), BancoClabe: text(p.BancoClabe),
		}
	}
	return out
}

// ConductorResumen is a driver in a list by state.
type ConductorResumen struct {
	ConductorID string           `json:"conductorId"`
	Nombre      string           `json:"nombre"`
	Estado      db.EstadoRecurso `json:"estado" enum:"disponible,en_viaje,inactivo,taller"`
	UpdatedAt   time.Time        `json:"updatedAt"`
}

// NuevoConductor is what is said of a driver.
type NuevoConductor struct {
	Nombre             string           `json:"nombre" minLength:"1" maxLength:"100"`
	Rfc                string           `json:"rfc" maxLength:"13" doc:"A person's RFC"`
	Curp               string           `json:"curp" maxLength:"18"`
	Email              string           `json:"email,omitempty" format:"email" maxLength:"254"`
	Telefono           string           `json:"telefono,omitempty" maxLength:"30"`
	Estado             db.EstadoRecurso `json:"estado,omitempty" enum:"disponible,inactivo" default:"disponible" doc:"A trip sets en_viaje by itself"`
	Activo             bool             `json:"activo,omitempty" default:"true"`
	Licencia           Licencia         `json:"licencia"`
	Compensacion       *Compensacion    `json:"compensacion,omitempty"`
	VehiculoAsignadoID string           `json:"vehiculoAsignadoId,omitempty" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID"`
	UbicacionActual    string           `json:"ubicacionActual,omitempty" maxLength:"200"`
}

// into writes what is said into a driver.
func (in *NuevoConductor) into(c *db.Conductor) {
	day, _ := table.ParseDate(in.Licencia.Vigencia) // check has looked
	c.Nombre, c.Rfc, c.Curp, c.Email, c.Telefono = in.Nombre, in.Rfc, in.Curp, given(in.Email), given(in.Telefono)
	c.Estado, c.Activo = in.Estado, in.Activo
	c.Licencia = db.Licencia{Tipo: in.Licencia.Tipo, Numero: in.Licencia.Numero, Vigencia: day}
	c.Asignacion.VehiculoAsignadoID, c.Asignacion.UbicacionActual = given(in.VehiculoAsignadoID), given(in.UbicacionActual)
	if p := in.Compensacion; p != nil {
		c.Compensacion = &db.Compensacion{
			SalarioBase: plain(p.SalarioBase), PorcentajeComision: plain(p.PorcentajeComision),
			BancoCuenta: given(p.BancoCuenta), BancoClabe: given(p.BancoClabe),
		}
	}
}

func (s *service) registerDrivers(a huma.API) {
	tags := []string{"Conductores"}
	huma.Register(a, huma.Operation{
		OperationID: "createConductor", Method: http.MethodPost, Path: "/conductores", Tags: tags,
		Summary: "Add a driver", Description: "As many as the plan allows.", DefaultStatus: http.StatusCreated,
	}, s.createConductor)
	huma.Register(a, huma.Operation{
		OperationID: "listConductores", Method: http.MethodGet, Path: "/conductores", Tags: tags,
		Summary:     "Your drivers, those in a state by name, or those who are free in a period",
		Description: "With desde and hasta: those at work whose trips leave that period free, and whose licence is valid up to its last day.",
	}, s.listConductores)
	huma.Register(a, huma.Operation{
		OperationID: "getConductor", Method: http.MethodGet, Path: "/conductores/{id}", Tags: tags,
		Summary: "One of your drivers", Errors: []int{http.StatusNotFound},
	}, s.getConductor)
	huma.Register(a, huma.Operation{
		OperationID: "putConductor", Method: http.MethodPut, Path: "/conductores/{id}", Tags: tags,
		Summary: "Change a driver who is not on a trip", Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, s.putConductor)
	huma.Register(a, huma.Operation{
		OperationID: "deleteConductor", Method: http.MethodDelete, Path: "/conductores/{id}", Tags: tags,
		Summary: "Take a driver off the company", Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, s.deleteConductor)
}

// ItemPath is for paths with a ULID.
type ItemPath struct {
	ID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"Its id"`
}

type createConductorInput struct {
	api.IdempotencyKey
	Body NuevoConductor
}

type createConductorOutput struct {
	Status   int
	Location string `header:"Location" doc:"Where the driver is"`
	Body     Conductor
}

func (s *service) createConductor(ctx context.Context, in *createConductorInput) (*createConductorOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	c, replayed, err := s.createDriver(ctx, who.Sub, in.IdempotencyKey.IdempotencyKey, in.Body)
	if err != nil {
		return nil, err
	}
	return &createConductorOutput{api.CreatedStatus(replayed), "conductores/" + c.ConductorID, c}, nil
}

type listConductoresInput struct {
	api.PageQuery
	Libres
	Estado string `query:"estado" enum:"disponible,en_viaje,inactivo" doc:"Only those in this state, by name"`
}

func (s *service) listConductores(ctx context.Context, in *listConductoresInput) (*api.PageOutput[ConductorResumen], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	free, err := in.period(in.Estado)
	if err != nil {
		return nil, err
	}
	if in.Estado == "" {
		page, err := s.drivers(ctx, who.Sub, free, in.Options())
		return api.PageOf(page, func(c db.Conductor) ConductorResumen {
			return ConductorResumen{ConductorID: c.ConductorID, Nombre: c.Nombre, Estado: c.Estado, UpdatedAt: c.UpdatedAt}
		}), err
	}
	page, err := s.db.ConductoresPorEstado(ctx, db.ConductoresPorEstadoInput{UserID: who.Sub, Estado: db.EstadoRecurso(in.Estado)}, in.Options())
	return api.PageOf(page, func(c db.ConductoresPorEstadoItem) ConductorResumen {
		return ConductorResumen{ConductorID: c.ConductorID, Nombre: c.Nombre, Estado: c.Estado, UpdatedAt: c.UpdatedAt}
	}), err
}

type conductorOutput struct{ Body Conductor }

func (s *service) getConductor(ctx context.Context, in *ItemPath) (*conductorOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.driver(ctx, who.Sub, in.ID)
	return &conductorOutput{c}, err
}

type putConductorInput struct {
	ItemPath
	Body NuevoConductor
}

func (s *service) putConductor(ctx context.Context, in *putConductorInput) (*conductorOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.saveDriver(ctx, who.Sub, in.ID, in.Body)
	return &conductorOutput{c}, err
}

func (s *service) deleteConductor(ctx context.Context, in *ItemPath) (*struct{}, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	return nil, s.deleteDriver(ctx, who.Sub, in.ID)
}
