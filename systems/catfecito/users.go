package catfecito

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

// AdminGroup is the staff group: users with the role admin, and members of the group in a user pool's tokens.
const AdminGroup = Name + "-admin"

var errOwnRole = errors.New("users cannot change their own role")

// signUp creates a user. For a retry with the same password it returns the first response and sets replayed.
func (s *service) signUp(ctx context.Context, _ auth.Principal, in api.KeyedBody[UserInput]) (u catfecitodb.User, replayed bool, err error) {
	if s.issuer == nil {
		return catfecitodb.User{}, false, errLogInElsewhere
	}
	if err := s.bounds.signUps.Allow(api.Address(ctx)); err != nil {
		return catfecitodb.User{}, false, err
	}
	if err := s.strong(ctx, in.Body.Password, in.Body.Email, in.Body.Name); err != nil {
		return catfecitodb.User{}, false, err
	}
	hash, err := s.passwords.hash(ctx, in.Body.Password)
	if err != nil {
		return catfecitodb.User{}, false, err
	}
	result, err := s.db.RegisterUser(ctx, catfecitodb.RegisterUserInput{
		RequestKey: in.RequestKey, UserID: uuid.NewString(), Email: in.Body.Email, Name: in.Body.Name, PasswordHash: hash,
	})
	if err == nil && !result.Replayed {
		return result.User, false, nil
	}
	var first catfecitodb.Credential
	if err == nil {
		first, err = s.db.CredentialOf(ctx, catfecitodb.CredentialOfInput{UserID: result.User.UserID})
	}
	switch {
	case errors.Is(err, table.ErrNotFound): // the user of the first request has been erased
		return catfecitodb.User{}, false, catfecitodb.ErrSignUpReused
	case err != nil:
		return catfecitodb.User{}, false, err
	}
	// The holder of a key could try passwords here as well as at log-in.
	switch same, err := s.try(ctx, in.Body.Email, in.Body.Password, first.PasswordHash); {
	case err != nil:
		return catfecitodb.User{}, false, err
	case !same: // a different request with the same key
		return catfecitodb.User{}, false, catfecitodb.ErrSignUpReused
	}
	result.User.Role, result.User.VerifiedAt = catfecitodb.RoleCustomer, nil // as in the first response
	return result.User, true, nil
}

// ownUser returns the caller's user. If the token has a session, admit has just read the user.
func (s *service) ownUser(ctx context.Context, who auth.Principal, _ api.None) (catfecitodb.User, error) {
	if u, read := who.Account.(catfecitodb.User); read {
		return u, nil
	}
	return s.user(ctx, who.Sub)
}

// user returns a user by id.
func (s *service) user(ctx context.Context, userID string) (catfecitodb.User, error) {
	return s.db.UserByID(ctx, catfecitodb.UserByIDInput{UserID: userID})
}

// setRole changes a user's role. It takes effect with the user's next request.
func (s *service) setRole(ctx context.Context, who auth.Principal, in changedRole) (catfecitodb.User, error) {
	if who.Sub == in.UserID {
		return catfecitodb.User{}, errOwnRole
	}
	result, err := s.db.SetRole(ctx, catfecitodb.SetRoleInput{UserID: in.UserID, Role: in.Body.Role})
	return result.User, err
}
