package mail_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/internal/mail"
	"github.com/monotable/monotable/systems/internal/mail/mailtest"
)

const shop = "CatFecito <shop@example.com>"

// TestSMTP: a message arrives as written, in any script. Attempts to inject a header or another recipient are rejected.
func TestSMTP(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t)
	s, err := mail.FromURL(server.URL, shop)
	if err != nil {
		t.Fatal(err)
	}
	want := mail.Letter{To: "ana@mail.com", Subject: "123456 é o seu código", Text: "Olá, Ana:\n\n.\n" + strings.Repeat("línea larga ", 200) + "\n"}
	if err := s.Send(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if got := server.Letters(); len(got) != 1 || got[0] != want {
		t.Errorf("letters %+v, want %+v", got, want)
	}
	for _, to := range []string{"", "nobody", "ana@mail.com\r\nBcc: eva@mail.com", "ana@mail.com, eva@mail.com"} {
		if err := s.Send(t.Context(), mail.Letter{To: to, Subject: "s", Text: "t"}); !errors.Is(err, mail.ErrRecipient) {
			t.Errorf("to %q: %v, want ErrRecipient", to, err)
		}
	}
	if err := s.Send(t.Context(), mail.Letter{To: "ana@mail.com", Subject: "s\r\nBcc: eva@mail.com", Text: "t"}); err != nil {
		t.Fatal(err)
	}
	if got := server.Letters(); len(got) != 2 || got[0].To != "ana@mail.com" {
		t.Errorf("letters %+v, want one more, to ana@mail.com alone", got)
	}
}

// TestFromURL: the error for an invalid URL does not contain the password.
func TestFromURL(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"smtps://u:p@mail.example.com", "smtp://u:p@mail.example.com:2525", "smtp://127.0.0.1:1025?tls=none"} {
		if _, err := mail.FromURL(good, shop); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "mail.example.com", "https://u:hidden@mail.example.com", "smtp://u:hidden@", "smtp://u:hidden@h:port", "smtp://u:hidden@h:0:0", "smtp://u:hid den@h%zz"} {
		if _, err := mail.FromURL(bad, shop); err == nil || strings.Contains(err.Error(), "hid") {
			t.Errorf("%s: %v, want an error without the password", bad, err)
		}
	}
	if _, err := mail.FromURL("smtps://mail.example.com", "nobody"); err == nil {
		t.Error("a sender without an address is taken")
	}
}
