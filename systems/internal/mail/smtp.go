package mail

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// sendTimeout is shorter than a request's timeout.
const sendTimeout = 8 * time.Second

// SMTP sends through a server.
type SMTP struct {
	client *gomail.Client
	from   string
}

// FromURL returns a Sender for a server:
//
//	smtps://USER:PASSWORD@mail.example.com          TLS from the first byte on, port 465
//	smtp://USER:PASSWORD@mail.example.com:587       TLS by STARTTLS, or nothing is sent
//	smtp://127.0.0.1:1025?tls=none                  without TLS, for a server on the same machine
//
// from is the sender's address: "CatFecito <shop@example.com>".
func FromURL(address, from string) (*SMTP, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("mail: the server's address is not a URL such as smtps://user:password@host: %w", hideURL(err))
	}
	options := []gomail.Option{gomail.WithTimeout(sendTimeout)}
	switch {
	case u.Hostname() == "":
		return nil, fmt.Errorf("mail: the server's address has no host: want smtps://user:password@host")
	case u.Scheme == "smtps":
		options = append(options, gomail.WithSSLPort(false))
	case u.Scheme == "smtp" && u.Query().Get("tls") == "none":
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	case u.Scheme == "smtp":
		options = append(options, gomail.WithTLSPortPolicy(gomail.TLSMandatory))
	default:
		return nil, fmt.Errorf("mail: the server's address starts with %q, want smtps or smtp", u.Scheme)
	}
	if u.Port() != "" {
		port, err := strconv.Atoi(u.Port())
		if err != nil {
			return nil, fmt.Errorf("mail: the server's port %q is not a number", u.Port())
		}
		options = append(options, gomail.WithPort(port))
	}
	if u.User != nil {
		password, _ := u.User.Password()
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	client, err := gomail.NewClient(u.Hostname(), options...)
	if err != nil {
		return nil, fmt.Errorf("mail: %w", err)
	}
	if err := gomail.NewMsg().From(from); err != nil {
		return nil, fmt.Errorf("mail: the sender %q is not an address such as Shop <shop@example.com>: %w", from, err)
	}
	return &SMTP{client: client, from: from}, nil
}

// hideURL returns why a URL is invalid, without the URL, which contains a password.
func hideURL(err error) error {
	if e, ok := err.(*url.Error); ok { //nolint:errorlint // url.Parse returns it as it is
		return e.Err
	}
	return err
}

// Send implements Sender.
func (s *SMTP) Send(ctx context.Context, l Letter) error {
	m := gomail.NewMsg()
	if err := m.From(s.from); err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	if err := m.To(l.To); err != nil {
		return ErrRecipient
	}
	m.Subject(l.Subject)
	m.SetDate()
	m.SetMessageID()
	m.SetBodyString(gomail.TypeTextPlain, l.Text)
	if err := s.client.DialAndSendWithContext(ctx, m); err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	return nil
}
