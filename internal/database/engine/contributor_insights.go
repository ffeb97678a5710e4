package engine

import (
	"slices"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// insightsRulesMax is the maximum number of rules of all tables and indexes: CloudWatch's quota per account. It also limits the
// memory of rankings.
const insightsRulesMax = 100

// insightsSetting is the contributor insights setting of a table or one of its global indexes.
type insightsSetting struct {
	catalog.Insights
	table, index string
	sorted       bool // the key has a sort key
}

// insightsOf returns the setting of a table (index "") or one of its global indexes.
func insightsOf(d *catalog.Descriptor, index string) (insightsSetting, error) {
	s := insightsSetting{table: d.Name, index: index}
	stored, keys := d.Insights, d.Keys
	if index != "" {
		x := d.Index(index)
		if x == nil || x.Local || x.State == catalog.IndexAllocating {
			return s, apierr.InsightsIndexNotFound.With(index, d.Name)
		}
		stored, keys = x.Insights, x.Keys
	}
	if stored != nil {
		s.Insights = *stored
	}
	s.sorted = slices.ContainsFunc(keys, func(k catalog.KeyElement) bool { return k.Range })
	return s, nil
}

func (s *insightsSetting) rules() []string { return s.Rules(s.table, s.index, s.sorted) }

// turn enables insights in a mode, or disables them, and returns the status with which the change begins. It does nothing if the
// setting is already in effect.
func (s *insightsSetting) turn(on bool, mode catalog.InsightsMode, now time.Time, settledAt int64) (status string) {
	if !on {
		mode = s.Mode
	}
	if s.Enabled == on && s.Mode == mode && !s.Refused {
		return s.Status(now)
	}
	if on && !s.Enabled {
		s.Created = now.UnixMilli()
	}
	s.Enabled, s.Mode, s.Refused = on, mode, false
	s.Changed, s.SettledAt = now.UnixMilli(), max(settledAt, now.UnixMilli())
	return s.Status(time.UnixMilli(s.SettledAt - 1))
}

// refuse makes the setting FAILED.
func (s *insightsSetting) refuse() { s.Enabled, s.Refused, s.SettledAt = false, true, 0 }

// save stores the setting in its descriptor.
func (s *insightsSetting) save(d *catalog.Descriptor) {
	if s.index == "" {
		d.Insights = &s.Insights
		return
	}
	d.Index(s.index).Insights = &s.Insights
}

// insightsSettings returns the settings of a table and its global indexes, by name.
func insightsSettings(d *catalog.Descriptor) []insightsSetting {
	names := []string{""}
	for i := range d.Indexes {
		if !d.Indexes[i].Local {
			names = append(names, d.Indexes[i].Name)
		}
	}
	slices.Sort(names)
	settings := make([]insightsSetting, len(names))
	for i, name := range names {
		settings[i], _ = insightsOf(d, name) // name exists
	}
	return settings
}

// rulesElsewhere counts all rules except those of one setting.
func (e *Engine) rulesElsewhere(s *insightsSetting) int {
	n := 0
	for _, t := range e.catalog.Tables() {
		for _, other := range insightsSettings(t.Descriptor) {
			if other.table != s.table || other.index != s.index {
				n += len(other.rules())
			}
		}
	}
	return n
}

// nonEmpty returns a pointer to s, or nil if it is empty, for an optional member of a response.
func nonEmpty[T ~string](s T) *string {
	if s == "" {
		return nil
	}
	return new(string(s))
}
