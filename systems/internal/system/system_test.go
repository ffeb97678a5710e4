package system

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/internal/problem"
)

func valid() System {
	return System{
		Name: "notes", Title: "Notes",
		Tables:   func(string) []Table { return nil },
		Open:     func(context.Context, Deps) (*Service, error) { return &Service{}, nil },
		Rules:    problem.Rules{{Err: errors.New("full"), Code: "full"}},
		Examples: []Example{{Method: "GET", Path: "/notes"}},
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	if err := valid().Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*System){
		"Name must be":             func(s *System) { s.Name = "Notes" },
		"Name must be lower-case":  func(s *System) { s.Name = "../notes" },
		"no Title":                 func(s *System) { s.Title = "" },
		"no Tables":                func(s *System) { s.Tables = nil },
		"no Open":                  func(s *System) { s.Open = nil },
		"a rule needs Err":         func(s *System) { s.Rules[0].Err = nil },
		"a rule needs Err and Cod": func(s *System) { s.Rules[0].Code = "" },
		"AdminGroup must begin":    func(s *System) { s.AdminGroup = "admin" },
		"an example needs":         func(s *System) { s.Examples[0].Path = "notes" },
		"an example needs Method":  func(s *System) { s.Examples[0].Method = "" },
	} {
		s := valid()
		change(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestCurl: a shell parses the command into the original words.
func TestCurl(t *testing.T) {
	t.Parallel()
	e := Example{
		Method: "POST", Path: "/notes?q=a&b=$HOME", Header: map[string]string{"Idempotency-Key": "k`id`", "A": `"x"`},
		Body: `{"text":"it's \"here\""}`,
	}
	line := e.Curl("http://127.0.0.1:8080/notes", "tok.en")
	args, found := strings.CutPrefix(line, "curl ")
	if !found {
		t.Fatal(line)
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", `printf '%s\n' `+args).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := strings.Join([]string{
		"-sS", "-X", "POST", "http://127.0.0.1:8080/notes/notes?q=a&b=$HOME", "-H", "Authorization: Bearer tok.en",
		"-H", `A: "x"`, "-H", "Idempotency-Key: k`id`", "-H", "Content-Type: application/json", "-d", `{"text":"it's \"here\""}`,
	}, "\n")
	if got := strings.TrimSpace(string(out)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
