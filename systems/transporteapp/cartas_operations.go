package transporteapp

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// register adds the operations to the API.
func (s *service) register(a huma.API) {
	s.registerProfile(a)
	s.registerDrivers(a)
	s.registerFleet(a)
	s.registerTrips(a)
	s.registerTracking(a)
	s.registerCartas(a)
	s.registerContents(a)
	s.registerSessions(a)
}

func (s *service) registerCartas(a huma.API) {
	tags := []string{"Cartas"}
	one, change := []int{http.StatusNotFound}, []int{http.StatusNotFound, http.StatusConflict}
	huma.Register(a, huma.Operation{
		OperationID: "listCartas", Method: http.MethodGet, Path: "/cartas", Tags: tags,
		Summary: "Your cartas, newest first, or those in a state, oldest first",
	}, s.listCartas)
	huma.Register(a, huma.Operation{
		OperationID: "getCarta", Method: http.MethodGet, Path: "/cartas/{id}", Tags: tags, Summary: "The head of a carta", Errors: one,
	}, s.getCarta)
	huma.Register(a, huma.Operation{
		OperationID: "getCartaPorFolio", Method: http.MethodGet, Path: "/folios/{folio}", Tags: tags, Summary: "A carta by its folio", Errors: one,
	}, s.getCartaPorFolio)
	huma.Register(a, huma.Operation{
		OperationID: "sellarCarta", Method: http.MethodPost, Path: "/cartas/{id}/sellar", Tags: tags,
		Summary: "A carta is complete", Description: "It is read back whole and held to what the tax office asks.", Errors: change,
	}, s.sellarCarta)
	huma.Register(a, huma.Operation{
		OperationID: "abrirCarta", Method: http.MethodPost, Path: "/cartas/{id}/abrir", Tags: tags,
		Summary: "A complete carta is to be changed again", Errors: change,
	}, s.abrirCarta)
	huma.Register(a, huma.Operation{
		OperationID: "timbrarCarta", Method: http.MethodPost, Path: "/cartas/{id}/timbrado", Tags: tags,
		Summary: "Stamp a complete carta", DefaultStatus: http.StatusCreated, Errors: one,
		Description: "Without a PAC of the deployment's own, the stamp is a test: PRUEBA, sin validez fiscal.",
	}, s.timbrarCarta)
	huma.Register(a, huma.Operation{
		OperationID: "getXml", Method: http.MethodGet, Path: "/cartas/{id}/xml", Tags: tags, Summary: "The XML of a stamped carta", Errors: change,
	}, s.getXML)
	huma.Register(a, huma.Operation{
		OperationID: "cancelarCarta", Method: http.MethodPost, Path: "/cartas/{id}/cancelacion", Tags: tags,
		Summary: "Cancel a carta", Description: "A draft gives its credit back.", Errors: change,
	}, s.cancelarCarta)
}

type listCartasInput struct {
	api.PageQuery
	Status string `query:"status" enum:"borrador,en_timbrado,timbrada,en_cancelacion,cancelada" doc:"Only those in this state"`
}

func (s *service) listCartas(ctx context.Context, in *listCartasInput) (*api.PageOutput[CartaResumen], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	if in.Status == "" {
		page, err := s.db.CartasDeUsuario(ctx, db.CartasDeUsuarioInput{UserID: who.Sub}, in.Options())
		return api.PageOf(page, func(c db.Carta) CartaResumen {
			return CartaResumen{CartaID: c.CartaID, ViajeID: c.ViajeID, Folio: c.Folio, Status: c.Status, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt}
		}), err
	}
	page, err := s.db.CartasPorEstado(ctx, db.CartasPorEstadoInput{UserID: who.Sub, Status: db.EstadoCarta(in.Status)}, in.Options())
	return api.PageOf(page, func(c db.CartasPorEstadoItem) CartaResumen {
		return CartaResumen{CartaID: c.CartaID, ViajeID: c.ViajeID, Folio: c.Folio, Status: c.Status, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt}
	}), err
}

type cartaOutput struct{ Body Carta }

func (s *service) getCarta(ctx context.Context, in *ItemPath) (*cartaOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.carta(ctx, who.Sub, in.ID)
	return &cartaOutput{cartaOf(&c)}, err
}

type folioInput struct {
	Folio string `path:"folio" pattern:"^CP-[0-9]{6,12}$" patternDescription:"CP- and digits" doc:"As CP-000015"`
}

func (s *service) getCartaPorFolio(ctx context.Context, in *folioInput) (*cartaOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.db.CartaPorFolio(ctx, db.CartaPorFolioInput{UserID: who.Sub, Folio: in.Folio})
	return &cartaOutput{cartaOf(&c)}, err
}

func (s *service) sellarCarta(ctx context.Context, in *ItemPath) (*cartaOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.seal(ctx, who.Sub, in.ID)
	return &cartaOutput{c}, err
}

func (s *service) abrirCarta(ctx context.Context, in *ItemPath) (*cartaOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.open(ctx, who.Sub, in.ID)
	return &cartaOutput{c}, err
}

type timbrarCartaInput struct {
	ItemPath
	api.IdempotencyKey
}

type timbrarCartaOutput struct {
	Status   int
	Location string `header:"Location" doc:"Where the XML is"`
	Body     Carta
}

func (s *service) timbrarCarta(ctx context.Context, in *timbrarCartaInput) (*timbrarCartaOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	c, replayed, err := s.stamp(ctx, who.Sub, in.ID, in.IdempotencyKey.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	return &timbrarCartaOutput{api.CreatedStatus(replayed), "cartas/" + c.CartaID + "/xml", c}, nil
}

type xmlOutput struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (s *service) getXML(ctx context.Context, in *ItemPath) (*xmlOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	document, err := s.xml(ctx, who.Sub, in.ID)
	return &xmlOutput{"application/xml; charset=utf-8", document}, err
}

type cancelarCartaInput struct {
	ItemPath
	Body struct {
		Motivo    string `json:"motivo,omitempty" enum:"01,02,03,04" doc:"Of a stamped carta: the SAT's reason"`
		Sustituye string `json:"sustituye,omitempty" format:"uuid" doc:"With 01: the UUID of the carta in its place"`
	}
}

func (s *service) cancelarCarta(ctx context.Context, in *cancelarCartaInput) (*cartaOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.cancelCarta(ctx, who.Sub, in.ID, in.Body.Motivo, in.Body.Sustituye)
	return &cartaOutput{c}, err
}
