// Package policy has the settings of a repository for all its designs: severities of rules, the monthly budget, allowed
// Regions, and findings accepted until a date, with their owners.
//
// They are in a file, monotable.yaml or .monotable.yaml, in the directory of a design or a parent directory, up to the
// root of the repository; the nearest one applies. A finding that the policy accepts or turns off is still a finding,
// with the reason. Violations that DynamoDB itself rejects cannot be accepted or downgraded.
//
// Apart from reading files, all functions are pure; the current time is a parameter.
package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/strictyaml"
	"github.com/monotable/monotable/internal/tools/designer/check"
)

// names are the possible names of the file.
var names = []string{"monotable.yaml", ".monotable.yaml"} //nolint:gochecknoglobals // a list

// maxBytes bounds the file.
const maxBytes = 1 << 20

// Rule is the ID of the policy's own findings.
const Rule = "policy"

// Policy is one file.
type Policy struct {
	// File is the name of the file.
	File string `yaml:"-"`
	// Designs are the repository's designs: paths relative to the file's directory, in which * matches a part of a name.
	// The policy applies to these only; if empty, to all designs below the directory.
	Designs []string `yaml:"designs"`
	// Rules maps rules to error, warning, info or off.
	Rules map[string]string `yaml:"rules"`
	// Budget is the maximum monthly cost of one design, in US dollars; 0 means no limit. A design's own budget may be
	// lower.
	Budget float64 `yaml:"budget"`
	// Regions are the Regions that designs may use; empty means all.
	Regions []string     `yaml:"regions"`
	Accept  []Acceptance `yaml:"accept"`
}

// Acceptance accepts a finding until a day.
type Acceptance struct {
	Rule string `yaml:"rule"`
	// In is the object that the finding names, or one that contains it: Order, Order.GSI1.
	In string `yaml:"in"`
	// Design is the name of the design; "" means every design.
	Design string `yaml:"design"`
	Reason string `yaml:"reason"`
	Owner  string `yaml:"owner"`
	// Until is the last day, as 2027-03-31.
	Until string `yaml:"until"`
}

// Check returns the findings in a file's design, judged by the policy that applies to it.
func Check(file string, d *design.Design, now time.Time) (check.Findings, error) {
	p, err := Find(file)
	if err != nil {
		return nil, err
	}
	if p == nil || !p.covers(file) {
		return check.Check(d), nil
	}
	return p.Check(d, now), nil
}

// Find reads the policy for a file; nil if there is none.
func Find(file string) (*Policy, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	for directory := filepath.Dir(path); ; directory = filepath.Dir(directory) {
		p, err := in(directory)
		if p != nil || err != nil {
			return p, err
		}
		_, err = os.Stat(filepath.Join(directory, ".git"))
		if err == nil || filepath.Dir(directory) == directory {
			return nil, nil //nolint:nilnil // no policy is not an error
		}
	}
}

// in reads the policy of one directory; nil if there is none.
func in(directory string) (*Policy, error) {
	var found *Policy
	for _, name := range names {
		file := filepath.Join(directory, name)
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case found != nil:
			return nil, fmt.Errorf("%s and %s both exist: keep only one of them", found.File, name)
		case info.Size() > maxBytes:
			return nil, fmt.Errorf("%s has %d bytes, more than the maximum of %d", file, info.Size(), maxBytes)
		}
		data, err := os.ReadFile(file) //nolint:gosec // beside the design that the user names
		if err != nil {
			return nil, err
		}
		if found, err = Parse(file, data); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Parse reads a policy. Unknown keys are errors.
func Parse(file string, data []byte) (*Policy, error) {
	p := &Policy{File: file}
	if err := strictyaml.Unmarshal(data, p); err != nil {
		if wrong, is := errors.AsType[*yaml.TypeError](err); is && wrong.Token != nil {
			at := wrong.Token.Position
			return nil, fmt.Errorf("%s: [%d:%d] %q is not %s", file, at.Line, at.Column, wrong.Token.Value, kind(wrong.DstType))
		}
		return nil, fmt.Errorf("%s: %s", file, strings.TrimSpace(yaml.FormatError(err, false, true)))
	}
	if err := p.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

// kind describes the type that a key of the policy expects.
func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a map"
	default:
		return "a text"
	}
}

func ruleOf(id string) (check.Rule, bool) {
	rules := check.Rules()
	i := slices.IndexFunc(rules, func(r check.Rule) bool { return r.ID == id })
	if i < 0 {
		return check.Rule{}, false
	}
	return rules[i], true
}

// validate returns everything that is wrong with a policy.
func (p *Policy) validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	for id, word := range p.Rules {
		rule, known := ruleOf(id)
		switch {
		case !known:
			fault("rules: unknown rule %s", id)
		case !slices.Contains([]string{"error", "warning", "info", "off"}, word):
			fault("rules: %s is %q: want error, warning, info or off", id, word)
		case rule.Refused && word != "error":
			fault("rules: %s cannot be %s: DynamoDB itself rejects violations", id, word)
		}
	}
	if !(p.Budget >= 0 && p.Budget <= math.MaxFloat64) { // NaN satisfies neither comparison
		fault("budget: %g is not an amount of US dollars", p.Budget)
	}
	for i, a := range p.Accept {
		rule, known := ruleOf(a.Rule)
		where := fmt.Sprintf("accept, entry %d", i+1)
		switch {
		case !known:
			fault("%s: unknown rule %q", where, a.Rule)
		case rule.Refused:
			fault("%s: %s cannot be accepted: DynamoDB itself rejects violations", where, a.Rule)
		}
		for _, member := range [][2]string{{"in", a.In}, {"reason", a.Reason}, {"owner", a.Owner}, {"until", a.Until}} {
			if member[1] == "" {
				fault("%s: %s is missing", where, member[0])
			}
		}
		if _, err := time.Parse(time.DateOnly, a.Until); a.Until != "" && err != nil {
			fault("%s: until is %q: want a date such as 2027-03-31", where, a.Until)
		}
	}
	for _, pattern := range p.Designs {
		if _, err := filepath.Match(pattern, ""); err != nil || filepath.IsAbs(pattern) {
			fault("designs: %q is not a path below the file's directory", pattern)
		}
	}
	return errors.Join(faults...)
}

// Files are the designs that the policy names; an entry that names none is an error.
func (p *Policy) Files() ([]string, error) {
	var out []string
	for _, pattern := range p.Designs {
		found, err := filepath.Glob(filepath.Join(filepath.Dir(p.File), pattern))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: designs: no file matches %s", p.File, pattern)
		}
		out = append(out, found...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Unknown returns an error if the policy for a file has acceptances that name a design that does not exist. It only
// knows for a policy that lists its designs; a listed design that does not load is reported by its own check.
func Unknown(file string) error {
	p, err := Find(file)
	if p == nil || err != nil || len(p.Designs) == 0 {
		return err
	}
	files, err := p.Files()
	if err != nil {
		return err
	}
	var known []string
	for _, f := range files {
		d, err := design.Load(f)
		if err != nil {
			return nil //nolint:nilerr // its name is unknown, and its own check reports it
		}
		known = append(known, d.Name)
	}
	var faults []error
	for i, a := range p.Accept {
		if a.Design != "" && !slices.Contains(known, a.Design) {
			faults = append(faults, fmt.Errorf("%s: accept, entry %d: unknown design %q: designs names %s", p.File, i+1, a.Design, strings.Join(known, ", ")))
		}
	}
	return errors.Join(faults...)
}

// covers reports whether the policy applies to a file.
func (p *Policy) covers(file string) bool {
	path, err := filepath.Abs(file)
	if err != nil {
		return false
	}
	relative, err := filepath.Rel(filepath.Dir(p.File), path)
	return err == nil && (len(p.Designs) == 0 || slices.ContainsFunc(p.Designs, func(pattern string) bool {
		is, err := filepath.Match(filepath.Clean(pattern), relative)
		return is && err == nil
	}))
}

// Check returns the findings in a design, judged by the policy.
func (p *Policy) Check(d *design.Design, now time.Time) check.Findings {
	held := *d
	if p.Budget > 0 && (held.Workload.Budget == 0 || p.Budget < held.Workload.Budget) {
		held.Workload.Budget = p.Budget
	}
	findings := check.Check(&held)
	used := make([]bool, len(p.Accept))
	for i := range findings {
		f := &findings[i]
		switch word := p.Rules[f.Rule]; word {
		case "":
		case "off":
			f.Accepted = or(f.Accepted, "off in "+filepath.Base(p.File))
		default:
			f.Severity = check.Severity(word)
		}
		for j, a := range p.Accept {
			if a.Rule != f.Rule || a.Design != "" && a.Design != d.Name || !f.Within(a.In) {
				continue
			}
			used[j] = true
			if a.expired(now) {
				f.Message += fmt.Sprintf(" (acceptance by %s expired on %s)", a.Owner, a.Until)
				continue
			}
			f.Accepted = or(f.Accepted, fmt.Sprintf("%s (%s, until %s)", a.Reason, a.Owner, a.Until))
		}
	}
	return append(findings, p.own(d, used)...)
}

// own are the policy's own findings: a Region that it does not allow, and an acceptance for this design, by name, that
// matches no finding.
func (p *Policy) own(d *design.Design, used []bool) check.Findings {
	var out check.Findings
	file := filepath.Base(p.File)
	region := or(d.Workload.Region, "us-east-1")
	if len(p.Regions) > 0 && !slices.Contains(p.Regions, region) {
		out = append(out, check.Finding{
			Rule: Rule, Severity: check.Error, Subject: d.Name, Pos: d.Workload.Pos,
			Message: fmt.Sprintf("is for %s, and %s allows %s", region, file, strings.Join(p.Regions, ", ")), Fix: "name one of them in workload: { region: … }",
		})
	}
	for i, a := range p.Accept {
		if !used[i] && a.Design == d.Name {
			out = append(out, check.Finding{
				Rule: Rule, Severity: check.Error, Subject: d.Name,
				Message: fmt.Sprintf("%s accepts %s of %s, but there is no such finding", file, a.Rule, a.In), Fix: "remove the acceptance of " + a.Owner,
			})
		}
	}
	return out
}

// expired reports whether the last day is over, in UTC.
func (a Acceptance) expired(now time.Time) bool {
	last, err := time.Parse(time.DateOnly, a.Until)
	return err != nil || !now.Before(last.AddDate(0, 0, 1))
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
