package catfecito

import (
	"context"

	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/mail"
	"github.com/monotable/monotable/systems/internal/words"
)

// The texts of e-mails: {1} is the user's name, {2} the code.
const (
	verifySubject = "{2} is your CatFecito code"
	verifyText    = "Hello {1},\n\nYour code to confirm this address is {2}. It works for 15 minutes.\n\nIf you did not sign up at CatFecito, ignore this message.\n"
	resetSubject  = "{2} is your code to change your password"
	resetText     = "Hello {1},\n\nYour code to set a new password is {2}. It works for 15 minutes.\n\nIf you did not ask for it, ignore this message: your password has not changed.\n"
	nobodySubject = "Someone asked to change a password at CatFecito"
	nobodyText    = "Hello,\n\nSomeone asked to change the password for this address, but there is no account with it. If it was you, try another address, or sign up.\n"
)

// letterLanguage is an e-mail's language.
type letterLanguage struct {
	words    *words.Catalogue
	language string
}

// letterFor returns an e-mail in the caller's language.
func (s *service) letterFor(ctx context.Context) letterLanguage {
	return letterLanguage{s.words, api.Language(ctx)}
}

func (s letterLanguage) verification(u catfecitodb.User, code string) mail.Letter {
	return s.written(u.Email, verifySubject, verifyText, u.Name, code)
}

func (s letterLanguage) reset(u catfecitodb.User, code string) mail.Letter {
	return s.written(u.Email, resetSubject, resetText, u.Name, code)
}

func (s letterLanguage) noAccount(email string) mail.Letter {
	return s.written(email, nobodySubject, nobodyText)
}

func (s letterLanguage) written(to, subject, text string, values ...string) mail.Letter {
	return mail.Letter{To: to, Subject: s.words.Fill(s.language, subject, values...), Text: s.words.Fill(s.language, text, values...)}
}
