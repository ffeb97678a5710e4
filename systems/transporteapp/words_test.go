package transporteapp

import (
	"cmp"
	"testing"

	"github.com/monotable/monotable/systems/internal/words"
)

// TestWords: each refusal of the rules is said in Spanish and in Portuguese too.
func TestWords(t *testing.T) {
	t.Parallel()
	said := words.Must(said())
	for _, rule := range rules() {
		english := cmp.Or(rule.Detail, rule.Err.Error())
		for _, language := range []string{"es", "pt"} {
			if !said.Has(language, english) {
				t.Errorf("%s: %q is not in words/%s.json", rule.Code, english, language)
			}
		}
	}
}
