package catfecito

import (
	"context"

	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

// UserPath leads to a user.
type UserPath struct {
	UserID string `path:"userId" maxLength:"128" pattern:"^[A-Za-z0-9._:@-]+$" patternDescription:"letters, digits and . _ : @ -" doc:"The user's id"`
}

type userOutput struct{ Body User }

type registerInput struct {
	api.IdempotencyKey
	Body struct {
		Email    string `json:"email" format:"email" maxLength:"254" doc:"The address that you will log in with"`
		Name     string `json:"name" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]+$" patternDescription:"without control characters" doc:"What you are called"`
		Password string `json:"password" minLength:"8" maxLength:"128" doc:"What only you know, of eight characters at least"`
	}
}

type registerOutput struct {
	Status int
	Body   User
}

func (s *service) registerUser(ctx context.Context, in *registerInput) (*registerOutput, error) {
	u, replayed, err := s.signUp(ctx, api.Address(ctx), in.IdempotencyKey.IdempotencyKey, applicant{in.Body.Email, in.Body.Name, in.Body.Password})
	if err != nil {
		return nil, err
	}
	return &registerOutput{Status: api.CreatedStatus(replayed), Body: userOf(u)}, nil
}

func (s *service) getOwnUser(ctx context.Context, _ *struct{}) (*userOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	u, err := s.user(ctx, who.Sub)
	return &userOutput{userOf(u)}, err
}

func (s *service) getUser(ctx context.Context, in *UserPath) (*userOutput, error) {
	u, err := s.user(ctx, in.UserID)
	return &userOutput{userOf(u)}, err
}

type putRoleInput struct {
	UserPath
	Body struct {
		Role catfecitodb.Role `json:"role" enum:"customer,admin" doc:"What the user may do"`
	}
}

func (s *service) putRole(ctx context.Context, in *putRoleInput) (*userOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	u, err := s.setRole(ctx, who.Sub, in.UserID, in.Body.Role)
	return &userOutput{userOf(u)}, err
}

type auditTrailInput struct {
	api.PageQuery
	Subject catfecitodb.Subject `path:"subject" enum:"USER,PRODUCT,CATEGORY,ORDER" doc:"What it is about"`
	ID      string              `path:"id" maxLength:"128" pattern:"^[A-Za-z0-9._:@-]+$" patternDescription:"letters, digits and . _ : @ -" doc:"The id of the user, product or order, the slug of the category"`
}

func (s *service) auditTrail(ctx context.Context, in *auditTrailInput) (*api.PageOutput[Entry], error) {
	page, err := s.trail(ctx, in.Subject, in.ID, in.Options())
	return api.PageOf(page, entryOf), err
}
