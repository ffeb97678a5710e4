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

// unknownUserID is an id that belongs to no user. It is read if an address is unknown.
const unknownUserID = "nobody"

var (
	errWrongLogIn     = errors.New("the address or the password is wrong")
	errLogInElsewhere = errors.New("sign up and log in at the user pool whose tokens are accepted here")
)

const (
	// triesMost is how many wrong passwords an e-mail address allows within triesWindow, from any source. The count is stored in
	// the table, so it applies to all processes together.
	triesMost   = 10
	triesWindow = 5 * time.Minute

	// networkBurst and networkEvery limit a network address that tries many e-mail addresses.
	networkBurst = 20
	networkEvery = 2 * time.Second

	signUpBurst = 10
	signUpEvery = 30 * time.Second
)

// bounds limit failed log-ins, sign-ups and e-mails per network address, in this process.
type bounds struct{ logIns, signUps, letters *ratelimit.Limiter }

func newBounds(now func() time.Time) bounds {
	each := func(every time.Duration, burst int) *ratelimit.Limiter {
		return ratelimit.New(1/every.Seconds(), burst, ratelimit.DefaultCapacity, now)
	}
	return bounds{logIns: each(networkEvery, networkBurst), signUps: each(signUpEvery, signUpBurst), letters: each(signUpEvery, signUpBurst)}
}

// logIn finds the user with an e-mail address and a password, and opens a session. It does the same work whether or not the user
// exists. Only failures are limited: users may log in as often as they like.
func (s *service) logIn(ctx context.Context, _ auth.Principal, in logInRequest) (opened, error) {
	from := api.Address(ctx)
	if s.issuer == nil {
		return opened{}, errLogInElsewhere
	}
	if err := s.bounds.logIns.Allow(from); err != nil {
		return opened{}, err
	}
	u, c, err := s.credential(ctx, in.Body.Email)
	if err != nil {
		return opened{}, err
	}
	switch same, err := s.try(ctx, in.Body.Email, in.Body.Password, c.PasswordHash); {
	case err != nil:
		return opened{}, err
	case !same || u.UserID == unknownUserID:
		return opened{}, errWrongLogIn
	}
	s.bounds.logIns.Return(from)
	return s.openSession(ctx, u, c.UpdatedAt, in.UserAgent)
}

// try reports whether a password matches a hash, unless too many passwords have recently been tried for the e-mail address. The
// attempt is counted first, and a success resets the count.
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

// credential returns a user with their password's hash. For an unknown address it makes the same number of requests, and returns
// no user and a hash that no password matches.
func (s *service) credential(ctx context.Context, email string) (catfecitodb.User, catfecitodb.Credential, error) {
	u, err := s.db.UserByEmail(ctx, catfecitodb.UserByEmailInput{Email: email})
	if errors.Is(err, table.ErrNotFound) {
		u.UserID = unknownUserID
		_, err = s.db.UserByID(ctx, catfecitodb.UserByIDInput{UserID: unknownUserID})
	}
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return catfecitodb.User{}, catfecitodb.Credential{}, err
	}
	c, err := s.db.CredentialOf(ctx, catfecitodb.CredentialOfInput{UserID: u.UserID})
	if errors.Is(err, table.ErrNotFound) {
		return u, catfecitodb.Credential{PasswordHash: s.passwords.unknownUserHash}, nil
	}
	return u, c, err
}
