package cli

import (
	"fmt"
	"log/slog"

	"github.com/monotable/monotable/internal/database/server"
	"github.com/monotable/monotable/internal/descriptors"
)

const (
	// connectionsMin is the minimum number of connections for which a server starts.
	connectionsMin = 16
	// auxiliaryConnections limits each listener other than the API's; package descriptors leaves room for them.
	auxiliaryConnections = 16
)

// fitConnections lowers the limit of connections to the available descriptors.
func (f *serveFlags) fitConnections(available int, logger *slog.Logger) error {
	if f.maxConnections < 1 {
		return fmt.Errorf("--max-connections %d: want at least 1", f.maxConnections)
	}
	available -= server.SurplusMax
	if available < connectionsMin {
		limit := descriptors.Limit()
		return fmt.Errorf("this process may open only %d files: raise the limit to at least %d (ulimit -n)", limit, limit+connectionsMin-available)
	}
	if f.maxConnections <= available {
		return nil
	}
	if f.connectionsGiven {
		logger.Warn("lowering --max-connections, because each connection needs a file descriptor; raise the limit with ulimit -n",
			"asked", f.maxConnections, "max_connections", available, "open_files_max", descriptors.Limit())
	}
	f.maxConnections = available
	return nil
}
