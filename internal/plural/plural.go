// Package plural writes nouns in the plural, and numbers with their nouns: 1 item, 2 items, 2 entries.
package plural

import (
	"fmt"
	"slices"
	"strings"
)

// Of returns a number with a noun, given in the singular.
func Of[N int | int64 | float64](n N, noun string) string {
	if n != 1 {
		noun = Noun(noun)
	}
	return fmt.Sprint(n) + " " + noun
}

// Noun returns the plural of a noun, by the usual rules of English. A noun that is already in the plural is unchanged.
func Noun(noun string) string {
	ends := func(list ...string) bool {
		return slices.ContainsFunc(list, func(tail string) bool { return strings.HasSuffix(noun, tail) })
	}
	switch {
	case ends("s") && !ends("ss", "us", "is"):
		return noun
	case ends("s", "x", "ch"):
		return noun + "es"
	case ends("y") && len(noun) > 1 && !ends("ay", "ey", "iy", "oy", "uy"):
		return noun[:len(noun)-1] + "ies"
	default:
		return noun + "s"
	}
}
