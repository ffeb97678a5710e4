package catfecito

import (
	"fmt"

	"golang.org/x/text/language"

	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/mail"
)

// words are what the letters say in a language. Subjects and texts take the user's name, then the code.
type words struct {
	verifySubject, verifyText string
	resetSubject, resetText   string
	nobodySubject, nobodyText string
}

// languages are those of the letters, the first for who speaks none of them.
//
//nolint:gochecknoglobals // tables, never changed
var (
	languages = language.NewMatcher([]language.Tag{language.Spanish, language.BrazilianPortuguese, language.English})
	inWords   = []words{
		{
			verifySubject: "%[2]s es tu código de CatFecito",
			verifyText:    "Hola, %[1]s:\n\nTu código para confirmar este correo es %[2]s. Sirve durante 15 minutos.\n\nSi no te registraste en CatFecito, no hagas nada.\n",
			resetSubject:  "%[2]s es tu código para cambiar la contraseña",
			resetText:     "Hola, %[1]s:\n\nTu código para poner una contraseña nueva es %[2]s. Sirve durante 15 minutos.\n\nSi no lo pediste, no hagas nada: tu contraseña sigue siendo la misma.\n",
			nobodySubject: "Pidieron cambiar una contraseña en CatFecito",
			nobodyText:    "Hola:\n\nAlguien pidió cambiar la contraseña de esta dirección, pero aquí no hay ninguna cuenta con ella. Si fuiste tú, prueba con otra dirección o regístrate.\n",
		},
		{
			verifySubject: "%[2]s é o seu código do CatFecito",
			verifyText:    "Olá, %[1]s,\n\nSeu código para confirmar este e-mail é %[2]s. Ele vale por 15 minutos.\n\nSe você não se cadastrou no CatFecito, ignore esta mensagem.\n",
			resetSubject:  "%[2]s é o seu código para trocar a senha",
			resetText:     "Olá, %[1]s,\n\nSeu código para criar uma nova senha é %[2]s. Ele vale por 15 minutos.\n\nSe você não pediu, ignore esta mensagem: sua senha continua a mesma.\n",
			nobodySubject: "Pediram a troca de uma senha no CatFecito",
			nobodyText:    "Olá,\n\nAlguém pediu a troca da senha deste endereço, mas não há conta com ele. Se foi você, tente outro endereço ou cadastre-se.\n",
		},
		{
			verifySubject: "%[2]s is your CatFecito code",
			verifyText:    "Hello %[1]s,\n\nYour code to confirm this address is %[2]s. It works for 15 minutes.\n\nIf you did not sign up at CatFecito, ignore this message.\n",
			resetSubject:  "%[2]s is your code to change your password",
			resetText:     "Hello %[1]s,\n\nYour code to set a new password is %[2]s. It works for 15 minutes.\n\nIf you did not ask for it, ignore this message: your password has not changed.\n",
			nobodySubject: "Somebody asked to change a password at CatFecito",
			nobodyText:    "Hello,\n\nSomebody asked to change the password of this address, but no account has it. If it was you, try another address, or sign up.\n",
		},
	}
)

// speech is the language in which a letter is written.
type speech struct{ words }

// speaking is the best language for an Accept-Language.
func speaking(accept string) speech {
	wanted, _, _ := language.ParseAcceptLanguage(accept) // what cannot be read asks for nothing
	_, at, _ := languages.Match(wanted...)
	return speech{inWords[at]}
}

func (s speech) verification(u catfecitodb.User, code string) mail.Letter {
	return mail.Letter{To: u.Email, Subject: written(s.verifySubject, u.Name, code), Text: written(s.verifyText, u.Name, code)}
}

func (s speech) reset(u catfecitodb.User, code string) mail.Letter {
	return mail.Letter{To: u.Email, Subject: written(s.resetSubject, u.Name, code), Text: written(s.resetText, u.Name, code)}
}

func (s speech) nobody(email string) mail.Letter {
	return mail.Letter{To: email, Subject: s.nobodySubject, Text: s.nobodyText}
}

// written fills a text, which may leave the name out.
func written(text, name, code string) string { return fmt.Sprintf(text+"%[3]s", name, code, "") }
