package systemtest

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/monotable/monotable/systems/internal/run"
)

// Serve starts a server for a host, with the host's workers, until the test ends.
func Serve(t *testing.T, server *httptest.Server, host *run.Host) {
	t.Helper()
	server.Config.Handler = host.Mux()
	server.Start()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		host.Work(ctx)
	}()
	t.Cleanup(func() {
		host.Drain()
		server.CloseClientConnections()
		server.Close()
		cancel()
		<-done
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	})
}
