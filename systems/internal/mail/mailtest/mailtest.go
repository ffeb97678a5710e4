// Package mailtest is a mail server for tests: it accepts every message over SMTP, keeps it in memory, and delivers none.
//
// A Server is safe for concurrent use.
package mailtest

import (
	"bytes"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"

	letters "github.com/monotable/monotable/systems/internal/mail"
)

// Server is a mail server.
type Server struct {
	// URL is its address, for mail.FromURL.
	URL string

	mu   sync.Mutex
	kept []letters.Letter
}

// Start starts a server that stops when the test ends.
func Start(tb testing.TB) *Server {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // listens at once
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{URL: "smtp://" + listener.Addr().String() + "?tls=none"}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{server: s}, nil }))
	server.Domain, server.AllowInsecureAuth = "localhost", true
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // until it is closed
	}()
	tb.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return s
}

// Letters returns the received messages, newest first.
func (s *Server) Letters() []letters.Letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Clone(s.kept)
	slices.Reverse(out)
	return out
}

// session is one connection.
type session struct {
	server *Server
	to     string
}

// Mail implements smtp.Session.
func (*session) Mail(string, *smtp.MailOptions) error { return nil }

// Rcpt implements smtp.Session.
func (x *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	x.to = to
	return nil
}

// Data implements smtp.Session.
func (x *session) Data(r io.Reader) error {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(m.Body)
	if err != nil {
		return err
	}
	if strings.EqualFold(m.Header.Get("Content-Transfer-Encoding"), "quoted-printable") {
		if body, err = io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body))); err != nil {
			return err
		}
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil {
		return err
	}
	x.server.mu.Lock()
	defer x.server.mu.Unlock()
	x.server.kept = append(x.server.kept, letters.Letter{To: x.to, Subject: subject, Text: strings.ReplaceAll(string(body), "\r\n", "\n")})
	return nil
}

// Reset implements smtp.Session.
func (x *session) Reset() { x.to = "" }

// Logout implements smtp.Session.
func (*session) Logout() error { return nil }
