// Package serverproc runs the monotable server, built from this tree, as a separate process, for tests that connect over a
// socket or kill it.
//
// A Server belongs to one test: it is stopped when the test ends, and its output is logged if the test failed. Stop and
// Kill may be called once, by the test's own goroutine.
package serverproc

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/monotable/monotable/monotabletest"
)

const (
	startWait = 2 * time.Minute // the machine may be busy
	stopWait  = 15 * time.Second
)

// endpointPattern matches the address on which the server listens: loopback, or all addresses of the machine.
var endpointPattern = regexp.MustCompile(`(https?://)(127\.0\.0\.1|0\.0\.0\.0|\[::\])(:[0-9]+)`)

// Build compiles the monotable command, with additional flags of go build, for the duration of the test and returns the
// binary's path. If package monotabletest tests with TiKV, the build has TiKV's tag.
func Build(tb testing.TB, flags ...string) string {
	tb.Helper()
	binary := filepath.Join(tb.TempDir(), "monotable")
	if monotabletest.OnTiKV(os.Getenv(monotabletest.StoreVariable)) {
		flags = append(flags, "-tags=tikv")
	}
	kept := keptBinary(flags)
	_ = os.Link(kept, binary)
	// Omitting debug information halves the linking time.
	args := slices.Concat([]string{"build", "-ldflags=-s -w", "-o", binary}, flags, []string{"github.com/monotable/monotable/cmd/monotable"})
	build := exec.CommandContext(tb.Context(), "go", args...)
	if output, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %v\n%s", build, err, output)
	}
	if fresh := binary + "-fresh"; os.Link(binary, fresh) == nil {
		_ = os.Rename(fresh, kept)
	}
	return binary
}

// keptBinary is where the last binary of this tree with the same flags is kept for other tests: go build links only if there is
// none yet, or another one. Flags that are unlike any other test's are not worth it.
func keptBinary(flags []string) string {
	_, file, _, _ := runtime.Caller(0)
	if slices.Contains(flags, "-ldflags") {
		return ""
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("monotable-%.8x", sha256.Sum256(fmt.Append(nil, file, flags))))
}

// Server is a running server.
type Server struct {
	// Endpoint is the server's URL.
	Endpoint string

	process *os.Process
	printed *transcript
	exited  chan struct{} // closed when the process is gone
	failure error         // why it exited, once exited is closed
}

// Start runs "monotable serve" on a free port of the loopback interface, with additional arguments (--memory, or
// --data and a directory), and returns once it listens. If package monotabletest tests with a store, so does the server:
// in a separate database instead of --memory, and in one per directory instead of the directory.
func Start(tb testing.TB, binary string, args ...string) *Server {
	tb.Helper()
	return StartWith(tb, nil, binary, args...)
}

// StartWith is Start with additional environment variables.
func StartWith(tb testing.TB, env []string, binary string, args ...string) *Server {
	tb.Helper()
	if store := os.Getenv(monotabletest.StoreVariable); store != "" {
		args = over(tb, store, args)
	}
	//nolint:noctx // the server outlives tb.Context, which ends before the test's cleanups
	cmd := exec.Command(binary, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	s := &Server{printed: &transcript{}, exited: make(chan struct{})}
	cmd.Stderr = s.printed
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	s.process = cmd.Process
	endpoint := make(chan string, 1)
	go func() {
		defer close(s.exited)
		s.read(stdout, endpoint)
		s.failure = cmd.Wait()
	}()
	tb.Cleanup(func() { s.cleanUp(tb) })
	select {
	case s.Endpoint = <-endpoint:
	case <-s.exited:
		tb.Fatalf("%v ended before it listened: %v\n%s", cmd, s.failure, s.printed)
	case <-time.After(startWait):
		tb.Fatalf("%v does not say where it listens after %v:\n%s", cmd, startWait, s.printed)
	}
	return s
}

// over replaces the storage arguments of a server by a database in a store.
func over(tb testing.TB, store string, args []string) []string {
	tb.Helper()
	if slices.Contains(args, "--store") {
		return args
	}
	rest := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == "--memory" })
	if !slices.Contains(rest, "--data") {
		rest = append(rest, "--data", tb.TempDir())
	}
	dir := rest[slices.Index(rest, "--data")+1]
	address, err := monotabletest.Within(store, fmt.Sprintf("server_%x", sha256.Sum256([]byte(dir)))[:40])
	if err != nil {
		tb.Fatal(err)
	}
	return append(rest, "--store", address)
}

// read copies the server's standard output and sends the endpoint it names.
func (s *Server) read(stdout io.Reader, endpoint chan<- string) {
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		s.printed.add(lines.Bytes())
		if url := endpointPattern.FindStringSubmatch(lines.Text()); url != nil && endpoint != nil {
			endpoint <- url[1] + "127.0.0.1" + url[3]
			endpoint = nil
		}
	}
}

// PeakMemory returns the server's peak resident memory in bytes, or 0 if the system does not report it.
func (s *Server) PeakMemory() int64 { return s.memory("VmHWM:") }

// OwnMemory returns the server's current resident memory in bytes, without its program's pages, which the system can drop;
// 0 if the system does not report it.
func (s *Server) OwnMemory() int64 { return s.memory("RssAnon:") }

func (s *Server) memory(name string) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, name); ok {
			var kilobytes int64
			if _, err := fmt.Sscanf(text, "%d kB", &kilobytes); err == nil {
				return kilobytes << 10
			}
		}
	}
	return 0
}

// Env returns this process's environment for a program that uses an AWS SDK, with the endpoint, a Region and credentials
// instead of the machine's configuration.
func (s *Server) Env() []string {
	var env []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "AWS_") {
			env = append(env, variable)
		}
	}
	return append(env,
		"AWS_ENDPOINT_URL_DYNAMODB="+s.Endpoint,
		"AWS_REGION=us-east-1",
		"AWS_DEFAULT_REGION=us-east-1", // the name in older SDKs
		"AWS_ACCESS_KEY_ID=local",
		"AWS_SECRET_ACCESS_KEY=local",
		"AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE="+os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE="+os.DevNull,
		"AWS_PAGER=",
	)
}

// Signal sends the server a signal.
func (s *Server) Signal(tb testing.TB, signal os.Signal) {
	tb.Helper()
	if err := s.process.Signal(signal); err != nil {
		tb.Fatalf("signal the server: %v", err)
	}
}

// Printed waits until the server has printed a text.
func (s *Server) Printed(tb testing.TB, text string) {
	tb.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(stopWait); !strings.Contains(s.printed.String(), text); {
		select {
		case <-tick.C:
		case <-deadline:
			tb.Fatalf("the server did not print %q:\n%s", text, s.printed)
		}
	}
}

// Stop asks the server to end, like Ctrl-C, and fails the test unless it ends successfully.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	if err := s.process.Signal(os.Interrupt); err != nil {
		tb.Fatalf("stop the server: %v", err)
	}
	select {
	case <-s.exited:
		if s.failure != nil {
			tb.Errorf("the server ended with %v", s.failure)
		}
	case <-time.After(stopWait):
		s.Kill(tb)
		tb.Errorf("the server did not end within %v of being asked", stopWait)
	}
}

// StopAtOnce presses Ctrl-C until the server ends.
func (s *Server) StopAtOnce(tb testing.TB) {
	tb.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(stopWait); ; {
		_ = s.process.Signal(os.Interrupt) // it may have ended
		select {
		case <-s.exited:
			return
		case <-tick.C:
		case <-deadline:
			tb.Fatalf("the server did not end within %v", stopWait)
		}
	}
}

// Wait waits until the server ends by itself, and returns its exit status and output.
func (s *Server) Wait(tb testing.TB) (status int, printed string) {
	tb.Helper()
	select {
	case <-s.exited:
	case <-time.After(stopWait):
		tb.Fatalf("the server did not end within %v", stopWait)
	}
	if failure, ok := errors.AsType[*exec.ExitError](s.failure); ok {
		status = failure.ExitCode()
	}
	return status, s.printed.String()
}

// Kill ends the server like a crash: at once, regardless of its work.
func (s *Server) Kill(tb testing.TB) {
	tb.Helper()
	if err := s.process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		tb.Fatalf("kill the server: %v", err)
	}
	<-s.exited
}

func (s *Server) cleanUp(tb testing.TB) {
	tb.Helper()
	select {
	case <-s.exited:
	default:
		s.Stop(tb)
	}
	if tb.Failed() {
		tb.Logf("the server printed:\n%s", s.printed)
	}
}

// transcript stores the server's output.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (p *transcript) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(text)
}

func (p *transcript) add(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text.Write(line)
	p.text.WriteByte('\n')
}

// String returns all of it.
func (p *transcript) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}
