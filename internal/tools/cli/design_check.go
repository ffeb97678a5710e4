package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/docs/rules"
	"github.com/monotable/monotable/internal/tools/designer/check"
	"github.com/monotable/monotable/internal/tools/designer/policy"
)

type checkFlags struct {
	format, failOn, explain string
	asJSON, all             bool
}

func newCheck(env Environment) *cobra.Command {
	var flags checkFlags
	cmd := &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Check designs for defects",
		Long: `Check designs for defects: keys that collide or are ambiguous, reads that DynamoDB rejects or that return too much,
hot partitions, indexes that leak data, writes that lose or duplicate it.

To accept a finding, say so in the design, with a reason:

  accept: { ST301: "At most 5,000 products, written by staff." }

A monotable.yaml in the design's directory, or above it in the repository, sets for all designs which rules are errors
or off, the monthly budget, the allowed Regions, and findings that are accepted until a date; see docs/check.md.
Without a FILE, the designs that it names are checked.

The exit status is 1 if there is an error that is not accepted; --fail-on warning and --fail-on info are stricter, and
with --fail-on never it is always 0.`,
		Example: `  monotable check shop.design.yaml
  monotable check --explain ST204
  monotable check *.design.yaml --format sarif > findings.sarif`,
		RunE: func(_ *cobra.Command, args []string) error {
			if flags.explain != "" {
				return explainRule(env, flags.explain)
			}
			return runCheck(env, &flags, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.format, "format", "text", "text, json or sarif")
	f.BoolVar(&flags.asJSON, "json", false, "print JSON, same as --format json")
	f.StringVar(&flags.failOn, "fail-on", "error", "the lowest severity that fails: error, warning, info or never")
	f.BoolVar(&flags.all, "all", false, "show accepted findings, and more than 20 of a rule")
	f.StringVar(&flags.explain, "explain", "", "print the page of a rule, such as ST102; list prints all rules")
	excludeFlags(cmd.Flags(), "", "json", "format")
	return cmd
}

// runCheck checks all files; an invalid one does not hide the findings of the others.
func runCheck(env Environment, flags *checkFlags, files []string) error {
	if flags.asJSON {
		flags.format = "json"
	}
	if _, known := failing[flags.failOn]; !known {
		return fmt.Errorf("--fail-on %q: want error, warning, info or never", flags.failOn)
	}
	if len(files) == 0 {
		var err error
		if files, err = policyFiles(); err != nil {
			return err
		}
	}
	var all []check.Checked
	var asked []string
	var invalid error
	for _, name := range files {
		if directory := filepath.Dir(name); !slices.Contains(asked, directory) {
			if err := policy.Unknown(name); err != nil {
				return err
			}
			asked = append(asked, directory)
		}
		d, err := design.Load(name)
		if err != nil {
			if invalid = designError(env, err); !errors.Is(invalid, errReported) {
				return invalid
			}
			continue
		}
		findings, err := policy.Check(name, d, time.Now())
		if err != nil {
			return err
		}
		all = append(all, check.Checked{Design: d, Findings: findings})
	}
	if err := cmp.Or(writeFindings(env, flags, all), invalid); err != nil {
		return err
	}
	return failOn(flags.failOn, all)
}

var errNoDesigns = errors.New("check needs a design file, --explain RULE, or a monotable.yaml with designs")

// policyFiles are the designs that the policy of this directory names, as paths relative to the
// working directory.
func policyFiles() ([]string, error) {
	here, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	p, err := policy.Find(filepath.Join(here, "design"))
	if err != nil {
		return nil, err
	}
	if p == nil || len(p.Designs) == 0 {
		return nil, errNoDesigns
	}
	files, err := p.Files()
	for i, f := range files {
		if relative, err := filepath.Rel(here, f); err == nil {
			files[i] = relative
		}
	}
	return files, err
}

func writeFindings(env Environment, flags *checkFlags, all []check.Checked) error {
	switch flags.format {
	case "text":
		for _, c := range all {
			if err := check.WriteText(env.Stdout, c.Design, c.Findings, flags.all); err != nil {
				return err
			}
		}
		return nil
	case "sarif":
		return check.WriteSARIF(env.Stdout, "monotable check", all)
	case "json":
		type result struct {
			Design   string         `json:"design"`
			File     string         `json:"file"`
			Findings check.Findings `json:"findings"`
		}
		out := []result{}
		for _, c := range all {
			r := result{Design: c.Design.Name, Findings: c.Findings}
			if c.Design.Source != nil {
				r.File = c.Design.Source.Name
			}
			out = append(out, r)
		}
		encoder := json.NewEncoder(env.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(out)
	default:
		return fmt.Errorf("--format %q: want text, json or sarif", flags.format)
	}
}

// failing are the severities that fail, by the values of --fail-on.
var failing = map[string][]check.Severity{ //nolint:gochecknoglobals // a table
	"error":   {check.Error},
	"warning": {check.Error, check.Warning},
	"info":    {check.Error, check.Warning, check.Info},
	"never":   {},
}

// failOn returns errReported if a finding is at least as severe as the value says.
func failOn(word string, all []check.Checked) error {
	for _, c := range all {
		for _, s := range failing[word] {
			if c.Findings.Worst() == s {
				return errReported
			}
		}
	}
	return nil
}

// designError prints all errors in a design's text, each with its line, and ends the command.
func designError(env Environment, err error) error {
	faults, ok := errors.AsType[design.Errors](err)
	if !ok {
		return err
	}
	for _, f := range faults {
		fmt.Fprintln(env.Stderr, f.Error())
		if excerpt := f.Source.Excerpt(f.Pos); excerpt != "" {
			fmt.Fprintln(env.Stderr, excerpt)
		}
	}
	return errReported
}

func explainRule(env Environment, id string) error {
	if strings.EqualFold(id, "list") {
		for _, r := range check.Rules() {
			fmt.Fprintf(env.Stdout, "%s  %-7s  %s\n", r.ID, r.Severity, r.Title)
		}
		return nil
	}
	page, err := rules.Page(strings.ToUpper(id))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("unknown rule %s: --explain list prints all rules", id)
	}
	if err == nil {
		_, err = fmt.Fprint(env.Stdout, page)
	}
	return err
}
