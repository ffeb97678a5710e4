// Package accept finds the language of a request among those that the pages and services speak: English, Spanish and
// Portuguese. Its functions may be called from any number of goroutines.
package accept

import (
	"net/http"
	"strings"

	"golang.org/x/text/language"
)

// English is the language of those who ask for another one.
const English = "en"

// Languages are those that are spoken.
var Languages = []string{English, "es", "pt"}

var matcher = language.NewMatcher([]language.Tag{language.English, language.LatinAmericanSpanish, language.BrazilianPortuguese})

// headerMax is how much is read of what a caller may make as long as it likes; browsers send tens of bytes.
const headerMax = 500

// Language is which of Languages suits the Accept-Language of a request best.
func Language(r *http.Request) string {
	said := r.Header.Get("Accept-Language")
	if len(said) > headerMax {
		said, _, _ = strings.Cut(said, ",")
		said = said[:min(len(said), headerMax)]
	}
	_, at := language.MatchStrings(matcher, said)
	return Languages[at]
}
