package kv

// Changes are what commits have changed, as far as it has to be known to look at it again: keys that may have other values, counters or none, and
// ranges of which anything may have changed. Change logs are not among them: whoever follows one goes on after the record that it saw last.
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
