package site

import (
	"embed"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/accept"
)

//go:embed words/*.json
var wordFiles embed.FS

// catalogue contains the site's messages in one language.
type catalogue struct {
	language string
	messages map[string]string
}

// readCatalogues reads the catalogues. It panics if one is missing or damaged, because they are embedded.
func readCatalogues() map[string]catalogue {
	all := map[string]catalogue{}
	for _, language := range accept.Languages {
		text, err := wordFiles.ReadFile("words/" + language + ".json")
		if err != nil {
			panic(err)
		}
		c := catalogue{language: language}
		if err := json.Unmarshal(text, &c.messages); err != nil {
			panic("site: " + language + ": " + err.Error())
		}
		all[language] = c
	}
	return all
}

// say returns a message. Values are pairs of a name and the value for {name}.
func (c catalogue) say(key string, values ...string) string {
	for i := 0; i+1 < len(values); i += 2 {
		values[i] = "{" + values[i] + "}"
	}
	return strings.NewReplacer(values...).Replace(c.messages[key])
}

// count returns a message with a number, in the correct plural form.
func (c catalogue) count(key string, n int64) string {
	form := ".other"
	if n == 1 || n == 0 && c.language == "pt" {
		form = ".one"
	}
	return c.say(key+form, "n", strconv.FormatInt(n, 10))
}

// day formats a date in words.
func (c catalogue) day(at time.Time) string {
	months := strings.Fields(c.messages["months"])
	return c.say("day", "day", strconv.Itoa(at.Day()), "month", months[at.Month()-1], "year", strconv.Itoa(at.Year()))
}
