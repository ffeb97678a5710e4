package catfecito

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

func (s *service) registerSessions(a huma.API) {
	tags := []string{tagSessions}
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "logIn", Method: http.MethodPost, Path: "/login", Tags: tags,
		Summary:     "Log in",
		Description: "The access token goes with requests for some minutes; the refresh token is exchanged for the next ones, once.",
		Errors:      []int{http.StatusUnauthorized, missing},
	}, api.Tokenless), s.postLogIn)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "refreshSession", Method: http.MethodPost, Path: "/sessions/refresh", Tags: tags,
		Summary:     "Exchange a refresh token",
		Description: "Each is good once; within ten seconds it may be exchanged again, for an answer that was lost. One that comes later ends the session.",
		Errors:      []int{http.StatusUnauthorized, missing},
	}, api.Tokenless), s.postRefresh)
	huma.Register(a, huma.Operation{
		OperationID: "listSessions", Method: http.MethodGet, Path: "/me/sessions", Tags: tags, Summary: "Where you are logged in, the latest first",
	}, s.listSessions)
	huma.Register(a, huma.Operation{
		OperationID: "logOut", Method: http.MethodDelete, Path: "/me/sessions/{sessionId}", Tags: tags,
		Summary: "Log out", Description: "current is the session that the token is of. Its tokens are refused from now on.",
	}, s.deleteSession)
	huma.Register(a, huma.Operation{
		OperationID: "changePassword", Method: http.MethodPut, Path: "/me/password", Tags: tags,
		Summary: "Change your password", Description: "All your sessions end; the response is a new one.", Errors: []int{missing, conflict},
	}, s.putPassword)
	huma.Register(a, huma.Operation{
		OperationID: "sendVerification", Method: http.MethodPost, Path: "/me/verification", Tags: tags,
		Summary: "Send a code to your address", DefaultStatus: http.StatusAccepted, Errors: []int{missing, conflict},
	}, s.postVerification)
	huma.Register(a, huma.Operation{
		OperationID: "verifyEmail", Method: http.MethodPut, Path: "/me/verification", Tags: tags,
		Summary: "Verify your address with the code", Errors: []int{missing},
	}, s.putVerification)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "sendPasswordReset", Method: http.MethodPost, Path: "/password-resets", Tags: tags,
		Summary: "Send a code for a new password", Description: "The response is the same whether somebody has the address or not.",
		DefaultStatus: http.StatusAccepted, Errors: []int{missing},
	}, api.Tokenless), s.postReset)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "resetPassword", Method: http.MethodPut, Path: "/password-resets", Tags: tags,
		Summary: "Set a new password with the code", Description: "All sessions of the user end.",
		DefaultStatus: http.StatusNoContent, Errors: []int{missing},
	}, api.Tokenless), s.putReset)
}

// Session is what a log-in gives.
type Session struct {
	AccessToken  string `json:"accessToken" doc:"Goes with requests: Authorization: Bearer TOKEN"`
	TokenType    string `json:"tokenType" enum:"Bearer" doc:"Always Bearer"`
	ExpiresIn    int    `json:"expiresIn" doc:"For how many seconds it is accepted, if the session does not end before"`
	RefreshToken string `json:"refreshToken" doc:"Is exchanged for the next tokens, once"`
	User         User   `json:"user" doc:"Who has logged in"`
}

// Device is where a user is logged in.
type Device struct {
	SessionID string    `json:"sessionId" doc:"The session's id, a ULID"`
	Device    string    `json:"device" doc:"What the browser says of itself"`
	CreatedAt time.Time `json:"createdAt" doc:"When the user logged in"`
	UsedAt    time.Time `json:"usedAt" doc:"When tokens were exchanged last"`
}

type logInInput struct {
	UserAgent string `header:"User-Agent"`
	Body      struct {
		Email    string `json:"email" format:"email" maxLength:"254" doc:"The address that you signed up with"`
		Password string `json:"password" minLength:"1" maxLength:"128" doc:"The password"`
	}
}

type sessionOutput struct {
	CacheControl string `header:"Cache-Control"`
	Body         Session
}

func sessionOf(o opened) *sessionOutput {
	return &sessionOutput{CacheControl: "no-store", Body: Session{
		AccessToken: o.access, TokenType: "Bearer", ExpiresIn: int(accessTTL.Seconds()), RefreshToken: o.refresh, User: userOf(o.user),
	}}
}

func (s *service) postLogIn(ctx context.Context, in *logInInput) (*sessionOutput, error) {
	o, err := s.logIn(ctx, api.Address(ctx), in.UserAgent, in.Body.Email, in.Body.Password)
	return sessionOf(o), err
}

type refreshInput struct {
	Body struct {
		RefreshToken string `json:"refreshToken" minLength:"1" maxLength:"300" doc:"The last one that you got"`
	}
}

func (s *service) postRefresh(ctx context.Context, in *refreshInput) (*sessionOutput, error) {
	o, err := s.refresh(ctx, in.Body.RefreshToken)
	return sessionOf(o), err
}

func (s *service) listSessions(ctx context.Context, in *struct{ api.PageQuery }) (*api.PageOutput[Device], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	page, err := s.db.SessionsOfUser(ctx, catfecitodb.SessionsOfUserInput{UserID: who.Sub}, in.Options())
	return api.PageOf(page, func(x catfecitodb.SessionsOfUserItem) Device {
		return Device{SessionID: x.SessionID, Device: x.Device, CreatedAt: x.CreatedAt, UsedAt: x.UsedAt}
	}), err
}

// SessionPath leads to a session. It has a capital because huma passes others over.
type SessionPath struct {
	SessionID string `path:"sessionId" pattern:"^([0-7][0-9A-HJKMNP-TV-Z]{25}|current)$" patternDescription:"a ULID, or current" doc:"The session's id, or current"`
}

func (s *service) deleteSession(ctx context.Context, in *struct{ SessionPath }) (*struct{}, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	id := in.SessionID
	if id == "current" {
		id = who.Session
	}
	if id == "" { // a token that is of no session
		return nil, nil
	}
	return nil, s.closeSession(ctx, who.Sub, id)
}

type passwordInput struct {
	UserAgent string `header:"User-Agent"`
	Body      struct {
		OldPassword string `json:"oldPassword" minLength:"1" maxLength:"128" doc:"The password that you have"`
		Password    string `json:"password" minLength:"8" maxLength:"128" doc:"The one that you want"`
	}
}

func (s *service) putPassword(ctx context.Context, in *passwordInput) (*sessionOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	o, err := s.changePassword(ctx, who.Sub, in.UserAgent, in.Body.OldPassword, in.Body.Password)
	return sessionOf(o), err
}

// LanguageHeader says in which language to write. It has a capital because huma passes others over.
type LanguageHeader struct {
	AcceptLanguage string `header:"Accept-Language" maxLength:"200" doc:"The language of the letter: es, pt or en"`
}

func (s *service) postVerification(ctx context.Context, in *struct{ LanguageHeader }) (*struct{}, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	return nil, s.askToVerify(ctx, who.Sub, speaking(in.AcceptLanguage))
}

type verificationInput struct {
	Body struct {
		Code string `json:"code" pattern:"^[0-9]{6}$" patternDescription:"six digits" doc:"The code that was sent"`
	}
}

func (s *service) putVerification(ctx context.Context, in *verificationInput) (*userOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	u, err := s.verify(ctx, who.Sub, in.Body.Code)
	return &userOutput{userOf(u)}, err
}

type resetRequestInput struct {
	LanguageHeader
	Body struct {
		Email string `json:"email" format:"email" maxLength:"254" doc:"The address that you signed up with"`
	}
}

func (s *service) postReset(ctx context.Context, in *resetRequestInput) (*struct{}, error) {
	return nil, s.askToReset(ctx, api.Address(ctx), in.Body.Email, speaking(in.AcceptLanguage))
}

type resetInput struct {
	Body struct {
		Email    string `json:"email" format:"email" maxLength:"254" doc:"The address that you signed up with"`
		Code     string `json:"code" pattern:"^[0-9]{6}$" patternDescription:"six digits" doc:"The code that was sent"`
		Password string `json:"password" minLength:"8" maxLength:"128" doc:"The password that you want"`
	}
}

func (s *service) putReset(ctx context.Context, in *resetInput) (*struct{}, error) {
	return nil, s.resetPassword(ctx, api.Address(ctx), in.Body.Email, in.Body.Code, in.Body.Password)
}
