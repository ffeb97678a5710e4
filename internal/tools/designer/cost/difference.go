package cost

import "slices"

// Change is the difference in one pattern between two designs. A pattern that is in only one of them has zeros in the
// other.
type Change struct {
	Name   string  `json:"name"`
	Before Pattern `json:"before"`
	After  Pattern `json:"after"`
}

// Differences returns the patterns whose units or cost differ, in the order of after; removed patterns come last.
func Differences(before, after Month) []Change {
	out := []Change{}
	find := func(list []Pattern, name string) Pattern {
		if i := slices.IndexFunc(list, func(p Pattern) bool { return p.Name == name }); i >= 0 {
			return list[i]
		}
		return Pattern{}
	}
	for _, p := range after.Patterns {
		if old := find(before.Patterns, p.Name); old.Units != p.Units || old.Cost != p.Cost || old.IndexUnits != p.IndexUnits {
			out = append(out, Change{p.Name, old, p})
		}
	}
	for _, p := range before.Patterns {
		if find(after.Patterns, p.Name).Name == "" {
			out = append(out, Change{p.Name, p, Pattern{}})
		}
	}
	return out
}
