package catfecito

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
)

// AdminGroup is the group of staff: users with the role admin, and in a user pool's tokens those of the group.
const AdminGroup = Name + "-admin"

var errOwnRole = errors.New("users cannot change their own role")

// applicant is what somebody says who signs up.
type applicant struct{ email, name, password string }

// signUp makes a user. A request that was made before is answered as it was then, if the password is the one that it had,
// and replayed is set.
func (s *service) signUp(ctx context.Context, from, requestKey string, in applicant) (u catfecitodb.User, replayed bool, err error) {
	if s.issuer == nil {
		return catfecitodb.User{}, false, errLogInElsewhere
	}
	if err := s.bounds.signUps.Allow(from); err != nil {
		return catfecitodb.User{}, false, err
	}
	if err := s.strong(ctx, in.password, in.email, in.name); err != nil {
		return catfecitodb.User{}, false, err
	}
	hash, err := s.passwords.hash(ctx, in.password)
	if err != nil {
		return catfecitodb.User{}, false, err
	}
	result, err := s.db.RegisterUser(ctx, catfecitodb.RegisterUserInput{
		RequestKey: requestKey, UserID: uuid.NewString(), Email: in.email, Name: in.name, PasswordHash: hash,
	})
	if err != nil || !result.Replayed {
		return result.User, false, err
	}
	first, err := s.db.CredentialOf(ctx, catfecitodb.CredentialOfInput{UserID: result.User.UserID})
	if err != nil {
		return catfecitodb.User{}, false, err
	}
	// Whoever knows the key could try passwords here as well as at the log-in.
	switch same, err := s.try(ctx, in.email, in.password, first.PasswordHash); {
	case err != nil:
		return catfecitodb.User{}, false, err
	case !same: // another request under its key
		return catfecitodb.User{}, false, catfecitodb.ErrSignUpReused
	}
	result.User.Role, result.User.VerifiedAt = catfecitodb.RoleCustomer, nil // as it was then
	return result.User, true, nil
}

// user is a user by id.
func (s *service) user(ctx context.Context, userID string) (catfecitodb.User, error) {
	return s.db.UserByID(ctx, catfecitodb.UserByIDInput{UserID: userID})
}

// setRole changes what a user may do, from the next request on, whose session's it is.
func (s *service) setRole(ctx context.Context, by, userID string, role catfecitodb.Role) (catfecitodb.User, error) {
	if by == userID {
		return catfecitodb.User{}, errOwnRole
	}
	result, err := s.db.SetRole(ctx, catfecitodb.SetRoleInput{UserID: userID, Role: role})
	return result.User, err
}
