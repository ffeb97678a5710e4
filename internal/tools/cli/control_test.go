package cli

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/monotable/monotable"
)

// TestControlOfTwoServers: of two servers over one store with the same directory, the first keeps the socket. The second one says so.
func TestControlOfTwoServers(t *testing.T) {
	db, err := monotable.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	flags, printed := &serveFlags{store: "postgres://db1/monotable", data: t.TempDir()}, new(log)
	logger := slog.New(slog.NewTextHandler(printed, nil))
	defer serveControl(db, prometheus.NewRegistry(), flags, "http://127.0.0.1:1", logger)()
	stop := serveControl(db, prometheus.NewRegistry(), flags, "http://127.0.0.1:2", logger)
	if text := printed.String(); !strings.Contains(text, "give each server a directory of its own") {
		t.Errorf("logged %q", text)
	}
	stop()
	if at, err := Endpoint(t.Context(), flags.data); at != "http://127.0.0.1:1" || err != nil {
		t.Errorf("the socket is that of %q, %v", at, err)
	}
}
