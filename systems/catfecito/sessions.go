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
	// accessTTL is how long an access token lives. Its session is looked up in each request all the same.
	accessTTL = 15 * time.Minute
	// sessionTTL is how long a session stays open that nobody uses; the design gives a new one as long.
	sessionTTL = 30 * 24 * time.Hour
	// lostFor is how long a refresh token is good still that was exchanged, for a client that did not get the answer.
	lostFor = 10 * time.Second
	// sessionsMost is how many sessions a user has; those beyond it, that were opened first, are closed.
	sessionsMost = 20
	deviceMax    = 200
)

// codeSessionEnded is for a refresh token that opens nothing: log in again.
const codeSessionEnded = "session_ended"

func errSessionEnded(why error) error {
	return &problem.Error{
		Status: http.StatusUnauthorized, Code: codeSessionEnded, Detail: "you are not logged in any more: log in again", Err: why,
	}
}

// opened is a session with its tokens, which are known only to whoever has logged in.
type opened struct {
	AccessToken, TokenType, RefreshToken string
	ExpiresIn                            int
	User                                 catfecitodb.User
}

// openSession logs a user in who has shown the password that was set at a time.
func (s *service) openSession(ctx context.Context, u catfecitodb.User, passwordAt time.Time, device string) (opened, error) {
	id, secret := ulid.MustNewDefault(s.now()).String(), rand.Text()
	_, err := s.db.OpenSession(ctx, catfecitodb.OpenSessionInput{
		UserID: u.UserID, SessionID: id, RefreshHash: hashOf(secret), PasswordAt: passwordAt, Device: cut(device, deviceMax),
	})
	if err != nil {
		return opened{}, err
	}
	if err := s.closeOldest(ctx, u.UserID); err != nil {
		return opened{}, err
	}
	return s.tokens(u, id, secret)
}

// tokens are those of a session.
func (s *service) tokens(u catfecitodb.User, sessionID, secret string) (opened, error) {
	access, err := s.issuer.Mint(auth.Claims{Sub: u.UserID, Session: sessionID, TTL: accessTTL})
	return opened{
		AccessToken: access, TokenType: "Bearer", RefreshToken: sessionID + "." + secret + "." + u.UserID,
		ExpiresIn: int(accessTTL.Seconds()), User: u,
	}, err
}

// closeOldest closes the sessions beyond those that a user may have.
func (s *service) closeOldest(ctx context.Context, userID string) error {
	page := table.PageOptions{Limit: sessionsMost}
	for beyond := false; ; beyond = true {
		found, err := s.db.SessionsOfUser(ctx, catfecitodb.SessionsOfUserInput{UserID: userID}, page)
		if err != nil {
			return err
		}
		for _, old := range found.Items {
			if !beyond {
				break
			}
			if err := s.closeSession(ctx, userID, old.SessionID); err != nil {
				return err
			}
		}
		if page.After = found.Next; page.After == "" {
			return nil
		}
	}
}

// refresh exchanges a refresh token for the tokens that follow. Whoever comes with one that was exchanged a while ago has
// found it somewhere, or somebody else has: the session ends, for both.
func (s *service) refresh(ctx context.Context, _ auth.Principal, in api.Body[RefreshInput]) (opened, error) {
	if s.issuer == nil {
		return opened{}, errLogInElsewhere
	}
	parts := strings.SplitN(in.Body.RefreshToken, ".", 3)
	if len(parts) != 3 || parts[2] == "" {
		return opened{}, errSessionEnded(errors.New("a refresh token of another form"))
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
	next := rand.Text()
	_, err = s.db.RefreshSession(ctx, catfecitodb.RefreshSessionInput{
		UserID: userID, SessionID: sessionID, Presented: hashOf(secret), RefreshHash: hashOf(next), PasswordAt: session.PasswordAt,
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

// ended is that a session is over, for errors that say so; others stay what they are.
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

// closeSession logs a device out, whether it was logged in or not.
func (s *service) closeSession(ctx context.Context, userID, sessionID string) error {
	return s.db.CloseSession(ctx, catfecitodb.CloseSessionInput{UserID: userID, SessionID: sessionID})
}

// logOut ends one of the caller's sessions, at once.
func (s *service) logOut(ctx context.Context, who auth.Principal, in SessionPath) error {
	id := in.SessionID
	if id == "current" {
		id = who.Session
	}
	if id == "" { // a token that is of no session
		return nil
	}
	return s.closeSession(ctx, who.Sub, id)
}

// closeSessions logs a user out on all devices.
func (s *service) closeSessions(ctx context.Context, userID string) error {
	for page := (table.PageOptions{}); ; {
		found, err := s.db.SessionsOfUser(ctx, catfecitodb.SessionsOfUserInput{UserID: userID}, page)
		if err != nil {
			return err
		}
		for _, session := range found.Items {
			if err := s.closeSession(ctx, userID, session.SessionID); err != nil {
				return err
			}
		}
		if page.After = found.Next; page.After == "" {
			return nil
		}
	}
}

// admit is who calls with a session's token: nobody whose session is closed or who is no user any more, and with the role that
// the user has now. Tokens without a session are a user pool's, or made by who has the issuer's keys: they stand for themselves.
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

// hashOf is the hash of a secret that nobody can guess, which needs no salt and no work.
func hashOf(secret string) table.Secret {
	sum := sha256.Sum256([]byte(secret))
	return table.Secret(hex.EncodeToString(sum[:]))
}

// cut is a text of at most so many bytes, of whole characters.
func cut(text string, most int) string {
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "")
}
