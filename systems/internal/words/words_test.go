package words_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/monotable/monotable/systems/internal/words"
	"github.com/monotable/monotable/systems/internal/words/wordstest"
)

func read(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var said map[string]string
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return said
}

var place = regexp.MustCompile(`\{\d+\}`)

// TestLanguagesHaveTheSameTexts: all languages translate the same texts, with the same placeholders.
func TestLanguagesHaveTheSameTexts(t *testing.T) {
	t.Parallel()
	es, pt := read(t, "es.json"), read(t, "pt.json")
	if a, b := slices.Sorted(maps.Keys(es)), slices.Sorted(maps.Keys(pt)); !slices.Equal(a, b) {
		t.Errorf("es.json and pt.json have different texts")
	}
	for english, said := range es {
		for _, text := range []string{said, pt[english]} {
			for _, at := range place.FindAllString(text, -1) {
				if !strings.Contains(english, at) {
					t.Errorf("%q has %s, which %q has not", text, at, english)
				}
			}
			if text == "" {
				t.Errorf("%q has an empty translation", english)
			}
		}
	}
}

// TestSharedSpanishAddressesNobody: the texts of all systems suit those that say "tú" and those that say "usted".
func TestSharedSpanishAddressesNobody(t *testing.T) {
	t.Parallel()
	address := regexp.MustCompile(`(?i)\b(usted|tus?|puedes|intent[ae] |vuelv[ae]|us[ae] una|envíe|revis[ae] (tu|su)|seleccion[ae] |pruéb)`)
	for _, file := range []string{"es.json", "../../../web/ui/words/es.json"} {
		for english, said := range read(t, file) {
			if at := address.FindString(said); at != "" {
				t.Errorf("%s, %q: %q addresses the reader: %s", file, english, said, at)
			}
		}
	}
}

func TestSay(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ language, english, want string }{
		{"es", "too many requests", "demasiadas solicitudes"},
		{"pt", "the body is larger than the maximum of 1048576 bytes", "o corpo passa do máximo de 1048576 bytes"},
		{"es", "expected property a to be present when b is present", "falta a, que se necesita junto con b"},
		{"es", "expected number >= 1", "debe ser 1 o más"},
		{"es", "invalid integer", "no es un número entero"},
		{"pt", "expected string to be letters, digits and . _ -", "espera-se: letras, dígitos e . _ -"},
		{"en", "too many requests", "too many requests"},
		{"es", "nobody has translated this", "nobody has translated this"},
		{"es", "the body is larger than the maximum of {1} bytes", "el cuerpo supera el máximo de {1} bytes"},
		{"xx", "too many requests", "too many requests"},
	} {
		if got := words.Platform.Say(test.language, test.english); got != test.want {
			t.Errorf("%s of %q: %q, want %q", test.language, test.english, got, test.want)
		}
	}
	var none *words.Catalogue
	if got := none.Say("es", "too many requests"); got != "too many requests" {
		t.Errorf("a nil catalogue says %q", got)
	}
}

// TestPlatformIsTranslated: the problems of the shared packages have translations.
func TestPlatformIsTranslated(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"../api", "../auth", "../problem", "../ratelimit", "../run"} {
		for _, text := range wordstest.Said(t, dir) {
			if !words.Platform.Has("es", text) {
				t.Errorf("%s: %q has no translation", dir, text)
			}
		}
	}
	for _, status := range []int{400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 503, 504} {
		if !words.Platform.Has("pt", http.StatusText(status)) {
			t.Errorf("%d has no title", status)
		}
	}
	for _, text := range []string{
		validation.MsgExpectedMinLength, validation.MsgExpectedMaxLength, validation.MsgExpectedRequiredProperty, validation.MsgUnexpectedProperty,
		validation.MsgExpectedMinimumNumber, validation.MsgExpectedMaximumNumber, validation.MsgExpectedOneOf, validation.MsgExpectedBePattern,
		validation.MsgExpectedMatchPattern, validation.MsgExpectedMinItems, validation.MsgExpectedMaxItems, validation.MsgExpectedInteger, validation.MsgExpectedString,
		validation.MsgExpectedRFC3339DateTime, validation.MsgExpectedRFC3339Date, validation.MsgExpectedArrayItemsUnique,
	} {
		if !words.Platform.Has("es", wordstest.Filled(text)) {
			t.Errorf("%q has no translation", text)
		}
	}
}
