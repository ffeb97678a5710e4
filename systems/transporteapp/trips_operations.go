package transporteapp

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// Recursos are who and what makes a trip.
type Recursos struct {
	ConductorID     string `json:"conductorId"`
	ConductorNombre string `json:"conductorNombre" doc:"As it was when the driver was assigned"`
	VehiculoID      string `json:"vehiculoId"`
	VehiculoPlaca   string `json:"vehiculoPlaca"`
	RemolqueID      string `json:"remolqueId,omitempty"`
	RemolquePlaca   string `json:"remolquePlaca,omitempty"`
}

func recursosOf(r *db.Recursos) Recursos {
	return Recursos{
		ConductorID: r.ConductorID, ConductorNombre: r.ConductorNombre, VehiculoID: r.VehiculoID, VehiculoPlaca: r.VehiculoPlaca,
		RemolqueID: text(r.RemolqueID), RemolquePlaca: text(r.RemolquePlaca),
	}
}

// Fiscal is what a trip shows of its carta.
type Fiscal struct {
	CartaPorteID     string         `json:"cartaPorteId"`
	CartaPorteFolio  string         `json:"cartaPorteFolio"`
	CartaPorteStatus db.EstadoCarta `json:"cartaPorteStatus" enum:"borrador,en_timbrado,timbrada,en_cancelacion,cancelada"`
}

// Costos are what a trip costs and brings.
type Costos struct {
	CombustibleEstimado *Decimal `json:"combustibleEstimado,omitempty" minimum:"0" maximum:"999999999999"`
	PeajesEstimados     *Decimal `json:"peajesEstimados,omitempty" minimum:"0" maximum:"999999999999"`
	CostoTotal          *Decimal `json:"costoTotal,omitempty" minimum:"0" maximum:"999999999999"`
	PrecioCliente       *Decimal `json:"precioCliente,omitempty" minimum:"0" maximum:"999999999999"`
	Margen              *Decimal `json:"margen,omitempty" minimum:"-999999999999" maximum:"999999999999" doc:"precioCliente less costoTotal; reckoned"`
}

// margin is what a trip brings, nil where that cannot be told.
func (c *Costos) margin() *table.Decimal {
	if c.PrecioCliente == nil || c.CostoTotal == nil {
		return nil
	}
	m, err := difference(c.PrecioCliente.Decimal, c.CostoTotal.Decimal)
	if err != nil {
		return nil // it has more digits than a number of DynamoDB
	}
	return &m
}

// Viaje is a trip.
type Viaje struct {
	ViajeID               string         `json:"viajeId" doc:"A ULID"`
	Nombre                string         `json:"nombre"`
	Estado                db.EstadoViaje `json:"estado" enum:"borrador,programado,en_curso,completado,cancelado"`
	FechaInicioProgramada time.Time      `json:"fechaInicioProgramada"`
	FechaFinProgramada    time.Time      `json:"fechaFinProgramada"`
	Origen                string         `json:"origen"`
	Destino               string         `json:"destino"`
	OrigenCoordenadas     *Coordenadas   `json:"origenCoordenadas,omitempty"`
	DestinoCoordenadas    *Coordenadas   `json:"destinoCoordenadas,omitempty"`
	DistanciaTotal        Decimal        `json:"distanciaTotal" doc:"km"`
	Resources             *Recursos      `json:"resources,omitempty"`
	Fiscal                *Fiscal        `json:"fiscal,omitempty"`
	Local                 bool           `json:"local,omitempty" doc:"It uses no federal road and needs no carta"`
	Costos                *Costos        `json:"costos,omitempty"`
	CreatedAt             time.Time      `json:"createdAt"`
	UpdatedAt             time.Time      `json:"updatedAt"`
}

func viajeOf(v db.Viaje) Viaje {
	out := Viaje{
		ViajeID: v.ViajeID, Nombre: v.Nombre, Estado: v.Estado, FechaInicioProgramada: v.FechaInicioProgramada,
		FechaFinProgramada: v.FechaFinProgramada, Origen: v.Origen, Destino: v.Destino, OrigenCoordenadas: coordenadasOf(v.OrigenCoordenadas),
		DestinoCoordenadas: coordenadasOf(v.DestinoCoordenadas), DistanciaTotal: Decimal{v.DistanciaTotal}, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
		Local: v.Local != nil && *v.Local,
	}
	if r := v.Resources; r != nil {
		resources := recursosOf(r)
		out.Resources = &resources
	}
	if v.Fiscal != nil {
		f := Fiscal(*v.Fiscal)
		out.Fiscal = &f
	}
	if c := v.Costos; c != nil {
		out.Costos = &Costos{
			CombustibleEstimado: optional(c.CombustibleEstimado), PeajesEstimados: optional(c.PeajesEstimados), CostoTotal: optional(c.CostoTotal),
			PrecioCliente: optional(c.PrecioCliente), Margen: optional(c.Margen),
		}
	}
	return out
}

// ViajeConCarta is a trip with its carta, if it has one, and where it is, if it has begun.
type ViajeConCarta struct {
	Viaje
	Tracking *Rastreo `json:"tracking,omitempty" doc:"Where the trip is, once it has left"`
	Carta    *Carta   `json:"carta,omitempty" doc:"The head of the trip's carta"`
}

// ViajeResumen is a trip in a list.
type ViajeResumen struct {
	ViajeID               string         `json:"viajeId"`
	Nombre                string         `json:"nombre"`
	Estado                db.EstadoViaje `json:"estado" enum:"borrador,programado,en_curso,completado,cancelado"`
	FechaInicioProgramada time.Time      `json:"fechaInicioProgramada"`
	FechaFinProgramada    time.Time      `json:"fechaFinProgramada"`
	Origen                string         `json:"origen"`
	Destino               string         `json:"destino"`
	CreatedAt             time.Time      `json:"createdAt"`
	UpdatedAt             time.Time      `json:"updatedAt"`
}

// DatosViaje are what is said of a trip.
type DatosViaje struct {
	Nombre                string       `json:"nombre" minLength:"1" maxLength:"200"`
	FechaInicioProgramada time.Time    `json:"fechaInicioProgramada"`
	FechaFinProgramada    time.Time    `json:"fechaFinProgramada"`
	Origen                string       `json:"origen" minLength:"1" maxLength:"200"`
	Destino               string       `json:"destino" minLength:"1" maxLength:"200"`
	OrigenCoordenadas     *Coordenadas `json:"origenCoordenadas,omitempty"`
	DestinoCoordenadas    *Coordenadas `json:"destinoCoordenadas,omitempty"`
	Local                 bool         `json:"local,omitempty" doc:"It uses no federal road: it may leave without a carta"`
	DistanciaTotal        Decimal      `json:"distanciaTotal" minimum:"0.01" maximum:"99999" doc:"km"`
	Costos                *Costos      `json:"costos,omitempty"`
}

// NuevoViaje is a trip that is made.
type NuevoViaje struct {
	DatosViaje
	Estado db.EstadoViaje `json:"estado,omitempty" enum:"borrador,programado" default:"programado"`
	Carta  *NuevaCarta    `json:"carta,omitempty" doc:"With it the trip's carta is made too, and takes a credit"`
}

func (in *DatosViaje) into(v *db.Viaje) {
	v.Nombre, v.Origen, v.Destino = in.Nombre, in.Origen, in.Destino
	v.FechaInicioProgramada = in.FechaInicioProgramada.UTC().Truncate(time.Millisecond)
	v.FechaFinProgramada = in.FechaFinProgramada.UTC().Truncate(time.Millisecond)
	v.OrigenCoordenadas, v.DestinoCoordenadas = in.OrigenCoordenadas.stored(), in.DestinoCoordenadas.stored()
	v.DistanciaTotal = in.DistanciaTotal.Decimal
	if in.Local {
		v.Local = &in.Local
	}
	if c := in.Costos; c != nil {
		v.Costos = &db.Costos{
			CombustibleEstimado: plain(c.CombustibleEstimado), PeajesEstimados: plain(c.PeajesEstimados), CostoTotal: plain(c.CostoTotal),
			PrecioCliente: plain(c.PrecioCliente), Margen: c.margin(),
		}
	}
}

func (s *service) registerTrips(a huma.API) {
	tags := []string{"Viajes"}
	huma.Register(a, huma.Operation{
		OperationID: "createViaje", Method: http.MethodPost, Path: "/viajes", Tags: tags,
		Summary: "Plan a trip, with its Carta Porte or without", DefaultStatus: http.StatusCreated,
		Description: "With carta, the trip, its carta, the folio, the month's counter and the credit are one transaction.",
	}, s.createViaje)
	huma.Register(a, huma.Operation{
		OperationID: "listViajes", Method: http.MethodGet, Path: "/viajes", Tags: tags,
		Summary:     "Your trips, newest first",
		Description: "With estado, those in that state by when they begin; with desde or hasta, those that begin then.",
	}, s.listViajes)
	huma.Register(a, huma.Operation{
		OperationID: "getViaje", Method: http.MethodGet, Path: "/viajes/{id}", Tags: tags,
		Summary: "One of your trips with its carta, and where it is", Errors: []int{http.StatusNotFound},
	}, s.getViaje)
	change := []int{http.StatusNotFound, http.StatusConflict}
	huma.Register(a, huma.Operation{
		OperationID: "putViaje", Method: http.MethodPut, Path: "/viajes/{id}", Tags: tags,
		Summary: "Change a trip that nobody drives yet", Errors: change,
	}, s.putViaje)
	huma.Register(a, huma.Operation{
		OperationID: "programarViaje", Method: http.MethodPost, Path: "/viajes/{id}/programar", Tags: tags,
		Summary: "A draft is to be made", Errors: change,
	}, s.programarViaje)
	huma.Register(a, huma.Operation{
		OperationID: "putRecursos", Method: http.MethodPut, Path: "/viajes/{id}/recursos", Tags: tags,
		Summary:     "Assign driver, vehicle and trailer, or others in their place",
		Description: "None of them has another trip in the trip's period, or nothing changes. One trip may begin when another ends.", Errors: change,
	}, s.putRecursos)
	huma.Register(a, huma.Operation{
		OperationID: "deleteRecursos", Method: http.MethodDelete, Path: "/viajes/{id}/recursos", Tags: tags,
		Summary: "Take back who and what was to make the trip", Description: "It has not left; a trip that has nobody stays as it is.", Errors: change,
	}, s.deleteRecursos)
	huma.Register(a, huma.Operation{
		OperationID: "iniciarViaje", Method: http.MethodPost, Path: "/viajes/{id}/iniciar", Tags: tags,
		Summary: "The trip leaves", Errors: change,
		Description: "Its carta is stamped, unless it is local, and it is planned to begin within a day.",
	}, s.iniciarViaje)
	huma.Register(a, huma.Operation{
		OperationID: "completarViaje", Method: http.MethodPost, Path: "/viajes/{id}/completar", Tags: tags,
		Summary: "The trip has arrived", Description: "Who and what made it are free, and what they have driven is counted.", Errors: change,
	}, s.completarViaje)
	huma.Register(a, huma.Operation{
		OperationID: "cancelarViaje", Method: http.MethodPost, Path: "/viajes/{id}/cancelar", Tags: tags,
		Summary: "The trip is off", Errors: change,
	}, s.cancelarViaje)
	huma.Register(a, huma.Operation{
		OperationID: "createCarta", Method: http.MethodPost, Path: "/viajes/{id}/cartas", Tags: []string{"Cartas"},
		Summary: "A carta for a trip that has none", DefaultStatus: http.StatusCreated, Errors: []int{http.StatusNotFound},
	}, s.createCarta)
	huma.Register(a, huma.Operation{
		OperationID: "listCartasDeViaje", Method: http.MethodGet, Path: "/viajes/{id}/cartas", Tags: []string{"Cartas"},
		Summary: "The cartas of a trip, those that were cancelled too", Errors: []int{http.StatusNotFound},
	}, s.listCartasDeViaje)
}

type createViajeInput struct {
	api.IdempotencyKey
	Body NuevoViaje
}

type createViajeOutput struct {
	Status   int
	Location string `header:"Location" doc:"Where the trip is"`
	Body     ViajeConCarta
}

func (s *service) createViaje(ctx context.Context, in *createViajeInput) (*createViajeOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	v, replayed, err := s.createTrip(ctx, who.Sub, in.IdempotencyKey.IdempotencyKey, in.Body)
	if err != nil {
		return nil, err
	}
	return &createViajeOutput{api.CreatedStatus(replayed), "viajes/" + v.ViajeID, v}, nil
}

type listViajesInput struct {
	api.PageQuery
	Estado string    `query:"estado" enum:"borrador,programado,en_curso,completado,cancelado" doc:"Only those in this state"`
	Desde  time.Time `query:"desde" doc:"The earliest time at which they begin"`
	Hasta  time.Time `query:"hasta" doc:"The latest time at which they begin"`
}

func (s *service) listViajes(ctx context.Context, in *listViajesInput) (*api.PageOutput[ViajeResumen], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	dated := !in.Desde.IsZero() || !in.Hasta.IsZero()
	switch {
	case dated && in.Estado != "":
		return nil, problem.BadRequest(
			problem.CodeInvalidParameter, "estado and a period do not go together", problem.Field{Field: "query.estado", Message: "comes with desde or hasta"},
		)
	case dated:
		page, err := s.tripsByDate(ctx, who.Sub, period{in.Desde, in.Hasta}, in.Options())
		return api.PageOf(page, func(v db.ViajesPorFechaItem) ViajeResumen {
			return ViajeResumen{v.ViajeID, v.Nombre, v.Estado, v.FechaInicioProgramada, v.FechaFinProgramada, v.Origen, v.Destino, v.CreatedAt, v.UpdatedAt}
		}), err
	case in.Estado != "":
		page, err := s.db.ViajesPorEstado(ctx, db.ViajesPorEstadoInput{UserID: who.Sub, Estado: db.EstadoViaje(in.Estado)}, in.Options())
		return api.PageOf(page, func(v db.ViajesPorEstadoItem) ViajeResumen {
			return ViajeResumen{v.ViajeID, v.Nombre, v.Estado, v.FechaInicioProgramada, v.FechaFinProgramada, v.Origen, v.Destino, v.CreatedAt, v.UpdatedAt}
		}), err
	default:
		page, err := s.db.ViajesDeUsuario(ctx, db.ViajesDeUsuarioInput{UserID: who.Sub}, in.Options())
		return api.PageOf(page, func(v db.Viaje) ViajeResumen {
			return ViajeResumen{v.ViajeID, v.Nombre, v.Estado, v.FechaInicioProgramada, v.FechaFinProgramada, v.Origen, v.Destino, v.CreatedAt, v.UpdatedAt}
		}), err
	}
}

type viajeConCartaOutput struct{ Body ViajeConCarta }

func (s *service) getViaje(ctx context.Context, in *ItemPath) (*viajeConCartaOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	v, err := s.trip(ctx, who.Sub, in.ID)
	return &viajeConCartaOutput{v}, err
}

type viajeOutput struct{ Body Viaje }

type putViajeInput struct {
	ItemPath
	Body DatosViaje
}

func (s *service) putViaje(ctx context.Context, in *putViajeInput) (*viajeOutput, error) {
	return change(ctx, in.ID, func(ctx context.Context, userID, id string) (Viaje, error) {
		return s.saveTrip(ctx, userID, id, in.Body)
	})
}

// change makes a change of one of the caller's trips an operation.
func change(ctx context.Context, id string, do func(ctx context.Context, userID, id string) (Viaje, error)) (*viajeOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	v, err := do(ctx, who.Sub, id)
	return &viajeOutput{v}, err
}

func (s *service) programarViaje(ctx context.Context, in *ItemPath) (*viajeOutput, error) {
	return change(ctx, in.ID, s.schedule)
}

type putRecursosInput struct {
	ItemPath
	Body RecursosElegidos
}

func (s *service) putRecursos(ctx context.Context, in *putRecursosInput) (*viajeOutput, error) {
	return change(ctx, in.ID, func(ctx context.Context, userID, id string) (Viaje, error) {
		return s.assign(ctx, userID, id, in.Body)
	})
}

func (s *service) deleteRecursos(ctx context.Context, in *ItemPath) (*viajeOutput, error) {
	return change(ctx, in.ID, s.unassign)
}

func (s *service) iniciarViaje(ctx context.Context, in *ItemPath) (*viajeOutput, error) {
	return change(ctx, in.ID, s.begin)
}

// Llegada is how a trip went.
type Llegada struct {
	Calificacion int64 `json:"calificacion,omitempty" minimum:"1" maximum:"5" doc:"What the customer says of the driver, 5 is best"`
	Incidentes   int64 `json:"incidentes,omitempty" minimum:"0" maximum:"100" doc:"How often something went wrong"`
}

type completarViajeInput struct {
	ItemPath
	Body *Llegada
}

func (s *service) completarViaje(ctx context.Context, in *completarViajeInput) (*viajeOutput, error) {
	var how Llegada
	if in.Body != nil {
		how = *in.Body
	}
	return change(ctx, in.ID, func(ctx context.Context, userID, id string) (Viaje, error) {
		return s.complete(ctx, userID, id, how)
	})
}

func (s *service) cancelarViaje(ctx context.Context, in *ItemPath) (*viajeOutput, error) {
	return change(ctx, in.ID, s.cancel)
}

type createCartaInput struct {
	ItemPath
	api.IdempotencyKey
	Body NuevaCarta
}

type createCartaOutput struct {
	Status   int
	Location string `header:"Location" doc:"Where the carta is"`
	Body     Carta
}

func (s *service) createCarta(ctx context.Context, in *createCartaInput) (*createCartaOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	c, replayed, err := s.addCarta(ctx, who.Sub, in.ID, in.IdempotencyKey.IdempotencyKey, in.Body)
	if err != nil {
		return nil, err
	}
	return &createCartaOutput{api.CreatedStatus(replayed), "cartas/" + c.CartaID, c}, nil
}

type listCartasDeViajeInput struct {
	ItemPath
	api.PageQuery
}

func (s *service) listCartasDeViaje(ctx context.Context, in *listCartasDeViajeInput) (*api.PageOutput[CartaResumen], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	page, err := s.db.CartasDeViaje(ctx, db.CartasDeViajeInput{UserID: who.Sub, ViajeID: in.ID}, in.Options())
	if err == nil && len(page.Items) == 0 {
		err = s.tripExists(ctx, who.Sub, in.ID)
	}
	return api.PageOf(page, func(c db.CartasDeViajeItem) CartaResumen {
		return CartaResumen{CartaID: c.CartaID, ViajeID: c.ViajeID, Folio: c.Folio, Status: c.Status, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt}
	}), err
}
