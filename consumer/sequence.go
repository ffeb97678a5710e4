package consumer

import (
	"cmp"
	"strings"
)

// isSequence reports whether a text is a sequence number: decimal digits.
func isSequence(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// compareSequences orders sequence numbers, which are too large for the machine's integers.
func compareSequences(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
