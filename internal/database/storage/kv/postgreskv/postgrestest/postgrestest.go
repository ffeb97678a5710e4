//go:build unix

// Package postgrestest runs PostgreSQL servers for tests: those of Debian's package postgresql, which test/setup installs.
//
// A Server has its data and its socket in its own directory and listens on no port, so that any number of servers can run at
// once. It is durable, like one in production. Methods must not be called concurrently.
package postgrestest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const startTime = time.Minute

// Server is a running server.
type Server struct {
	dir     string // contains data, socket and log
	bin     string
	process *exec.Cmd
	exited  chan struct{}
}

// Run starts a server for the tests of a package, and returns their exit code after it has stopped. It is for TestMain.
func Run(tests func(s *Server) int) int {
	s, err := Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "postgrestest:", err)
		return 1
	}
	defer s.Remove()
	return tests(s)
}

// Start creates an empty database and starts a server for it, with additional lines of postgresql.conf.
func Start(config ...string) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "postgres")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin}
	if err := s.create(config); err != nil {
		s.Remove()
		return nil, err
	}
	return s, nil
}

// Standby copies a running server to another one that follows it.
func (s *Server) Standby(config ...string) (*Server, error) {
	dir, err := os.MkdirTemp("", "postgres")
	if err != nil {
		return nil, err
	}
	standby := &Server{dir: dir, bin: s.bin}
	err = standby.own()
	if err == nil {
		err = standby.run("pg_basebackup", "-h", s.dir, "-U", "postgres", "-D", standby.data(), "-R", "-X", "stream", "-c", "fast", "--no-sync")
	}
	if err == nil {
		err = standby.configure(append([]string{"unix_socket_directories = '" + dir + "'"}, config...))
	}
	if err == nil {
		err = standby.Restart()
	}
	if err != nil {
		standby.Remove()
		return nil, err
	}
	return standby, nil
}

// Promote makes a standby writable.
func (s *Server) Promote() error { return s.run("pg_ctl", "promote", "-w", "-D", s.data()) }

// URL is the URL of servers, of which one is writable; schema is the schema of the tables.
func URL(schema string, servers ...*Server) string {
	hosts := make([]string, 0, len(servers))
	for _, s := range servers {
		hosts = append(hosts, s.dir)
	}
	return "postgres://postgres@/postgres?host=" + strings.Join(hosts, ",") + "&search_path=" + schema
}

// Processes are the processes of the server, the main process first.
func (s *Server) Processes() []int {
	pid := s.process.Process.Pid
	return append([]int{pid}, children(pid)...)
}

// Kill ends the server's processes like a power failure, except that the operating system's cache survives.
func (s *Server) Kill() {
	pid := s.process.Process.Pid
	_ = syscall.Kill(pid, syscall.SIGSTOP) // so that it starts no more processes
	backends := children(pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	for _, backend := range backends { // they have their own process groups
		_ = syscall.Kill(backend, syscall.SIGKILL)
	}
	<-s.exited
	for begun := time.Now(); slices.ContainsFunc(backends, running) && time.Since(begun) < startTime; { // a server does not start while they run
		<-time.After(time.Millisecond)
	}
}

// Pause stops the processes of the server, as SIGSTOP does, until Resume.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume continues the server after Pause.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	pid := s.process.Process.Pid
	_ = syscall.Kill(pid, sig) // first, because it starts no processes while it is stopped
	for _, backend := range children(pid) {
		_ = syscall.Kill(backend, sig)
	}
}

// Reconfigure adds lines to postgresql.conf, where the last line of a name counts, and makes the server read it.
func (s *Server) Reconfigure(lines ...string) error {
	if err := s.configure(lines); err != nil {
		return err
	}
	return syscall.Kill(s.process.Process.Pid, syscall.SIGHUP)
}

// Socket is the path of the Unix socket at which the server listens.
func (s *Server) Socket() string { return filepath.Join(s.dir, ".s.PGSQL.5432") }

// children are the children of a process.
func children(pid int) (list []int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	for field := range strings.FieldsSeq(string(text)) {
		if child, err := strconv.Atoi(field); err == nil {
			list = append(list, child)
		}
	}
	return list
}

// running reports whether a process has not ended: a zombie holds nothing.
func running(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(state, "Z")
}

// Restart starts the server, also after Kill, and returns once it accepts connections.
func (s *Server) Restart() error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := s.command("postgres", "-D", s.data())
	cmd.Stderr, cmd.Stdout = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	s.process, s.exited = cmd, exited
	for begun := time.Now(); ; {
		if s.run("pg_isready", "-q", "-h", s.dir) == nil {
			return nil
		}
		select {
		case <-exited:
			return errors.New("the server has ended:\n" + s.printed())
		case <-time.After(50 * time.Millisecond):
		}
		if time.Since(begun) > startTime {
			return errors.New("the server does not start:\n" + s.printed())
		}
	}
}

// Remove ends the server and removes its data.
func (s *Server) Remove() {
	if s.process != nil {
		s.Kill()
	}
	_ = os.RemoveAll(s.dir)
}

func (s *Server) create(config []string) error {
	if err := s.own(); err != nil {
		return err
	}
	if err := s.run("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"); err != nil {
		return err
	}
	err := s.configure(append([]string{
		"listen_addresses = ''", "unix_socket_directories = '" + s.dir + "'", "max_connections = 200", "shared_buffers = 64MB", "log_min_messages = warning",
	}, config...))
	if err != nil {
		return err
	}
	return s.Restart()
}

func (s *Server) configure(lines []string) error {
	f, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	return errors.Join(err, f.Close())
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) printed() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(text)
}

// own makes the user that runs the server the directory's owner: the server refuses root.
func (s *Server) own() error {
	who, err := serverUser()
	if err != nil || who == nil {
		return err
	}
	return os.Chown(s.dir, int(who.Uid), int(who.Gid))
}

// serverUser is the user that runs the server instead of root, nil if the tests do not run as root.
func serverUser() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // not needed
	}
	u, err := user.Lookup("postgres") // created by the package
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...) //nolint:gosec,noctx // it is the server's own, and outlives any context
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.SysProcAttr.Credential, _ = serverUser()
	return cmd
}

func (s *Server) run(name string, args ...string) error {
	var printed bytes.Buffer
	cmd := s.command(name, args...)
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, printed.Bytes())
	}
	return nil
}

// binaries is the directory of the newest installed server.
func binaries() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		return "", errors.New("there is no PostgreSQL server: `make setup` installs Debian's")
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(newest), nil
}
