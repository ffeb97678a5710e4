package postgreskv_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
)

// networkVariable tells a process that it runs in its own network namespace.
const networkVariable = "POSTGRESKV_TEST_NETWORK"

// TestLostNetwork tests that a commit whose connection is lost, so that not even the peer's system acknowledges anything, ends
// as undetermined long before commitTime, and that one for which the server is only slow does not. A test in its own network
// namespace runs it.
func TestLostNetwork(t *testing.T) {
	if os.Getenv(networkVariable) == "" {
		inOwnNetwork(t)
		return
	}
	if exec.CommandContext(t.Context(), "iptables", "-L").Run() != nil {
		t.Skip("the system has no packet filter")
	}
	command(t, "ip", "link", "set", "lo", "up")
	far, err := postgrestest.Start("listen_addresses = '127.0.0.1'")
	if err != nil {
		t.Fatal(err)
	}
	defer far.Remove()
	admin := administrator(t, far) // through the socket
	address := "postgres://postgres@127.0.0.1/postgres?search_path=network"
	s := openWith(t, address, postgreskv.Options{})
	defer func() { command(t, "iptables", "-F"); closeAll(t, s) }()
	// One commit has been sent and is not answered: the server waits for a nonexistent standby. The other one is not sent yet.
	reconfigure(t, far, "synchronous_standby_names = 'nowhere'")
	unacknowledged := make(chan error, 1)
	commit := func() { unacknowledged <- set(t.Context(), s, "unanswered", "v") }
	go commit()
	for waits := false; !waits; {
		if err := admin.QueryRow(t.Context(), "select exists (select from pg_stat_activity where wait_event = 'SyncRep')").Scan(&waits); err != nil {
			t.Fatal(err)
		}
		if len(unacknowledged) > 0 { // it has not read its settings yet
			<-unacknowledged
			go commit()
		}
	}
	var lost time.Time
	unsent := s.Update(t.Context(), writes("unsent"), func(txn kv.Txn) error {
		txn.Set([]byte("unsent"), []byte("v"))
		command(t, "iptables", "-A", "INPUT", "-p", "tcp", "-j", "DROP")
		lost = time.Now()
		return nil
	})
	for name, err := range map[string]error{"unsent": unsent, "unanswered": <-unacknowledged} {
		if took := time.Since(lost); !errors.Is(err, kv.ErrUndetermined) || took > 30*time.Second {
			t.Errorf("a commit whose connection is lost, %s, ends after %v with %v", name, took, err)
		}
	}
	reconfigure(t, far, "synchronous_standby_names = ''")
	command(t, "iptables", "-F")
	if err := set(t.Context(), s, "again", "v"); err != nil {
		t.Errorf("when the network is back: %v", err)
	}

	// The server reads only a part of the larger commit before it is busy. In the first round, the connections know the
	// statements.
	sizes := []int{1, 4 << 20}
	for _, pause := range []bool{false, true} {
		var begun, ended sync.WaitGroup
		begun.Add(len(sizes))
		goOn := make(chan struct{})
		for i, size := range sizes {
			ended.Go(func() {
				err := s.Update(t.Context(), writes(fmt.Sprint("slow", i)), func(txn kv.Txn) error {
					txn.Set(fmt.Append(nil, "slow", i), make([]byte, size))
					txn.AppendLog(1, make([]byte, size))
					begun.Done()
					<-goOn
					return nil
				})
				if err != nil {
					t.Errorf("a commit of %d bytes that takes the server more than ten seconds: %v", size, err)
				}
			})
		}
		begun.Wait()
		if pause {
			far.Pause()
			time.AfterFunc(12*time.Second, far.Resume)
		}
		close(goOn)
		ended.Wait()
	}
}

func reconfigure(t *testing.T, s *postgrestest.Server, line string) {
	t.Helper()
	if err := s.Reconfigure(line); err != nil {
		t.Fatal(err)
	}
}

// inOwnNetwork runs the test in a process with its own network namespace.
func inOwnNetwork(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("iptables"); err != nil || os.Getuid() != 0 {
		t.Skip("it takes root and iptables to lose packets")
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=3m")
	child.Env = append(os.Environ(), networkVariable+"=own")
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	out, err := child.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("the system lets no process have a network of its own")
	}
	switch {
	case err != nil:
		t.Errorf("in a network of its own: %v\n%s", err, out)
	case bytes.Contains(out, []byte("--- SKIP")):
		t.Skipf("%s", out)
	}
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}
