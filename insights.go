package monotable

import (
	"context"
	"fmt"
	"time"

	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/insights"
)

// Insights are the most accessed and most throttled keys of a table and its global indexes over the last minutes, if contributor
// insights are enabled (UpdateContributorInsights). They are kept in memory and lost when the process ends.
type Insights struct {
	Table     string             `json:"table"`
	Minutes   int                `json:"minutes"`
	Resources []ResourceInsights `json:"resources"`
}

// ResourceInsights are the rankings of a table or one of its indexes, in descending order. Accessed keys are ranked by consumed
// capacity units, throttled keys by the number of requests.
type ResourceInsights struct {
	Index                  string    `json:"index,omitempty"`
	Mode                   string    `json:"mode"`
	AccessedPartitionKeys  []KeyRank `json:"accessed_partition_keys"`
	AccessedKeys           []KeyRank `json:"accessed_keys"` // partition and sort key
	ThrottledPartitionKeys []KeyRank `json:"throttled_partition_keys"`
	ThrottledKeys          []KeyRank `json:"throttled_keys"`
}

// KeyRank is a key and its count, which is between Amount-Error and Amount. Error is 0 while a minute has at most 128 keys.
type KeyRank struct {
	Key    []KeyValue `json:"key"`
	Amount float64    `json:"amount"`
	Error  float64    `json:"error,omitempty"`
}

// KeyValue is the value of a key attribute: its type (S, N or B) and its text, which is base64 for binary values. The end of a
// long text is replaced with a hash.
type KeyValue struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// Insights returns the most accessed and most throttled keys of a table. A table in a Region other than Options.Region is given
// as REGION/TABLE or by its ARN.
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

// insightsRule returns the counts of a contributor insights rule, of any Region, in the period [from, to).
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
