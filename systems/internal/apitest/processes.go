package apitest

import (
	"encoding/hex"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/monotable/monotable/systems/internal/sam"
	"github.com/monotable/monotable/systems/internal/system"
)

// processVariable makes a test binary run as a system; see Main.
const processVariable = "APITEST_PROCESS"

// Peer is one of several processes of a system that share a database.
type Peer struct {
	*Server
	kill func()
}

// Kill kills the process with SIGKILL.
func (p *Peer) Kill() { p.kill() }

// Processes starts a system twice on one empty database, each with workers and the system clock. The processes share
// keys, so tokens and cursors are valid for all of them. Settings are environment variables.
func Processes(t *testing.T, s system.System, settings ...string) []*Peer {
	t.Helper()
	first := newServer(t, s, Process)
	first.Clock = &Clock{machine: true}
	first.issuer = first.openIssuer(t, first.Clock.Now)
	at := first.Database.Address(t)
	environment := append(append(os.Environ(), settings...), processVariable+"=1",
		"AWS_ACCESS_KEY_ID="+at.AccessKey, "AWS_SECRET_ACCESS_KEY="+at.Secret, "APP_ENDPOINT="+at.Endpoint, "APP_STAGE="+stage,
		"APP_ISSUER_KEY="+first.keys, "APP_ISSUER="+issuerBase, "APP_CURSOR_KEY="+hex.EncodeToString([]byte(cursorKey)), "APP_LOG_LEVEL=warn", "APP_RATE=0",
	)
	var all []*Peer
	for range 2 {
		v := &Server{
			Database: first.Database, Clock: first.Clock, issuer: first.issuer, keys: first.keys, system: s, transport: Process,
			document: &document{}, seen: map[string]*coverage{}, asked: map[string]string{}, reached: map[string][]sam.Access{},
		}
		command := exec.CommandContext(t.Context(), os.Args[0], "--addr", "127.0.0.1:0") //nolint:gosec // this binary
		command.Env = environment
		var killed atomic.Bool
		v.url = serveProcess(t, s.Name, command, &killed) + "/" + s.Name
		v.document = v.readDocument(t)
		all = append(all, &Peer{Server: v, kill: func() {
			killed.Store(true)
			if err := command.Process.Signal(syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		}})
	}
	return all
}

// Together sends many requests concurrently, and returns the responses in request order.
func Together(n int, do func(i int) *Response) []*Response {
	responses := make([]*Response, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { responses[i] = do(i) })
	}
	all.Wait()
	return responses
}
