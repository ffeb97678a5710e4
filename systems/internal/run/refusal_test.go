package run_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/systemtest"
)

// TestInvalidFlagsAreReported: mistakes in flags or the environment are reported with the flag's name.
func TestInvalidFlagsAreReported(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args      []string
		variables map[string]string
		want      string
	}{
		{[]string{"--memory"}, nil, "no issuer of tokens: use --issuer and --client-id"},
		{[]string{"--memory", "--issuer", "https://x"}, nil, "no issuer of tokens: use --issuer and --client-id"},
		{[]string{"--memory", "--dev-issuer", "--issuer", "https://x"}, nil, "--dev-issuer is for development"},
		{[]string{"--memory"}, map[string]string{"APP_DEV_ISSUER": "maybe"}, "APP_DEV_ISSUER"},
		{[]string{"--memory", "--dev-issuer", "--log-level", "loud"}, nil, "--log-level"},
		{[]string{"--memory", "--dev-issuer", "--log-format", "xml"}, nil, "--log-format"},
		{[]string{"--memory", "--dev-issuer", "--cursor-key", "abc"}, nil, "--cursor-key: want a key of 32 bytes"},
		{[]string{"--memory", "--dev-issuer", "--cursor-key-file", "/nowhere"}, nil, "--cursor-key-file"},
		{[]string{"--memory", "--dev-issuer", "--durability", "some"}, nil, "--durability"},
		{[]string{"--dev-issuer", "--aws"}, nil, "--cursor-key is required on AWS"},
		{[]string{"--memory", "--dev-issuer", "--addr", "256.0.0.1:1"}, nil, "--addr"},
		{[]string{"--memory", "--dev-issuer", "--timeout", "-1s"}, nil, "--timeout -1s"},
		{[]string{"--memory", "--dev-issuer", "--rate", "-1"}, nil, "--rate -1"},
		{[]string{"--memory", "--dev-issuer", "--rate", "NaN"}, nil, "--rate NaN"},
		{[]string{"--memory", "--issuer", "cognito", "--client-id", "c"}, nil, "--issuer cognito"},
		{[]string{"--memory", "--issuer", "https://x/pool/", "--client-id", "c"}, nil, "--issuer https://x/pool/"},
		{[]string{"--memory", "--dev-issuer", "--cors-origin", "app.example"}, nil, `--cors-origin: CORS origin "app.example"`},
		{[]string{"--memory", "--dev-issuer", "--cors-origin", "https://app.example/"}, nil, `--cors-origin: CORS origin "https://app.example/"`},
		{[]string{"--dev-issuer", "--endpoint", "foo"}, nil, "--endpoint foo: want http://host:port"},
		{[]string{"--dev-issuer", "--endpoint", "localhost:8000"}, nil, "--endpoint localhost:8000: want http://host:port"},
		{[]string{"--memory", "--dev-issuer", "--data", "x"}, nil, "--memory and --data cannot be combined"},
		{[]string{"--memory", "--dev-issuer"}, map[string]string{"APP_DATA": "x"}, "--memory and --data cannot be combined"},
		{[]string{"extra"}, nil, "unknown command"},
	} {
		env, _ := environment(t, test.variables)
		cmd := run.Command(systemtest.Notes(systemtest.Hooks{}), env)
		args := test.args
		if !slices.Contains(args, "--addr") {
			args = append([]string{"--addr", "127.0.0.1:0"}, args...)
		}
		cmd.SetArgs(args)
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v %v: %v, want an error with %q", test.args, test.variables, err, test.want)
		}
	}
}

// TestNoDatabase: if the database is unavailable, one line says what to do.
func TestNoDatabase(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	db, err := monotable.Open(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const dead = "127.0.0.1:1" // a port that is never picked as a free one
	for _, test := range []struct {
		flag, value string
		want, not   string
	}{
		{"--data", data, data + " is open in another process: stop it, or use another --data directory; if it is demo serve", "kv:"},
		{"--endpoint", "http://" + dead, "no database is running: dial tcp " + dead, "exceeded maximum number of attempts"},
	} {
		env, _ := environment(t, nil)
		cmd := run.Command(systemtest.Notes(systemtest.Hooks{}), env)
		cmd.SetArgs([]string{"--addr", "127.0.0.1:0", "--dev-issuer", test.flag, test.value})
		err := cmd.ExecuteContext(t.Context())
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), test.not) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", test.flag, err, test.want)
		}
		if locked := errors.Is(err, monotable.ErrLocked); locked != (test.flag == "--data") {
			t.Errorf("%s: %v is ErrLocked: %v", test.flag, err, locked)
		}
	}
}

// TestLambdaRefuses: a Lambda function configured with two databases does not start.
func TestLambdaRefuses(t *testing.T) {
	t.Parallel()
	env, _ := environment(t, map[string]string{"APP_MEMORY": "true", "APP_DATA": "x", "APP_DEV_ISSUER": "true"})
	if _, err := run.NewLambda(t.Context(), systemtest.Notes(systemtest.Hooks{}), env); err == nil || !strings.Contains(err.Error(), "--memory and --data") {
		t.Errorf("%v, want that the two exclude each other", err)
	}
}
