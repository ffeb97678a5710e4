package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/insights"
	"github.com/monotable/monotable/internal/database/engine/throttle"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// hotKeys holds the rankings of tables and indexes with contributor insights. The setting is part of the table definition, so
// requests on other tables never get here.
type hotKeys struct {
	mu       sync.Mutex
	trackers map[trackerID]*insights.Tracker
}

type trackerID struct {
	table keyenc.TableID
	index keyenc.IndexID // 0 is the table
}

// of returns the tracker of a table or index, creating it if necessary.
func (h *hotKeys) of(id trackerID) *insights.Tracker {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.trackers[id]
	if t == nil {
		if h.trackers == nil {
			h.trackers = map[trackerID]*insights.Tracker{}
		}
		t = new(insights.Tracker)
		h.trackers[id] = t
	}
	return t
}

// retain discards the rankings of tables and indexes that were deleted or no longer have insights.
func (h *hotKeys) retain(tables map[string]*catalog.Table) {
	enabled := map[trackerID]bool{}
	for _, t := range tables {
		enabled[trackerID{t.ID, 0}] = t.Insights != ""
		for _, x := range t.Indexes {
			enabled[trackerID{t.ID, x.ID}] = x.Insights != ""
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.trackers {
		if !enabled[id] {
			delete(h.trackers, id)
		}
	}
}

// KeyRankings are the rankings of a table or one of its indexes.
type KeyRankings struct {
	Index string // "" for the table
	Mode  catalog.InsightsMode
	insights.Rankings
}

// Insights returns the rankings of a table and those of its global indexes that have contributor insights enabled.
func (e *Engine) Insights(ctx context.Context, nameOrARN string) ([]KeyRankings, error) {
	d, err := e.catalog.Get(ctx, nameOrARN)
	if err != nil {
		return nil, err
	}
	var all []KeyRankings
	for _, s := range insightsSettings(d) {
		if !s.Enabled {
			continue
		}
		id := trackerID{table: d.ID}
		if s.index != "" {
			id.index = d.Index(s.index).ID
		}
		rankings := e.hot.of(id).Rankings(e.options.Now())
		if s.Mode == catalog.ThrottledOnly { // earlier counts are no longer shown
			rankings.AccessedPartitions, rankings.AccessedItems = nil, nil
		}
		all = append(all, KeyRankings{Index: s.index, Mode: s.Mode, Rankings: rankings})
	}
	return all, nil
}

// InsightsRule returns what a contributor insights rule counted in [from, to). found is false if no table or index has the rule.
// The names of rules are those in DescribeContributorInsights.
func (e *Engine) InsightsRule(name string, from, to time.Time) (report insights.Report, found bool) {
	for _, t := range e.catalog.Tables() {
		for _, s := range insightsSettings(t.Descriptor) {
			if slices.Contains(s.rules(), name) {
				return e.rule(t.Descriptor, &s, catalog.RankingOf(name), from, to), true
			}
		}
	}
	return insights.Report{}, false
}

func (e *Engine) rule(d *catalog.Descriptor, s *insightsSetting, r catalog.Ranking, from, to time.Time) insights.Report {
	id, keys := trackerID{table: d.ID}, d.Keys
	if s.index != "" {
		x := d.Index(s.index)
		id.index, keys = x.ID, x.Keys
	}
	var report insights.Report
	if r.Throttled {
		report.Event = insights.Throttled
	}
	for _, k := range keys {
		if r.Whole || !k.Range {
			report.Labels = append(report.Labels, k.Name)
		}
	}
	report.Minutes = e.hot.of(id).Counted(report.Event, r.Whole, from, to, e.options.Now())
	return report
}

// ranks reports whether a mode ranks keys by an event.
func ranks(mode catalog.InsightsMode, by insights.Event) bool {
	return mode == catalog.AccessedAndThrottled || mode == catalog.ThrottledOnly && by == insights.Throttled
}

// rankItem counts a read of an item, by its store key: accessed with units, or throttled with 1.
func (e *Engine) rankItem(by insights.Event, t *catalog.Table, key []byte, units float64) {
	if !ranks(t.Insights, by) {
		return
	}
	if _, pk, sk, err := keyenc.ParseItem(key); err == nil {
		e.hot.of(trackerID{t.ID, 0}).Count(by, itemKey(pk, sk), units, e.options.Now())
	}
}

func itemKey(pk, sk attr.Value) insights.Key {
	if sk.IsZero() {
		return insights.KeyOf([]attr.Value{pk}, nil)
	}
	return insights.KeyOf([]attr.Value{pk}, []attr.Value{sk})
}

// rankPartition counts a page of a Query on a table or index: accessed with units, or throttled with 1. A local index counts for
// its table. The full key is known if the request has a value for each sort key attribute. A Scan, which has no clauses, does not
// count.
func (e *Engine) rankPartition(by insights.Event, s *readSource, clauses []eval.KeyPredicate, units float64) {
	mode, id := s.table.Insights, trackerID{s.table.ID, 0}
	if s.isGlobalIndex() {
		mode, id.index = s.index.Insights, s.index.ID
	}
	if !ranks(mode, by) || clauses == nil {
		return
	}
	var pk, sk []attr.Value
	for _, k := range s.pk {
		pk = append(pk, clauseOn(clauses, k.Name).Values[0])
	}
	for _, k := range s.sk {
		if c := clauseOn(clauses, k.Name); c != nil && c.Op == eval.Equal && !s.isLocalIndex() {
			sk = append(sk, c.Values[0])
		}
	}
	if len(sk) < len(s.sk) {
		sk = nil
	}
	e.hot.of(id).Count(by, insights.KeyOf(pk, sk), units, e.options.Now())
}

// hotKeyOf returns the key of an entry of index x, if the index has insights.
func hotKeyOf(x *catalog.Index, entry itemenc.Item) (insights.Key, error) {
	if x.Insights == "" {
		return insights.Key{}, nil
	}
	names := make([]string, 0, len(x.PK)+len(x.SK))
	for _, k := range slices.Concat(x.PK, x.SK) {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	keys, err := entry.Select(names)
	if err != nil {
		return insights.Key{}, err
	}
	var values [2][]attr.Value
	for i, part := range [2][]catalog.KeyAttribute{x.PK, x.SK} {
		for _, k := range part {
			v, _ := keys.Get(k.Name)
			values[i] = append(values[i], v)
		}
	}
	return insights.KeyOf(values[0], values[1]), nil
}

// rank counts the accesses of the write's last run: to the item, and to the entries that it changed.
func (w *write) rank(e *Engine, transactional bool) {
	if ranks(w.t.Insights, insights.Accessed) {
		e.hot.of(trackerID{w.t.ID, 0}).Count(insights.Accessed, itemKey(w.pk, w.sk), w.tableUnits(transactional), e.options.Now())
	}
	for _, x := range w.outcome.indexWrites {
		if ranks(x.index.Insights, insights.Accessed) {
			e.hot.of(trackerID{w.t.ID, x.index.ID}).Count(insights.Accessed, x.key, x.units, e.options.Now())
		}
	}
}

// rankThrottled counts the throttled keys of a write: the item's, or those of its entries.
func (w *write) rankThrottled(e *Engine, refusals []throttle.Refusal) {
	counted := map[throttle.ID]bool{}
	for _, r := range refusals {
		if counted[r.ID] {
			continue
		}
		counted[r.ID] = true
		if r.ID.Index == 0 && w.t.Insights != "" {
			e.hot.of(trackerID{w.t.ID, 0}).Count(insights.Throttled, itemKey(w.pk, w.sk), 1, e.options.Now())
		}
		for _, x := range w.outcome.indexWrites {
			if r.ID.Index != 0 && uint16(x.index.ID) == r.ID.Index && x.index.Insights != "" {
				e.hot.of(trackerID{w.t.ID, x.index.ID}).Count(insights.Throttled, x.key, 1, e.options.Now())
			}
		}
	}
}
