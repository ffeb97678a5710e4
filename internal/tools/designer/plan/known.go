package plan

import (
	"slices"

	"github.com/monotable/monotable/design"
)

// Known returns what the texts of a field's parts determine, each as the functions that lead from the field's value to it: none
// for the value itself. injective reports whether a function maps the results of the functions before it to different texts.
func Known(parts []design.Part, injective func(before []design.Func, f design.Func) bool) [][]design.Func {
	var known [][]design.Func
	add := func(funcs []design.Func) {
		for n := len(funcs); n > 0 && injective(funcs[:n-1], funcs[n-1]); n = len(funcs) {
			funcs = funcs[:n-1]
		}
		if !slices.ContainsFunc(known, func(k []design.Func) bool { return slices.Equal(k, funcs) }) {
			known = append(known, funcs)
		}
	}
	for _, p := range parts {
		add(p.Funcs)
	}
	for i := 1; i < len(known); i++ { // add appends to it
		for _, other := range known[:i] {
			if divides(known[i], other) || divides(other, known[i]) {
				add(known[i][:len(known[i])-1])
			}
		}
	}
	return known
}

// divides reports whether two lists of functions end with the band and the remainder of the same number, which together
// determine it: no two of the n numbers of a band have the same remainder of a division by n or more.
func divides(band, rest []design.Func) bool {
	n := len(band) - 1
	return n >= 0 && n == len(rest)-1 && slices.Equal(band[:n], rest[:n]) &&
		band[n].Name == "band" && rest[n].Name == "mod" && rest[n].Int() >= band[n].Int()
}

// exactly reports whether parts preserve a field's exact value: different values never make the same texts.
func exactly(parts []design.Part, field string) bool {
	own := slices.DeleteFunc(slices.Clone(parts), func(p design.Part) bool { return p.Field != field })
	known := Known(own, func(_ []design.Func, f design.Func) bool {
		return f.Name == "pad" || f.Name == "desc" || f.Name == "ts" && f.Arg == "ms"
	})
	return slices.ContainsFunc(known, func(funcs []design.Func) bool { return len(funcs) == 0 })
}
