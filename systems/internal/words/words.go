// Package words translates what services say to people: titles and details of problems, and messages about fields.
//
// # Model
//
// Code has the English text, next to what it describes. A catalogue maps English texts to each language; {1}, {2} … are
// placeholders, numbered from left to right in the English text: "the body is larger than the maximum of {1} bytes". A text
// that is in no catalogue stays English, so a translation may be missing, but never wrong.
//
// A Catalogue is immutable, and safe for concurrent use.
package words

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/internal/accept"
)

//go:embed es.json pt.json
var own embed.FS

// Platform has the texts common to all systems.
var Platform = Must(own, ".")

// Catalogue translates from English.
type Catalogue struct{ languages map[string]texts }

// texts are those of one language.
type texts struct {
	said     map[string]string
	patterns []pattern // the longest first, because it is the most specific
}

type pattern struct {
	english *regexp.Regexp
	text    string
}

var place = regexp.MustCompile(`\{(\d+)\}`)

// Must reads LANGUAGE.json for each language but English from a folder. It panics if one is missing or damaged, because they are
// part of the program.
func Must(files fs.FS, folder string) *Catalogue {
	c := &Catalogue{languages: map[string]texts{}}
	for _, language := range accept.Languages {
		if language == accept.English {
			continue
		}
		text, err := fs.ReadFile(files, path.Join(folder, language+".json"))
		if err != nil {
			panic(err)
		}
		var said map[string]string
		if err := json.Unmarshal(text, &said); err != nil {
			panic(fmt.Sprintf("words: %s.json: %v", language, err))
		}
		c.languages[language] = textsOf(said)
	}
	return c
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
				form.WriteString("(.+)")
			}
			form.WriteString(regexp.QuoteMeta(literal))
		}
		t.patterns = append(t.patterns, pattern{regexp.MustCompile(form.String() + "$"), said[english]})
	}
	return t
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

func (c *Catalogue) find(language, english string) (string, bool) {
	if c == nil {
		return "", false
	}
	t := c.languages[language]
	if text, found := t.said[english]; found {
		return text, true
	}
	for _, p := range t.patterns {
		values := p.english.FindStringSubmatch(english)
		if values == nil {
			continue
		}
		return fill(p.text, values[1:]), true
	}
	return "", false
}

// Fill translates a text and fills in the values, {1} first.
func (c *Catalogue) Fill(language, english string, values ...string) string {
	return fill(c.Say(language, english), values)
}

func fill(text string, values []string) string {
	return place.ReplaceAllStringFunc(text, func(at string) string {
		n, err := strconv.Atoi(strings.Trim(at, "{}"))
		if err != nil || n < 1 || n > len(values) {
			return at
		}
		return values[n-1]
	})
}
