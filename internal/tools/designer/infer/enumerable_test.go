package infer

import (
	"strings"
	"testing"
)

func TestEnumerable(t *testing.T) {
	for text, want := range map[string]bool{
		"open": true, "IN_TRANSIT": true, "en camino": true, "año-nuevo": true, strings.Repeat("é", 40): true,
		"": false, "_open": false, " open": false, "open2": false, "a.b": false, strings.Repeat("é", 41): false, "a\xff": false,
	} {
		if got := enumerable(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
