package deploy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
	"github.com/monotable/monotable/test/internal/serverproc"
)

// testStoreLost: while PostgreSQL is down, a server is not ready but reports itself alive, so that it is not restarted. It
// recovers on its own. A server that is stopped while PostgreSQL is down exits within seconds.
func testStoreLost(t *testing.T, binary string) {
	t.Helper()
	own, err := postgrestest.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer own.Remove()
	n := &node{metrics: freePort(t)}
	n.Server = serverproc.Start(t, binary, "--store", postgrestest.URL("lost", own), "--data", t.TempDir(), "--log-level", "error",
		"--metrics-addr", fmt.Sprintf("127.0.0.1:%d", n.metrics))
	own.Kill()
	const want = "the store does not respond, and is asked again"
	waitFor(t, "the server is not ready", func() bool {
		status, text := n.get(t, "/-/ready")
		return status == http.StatusServiceUnavailable && strings.Contains(text, want)
	})
	if status, text := n.get(t, "/-/healthy"); status != http.StatusOK {
		t.Errorf("the process: %d %s", status, text)
	}
	if err := own.Restart(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the server is ready again", func() bool { status, _ := n.get(t, "/-/ready"); return status == http.StatusOK })
	own.Kill()
	n.Stop(t)
}
