package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/engine"
)

// Thresholds of warnings.
const (
	ttlLate         = time.Hour
	streamLate      = time.Hour // a stream keeps changes for 24
	deliveryLate    = 5 * time.Minute
	replicationLate = time.Minute
	logsFull        = 0.9 // of --log-max-bytes
	hotThrottled    = 1   // throttled requests of a key in the last minutes
)

// warning says that a table needs attention: Kind is the reason, Amount its extent, Of the object concerned.
type warning struct {
	TableName string `json:",omitempty"`
	Kind      string
	Amount    float64
	Of        string `json:",omitempty"`
}

// The kinds. Amounts are seconds; for HotKey, requests; for LogsFull, the share of the limit.
const (
	warnTTL         = "TTLBehind"         // items that expired this long ago have not been deleted yet
	warnStream      = "StreamBehind"      // a shard's reader is this far behind
	warnDelivery    = "DeliveryBehind"    // deliveries to Kinesis are this far behind
	warnReplication = "ReplicationBehind" // replication from the Region Of is this far behind
	warnHotKey      = "HotKey"            // requests with the partition key Of were recently throttled
	warnLogs        = "LogsFull"          // the change logs are about to lose their oldest changes
)

type warningsOutput struct{ Warnings []warning }

// listWarnings returns the warnings about all tables that the server's counters support.
func (h *Handler) listWarnings(ctx context.Context, by caller, body []byte) (any, error) {
	if err := h.authorizeServer(by, "ListWarnings"); err != nil {
		return nil, err
	}
	if err := decode(body, new(struct{})); err != nil {
		return nil, err
	}
	g, err := h.options.Gauges(ctx)
	if err != nil {
		return nil, err
	}
	out := warningsOutput{[]warning{}}
	add := func(table, kind, of string, behind, late time.Duration) {
		if behind >= late {
			out.Warnings = append(out.Warnings, warning{table, kind, behind.Seconds(), of})
		}
	}
	for i := range g.Tables {
		t := &g.Tables[i]
		add(t.Name, warnTTL, "", t.ExpiredFor, ttlLate)
		for region, lag := range t.ReplicationLag {
			add(t.Name, warnReplication, region, lag, replicationLate)
		}
		out.Warnings = append(out.Warnings, h.hotKeys(ctx, t.Name)...)
	}
	now := h.options.Now()
	for _, t := range h.options.Observe.Tables() {
		var oldest time.Duration
		for _, age := range t.IteratorAges(now) {
			oldest = max(oldest, age)
		}
		add(t.Name, warnStream, "", oldest, streamLate)
		if d := t.Delivering(); d != nil {
			add(t.Name, warnDelivery, "", d.Lag(now), deliveryLate)
		}
	}
	if share := float64(g.Logs.Bytes) / float64(max(g.Logs.Max, 1)); g.Logs.Max > 0 && share >= logsFull {
		out.Warnings = append(out.Warnings, warning{Kind: warnLogs, Amount: share})
	}
	slices.SortStableFunc(out.Warnings, func(a, b warning) int {
		return cmp.Or(strings.Compare(a.TableName, b.TableName), strings.Compare(a.Kind+a.Of, b.Kind+b.Of))
	})
	return out, nil
}

// hotKeys returns the most throttled keys of a table or index with contributor insights enabled.
func (h *Handler) hotKeys(ctx context.Context, table string) (found []warning) {
	in, name := h.options.In(table)
	rankings, err := in.Insights(ctx, name)
	if err != nil {
		return nil // the table was deleted in the meantime
	}
	for i := range rankings {
		r := &rankings[i]
		if len(r.ThrottledPartitions) == 0 || r.ThrottledPartitions[0].Amount < hotThrottled {
			continue
		}
		found = append(found, warning{table, warnHotKey, r.ThrottledPartitions[0].Amount, textOf(r)})
	}
	return found
}

// textOf formats the most throttled key, and its index.
func textOf(r *engine.KeyRankings) string {
	var parts []string
	for _, v := range r.ThrottledPartitions[0].Key {
		parts = append(parts, v.Value)
	}
	text := strings.Join(parts, " ")
	if r.Index != "" {
		text += " (" + r.Index + ")"
	}
	return text
}
