package differential

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// difference is a request to which the two servers respond differently.
type difference struct {
	request      request
	ours, theirs outcome
}

var particulars = regexp.MustCompile(`[^\s]*[0-9#:"'{}\[\]<>=$.][^\s]*`)

// signature identifies the cause of a difference, roughly: the operation, both errors, and their messages without names and
// values.
func (d difference) signature() string {
	side := func(o outcome) string {
		if o.kind == "ok" {
			return "ok"
		}
		message := strings.Join(strings.Fields(particulars.ReplaceAllString(o.message, "_")), " ")
		return o.kind + " " + message[:min(len(message), 90)]
	}
	return d.request.op + " | here: " + side(d.ours) + " | local: " + side(d.theirs)
}

// changesState reports whether the databases may differ after the difference.
func (d difference) changesState() bool {
	switch d.request.op {
	case "GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems", "DescribeTable":
		return false
	}
	return d.ours.kind == "ok" || d.theirs.kind == "ok" || strings.HasPrefix(d.request.op, "Batch")
}

// rule is an assessed difference.
type rule struct {
	Name       string   `yaml:"name"`
	Operations []string `yaml:"operations"`
	// Here and Local match the two outcomes as text, Request the body; a missing pattern matches everything.
	Here    pattern `yaml:"here"`
	Local   pattern `yaml:"local"`
	Request pattern `yaml:"request"`
	// AWS is what AWS does and how we know; Judgement says which server conforms.
	AWS       string `yaml:"aws"`
	Judgement string `yaml:"judgement"`
}

// pattern is a regular expression.
type pattern struct{ *regexp.Regexp }

func (p *pattern) UnmarshalYAML(text []byte) error {
	var source string
	if err := yaml.Unmarshal(text, &source); err != nil {
		return err
	}
	compiled, err := regexp.Compile(source)
	p.Regexp = compiled
	return err
}

func (p pattern) matches(text string) bool { return p.Regexp == nil || p.MatchString(text) }

var judgements = []string{"local is wrong", "local is older", "open", "ours on purpose"}

func readTriage(t *testing.T) []*rule {
	t.Helper()
	text, err := os.ReadFile("testdata/triage.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules []*rule
	if err := yaml.UnmarshalWithOptions(text, &rules, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		if r.Name == "" || r.AWS == "" || !slices.Contains(judgements, r.Judgement) {
			t.Errorf("testdata/triage.yaml: %q needs a name, what AWS does, and a judgement among %q", r.Name, judgements)
		}
		if r.Here.Regexp == nil && r.Local.Regexp == nil {
			t.Errorf("testdata/triage.yaml: %q needs a pattern for one of the outcomes", r.Name)
		}
	}
	return rules
}

// triaged returns the name of the rule that matches the difference.
func (d difference) triaged(rules []*rule) string {
	for _, r := range rules {
		if (r.Operations == nil || slices.Contains(r.Operations, d.request.op)) && r.Here.matches(d.ours.String()) &&
			r.Local.matches(d.theirs.String()) && r.Request.matches(compact(d.request.body)) {
			return r.Name
		}
	}
	return ""
}
