package transporteapp

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

func (s *service) registerContents(a huma.API) {
	tags := []string{"Cartas"}
	one, change := []int{http.StatusNotFound}, []int{http.StatusNotFound, http.StatusConflict}
	huma.Register(a, huma.Operation{
		OperationID: "getContenido", Method: http.MethodGet, Path: "/cartas/{id}/contenido", Tags: tags,
		Summary: "All that a carta lists, a page at a time", Errors: one,
	}, s.getContenido)
	huma.Register(a, huma.Operation{
		OperationID: "putAutotransporte", Method: http.MethodPut, Path: "/cartas/{id}/autotransporte", Tags: tags,
		Summary: "Declare a draft's vehicle", Errors: change,
	}, s.putAutotransporte)
	huma.Register(a, huma.Operation{
		OperationID: "putUbicaciones", Method: http.MethodPut, Path: "/cartas/{id}/ubicaciones", Tags: tags,
		Summary: "Declare a draft's places, instead of those it had", Errors: change,
	}, s.putUbicaciones)
	huma.Register(a, huma.Operation{
		OperationID: "putFiguras", Method: http.MethodPut, Path: "/cartas/{id}/figuras", Tags: tags,
		Summary: "Declare a draft's people, instead of those it had", Errors: change,
	}, s.putFiguras)
	huma.Register(a, huma.Operation{
		OperationID: "addMercancias", Method: http.MethodPost, Path: "/cartas/{id}/mercancias", Tags: tags,
		Summary: "Add goods to a draft", Description: "At most 1,000 at once; thousands are sent in several requests, each with a key of its own.",
		DefaultStatus: http.StatusCreated, Errors: one,
	}, s.addMercancias)
	huma.Register(a, huma.Operation{
		OperationID: "listMercancias", Method: http.MethodGet, Path: "/cartas/{id}/mercancias", Tags: tags, Summary: "The goods of a carta", Errors: one,
	}, s.listMercancias)
}

type contenidoInput struct {
	ItemPath
	api.PageQuery
}

type contenidoOutput struct{ Body Contenido }

func (s *service) getContenido(ctx context.Context, in *contenidoInput) (*contenidoOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.contents(ctx, who.Sub, in.ID, in.Options())
	return &contenidoOutput{c}, err
}

type putAutotransporteInput struct {
	ItemPath
	Body Autotransporte
}

type autotransporteOutput struct{ Body Autotransporte }

func (s *service) putAutotransporte(ctx context.Context, in *putAutotransporteInput) (*autotransporteOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	a, err := s.declareVehicle(ctx, who.Sub, in.ID, in.Body)
	return &autotransporteOutput{a}, err
}

// ubicaciones are places in a body.
type ubicaciones struct {
	Ubicaciones []Ubicacion `json:"ubicaciones" nullable:"false" minItems:"1" maxItems:"50"`
}

type putUbicacionesInput struct {
	ItemPath
	Body ubicaciones
}

type ubicacionesOutput struct{ Body ubicaciones }

func (s *service) putUbicaciones(ctx context.Context, in *putUbicacionesInput) (*ubicacionesOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	list, err := s.declarePlaces(ctx, who.Sub, in.ID, in.Body.Ubicaciones)
	return &ubicacionesOutput{ubicaciones{list}}, err
}

// figuras are people in a body.
type figuras struct {
	Figuras []Figura `json:"figuras" nullable:"false" minItems:"1" maxItems:"20"`
}

type putFigurasInput struct {
	ItemPath
	Body figuras
}

type figurasOutput struct{ Body figuras }

func (s *service) putFiguras(ctx context.Context, in *putFigurasInput) (*figurasOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	list, err := s.declarePeople(ctx, who.Sub, in.ID, in.Body.Figuras)
	return &figurasOutput{figuras{list}}, err
}

type addMercanciasInput struct {
	ItemPath
	api.IdempotencyKey
	Body struct {
		Mercancias []Mercancia `json:"mercancias" nullable:"false" minItems:"1" maxItems:"1000"`
	}
}

type addMercanciasOutput struct {
	Status int
	Body   Agregado
}

func (s *service) addMercancias(ctx context.Context, in *addMercanciasInput) (*addMercanciasOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	done, replayed, err := s.addGoods(ctx, who.Sub, in.ID, in.IdempotencyKey.IdempotencyKey, in.Body.Mercancias)
	if err != nil {
		return nil, err
	}
	return &addMercanciasOutput{api.CreatedStatus(replayed), done}, nil
}

func (s *service) listMercancias(ctx context.Context, in *contenidoInput) (*api.PageOutput[Mercancia], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	page, err := s.db.MercanciasDeCarta(ctx, db.MercanciasDeCartaInput{UserID: who.Sub, CartaID: in.ID}, in.Options())
	if err == nil && len(page.Items) == 0 {
		_, err = s.carta(ctx, who.Sub, in.ID)
	}
	return api.PageOf(page, mercanciaOf), err
}
