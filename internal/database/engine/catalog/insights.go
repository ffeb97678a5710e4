package catalog

import (
	"strconv"
	"time"
)

// InsightsMode is what contributor insights rank.
type InsightsMode string

// The modes, as the API names them.
const (
	AccessedAndThrottled InsightsMode = "ACCESSED_AND_THROTTLED_KEYS"
	ThrottledOnly        InsightsMode = "THROTTLED_KEYS"
)

// Insights is the contributor insights setting of a table or global index.
type Insights struct {
	Enabled bool         `json:"enabled,omitempty"`
	Mode    InsightsMode `json:"mode,omitempty"`
	// Created is when they were last enabled; it is part of the names of their rules.
	Created   int64 `json:"created,omitempty"`
	Changed   int64 `json:"changed,omitempty"`
	SettledAt int64 `json:"settledAt,omitempty"` // ends ENABLING and DISABLING
	// Refused means that there were too many rules: the status is FAILED.
	Refused bool `json:"refused,omitempty"`
}

// Status returns the setting's status at a time, as the API names it.
func (i *Insights) Status(now time.Time) string {
	settling := now.UnixMilli() < i.SettledAt
	switch {
	case i.Refused:
		return "FAILED"
	case i.Enabled && settling:
		return "ENABLING"
	case i.Enabled:
		return "ENABLED"
	case settling:
		return "DISABLING"
	default:
		return "DISABLED"
	}
}

// active returns the mode if insights are enabled, else "".
func (i *Insights) active() InsightsMode {
	if i == nil || !i.Enabled {
		return ""
	}
	return i.Mode
}

// Rules returns the names of the rules of a table, or of one of its global indexes. AWS creates one for each ranking.
func (i *Insights) Rules(table, index string, sorted bool) []string {
	mode := i.active()
	if mode == "" {
		return nil
	}
	resource := table
	if index != "" {
		resource += "-" + index
	}
	suffix := "-" + resource + "-" + strconv.FormatInt(i.Created, 10)
	var rules []string
	for _, ranking := range []string{"PKC", "SKC", "PKT", "SKT"} {
		if ranking[0] == 'S' && !sorted || ranking[2] == 'C' && mode == ThrottledOnly {
			continue
		}
		rules = append(rules, rulePrefix+ranking+suffix)
	}
	return rules
}

const rulePrefix = "DynamoDBContributorInsights-"

// Ranking is what a rule ranks: partition keys or whole keys, by consumed capacity or by throttled requests.
type Ranking struct{ Whole, Throttled bool }

// RankingOf returns the ranking of a rule named by Rules.
func RankingOf(rule string) Ranking {
	ranking := rule[len(rulePrefix):]
	return Ranking{Whole: ranking[0] == 'S', Throttled: ranking[2] == 'T'}
}
