package transporteapp

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// future is how far a vehicle's clock may be ahead.
const future = 5 * time.Minute

// Ping is where a trip is.
type Ping struct {
	Lat                Decimal   `json:"lat" minimum:"-90" maximum:"90" doc:"Latitude in degrees"`
	Lng                Decimal   `json:"lng" minimum:"-180" maximum:"180" doc:"Longitude in degrees"`
	At                 time.Time `json:"at" doc:"When it was there; the same time again is the same ping"`
	DistanciaRecorrida *Decimal  `json:"distanciaRecorrida,omitempty" minimum:"0" maximum:"99999" doc:"What the trip has driven, in km; without it, it is reckoned"`
}

// Rastreo is where a trip is now, and how far.
type Rastreo struct {
	ViajeID             string     `json:"viajeId"`
	Activo              bool       `json:"activo" doc:"Whether the trip is on its way"`
	UbicacionActual     *Posicion  `json:"ubicacionActual,omitempty"`
	UltimaActualizacion *time.Time `json:"ultimaActualizacion,omitempty"`
	Progreso            int64      `json:"progreso" doc:"Per cent"`
	DistanciaRecorrida  Decimal    `json:"distanciaRecorrida" doc:"km"`
	DistanciaTotal      Decimal    `json:"distanciaTotal" doc:"km"`
}

// Posicion is a place.
type Posicion struct {
	Lat Decimal    `json:"lat"`
	Lng Decimal    `json:"lng"`
	At  *time.Time `json:"at,omitempty"`
}

func rastreoOf(t db.Tracking) Rastreo {
	out := Rastreo{
		ViajeID: t.ViajeID, Activo: t.Activo, UltimaActualizacion: t.UltimaActualizacion, Progreso: t.Progreso,
		DistanciaRecorrida: Decimal{t.DistanciaRecorrida}, DistanciaTotal: Decimal{t.DistanciaTotal},
	}
	if t.Lat != nil && t.Lng != nil {
		out.UbicacionActual = &Posicion{Lat: Decimal{*t.Lat}, Lng: Decimal{*t.Lng}}
	}
	return out
}

func (s *service) registerTracking(a huma.API) {
	tags := []string{"Rastreo"}
	huma.Register(a, huma.Operation{
		OperationID: "createPosicion", Method: http.MethodPost, Path: "/viajes/{id}/posiciones", Tags: tags,
		Summary: "Say where a trip is", Description: "It needs no Idempotency-Key: its time is its key.",
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, s.createPosicion)
	huma.Register(a, huma.Operation{
		OperationID: "getPosicion", Method: http.MethodGet, Path: "/viajes/{id}/posicion", Tags: tags,
		Summary: "Where a trip is now, and how far", Errors: []int{http.StatusNotFound},
	}, s.getPosicion)
	huma.Register(a, huma.Operation{
		OperationID: "listPosiciones", Method: http.MethodGet, Path: "/viajes/{id}/posiciones", Tags: tags,
		Summary: "Where a trip has been", Errors: []int{http.StatusNotFound},
	}, s.listPosiciones)
}

type createPosicionInput struct {
	ItemPath
	Body Ping
}

type rastreoOutput struct{ Body Rastreo }

func (s *service) createPosicion(ctx context.Context, in *createPosicionInput) (*rastreoOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	if in.Body.At.After(s.now().Add(future)) {
		return nil, problem.BadRequest(problem.CodeInvalidBody, "the ping is of the future", problem.Field{Field: "body.at", Message: "is yet to come"})
	}
	at, err := s.ping(ctx, who.Sub, in.ID, in.Body)
	return &rastreoOutput{at}, err
}

func (s *service) getPosicion(ctx context.Context, in *ItemPath) (*rastreoOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	t, err := s.db.PosicionActual(ctx, db.PosicionActualInput{UserID: who.Sub, ViajeID: in.ID})
	return &rastreoOutput{rastreoOf(t)}, err
}

type listPosicionesInput struct {
	ItemPath
	api.PageQuery
	Desde time.Time `query:"desde" doc:"The earliest time"`
	Hasta time.Time `query:"hasta" doc:"The latest time"`
}

func (s *service) listPosiciones(ctx context.Context, in *listPosicionesInput) (*api.PageOutput[Posicion], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	span := period{in.Desde, in.Hasta}
	if err := span.check(); err != nil {
		return nil, err
	}
	asked := db.RutaInput{UserID: who.Sub, ViajeID: in.ID, AtFrom: bound(span.from), AtTo: bound(span.to)}
	page, err := s.db.Ruta(ctx, asked, in.Options())
	if err == nil && len(page.Items) == 0 {
		err = s.tripExists(ctx, who.Sub, in.ID)
	}
	return api.PageOf(page, func(p db.Posicion) Posicion {
		return Posicion{Lat: Decimal{p.Lat}, Lng: Decimal{p.Lng}, At: &p.At}
	}), err
}
