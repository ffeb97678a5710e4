package strictyaml

import (
	"strings"
	"testing"
)

func TestUnmarshal(t *testing.T) {
	for text, want := range map[string]string{
		"names: [a, b]":      "",
		"name: a":            `unknown field "name"`,
		"names: ! 000000000": "write it without tags",
	} {
		var into struct{ Names []string }
		err := Unmarshal([]byte(text), &into)
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
