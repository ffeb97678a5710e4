package console

import (
	"embed"
	"maps"
	"net/http"
	"slices"

	"github.com/monotable/monotable/internal/accept"
	"github.com/monotable/monotable/internal/tools/designer/check"
	"github.com/monotable/monotable/internal/tools/designer/races"
	"github.com/monotable/monotable/internal/tools/designer/view"
	"github.com/monotable/monotable/internal/words"
)

//go:embed words
var wordFiles embed.FS

// translations are the translations of the designer's findings and the console's own errors. DynamoDB's errors stay in English.
var translations = words.Must(wordFiles, "words")

// pageLanguage is a language of the page, into which it translates the designer's texts.
type pageLanguage string

func languageOf(r *http.Request) pageLanguage { return pageLanguage(accept.Language(r)) }

// say translates a whole text.
func (s pageLanguage) say(text string) string { return translations.Say(string(s), text) }

// phrase translates a part of a sentence.
func (s pageLanguage) phrase(text string) string { return translations.Phrase(string(s), text) }

func (s pageLanguage) phrases(list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = s.phrase(out[i])
	}
	return out
}

func (s pageLanguage) finding(f check.Finding) check.Finding {
	f.Message, f.Witness, f.Fix = s.say(f.Message), s.say(f.Witness), s.say(f.Fix)
	return f
}

// model translates a design as sent to the page.
func (s pageLanguage) model(m *view.Model) *view.Model {
	out := *m
	out.Findings = slices.Clone(m.Findings)
	for i, f := range out.Findings {
		out.Findings[i] = s.finding(f)
	}
	out.Patterns = slices.Clone(m.Patterns)
	for i := range out.Patterns {
		p := &out.Patterns[i]
		p.Summary, p.Fault = s.phrase(p.Summary), s.phrase(p.Fault)
		p.Schema = s.schema(p.Schema)
		p.Near = slices.Clone(p.Near)
		for n := range p.Near {
			p.Near[n].Place, p.Near[n].Lacks = s.phrase(p.Near[n].Place), s.phrases(p.Near[n].Lacks)
		}
		p.Items = slices.Clone(p.Items)
		for n := range p.Items {
			it := &p.Items[n]
			it.Action, it.When, it.Entries = s.phrase(it.Action), s.phrase(it.When), s.phrases(it.Entries)
		}
	}
	return &out
}

// schema translates the descriptions of arguments. Those that the design gives stay as they are.
func (s pageLanguage) schema(of map[string]any) map[string]any {
	out := maps.Clone(of)
	if text, is := of["description"].(string); is {
		out["description"] = s.say(text)
	}
	if properties, is := of["properties"].(map[string]any); is {
		said := make(map[string]any, len(properties))
		for name, property := range properties {
			said[name] = property
			if schema, is := property.(map[string]any); is {
				said[name] = s.schema(schema)
			}
		}
		out["properties"] = said
	}
	return out
}

// races translates a report in place.
func (s pageLanguage) races(r *races.Report) *races.Report {
	for i, f := range r.Findings {
		r.Findings[i] = s.finding(f)
	}
	for _, race := range r.Scenarios {
		race.Bound, race.Skipped = s.phrase(race.Bound), s.say(race.Skipped)
		if race.Default {
			race.Name = s.phrase(race.Name)
		}
		for i := range race.Processes {
			race.Processes[i].Ends = s.phrases(race.Processes[i].Ends)
		}
		for _, f := range race.Findings {
			f.Finding = s.finding(f.Finding)
			f.Schedule = nil // its text is English
			for i := range f.Steps {
				step := &f.Steps[i]
				step.Response, step.Item, step.Ends = s.phrase(step.Response), s.phrase(step.Item), s.phrase(step.Ends)
			}
		}
	}
	return r
}
