package server

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestSampledInputIsBounded: a sampled input is still JSON, keeps short values, and is bounded.
func TestSampledInputIsBounded(t *testing.T) {
	t.Parallel()
	long, many := strings.Repeat("x", 5000), strings.Repeat(`{"S":"v"},`, 10_000)
	for _, c := range []struct{ body, want string }{
		{`{"a":{"S":"b"}}`, `{"a":{"S":"b"}}`},
		{`{"a":{"S":"` + long + `"},"b":{"S":"\"` + "\\\\" + `"},"c":{"N":"1"}}`, `{"a":{"S":"…"},"b":{"S":"\"` + "\\\\" + `"},"c":{"N":"1"}}`},
		{`{"a":{"S":"` + strings.Repeat(`\"`, 3000) + `"}}`, `{"a":{"S":"…"}}`},
		{`{"a":{"L":[` + many + `{}]}}`, ""},
	} {
		got := shortened([]byte(c.body))
		if string(got) != c.want || c.want != "" && !json.Valid(got) {
			t.Errorf("%.80s: %.200s", c.body, got)
		}
	}
}
