package catfecito

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/ratelimit"
)

// admin is the group of staff.
const admin = string(catfecitodb.RoleAdmin)

// nobodyID is an id that no user has: what is read for an address that nobody has.
const nobodyID = "nobody"

var (
	errWrongLogIn     = errors.New("no user has this address and this password")
	errLogInElsewhere = errors.New("users sign up and log in at the user pool whose tokens are accepted here")
	errOwnRole        = errors.New("nobody changes his own role")
)

// bounds are how often somebody may try: an address of e-mail to guess its password, an address of the network to guess
// anybody's, or to sign up. They are those of this process.
type bounds struct{ emails, addresses, signUps *ratelimit.Limiter }

const (
	emailBurst   = 5
	addressBurst = 20
	signUpBurst  = 10

	emailEvery   = 30 * time.Second
	addressEvery = 2 * time.Second
	signUpEvery  = 30 * time.Second
)

func newBounds(now func() time.Time) bounds {
	each := func(every time.Duration, burst int) *ratelimit.Limiter {
		return ratelimit.New(1/every.Seconds(), burst, ratelimit.DefaultCapacity, now)
	}
	return bounds{each(emailEvery, emailBurst), each(addressEvery, addressBurst), each(signUpEvery, signUpBurst)}
}

// applicant is what somebody says who signs up.
type applicant struct{ email, name, password string }

// signUp makes a user. A request that was made before is answered as it was then, if the password is the one that it had,
// and replayed is set.
func (s *service) signUp(ctx context.Context, address, requestKey string, in applicant) (u catfecitodb.User, replayed bool, err error) {
	if s.issuer == nil {
		return catfecitodb.User{}, false, errLogInElsewhere
	}
	if err := s.bounds.signUps.Allow(address); err != nil {
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
	switch same, err := s.passwords.match(ctx, in.password, first.PasswordHash); {
	case err != nil:
		return catfecitodb.User{}, false, err
	case !same: // another request under its key
		return catfecitodb.User{}, false, catfecitodb.ErrSignUpReused
	}
	result.User.Role = catfecitodb.RoleCustomer // as it was then
	return result.User, true, nil
}

// logIn finds the user with an address and a password, and signs a token. It does the same work whether there is such a user
// or not.
func (s *service) logIn(ctx context.Context, address, email, password string) (catfecitodb.User, string, error) {
	if s.issuer == nil {
		return catfecitodb.User{}, "", errLogInElsewhere
	}
	if err := s.bounds.addresses.Allow(address); err != nil {
		return catfecitodb.User{}, "", err
	}
	if err := s.bounds.emails.Allow(strings.ToLower(email)); err != nil {
		return catfecitodb.User{}, "", err
	}
	u, hash, err := s.credential(ctx, email)
	if err != nil {
		return catfecitodb.User{}, "", err
	}
	switch same, err := s.passwords.match(ctx, password, hash); {
	case err != nil:
		return catfecitodb.User{}, "", err
	case !same || u.UserID == nobodyID:
		return catfecitodb.User{}, "", errWrongLogIn
	}
	token, err := s.issuer.Mint(auth.Claims{Sub: u.UserID, Groups: []string{string(u.Role)}})
	return u, token, err
}

// credential is a user with the hash of his password; for an address that nobody has, nobody with a hash that no password
// has, after as many requests.
func (s *service) credential(ctx context.Context, email string) (catfecitodb.User, table.Secret, error) {
	u, err := s.db.UserByEmail(ctx, catfecitodb.UserByEmailInput{Email: email})
	if errors.Is(err, table.ErrNotFound) {
		u.UserID = nobodyID
		_, err = s.db.UserByID(ctx, catfecitodb.UserByIDInput{UserID: nobodyID})
	}
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return catfecitodb.User{}, "", err
	}
	c, err := s.db.CredentialOf(ctx, catfecitodb.CredentialOfInput{UserID: u.UserID})
	switch {
	case errors.Is(err, table.ErrNotFound):
		return u, s.passwords.nobodys, nil
	case err != nil:
		return catfecitodb.User{}, "", err
	}
	return u, c.PasswordHash, nil
}

// user is a user by id.
func (s *service) user(ctx context.Context, userID string) (catfecitodb.User, error) {
	return s.db.UserByID(ctx, catfecitodb.UserByIDInput{UserID: userID})
}

// setRole changes what a user may do from his next log-in on.
func (s *service) setRole(ctx context.Context, by, userID string, role catfecitodb.Role) (catfecitodb.User, error) {
	if by == userID {
		return catfecitodb.User{}, errOwnRole
	}
	result, err := s.db.SetRole(ctx, catfecitodb.SetRoleInput{UserID: userID, Role: role})
	return result.User, err
}
