package apitest

import (
	"bufio"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/system"
	"github.com/monotable/monotable/systems/internal/systemtest"
)

// EachBuilt runs a test of a system with its binary, built from a package ("./lambda"): as a server called over a socket, and as
// AWS Lambda runs it. Each run has an empty database, which is also behind a socket. The binary ignores the options with which a
// test may have created the system; settings are environment variables.
func EachBuilt(t *testing.T, s system.System, pkg string, test func(*testing.T, *Server), settings ...string) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), s.Name)
	// Omitting debug information halves the linking time.
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", binary, pkg) //nolint:gosec // a package of this module
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, said)
	}
	for _, transport := range []Transport{Process, Function} {
		t.Run(string(transport), func(t *testing.T) { test(t, openBuilt(t, s, binary, transport, settings)) })
	}
}

// Built reports whether the system runs as its binary, with the system clock and a deployment's options.
func (v *Server) Built() bool { return v.Host == nil }

// openBuilt starts a binary. As a server it leaves the streams to a second process, which receives the records as events when a
// test delivers them.
func openBuilt(t *testing.T, s system.System, binary string, transport Transport, settings []string) *Server {
	t.Helper()
	v := newServer(t, s, transport)
	v.Clock = &Clock{machine: true}
	v.issuer = v.openIssuer(t, v.Clock.Now)
	at := v.Database.Address(t)
	environment := append(append(os.Environ(), settings...),
		"AWS_ACCESS_KEY_ID="+at.AccessKey, "AWS_SECRET_ACCESS_KEY="+at.Secret, "APP_ENDPOINT="+at.Endpoint, "APP_STAGE="+stage,
		"APP_ISSUER_KEY="+v.keys, "APP_ISSUER="+issuerBase, "APP_CURSOR_KEY="+hex.EncodeToString([]byte(cursorKey)), "APP_LOG_LEVEL=warn", "APP_RATE=0",
	)
	if transport == Process {
		v.url = serveBuilt(t, s, binary, environment) + "/" + s.Name
	}
	v.lambda = startFunction(t, s, binary, environment)
	v.document = v.readDocument(t)
	return v
}

// serveBuilt starts a binary as a server and returns its address once it is listening.
func serveBuilt(t *testing.T, s system.System, binary string, environment []string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, "--addr", "127.0.0.1:0", "--workers=false")
	command.Env = environment
	return serveProcess(t, s.Name, command, new(atomic.Bool))
}

// serveProcess starts a server and returns its address. Unless it is killed, it must end on SIGTERM without logging errors.
func serveProcess(t *testing.T, name string, command *exec.Cmd, killed *atomic.Bool) string {
	t.Helper()
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = endWait
	said := &transcript{}
	command.Stderr = said
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The context has ended by now, so the process has been signalled to end.
		if _ = command.Wait(); command.ProcessState.ExitCode() != 0 && !killed.Load() {
			t.Errorf("%s ended with %v", name, command.ProcessState)
		}
		said.look(t)
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if found := addressLine.FindStringSubmatch(lines.Text()); found != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return found[1]
		}
	}
	t.Fatalf("%s ended before it listened: %s", name, said)
	return ""
}

const endWait = 30 * time.Second

var addressLine = regexp.MustCompile(` at (http://127\.0\.0\.1:\d+)/`)

// transcript records a process's output.
type transcript struct{ systemtest.Log }

// look fails the test for errors and panics in the log, and prints the log if the test has failed.
func (s *transcript) look(t *testing.T) {
	t.Helper()
	text := s.String()
	for _, sign := range []string{"level=ERROR", `"level":"ERROR"`, "panic:"} {
		if strings.Contains(text, sign) {
			t.Errorf("the log has %s", sign)
		}
	}
	if t.Failed() {
		t.Logf("the process said:\n%s", text)
	}
}
