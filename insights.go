package monotable

import (
	"context"
	"fmt"
	"time"

	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/insights"
)

// Insights are the most accessed and most throttled keys of a table and its global indexes over the last minutes, as far
// as contributor insights are enabled (UpdateContributorInsights). They are kept in memory, and begin anew with the
// process.
type Insights struct {
	Table     string             `json:"table"`
	Minutes   int                `json:"minutes"`
	Resources []ResourceInsights `json:"resources"`
}

// ResourceInsights are the rankings of a table, or of one of its indexes, largest amount first. Accessed keys are ranked by
// the capacity units they consumed, throttled ones by requests.
type ResourceInsights struct {
	Index                  string    `json:"index,omitempty"`
	Mode                   string    `json:"mode"`
	AccessedPartitionKeys  []KeyRank `json:"accessed_partition_keys"`
	AccessedKeys           []KeyRank `json:"accessed_keys"` // partition and sort key
	ThrottledPartitionKeys []KeyRank `json:"throttled_partition_keys"`
	ThrottledKeys          []KeyRank `json:"throttled_keys"`
}

// KeyRank is a key and how much it had: at most Amount, at least Amount-Error. Error is 0 while a minute has no more than
// 128 keys.
type KeyRank struct {
	Key    []KeyValue `json:"key"`
	Amount float64    `json:"amount"`
	Error  float64    `json:"error,omitempty"`
}

// KeyValue is the value of a key attribute: its type (S, N or B) and its text, of a binary value in base64. A long text is
// cut, and a hash takes the place of the rest.
type KeyValue struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// Insights returns the most accessed and most throttled keys of a table. One of another Region than Options.Region is
// REGION/TABLE, or the table's ARN.
func (db *DB) Insights(ctx context.Context, table string) (Insights, error) {
	in, name := db.inRegion(table)
	read, err := in.Insights(ctx, name)
	if err != nil {
		return Insights{}, fmt.Errorf("monotable: insights: %w", err)
	}
	out := Insights{Table: table, Minutes: insights.Minutes, Resources: []ResourceInsights{}}
	for i := range read {
		out.Resources = append(out.Resources, newResourceInsights(&read[i]))
	}
	return out, nil
}

// insightsRule returns what a rule of contributor insights, of whichever Region, counted from a time until before another.
func (db *DB) insightsRule(name string, from, to time.Time) (report insights.Report, found bool) {
	report, found = db.engine.InsightsRule(name, from, to)
	for _, r := range db.regions {
		if found {
			break
		}
		report, found = r.engine.InsightsRule(name, from, to)
	}
	return report, found
}

func newResourceInsights(r *engine.KeyRankings) ResourceInsights {
	return ResourceInsights{
		Index: r.Index, Mode: string(r.Mode),
		AccessedPartitionKeys: newRanks(r.AccessedPartitions), AccessedKeys: newRanks(r.AccessedItems),
		ThrottledPartitionKeys: newRanks(r.ThrottledPartitions), ThrottledKeys: newRanks(r.ThrottledItems),
	}
}

func newRanks(read []insights.Rank) []KeyRank {
	ranks := make([]KeyRank, len(read))
	for i, r := range read {
		ranks[i] = KeyRank{Key: make([]KeyValue, len(r.Key)), Amount: r.Amount, Error: r.Error}
		for j, v := range r.Key {
			ranks[i].Key[j] = KeyValue(v)
		}
	}
	return ranks
}
