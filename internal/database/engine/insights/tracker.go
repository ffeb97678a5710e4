// Package insights ranks the keys of a table or index by how much they are accessed and throttled, like CloudWatch Contributor
// Insights for DynamoDB.
//
// A Tracker has a sketch for each minute and ranking; a report adds up the last minutes. Memory is bounded: Minutes times four
// sketches of counterMax counters, whose keys are truncated to textMax bytes. Rankings are kept in memory only.
//
//	accessed   capacity units, of reads and writes, in halves
//	throttled  the number of throttled requests
//
// Each event has two rankings: of partition keys and, if there is a sort key, of whole keys. A Query that does not name a single
// item counts only for its partition key, a Scan for none.
//
// All methods of Tracker are safe for concurrent use.
package insights

import (
	"sync"
	"time"
)

const (
	// Minutes is the number of minutes in a report.
	Minutes = 10
	// counterMax is the number of keys in a minute's ranking.
	counterMax = 128
	// rankMax is the number of keys of a ranking in a report.
	rankMax = 25
)

// Event is what a ranking counts.
type Event int

// The events.
const (
	Accessed Event = iota
	Throttled
	events
)

// Tracker ranks the keys of one table or index.
type Tracker struct {
	mu      sync.Mutex
	minutes [Minutes]minute // a ring buffer
}

type minute struct {
	number   int64               // minutes since the epoch
	rankings [2 * events]*sketch // of partitions and of items, by event; nil until something is counted
}

// Count counts an event: capacity units, or 1 for a throttled request.
func (t *Tracker) Count(e Event, key Key, units float64, now time.Time) {
	number := now.Unix() / 60
	t.mu.Lock()
	defer t.mu.Unlock()
	m := &t.minutes[number%Minutes]
	if m.number != number {
		*m = minute{number: number}
	}
	halves := int64(units * 2)
	m.add(2*e, key.partition, halves)
	if key.item != "" {
		m.add(2*e+1, key.item, halves)
	}
}

func (m *minute) add(ranking Event, key string, n int64) {
	if m.rankings[ranking] == nil {
		m.rankings[ranking] = newSketch(counterMax)
	}
	m.rankings[ranking].add(key, n)
}

// Rank is a key and its count, which is between Amount-Error and Amount.
type Rank struct {
	Key    []Part  `json:"key"`
	Amount float64 `json:"amount"`
	Error  float64 `json:"error,omitempty"`
}

// Rankings are the keys of a table or index with the largest amounts, largest first.
type Rankings struct {
	AccessedPartitions  []Rank `json:"accessed_partition_keys"`
	AccessedItems       []Rank `json:"accessed_keys"`
	ThrottledPartitions []Rank `json:"throttled_partition_keys"`
	ThrottledItems      []Rank `json:"throttled_keys"`
}

// Rankings returns the rankings of the last Minutes, including the current one.
func (t *Tracker) Rankings(now time.Time) Rankings {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Rankings{
		AccessedPartitions: t.rank(2*Accessed, now), AccessedItems: t.rank(2*Accessed+1, now),
		ThrottledPartitions: t.rank(2*Throttled, now), ThrottledItems: t.rank(2*Throttled+1, now),
	}
}

func (t *Tracker) rank(ranking Event, now time.Time) []Rank {
	var sketches []*sketch
	for i := range t.minutes {
		m := &t.minutes[i]
		if s := m.rankings[ranking]; s != nil && m.number > now.Unix()/60-Minutes {
			sketches = append(sketches, s)
		}
	}
	return ranksOf(sketches, rankMax)
}

// ranksOf returns the top ranks of sketches of different times.
func ranksOf(sketches []*sketch, count int) []Rank {
	all := merge(sketches)
	ranks := make([]Rank, min(len(all), count))
	for i := range ranks {
		ranks[i] = Rank{Key: partsOf(all[i].key), Amount: float64(all[i].count) / 2, Error: float64(all[i].err) / 2}
	}
	return ranks
}
