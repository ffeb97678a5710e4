package metrics_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/metrics"
	"github.com/monotable/monotable/internal/database/observe"
)

// TestManyTables: alerts do not miss the tables beyond those that have series of their own: together they have the longest of their lags, and
// the oldest of their newest backups.
func TestManyTables(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	var g engine.Gauges
	for i := range observe.TablesMax + 3 {
		g.Tables = append(g.Tables, engine.TableGauges{Name: fmt.Sprintf("t%03d", i)})
	}
	others := g.Tables[observe.TablesMax:]
	others[0].NewestBackup, others[1].NewestBackup = now, now.Add(-1000*time.Second) // others[2] has none
	others[0].ReplicationLag = map[string]time.Duration{"eu-west-1": time.Second, "eu-west-2": 2 * time.Second}
	others[2].ReplicationLag = map[string]time.Duration{"eu-west-1": time.Minute}
	others[0].ReplicationPending = map[string]int64{"eu-west-1": 3}
	others[2].ReplicationPending = map[string]int64{"eu-west-1": 4}
	collector := metrics.New(metrics.Source{
		Observe: observe.New(), Gauges: func(context.Context) (engine.Gauges, error) { return g, nil }, Ready: func() error { return nil },
		Panics: func() int64 { return 0 }, Memory: func() (used, limit int64) { return 0, 0 }, Now: func() time.Time { return now },
		Logger: slog.New(slog.DiscardHandler),
	})
	names := []string{"monotable_replication_lag_seconds", "monotable_replication_pending_changes", "monotable_table_backup_newest_timestamp_seconds"}
	const want = `
# HELP monotable_replication_lag_seconds Age of the oldest change not yet received from the table's replica in another Region; 0 if all have been.
# TYPE monotable_replication_lag_seconds gauge
monotable_replication_lag_seconds{from="eu-west-1",table="(other)"} 60
monotable_replication_lag_seconds{from="eu-west-2",table="(other)"} 2
# HELP monotable_replication_pending_changes Changes of the table not yet received by its replica in another Region; a lower bound above about 1000.
# TYPE monotable_replication_pending_changes gauge
monotable_replication_pending_changes{table="(other)",to="eu-west-1"} 7
# HELP monotable_table_backup_newest_timestamp_seconds Creation time of the table's newest backup.
# TYPE monotable_table_backup_newest_timestamp_seconds gauge
monotable_table_backup_newest_timestamp_seconds{table="(other)"} 1.799999e+09
`
	if err := testutil.CollectAndCompare(collector, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
}
