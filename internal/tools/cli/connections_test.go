package cli

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/server"
)

func TestConnectionsFitTheDescriptors(t *testing.T) {
	for _, c := range []struct {
		asked     int
		given     bool
		available int
		want      int
		warned    bool
	}{
		{4096, false, 50000, 4096, false},
		{4096, false, 640, 640 - server.SurplusMax, false},
		{4096, true, 640, 640 - server.SurplusMax, true},
		{100, true, 640, 100, false},
		{1 << 40, true, 916504, 916504 - server.SurplusMax, true},
	} {
		var logged bytes.Buffer
		f := serveFlags{maxConnections: c.asked, connectionsGiven: c.given}
		if err := f.fitConnections(c.available, slog.New(slog.NewTextHandler(&logged, nil))); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if f.maxConnections != c.want || strings.Contains(logged.String(), "lowering --max-connections") != c.warned {
			t.Errorf("%+v: %d connections, logged %q", c, f.maxConnections, &logged)
		}
	}
	f := serveFlags{maxConnections: 4096}
	if err := f.fitConnections(server.SurplusMax, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("without descriptors for connections: %v", err)
	}
}
