package portfolio

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

func (s *service) registerUsers(a huma.API) {
	huma.Register(a, huma.Operation{
		OperationID: "getProfile", Method: http.MethodGet, Path: "/me", Tags: []string{tagUsers},
		Summary: "Your profile", Errors: []int{http.StatusNotFound},
	}, s.getProfile)
	huma.Register(a, huma.Operation{
		OperationID: "putProfile", Method: http.MethodPut, Path: "/me", Tags: []string{tagUsers},
		Summary: "Make or change your profile", Errors: []int{http.StatusConflict},
	}, s.putProfile)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "findUser", Method: http.MethodGet, Path: "/users", Tags: []string{tagUsers},
		Summary: "The user of an address", Errors: []int{http.StatusNotFound},
	}, api.Groups(AdminGroup)), s.findUser)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "getUser", Method: http.MethodGet, Path: "/users/{id}", Tags: []string{tagUsers},
		Summary: "A user as others see him", Errors: []int{http.StatusNotFound},
	}, api.Public), s.getUser)
}

type profileOutput struct{ Body Profile }

func (s *service) getProfile(ctx context.Context, _ *struct{}) (*profileOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	u, err := s.user(ctx, who.Sub)
	return &profileOutput{profileOf(u)}, err
}

type putProfileInput struct {
	Body struct {
		Email string `json:"email" format:"email" maxLength:"254" pattern:"^[A-Za-z0-9!#$%&'*+/=?^_{|}~.-]+@[A-Za-z0-9.-]+$" patternDescription:"an e-mail address" doc:"Your address, which no other user may have"`
		Name  string `json:"name" minLength:"1" maxLength:"100" pattern:"[^\\s\\p{Z}\\p{C}]" patternDescription:"a text that can be seen" doc:"What you are called"`
		Bio   string `json:"bio,omitempty" maxLength:"1000" doc:"What you say of yourself"`
	}
}

func (s *service) putProfile(ctx context.Context, in *putProfileInput) (*profileOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	u, err := s.saveProfile(ctx, who.Sub, in.Body.Email, in.Body.Name, in.Body.Bio)
	return &profileOutput{profileOf(u)}, err
}

type findUserInput struct {
	Email string `query:"email" required:"true" format:"email" maxLength:"254" pattern:"^[A-Za-z0-9!#$%&'*+/=?^_{|}~.-]+@[A-Za-z0-9.-]+$" patternDescription:"an e-mail address" doc:"The address, in whatever case"`
}

func (s *service) findUser(ctx context.Context, in *findUserInput) (*profileOutput, error) {
	u, err := s.userByEmail(ctx, in.Email)
	return &profileOutput{profileOf(u)}, err
}

type userOutput struct{ Body User }

func (s *service) getUser(ctx context.Context, in *UserPath) (*userOutput, error) {
	u, err := s.user(ctx, in.ID)
	return &userOutput{userOf(u)}, err
}
