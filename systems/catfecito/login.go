package catfecito

import (
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/ratelimit"
)

// nobodyID is an id that no user has: what is read for an address that nobody has.
const nobodyID = "nobody"

var (
	errWrongLogIn     = errors.New("no user has this address and this password")
	errLogInElsewhere = errors.New("users sign up and log in at the user pool whose tokens are accepted here")
)

const (
	// triesMost is how often a password may be tried in vain within triesWindow, for an address of e-mail, wherever from. The
	// table counts, so that it is one number for all processes.
	triesMost   = 10
	triesWindow = 5 * time.Minute

	// networkBurst and networkEvery are for who tries the addresses of many from one of the network.
	networkBurst = 20
	networkEvery = 2 * time.Second

	signUpBurst = 10
	signUpEvery = 30 * time.Second
)

// bounds are how often somebody may fail to log in from an address of the network, and may sign up. They are those of this
// process.
type bounds struct{ logIns, signUps *ratelimit.Limiter }

func newBounds(now func() time.Time) bounds {
	each := func(every time.Duration, burst int) *ratelimit.Limiter {
		return ratelimit.New(1/every.Seconds(), burst, ratelimit.DefaultCapacity, now)
	}
	return bounds{logIns: each(networkEvery, networkBurst), signUps: each(signUpEvery, signUpBurst)}
}

// session is what a log-in gives.
type session struct {
	AccessToken, TokenType string
	ExpiresIn              int
	User                   catfecitodb.User
}

// logIn finds the user with an address of e-mail and a password, and signs a token. It does the same work whether there is
// such a user or not. Only failures are limited: a user may log in as often as they like.
func (s *service) logIn(ctx context.Context, _ auth.Principal, in api.Body[LogInInput]) (session, error) {
	from := api.Address(ctx)
	if s.issuer == nil {
		return session{}, errLogInElsewhere
	}
	if err := s.bounds.logIns.Allow(from); err != nil {
		return session{}, err
	}
	u, hash, err := s.credential(ctx, in.Body.Email)
	if err != nil {
		return session{}, err
	}
	switch same, err := s.try(ctx, in.Body.Email, in.Body.Password, hash); {
	case err != nil:
		return session{}, err
	case !same || u.UserID == nobodyID:
		return session{}, errWrongLogIn
	}
	s.bounds.logIns.Return(from)
	claims := auth.Claims{Sub: u.UserID}
	if u.Role == catfecitodb.RoleAdmin {
		claims.Groups = []string{AdminGroup}
	}
	token, err := s.issuer.Mint(claims)
	return session{AccessToken: token, TokenType: "Bearer", ExpiresIn: int(auth.DefaultTTL.Seconds()), User: u}, err
}

// try tells whether a password is the one of a hash, unless that was tried too often lately with the same address of e-mail.
// A try is counted before it is made, and what was counted is forgotten when one is right.
func (s *service) try(ctx context.Context, email, password string, hash table.Secret) (same bool, err error) {
	now := s.now()
	since := now.UTC().Truncate(triesWindow)
	over := since.Add(triesWindow)
	_, err = s.db.TryLogIn(ctx, catfecitodb.TryLogInInput{Email: email, Since: since, Most: triesMost, Over: over})
	switch {
	case errors.Is(err, catfecitodb.ErrTooManyTries):
		return false, problem.TooMany("too many wrong passwords for this address", over.Sub(now))
	case err != nil:
		return false, err
	}
	if same, err = s.passwords.match(ctx, password, hash); err != nil || !same {
		return false, err
	}
	return true, s.db.ForgetTries(ctx, catfecitodb.ForgetTriesInput{Email: email, Since: since})
}

// credential is a user with the hash of their password; for an address that nobody has, nobody with a hash that no password
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
