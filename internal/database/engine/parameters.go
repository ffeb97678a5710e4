package engine

import "math"

func isTrue(b *bool) bool { return b != nil && *b }

func valueOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// limitOf returns the Limit parameter, or 0 if there is none.
func limitOf(limit *int64) int {
	if limit == nil {
		return 0
	}
	return int(min(*limit, math.MaxInt32))
}
