package cli

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts run "monotable" as a command.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"monotable": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			status := Run(ctx, os.Args[1:], Environment{
				Program: "monotable", Getenv: os.Getenv, Environ: os.Environ, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			})
			stop()
			os.Exit(status)
		},
	})
}

// TestScripts runs testdata/script/*.txtar. In addition to testscript's own commands there are
//
//	serve ARGS…           run "monotable serve ARGS…" in this process; $URL is its address, the file "greeting" its output
//	shutdown              stop it like Ctrl-C
//	call OPERATION FILE   send the JSON of a file to it; the response is standard output
//	fetch URL             GET it; its status and body are standard output
//	logged REGEXP         check that the server, after shutdown, has logged a line that matches
//	damage DIR            remove the first item of the first table from a data directory, bypassing the engine
//	corrupt GLOB          flip a bit in the first quarter of the file that matches
//	digest DIR            print the names and checksums of all files below a directory
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Values[runningKey{}] = &running{}
			file, err := filepath.Abs("../localfile/testdata/shared-local-instance.db")
			if err != nil {
				return err
			}
			env.Setenv("LOCAL_FILE", file)
			return writeCertificate(env.Cd)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve": serveCommand, "shutdown": shutdownCommand, "call": callCommand, "damage": damageCommand, "corrupt": corruptCommand, "digest": digestCommand,
			"fetch": fetchCommand, "logged": loggedCommand,
		},
	})
}

// running is the server of one script.
type running struct {
	cancel context.CancelFunc
	status chan int
	log    *log
}

// log is the log of a server.
type log struct {
	mu   sync.Mutex
	text []byte
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	return len(p), nil
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

type runningKey struct{}

var metricsPattern = regexp.MustCompile(`url=(http://[0-9.:]+)/metrics`)

var endpointPattern = regexp.MustCompile(`https?://([0-9.]+|\[::\]):[0-9]+`)

func serveCommand(ts *testscript.TestScript, negated bool, args []string) {
	if negated {
		ts.Fatalf("unsupported: use ! exec monotable serve")
	}
	for i, arg := range args {
		if i > 0 && slices.Contains([]string{"--data", "--tls-cert", "--tls-key"}, args[i-1]) {
			args[i] = ts.MkAbs(arg)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ts.Defer(cancel)
	server := ts.Value(runningKey{}).(*running)
	server.cancel, server.status, server.log = cancel, make(chan int, 1), new(log)
	reader, writer := io.Pipe()
	go func() {
		status := Run(ctx, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...), Environment{
			Program: "monotable", Getenv: ts.Getenv, Stdout: writer, Stderr: server.log,
		})
		_ = writer.Close()
		server.status <- status
	}()
	greeting := readUntil(reader, "Stop with Ctrl-C.\n")
	url := endpointPattern.FindString(greeting)
	if url == "" {
		ts.Fatalf("the server does not say where it listens:\n%s", greeting)
	}
	ts.Setenv("URL", url)
	if match := metricsPattern.FindStringSubmatch(server.log.String()); match != nil {
		ts.Setenv("METRICS_URL", match[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs("greeting"), []byte(greeting), 0o600))
}

func shutdownCommand(ts *testscript.TestScript, _ bool, _ []string) {
	server := ts.Value(runningKey{}).(*running)
	server.cancel()
	if status := <-server.status; status != 0 {
		ts.Fatalf("the server ended with status %d", status)
	}
}

func callCommand(ts *testscript.TestScript, negated bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: call OPERATION FILE")
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, ts.Getenv("URL"), strings.NewReader(ts.ReadFile(args[1])))
	ts.Check(err)
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+args[0])
	response, err := client.Do(request)
	ts.Check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	ts.Check(err)
	_, err = ts.Stdout().Write(append(body, '\n'))
	ts.Check(err)
	if failed := response.StatusCode != http.StatusOK; failed != negated {
		ts.Fatalf("%s: %s %s", args[0], response.Status, body)
	}
}

func fetchCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: fetch URL")
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, args[0], nil)
	ts.Check(err)
	response, err := client.Do(request)
	ts.Check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	ts.Check(err)
	_, err = fmt.Fprintf(ts.Stdout(), "%d %s", response.StatusCode, body)
	ts.Check(err)
}

func loggedCommand(ts *testscript.TestScript, negated bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: logged REGEXP")
	}
	text := ts.Value(runningKey{}).(*running).log.String()
	if regexp.MustCompile("(?m)"+args[0]).MatchString(text) == negated {
		ts.Fatalf("the log does not show it:\n%s", text)
	}
}

// client accepts the certificate of writeCertificate, which is not signed by an authority.
var client = &http.Client{Transport: &http.Transport{
	TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
}}

// writeCertificate writes cert.pem and key.pem to a script's directory.
func writeCertificate(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "cert.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}), 0o600),
		os.WriteFile(filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
	)
}

// readUntil reads up to a text, or to the end.
func readUntil(r io.Reader, text string) string {
	var read strings.Builder
	buffer := make([]byte, 1024)
	for !strings.Contains(read.String(), text) {
		n, err := r.Read(buffer)
		read.Write(buffer[:n])
		if err != nil {
			break
		}
	}
	return read.String()
}

// fullDisk is an output whose writes fail.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestLostOutput checks that a command fails if its output is lost.
func TestLostOutput(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"env", "check --explain list", "help"} {
		var said strings.Builder
		status := Run(t.Context(), strings.Fields(args), Environment{
			Program: "monotable", Getenv: func(string) string { return "" }, Stdout: fullDisk{}, Stderr: &said,
		})
		if want := "monotable: no space left on device\n"; status != 1 || said.String() != want {
			t.Errorf("%s: status %d, %q", args, status, said.String())
		}
	}
}
