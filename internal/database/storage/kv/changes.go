package kv

// Changes are what commits have changed, as far as a copy must be updated: keys whose values or counters may have changed or been
// removed, and ranges in which anything may have changed. Change logs are not included, because a reader simply continues after
// the last record it has seen.
type Changes struct {
	Keys   map[string]struct{}
	Ranges []Span
}

// Add adds other changes.
func (c *Changes) Add(more Changes) {
	if c.Keys == nil {
		c.Keys = map[string]struct{}{}
	}
	for key := range more.Keys {
		c.Keys[key] = struct{}{}
	}
	c.Ranges = append(c.Ranges, more.Ranges...)
}
