package insights

import (
	"slices"
	"time"
)

// Report is what a contributor insights rule counted, minute by minute. A rule is one of a Tracker's rankings.
type Report struct {
	Event   Event
	Labels  []string // the key attributes
	Minutes []Counted
}

// Counted is what a ranking counted in one minute. The amounts of Keys add up to the total of all keys, including those that are
// not ranked.
type Counted struct {
	Minute          time.Time
	Keys            []Rank
	Samples         int64   // number of events
	Lowest, Highest float64 // amount of a single event
}

// Counted returns the counts of partition keys, or of whole keys, in [from, to), oldest first. Only the last Minutes before now
// are kept.
func (t *Tracker) Counted(e Event, whole bool, from, to, now time.Time) []Counted {
	ranking := 2 * e
	if whole {
		ranking++
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []Counted
	for i := range t.minutes {
		m := &t.minutes[i]
		s, at := m.rankings[ranking], time.Unix(m.number*60, 0).UTC()
		if s == nil || m.number <= now.Unix()/60-Minutes || at.Before(from) || !at.Before(to) {
			continue
		}
		out = append(out, Counted{
			Minute: at, Keys: ranksOf([]*sketch{s}, counterMax), Samples: s.samples,
			Lowest: float64(s.lowest) / 2, Highest: float64(s.highest) / 2,
		})
	}
	slices.SortFunc(out, func(a, b Counted) int { return a.Minute.Compare(b.Minute) })
	return out
}
