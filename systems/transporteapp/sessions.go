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

// sessionLasts is how long a device stays in the list.
const sessionLasts = 12 * time.Hour

// Sesion is a device that is signed in.
type Sesion struct {
	SessionID   string    `json:"sessionId" doc:"A ULID"`
	Dispositivo string    `json:"dispositivo"`
	CreatedAt   time.Time `json:"createdAt"`
	ExpiresAt   time.Time `json:"expiresAt" doc:"When it ends by itself"`
}

func sesionOf(x db.Session) Sesion {
	return Sesion{SessionID: x.SessionID, Dispositivo: x.Dispositivo, CreatedAt: x.CreatedAt, ExpiresAt: x.TTL}
}

// openSession lists a device.
func (s *service) openSession(ctx context.Context, userID, key, device string) (Sesion, bool, error) {
	r := newRequest(userID, key, "createSesion", device)
	return once(ctx, s, r, func() (Sesion, bool, error) {
		id, err := s.newID()
		if err != nil {
			return Sesion{}, false, err
		}
		now := s.moment()
		x := db.Session{UserID: userID, SessionID: id, Dispositivo: device, CreatedAt: now, TTL: now.Add(sessionLasts).Truncate(time.Second)}
		answer, replayed := sesionOf(x), false
		err = again(ctx, func() error {
			done, err := s.db.AbrirSesion(ctx, db.AbrirSesionInput{
				RequestKey: r.key, Operacion: r.operation, Huella: r.fingerprint, Respuesta: encode(answer),
				UserID: x.UserID, SessionID: x.SessionID, Dispositivo: x.Dispositivo, CreatedAt: x.CreatedAt, TTL: x.TTL,
			})
			replayed = done.Replayed
			return err
		})
		return answer, replayed, err
	})
}

func (s *service) registerSessions(a huma.API) {
	tags := []string{"Sesiones"}
	huma.Register(a, huma.Operation{
		OperationID: "createSesion", Method: http.MethodPost, Path: "/sesiones", Tags: tags,
		Summary: "A device signs in", DefaultStatus: http.StatusCreated,
	}, s.createSesion)
	huma.Register(a, huma.Operation{
		OperationID: "listSesiones", Method: http.MethodGet, Path: "/sesiones", Tags: tags, Summary: "Your devices that are signed in",
	}, s.listSesiones)
	huma.Register(a, huma.Operation{
		OperationID: "deleteSesion", Method: http.MethodDelete, Path: "/sesiones/{id}", Tags: tags, Summary: "A device signs out",
	}, s.deleteSesion)
}

type createSesionInput struct {
	api.IdempotencyKey
	Body struct {
		Dispositivo string `json:"dispositivo" minLength:"1" maxLength:"200" doc:"What the device calls itself"`
	}
}

type createSesionOutput struct {
	Status int
	Body   Sesion
}

func (s *service) createSesion(ctx context.Context, in *createSesionInput) (*createSesionOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	x, replayed, err := s.openSession(ctx, who.Sub, in.IdempotencyKey.IdempotencyKey, in.Body.Dispositivo)
	if err != nil {
		return nil, err
	}
	return &createSesionOutput{api.CreatedStatus(replayed), x}, nil
}

func (s *service) listSesiones(ctx context.Context, in *struct{ api.PageQuery }) (*api.PageOutput[Sesion], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	page, err := s.db.SesionesDeUsuario(ctx, db.SesionesDeUsuarioInput{UserID: who.Sub}, in.Options())
	return api.PageOf(page, sesionOf), err
}

func (s *service) deleteSesion(ctx context.Context, in *ItemPath) (*struct{}, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	return nil, s.db.CerrarSesion(ctx, db.CerrarSesionInput{UserID: who.Sub, SessionID: in.ID})
}
