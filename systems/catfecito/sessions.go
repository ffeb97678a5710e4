package catfecito

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

const (
	// accessTTL is the lifetime of an access token. Every request also checks its session.
	accessTTL = 15 * time.Minute
	// sessionTTL is how long an unused session lasts. The design gives new sessions the same lifetime.
	sessionTTL = 30 * 24 * time.Hour
	// lostFor is how long an exchanged refresh token remains valid, for a client that did not receive the response.
	lostFor = 10 * time.Second
	// sessionsMost is the maximum number of a user's sessions; the oldest ones beyond it are closed.
	sessionsMost = 20
	deviceMax    = 200
)

// codeSessionEnded is the code for an invalid refresh token: the user must log in again.
const codeSessionEnded = "session_ended"

func errSessionEnded(why error) error {
	return &problem.Error{
		Status: http.StatusUnauthorized, Code: codeSessionEnded, Detail: "your session has ended: log in again", Err: why,
	}
}

// opened is a session with its tokens, which only the logged-in caller gets.
type opened struct {
	AccessToken, TokenType, RefreshToken string
	ExpiresIn                            int
	User                                 catfecitodb.User
}

// openSession opens a session for a user whose password, set at the given time, was verified.
func (s *service) openSession(ctx context.Context, u catfecitodb.User, passwordAt time.Time, device string) (opened, error) {
	id, secret := ulid.MustNewDefault(s.now()).String(), rand.Text()
	_, err := s.db.OpenSession(ctx, catfecitodb.OpenSessionInput{
		UserID: u.UserID, SessionID: id, RefreshHash: hashOf(secret), PasswordAt: passwordAt, Device: cut(device, deviceMax),
	})
	if err != nil {
		return opened{}, err
	}
	if err := s.closeSessions(ctx, u.UserID, sessionsMost); err != nil {
		return opened{}, err
	}
	return s.tokens(u, id, secret)
}

// tokens returns a session's tokens.
func (s *service) tokens(u catfecitodb.User, sessionID, secret string) (opened, error) {
	access, err := s.issuer.Mint(auth.Claims{Sub: u.UserID, Session: sessionID, TTL: accessTTL})
	return opened{
		AccessToken: access, TokenType: "Bearer", RefreshToken: sessionID + "." + secret + "." + u.UserID,
		ExpiresIn: int(accessTTL.Seconds()), User: u,
	}, err
}

// closeSessions closes a user's sessions except for the newest ones; 0 logs the user out on all devices.
func (s *service) closeSessions(ctx context.Context, userID string, newest int) error {
	for session, err := range s.db.SessionsOfUserAll(ctx, catfecitodb.SessionsOfUserInput{UserID: userID}) {
		if newest--; err == nil && newest < 0 {
			err = s.closeSession(ctx, userID, session.SessionID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// refresh exchanges a refresh token for new tokens. A token that is used again long after its exchange was stolen from one of its
// two users, so the session ends for both.
func (s *service) refresh(ctx context.Context, _ auth.Principal, in api.Body[RefreshInput]) (opened, error) {
	if s.issuer == nil {
		return opened{}, errLogInElsewhere
	}
	parts := strings.SplitN(in.Body.RefreshToken, ".", 3)
	if len(parts) != 3 || parts[2] == "" {
		return opened{}, errSessionEnded(errors.New("a malformed refresh token"))
	}
	sessionID, secret, userID := parts[0], parts[1], parts[2]
	if _, err := ulid.ParseStrict(sessionID); err != nil {
		return opened{}, errSessionEnded(err)
	}
	now := s.now()
	session, err := s.db.SessionByID(ctx, catfecitodb.SessionByIDInput{UserID: userID, SessionID: sessionID})
	if err != nil {
		return opened{}, ended(err)
	}
	presented, used, next := hashOf(secret), now, rand.Text()
	if session.SpentHash != nil && *session.SpentHash == presented {
		used = session.UsedAt // of the exchange, so that a token is not valid for longer each time it is used again
	}
	_, err = s.db.RefreshSession(ctx, catfecitodb.RefreshSessionInput{
		UserID: userID, SessionID: sessionID, Presented: presented, RefreshHash: hashOf(next), PasswordAt: session.PasswordAt, UsedAt: used,
		SessionExpiresAt: now.Add(sessionTTL), LostSince: now.Add(-lostFor),
	})
	switch {
	case errors.Is(err, catfecitodb.ErrRefreshTokenSpent), errors.Is(err, catfecitodb.ErrPasswordChanged), errors.Is(err, catfecitodb.ErrCredentialNotFound):
		return opened{}, errors.Join(ended(err), s.closeSession(ctx, userID, sessionID))
	case err != nil:
		return opened{}, ended(err)
	}
	u, err := s.user(ctx, userID)
	if err != nil {
		return opened{}, ended(err)
	}
	return s.tokens(u, sessionID, next)
}

// ended marks errors that mean that a session is over, and returns others unchanged.
func ended(err error) error {
	for _, over := range []error{
		table.ErrNotFound, catfecitodb.ErrSessionNotFound, catfecitodb.ErrSessionEnded, catfecitodb.ErrRefreshTokenSpent,
		catfecitodb.ErrPasswordChanged, catfecitodb.ErrCredentialNotFound,
	} {
		if errors.Is(err, over) {
			return errSessionEnded(err)
		}
	}
	return err
}

// closeSession logs a device out. It succeeds even if the device was not logged in.
func (s *service) closeSession(ctx context.Context, userID, sessionID string) error {
	return s.db.CloseSession(ctx, catfecitodb.CloseSessionInput{UserID: userID, SessionID: sessionID})
}

// logOut ends one of the caller's sessions immediately.
func (s *service) logOut(ctx context.Context, who auth.Principal, in SessionPath) error {
	id := in.SessionID
	if id == "current" {
		id = who.Session
	}
	if id == "" { // a token without a session
		return nil
	}
	return s.closeSession(ctx, who.Sub, id)
}

// admit checks the session of a caller's token: closed sessions and deleted users are rejected, and the caller gets the user's
// current role. Tokens without a session come from a user pool, or from someone with the issuer's keys, and are accepted
// unchanged.
func (s *service) admit(ctx context.Context, p auth.Principal) (auth.Principal, error) {
	if p.Session == "" || s.issuer == nil {
		return p, nil
	}
	var u catfecitodb.User
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error {
		_, err := s.db.SessionByID(ctx, catfecitodb.SessionByIDInput{UserID: p.Sub, SessionID: p.Session})
		return err
	})
	both.Go(func() (err error) {
		u, err = s.user(ctx, p.Sub)
		return err
	})
	switch err := both.Wait(); {
	case errors.Is(err, table.ErrNotFound):
		return auth.Principal{}, problem.InvalidToken("the session has ended", err)
	case err != nil:
		return auth.Principal{}, err
	}
	p.Groups, p.Account = nil, u
	if u.Role == catfecitodb.RoleAdmin {
		p.Groups = []string{AdminGroup}
	}
	return p, nil
}

// hashOf hashes a random secret, which needs neither a salt nor a slow hash.
func hashOf(secret string) table.Secret {
	sum := sha256.Sum256([]byte(secret))
	return table.Secret(hex.EncodeToString(sum[:]))
}

// cut truncates a text to a number of bytes, between characters.
func cut(text string, most int) string {
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "")
}
