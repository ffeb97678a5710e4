// Package words translates messages for users: problems reported by services, messages about form fields, findings about designs.
//
// # Model
//
// The code contains the English text, next to what it describes. A catalogue maps English texts to each language; {1}, {2} … are
// placeholders, numbered from left to right in the English text: "the body is larger than the maximum of {1} bytes". A text
// without a translation stays English, so a translation may be missing, but is never wrong.
//
// A value is copied, unless the translation refers to it as {1…}: then it is a phrase and is translated as well. Phrases are the entries
// that begin with "…", so a value that happens to be an English word is left alone:
//
//	"has no {1} at {2}": "no tiene {1…} en {2}"
//	"…copy":             "copia"
//
// Several texts or phrases in a row, with semicolons or commas between them, are translated one by one if all of them can be.
//
// A Catalogue is immutable, and safe for concurrent use.
package words

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/monotable/monotable/internal/accept"
)

// Catalogue translates from English.
type Catalogue struct {
	languages map[string]func() *language // read when first needed: the patterns of a language take some 15 ms
}

// language holds the texts and phrases of a language.
type language struct{ whole, phrases texts }

type texts struct {
	said     map[string]string
	patterns []pattern // longest first, because the longest is the most specific
}

type pattern struct {
	english *regexp.Regexp
	text    string
}

// phraseMark is the prefix of phrases in a catalogue.
const phraseMark = "…"

var place = regexp.MustCompile(`\{(\d+)(…?)\}`)

// Must returns the catalogue of a folder with a file LANGUAGE.json for each language but English. The first use of a language
// panics if its file is missing or damaged, because it is part of the program.
func Must(files fs.FS, folder string) *Catalogue {
	c := &Catalogue{languages: map[string]func() *language{}}
	for _, name := range accept.Languages {
		if name != accept.English {
			c.languages[name] = sync.OnceValue(func() *language { return mustRead(files, path.Join(folder, name+".json")) })
		}
	}
	return c
}

func mustRead(files fs.FS, name string) *language {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err)
	}
	var said map[string]string
	if err := json.Unmarshal(text, &said); err != nil {
		panic(fmt.Sprintf("words: %s: %v", name, err))
	}
	whole, phrases := map[string]string{}, map[string]string{}
	for english, text := range said {
		if phrase, is := strings.CutPrefix(english, phraseMark); is {
			phrases[phrase] = text
		} else {
			whole[english] = text
		}
	}
	return &language{textsOf(whole), textsOf(phrases)}
}

func textsOf(said map[string]string) texts {
	t := texts{said: said}
	var templates []string
	for english := range said {
		if place.MatchString(english) {
			templates = append(templates, english)
		}
	}
	slices.SortFunc(templates, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	for _, english := range templates {
		var form strings.Builder
		form.WriteString("(?s)^")
		for n, literal := range place.Split(english, -1) {
			if n > 0 {
				form.WriteString("(.*)")
			}
			form.WriteString(regexp.QuoteMeta(literal))
		}
		t.patterns = append(t.patterns, pattern{regexp.MustCompile(form.String() + "$"), said[english]})
	}
	return t
}

var noTexts = &language{}

// language returns the texts of a language: noTexts for English, and if there is no catalogue.
func (c *Catalogue) language(name string) *language {
	if c != nil {
		if read, found := c.languages[name]; found {
			return read()
		}
	}
	return noTexts
}

// Has reports whether a language has a translation of an English text.
func (c *Catalogue) Has(language, english string) bool {
	_, found := c.find(language, english)
	return found
}

// Say translates an English text, or returns it unchanged if there is no translation. A nil catalogue has none.
func (c *Catalogue) Say(language, english string) string {
	if text, found := c.find(language, english); found {
		return text
	}
	return english
}

// Phrase translates a phrase, or returns it unchanged if there is no translation.
func (c *Catalogue) Phrase(language, english string) string {
	return c.language(language).phrase(english)
}

func (c *Catalogue) find(language, english string) (string, bool) {
	l := c.language(language)
	return l.find(&l.whole, english)
}

func (l *language) phrase(english string) string {
	if text, found := l.find(&l.phrases, english); found {
		return text
	}
	return english
}

func (l *language) find(in *texts, english string) (string, bool) {
	if text, found := in.said[english]; found {
		return text, true
	}
	row := func(value string) bool { return strings.Contains(value, "; ") || strings.Contains(value, ", ") }
	loose := "" // the result of the most specific pattern with a value that may be several texts
	for _, p := range in.patterns {
		values := p.english.FindStringSubmatch(english)
		switch {
		case values == nil:
		case !slices.ContainsFunc(values[1:], row):
			return l.fill(p.text, values[1:]), true
		case loose == "":
			loose = l.fill(p.text, values[1:])
		}
	}
	for _, between := range []string{"; ", ", "} {
		if text, found := l.each(in, english, between); found {
			return text, true
		}
	}
	return loose, loose != ""
}

// each translates a sequence of texts one by one, if all of them have a translation.
func (l *language) each(in *texts, english, between string) (string, bool) {
	if !strings.Contains(english, between) {
		return "", false
	}
	list := strings.Split(english, between)
	for i, text := range list {
		var found bool
		if list[i], found = l.find(in, text); !found {
			return "", false
		}
	}
	return strings.Join(list, between), true
}

// Fill translates a text and fills in the values, {1} first.
func (c *Catalogue) Fill(in, english string, values ...string) string {
	return c.language(in).fill(c.Say(in, english), values)
}

func (l *language) fill(text string, values []string) string {
	return place.ReplaceAllStringFunc(text, func(at string) string {
		parts := place.FindStringSubmatch(at)
		n, err := strconv.Atoi(parts[1])
		switch {
		case err != nil || n < 1 || n > len(values):
			return at
		case parts[2] != "":
			return l.phrase(values[n-1])
		default:
			return values[n-1]
		}
	})
}
