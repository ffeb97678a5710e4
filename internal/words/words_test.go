package words_test

import (
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/monotable/monotable/internal/accept"
	"github.com/monotable/monotable/internal/words"
)

// TestPhrasesAreTranslated: values are copied, phrases are translated, and sequences of texts are translated one by one.
func TestPhrasesAreTranslated(t *testing.T) {
	t.Parallel()
	c := words.Must(fstest.MapFS{
		"es.json": {Data: []byte(`{"has no {1} at {2}": "no tiene {1…} en {2}", "{1} is {2}, or not": "{1} es {2}, o no", "…copy": "copia", "…{1} and {2}": "{1…} y {2…}", "…{1} is late": "{1} se retrasa"}`)},
		"pt.json": {Data: []byte(`{}`)},
	}, ".")
	for _, test := range []struct{ english, want string }{
		{"has no copy at copy", "no tiene copia en copy"},
		{"has no copy and marker at x", "no tiene copia y marker en x"},
		{"copy", "copy"},
		{"a is b, or not; has no copy at y", "a es b, o no; no tiene copia en y"},
		{"a is b; c, or not", "a es b; c, o no"},
		{"nobody knows this", "nobody knows this"},
	} {
		if got := c.Say("es", test.english); got != test.want {
			t.Errorf("%q becomes %q, want %q", test.english, got, test.want)
		}
	}
	for english, want := range map[string]string{"copy": "copia", "a is late, b is late": "a se retrasa, b se retrasa", "a is late, b": "a is late, b"} {
		if got := c.Phrase("es", english); got != want {
			t.Errorf("the phrase %q becomes %q, want %q", english, got, want)
		}
	}
	if got := c.Phrase("en", "copy"); got != "copy" {
		t.Errorf("English becomes %q", got)
	}
}

// opened records which files are opened.
type opened struct {
	fs.FS
	names []string
}

func (o *opened) Open(name string) (fs.File, error) {
	o.names = append(o.names, name)
	return o.FS.Open(name)
}

// TestReadWhenNeeded: a program that only speaks English does not wait at its start for the patterns of other languages.
func TestReadWhenNeeded(t *testing.T) {
	files := &opened{FS: fstest.MapFS{"es.json": {Data: []byte(`{"done": "hecho"}`)}}}
	c := words.Must(files, ".")
	if said := c.Fill(accept.English, "done"); said != "done" || len(files.names) != 0 {
		t.Errorf("said %q in English, and opened %q", said, files.names)
	}
	for range 2 {
		if said := c.Say("es", "done"); said != "hecho" || !slices.Equal(files.names, []string{"es.json"}) {
			t.Errorf("said %q in Spanish, and opened %q", said, files.names)
		}
	}
}
