package strictyaml

import (
	"strings"
	"testing"
)

func TestUnmarshal(t *testing.T) {
	for text, want := range map[string]string{
		"names: [a, b]":                           "",
		"name: a":                                 `unknown field "name"`,
		"names: ! 000000000":                      "write it without tags",
		strings.Repeat("[", 100_000):              "line 1: more than 100 lists and maps are nested", // exhausted memory
		"a: " + strings.Repeat("{a: ", 100_000):   "line 1: more than 100 lists and maps are nested",
		"\n" + strings.Repeat("- ", 100_000):      "line 2: more than 100 lists and maps are nested",
		strings.Repeat("? ", 100_000):             "line 1: more than 100 lists and maps are nested",
		"names:\n" + strings.Repeat("- a\n", 200): "",
	} {
		var into struct{ Names []string }
		err := Unmarshal([]byte(text), &into)
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.100s: %v, want %q", text, err, want)
		}
	}
}
