package catfecito

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/mail"
	"github.com/monotable/monotable/systems/internal/problem"
)

const (
	codeTTL = 15 * time.Minute
	// codeTries is how often a code may be tried, which gives a guesser five chances in a million.
	codeTries = 5
	// codeAgain is the minimum time between two codes.
	codeAgain = time.Minute
	// codesMost is how many codes of a purpose an address is sent within codesWindow, so that many guessers together, who may try
	// each of them codeTries times, have fifty chances in a million a day, and the address gets few letters. Like the minimum time,
	// the limit does not depend on whether the address has a user.
	codesMost   = 10
	codesWindow = 24 * time.Hour
)

var (
	errNoMail   = problem.NotFound("mail_off", "this shop does not send mail")
	errVerified = problem.Conflict("already_verified", "the address is already verified")
	errCode     = problem.BadRequest("wrong_code", "the code is wrong or has expired: request a new one",
		problem.Field{Field: "body.code", Message: "is wrong or expired"})
	errWrongPassword = problem.BadRequest("wrong_password", "the old password is wrong",
		problem.Field{Field: "body.oldPassword", Message: "is not your password"})
)

// askToVerify sends a verification code to a user's unverified address.
func (s *service) askToVerify(ctx context.Context, who auth.Principal, _ api.None) error {
	u, err := s.user(ctx, who.Sub)
	switch {
	case err != nil:
		return err
	case u.VerifiedAt != nil:
		return errVerified
	}
	return s.sendCode(ctx, u.Email, catfecitodb.CodePurposeVerifyEmail, func(code string) mail.Letter {
		return s.letterFor(ctx).verification(u, code)
	})
}

// verify accepts the code that was sent to a user's address.
func (s *service) verify(ctx context.Context, who auth.Principal, in api.Body[VerificationInput]) (catfecitodb.User, error) {
	u, err := s.user(ctx, who.Sub)
	if err != nil || u.VerifiedAt != nil {
		return u, err
	}
	sent, err := s.tryCode(ctx, u.Email, catfecitodb.CodePurposeVerifyEmail, in.Body.Code)
	if err != nil {
		return catfecitodb.User{}, err
	}
	_, err = s.db.VerifyEmail(ctx, catfecitodb.VerifyEmailInput{UserID: who.Sub, Email: u.Email, Purpose: sent.Purpose, CodeHash: sent.CodeHash})
	if err != nil {
		return catfecitodb.User{}, spent(err)
	}
	return s.user(ctx, who.Sub)
}

// askToReset sends a code to an address, with which its user can set a new password. The response does not reveal whether the
// user exists: the work is the same in both cases, and only the e-mail says it.
func (s *service) askToReset(ctx context.Context, _ auth.Principal, in api.Body[AddressInput]) error {
	if s.issuer == nil {
		return errLogInElsewhere
	}
	if err := s.bounds.letters.Allow(api.Address(ctx)); err != nil {
		return err
	}
	email, words := in.Body.Email, s.letterFor(ctx)
	u, _, err := s.credential(ctx, email)
	if err != nil {
		return err
	}
	err = s.sendCode(ctx, email, catfecitodb.CodePurposeResetPassword, func(code string) mail.Letter {
		if u.UserID == unknownUserID {
			return words.noAccount(email)
		}
		return words.reset(u, code)
	})
	if errors.Is(err, mail.ErrRecipient) {
		return nil
	}
	return err
}

// resetPassword sets the password of the user with the address if the code is correct, and ends all sessions.
func (s *service) resetPassword(ctx context.Context, _ auth.Principal, in api.Body[ResetInput]) error {
	from, email, password := api.Address(ctx), in.Body.Email, in.Body.Password
	if s.issuer == nil {
		return errLogInElsewhere
	}
	if err := s.bounds.logIns.Allow(from); err != nil {
		return err
	}
	u, _, err := s.credential(ctx, email)
	if err != nil {
		return err
	}
	if err := s.strong(ctx, password, email, u.Name); err != nil {
		return err
	}
	sent, err := s.tryCode(ctx, email, catfecitodb.CodePurposeResetPassword, in.Body.Code)
	if err != nil {
		return err
	}
	if u.UserID == unknownUserID {
		return errCode
	}
	hash, err := s.passwords.hash(ctx, password)
	if err != nil {
		return err
	}
	_, err = s.db.ResetPassword(ctx, catfecitodb.ResetPasswordInput{
		UserID: u.UserID, Email: email, Purpose: sent.Purpose, CodeHash: sent.CodeHash, PasswordHash: hash,
	})
	if err != nil {
		return spent(err)
	}
	s.bounds.logIns.Return(from)
	return s.closeSessions(ctx, u.UserID, 0)
}

// changePassword sets the password of a user who gives the old one, ends all sessions, and opens a new one for this device.
func (s *service) changePassword(ctx context.Context, who auth.Principal, in passwordRequest) (opened, error) {
	userID, password := who.Sub, in.Body.Password
	if s.issuer == nil {
		return opened{}, errLogInElsewhere
	}
	u, err := s.user(ctx, userID)
	if err != nil {
		return opened{}, err
	}
	c, err := s.db.CredentialOf(ctx, catfecitodb.CredentialOfInput{UserID: userID})
	if err != nil {
		return opened{}, err
	}
	switch same, err := s.try(ctx, u.Email, in.Body.OldPassword, c.PasswordHash); {
	case err != nil:
		return opened{}, err
	case !same:
		return opened{}, errWrongPassword
	}
	if err := s.strong(ctx, password, u.Email, u.Name); err != nil {
		return opened{}, err
	}
	hash, err := s.passwords.hash(ctx, password)
	if err != nil {
		return opened{}, err
	}
	if _, err := s.db.ChangePassword(ctx, catfecitodb.ChangePasswordInput{UserID: userID, PasswordHash: hash, ComparedAt: c.UpdatedAt}); err != nil {
		return opened{}, err
	}
	if err := s.closeSessions(ctx, userID, 0); err != nil {
		return opened{}, err
	}
	if c, err = s.db.CredentialOf(ctx, catfecitodb.CredentialOfInput{UserID: userID}); err != nil {
		return opened{}, err
	}
	return s.openSession(ctx, u, c.UpdatedAt, in.UserAgent)
}

// sendCode sends a new code unless one was sent a moment ago.
func (s *service) sendCode(ctx context.Context, email string, purpose catfecitodb.CodePurpose, letter func(code string) mail.Letter) error {
	if s.mail == nil {
		return errNoMail
	}
	now := s.now()
	last, err := s.db.CodeOf(ctx, catfecitodb.CodeOfInput{Email: email, Purpose: purpose})
	switch {
	case err == nil && now.Sub(last.SentAt) < codeAgain:
		return problem.TooMany("a code was sent a moment ago: wait before you request another", codeAgain-now.Sub(last.SentAt))
	case err != nil && !errors.Is(err, table.ErrNotFound):
		return err
	}
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		return err
	}
	code := fmt.Sprintf("%06d", n)
	hash, err := s.passwords.hash(ctx, code)
	if err != nil {
		return err
	}
	since := now.UTC().Truncate(codesWindow)
	over := since.Add(codesWindow)
	_, err = s.db.SendCode(ctx, catfecitodb.SendCodeInput{
		Email: email, Purpose: purpose, CodeHash: hash, CodeExpiresAt: now.Add(codeTTL), CodesSince: since, CodesOver: over, Most: codesMost,
	})
	switch {
	case errors.Is(err, catfecitodb.ErrTooManyCodes):
		return problem.TooMany("too many codes were sent to this address in a day: try again later", over.Sub(now))
	case err != nil:
		return err
	}
	return s.mail.Send(ctx, letter(code))
}

// tryCode returns the code that was sent if it equals the given one. The attempt is counted first.
func (s *service) tryCode(ctx context.Context, email string, purpose catfecitodb.CodePurpose, code string) (catfecitodb.Code, error) {
	sent, err := s.db.CodeOf(ctx, catfecitodb.CodeOfInput{Email: email, Purpose: purpose})
	if errors.Is(err, table.ErrNotFound) {
		return catfecitodb.Code{}, errCode
	}
	if err != nil {
		return catfecitodb.Code{}, err
	}
	if _, err := s.db.TryCode(ctx, catfecitodb.TryCodeInput{Email: email, Purpose: purpose, Most: codeTries}); err != nil {
		return catfecitodb.Code{}, spent(err)
	}
	same, err := s.passwords.match(ctx, code, sent.CodeHash)
	if err == nil && !same {
		err = errCode
	}
	return sent, err
}

// spent marks errors that mean that a code is no longer valid.
func spent(err error) error {
	if errors.Is(err, catfecitodb.ErrCodeSpent) || errors.Is(err, catfecitodb.ErrCodeNotFound) {
		return errCode
	}
	return err
}
