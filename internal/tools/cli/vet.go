package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
	"github.com/monotable/monotable/internal/tools/vet"
)

type vetFlags struct {
	designs []string
	format  string
	asJSON  bool
	tests   bool
}

func newVet(env Environment) *cobra.Command {
	var flags vetFlags
	cmd := &cobra.Command{
		Use:   "vet [PACKAGE...]",
		Short: "Find Go code that bypasses the generated package of a design",
		Long: `Find requests with the AWS SDK for Go to the tables of designs, and hand-written keys, outside of generated packages:
such writes skip the copies, markers, counters and index keys of an item. Also find errors of transactions that are
compared with the exception of a single write (monotable check --explain ST515).

The designs are those given by --design, or named in the nearest monotable.yaml. To allow a request, say so in the code:

  //monotable:allow A yearly report that reads everything.
  input := &dynamodb.ScanInput{TableName: aws.String("shop")}

Uncertain cases are not reported. The exit status is 1 if there are findings.`,
		Example: `  monotable vet ./... --design shop.design.yaml
  monotable vet ./... --format sarif > vet.sarif`,
		RunE: func(_ *cobra.Command, args []string) error {
			return runVet(env, &flags, args)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&flags.designs, "design", nil, "a design file; may be repeated")
	f.StringVar(&flags.format, "format", "text", "text, json or sarif")
	f.BoolVar(&flags.asJSON, "json", false, "print JSON, same as --format json")
	f.BoolVar(&flags.tests, "tests", false, "also check _test.go files")
	excludeFlags(cmd.Flags(), "", "json", "format")
	return cmd
}

func runVet(env Environment, flags *vetFlags, args []string) error {
	if flags.asJSON {
		flags.format = "json"
	}
	files := flags.designs
	if len(files) == 0 {
		var err error
		if files, err = policyFiles(); errors.Is(err, errNoDesigns) {
			return errors.New("vet needs --design FILE, or a monotable.yaml with designs")
		} else if err != nil {
			return err
		}
	}
	options := vet.Options{Packages: args, Tests: flags.tests}
	if len(args) == 0 {
		options.Packages = []string{"."}
	}
	for _, name := range files {
		d, err := design.Load(name)
		if err != nil {
			return designError(env, err)
		}
		options.Designs = append(options.Designs, d)
	}
	found, err := vet.Run(options)
	if err != nil {
		return err
	}
	if here, err := filepath.Abs("."); err == nil {
		for i := range found {
			if relative, err := filepath.Rel(here, found[i].File); err == nil {
				found[i].File = filepath.ToSlash(relative)
			}
		}
	}
	if err := writeVetted(env, flags.format, found); err != nil {
		return err
	}
	if len(found) > 0 {
		return errReported
	}
	return nil
}

func writeVetted(env Environment, format string, found []vet.Finding) error {
	switch format {
	case "text":
		for _, f := range found {
			fmt.Fprintf(env.Stdout, "%s:%d:%d: error %s %s\n", f.File, f.Line, f.Column, f.Rule, f.Message)
		}
		return nil
	case "json":
		encoder := json.NewEncoder(env.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(found)
	case "sarif":
		var all []check.Checked
		for _, f := range found {
			all = append(all, check.Checked{
				Design: &design.Design{Source: &design.Source{Name: f.File}},
				Findings: check.Findings{{
					Rule: f.Rule, Severity: check.Error, Subject: "Go", Message: f.Message, Pos: design.Pos{Line: f.Line, Column: f.Column},
				}},
			})
		}
		return check.WriteSARIF(env.Stdout, "monotable vet", all)
	default:
		return fmt.Errorf("--format %q: want text, json or sarif", format)
	}
}
