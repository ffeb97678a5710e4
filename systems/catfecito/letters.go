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

// speech is an e-mail's language.
type speech struct {
	words    *words.Catalogue
	language string
}

// letterFor returns an e-mail in the caller's language.
func (s *service) letterFor(ctx context.Context) speech { return speech{s.words, api.Language(ctx)} }

func (s speech) verification(u catfecitodb.User, code string) mail.Letter {
	return s.written(u.Email, verifySubject, verifyText, u.Name, code)
}

func (s speech) reset(u catfecitodb.User, code string) mail.Letter {
	return s.written(u.Email, resetSubject, resetText, u.Name, code)
}

func (s speech) noAccount(email string) mail.Letter {
	return s.written(email, nobodySubject, nobodyText)
}

func (s speech) written(to, subject, text string, values ...string) mail.Letter {
	return mail.Letter{To: to, Subject: s.words.Fill(s.language, subject, values...), Text: s.words.Fill(s.language, text, values...)}
}
