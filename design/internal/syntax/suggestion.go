package syntax

import (
	"fmt"
	"strings"
)

// Suggestion asks whether the known word closest to a misspelt one is meant, "" if none is close.
func Suggestion(word string, known []string) string {
	if best := Nearest(word, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return ""
}

// Nearest is the known word closest to a misspelt one, "" if none is close.
func Nearest(word string, known []string) string {
	best, distance := "", 1+min(1+len(word)/5, 3)
	if len(word) > 64 {
		return ""
	}
	for _, k := range known {
		switch {
		case k == "" || len(k) > 64 || k == word:
		case strings.EqualFold(k, word):
			return k
		default:
			if n := editDistance(word, k); n < distance && n < len(word) {
				best, distance = k, n
			}
		}
	}
	return best
}

// editDistance is the number of insertions, deletions, substitutions and swaps of neighbours that turn a into b
// (the optimal string alignment distance).
func editDistance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
