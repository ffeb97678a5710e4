package demo

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/accept"
	"github.com/monotable/monotable/systems/internal/words"
	"github.com/monotable/monotable/systems/internal/words/wordstest"
)

// TestWords: every problem of a system and every message about a field is translated into each language.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, s := range registered() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			said := map[string]string{} // where each English text occurs
			for _, rule := range s.Rules {
				said[cmp.Or(rule.Detail, rule.Err.Error())] = rule.Code
			}
			root := filepath.Join("..", s.Name)
			for _, text := range wordstest.Said(t, root) {
				said[text] = "its code"
			}
			for _, english := range slices.Sorted(maps.Keys(said)) {
				for _, language := range accept.Languages[1:] {
					if !s.Words.Has(language, english) && !words.Platform.Has(language, english) {
						t.Errorf("%s: %q is not in words/%s.json", said[english], english, language)
					}
				}
			}
			for _, form := range forms(t, root) {
				for _, language := range accept.Languages[1:] {
					if words.Platform.Phrase(language, form) == form {
						t.Errorf("the form %q is not in the platform's %s.json", form, language)
					}
				}
			}
			same(t, filepath.Join(root, "words"))
		})
	}
}

var formIs = regexp.MustCompile(`(?i)patternDescription:\s?"([^"]*)"`)

// forms returns the descriptions of the forms that a system's inputs have to have.
func forms(t *testing.T, dir string) (list []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range formIs.FindAllStringSubmatch(string(text), -1) {
			list = append(list, found[1])
		}
	}
	return list
}

// TestActsHaveNames: the page that lists staff requests has a name for each kind.
func TestActsHaveNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"appcore", "catfecito", "portfolio", "transporteapp"} {
		var document struct {
			Paths map[string]map[string]struct{ OperationID, Description string }
		}
		var said map[string]any
		for file, into := range map[string]any{
			filepath.Join("..", name, "openapi.json"):                          &document,
			filepath.Join("..", "..", "web", "apps", name, "words", "en.json"): &said,
		} {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, into); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
		}
		found := 0
		for path, methods := range document.Paths {
			for method, op := range methods {
				if method == "get" || !strings.Contains(op.Description, "For members of: ") {
					continue
				}
				found++
				if said["acts."+op.OperationID] == nil {
					t.Errorf("%s %s of %s has no words %q", method, path, name, "acts."+op.OperationID)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s has nothing for staff", name)
		}
	}
}

// same checks that all languages in a folder translate the same texts.
func same(t *testing.T, folder string) {
	t.Helper()
	var keys [][]string
	for _, language := range accept.Languages[1:] {
		text, err := os.ReadFile(filepath.Join(folder, language+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var said map[string]string
		if err := json.Unmarshal(text, &said); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, slices.Sorted(maps.Keys(said)))
	}
	if !slices.Equal(keys[0], keys[1]) {
		t.Errorf("%s: the languages have different texts", folder)
	}
}
