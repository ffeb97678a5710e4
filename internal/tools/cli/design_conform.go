package cli

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/conform"
	"github.com/monotable/monotable/internal/tools/designer/source"
)

type conformFlags struct {
	sourceFlags
	tables   []string
	examples int
	persons  []string
	asJSON   bool
}

func newConform(env Environment) *cobra.Command {
	var flags conformFlags
	cmd := &cobra.Command{
		Use:   "conform FILE",
		Short: "Compare the items of real tables with a design",
		Long: `Read all items of a design's tables, from an endpoint or an export to S3, and report what does not match the design:
items that match no entity, values of the wrong type, keys and index keys that do not match the fields, copies that
differ from their item, markers without an item, wrong counters.

A table is read once, and a second time if related items disagree, so that states between two writes are not reported.
Nothing is written. The command needs about 100 bytes of memory per copy, marker and item with counters, and none for
other items. Scanning a table on AWS costs read units; reading an export does not.

--person reports what is left of an erased person, and what the design keeps.

The exit status is 1 if there are findings.`,
		Example: `  monotable conform shop.design.yaml --endpoint http://127.0.0.1:8000 --table shop=shop-dev
  monotable conform shop.design.yaml --export ./AWSDynamoDB/01693685827463-2d8752fd
  monotable conform shop.design.yaml --export ./export --json > report.json
  monotable conform shop.design.yaml --endpoint http://127.0.0.1:8000 --person u-123 --person ana@example.com`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := design.Load(args[0])
			if err != nil {
				return designError(env, err)
			}
			return runConform(cmd.Context(), env, &flags, d)
		},
	}
	f := cmd.Flags()
	flags.register(f)
	f.StringArrayVar(&flags.exports, "export", nil, "directory of an export to S3, or NAME=DIR for a table of several")
	f.StringArrayVar(&flags.tables, "table", nil, "the table's actual name, if it differs from the design's, such as shop=shop-dev")
	f.IntVar(&flags.examples, "examples", 5, "number of items to show for each finding")
	f.StringArrayVar(&flags.persons, "person", nil, "ID or e-mail address of an erased person, of whom nothing may be left; may be repeated")
	f.BoolVar(&flags.asJSON, "json", false, "print JSON")
	progressFlag(cmd, &flags.progress)
	excludeFlags(cmd.Flags(), "", "export", "table")
	return cmd
}

func runConform(ctx context.Context, env Environment, flags *conformFlags, d *design.Design) error {
	if len(flags.persons) > 0 && d.Person == "" {
		return errors.New("--person: the design does not declare which field identifies a person (person: userId)")
	}
	if slices.Contains(flags.persons, "") {
		return errors.New("--person: want an ID or an e-mail address")
	}
	if flags.examples < 0 {
		return errors.New("--examples: want a number of at least 0")
	}
	passes, total, err := flags.open(ctx, env, d)
	if err != nil {
		return err
	}
	bars := &passBars{env: env, total: total, progressWanted: flags.progress}
	report, err := conform.Check(d, passes, conform.Options{
		Examples: flags.examples, Now: time.Now(), Persons: flags.persons, Progress: bars.update,
	})
	bars.end()
	if err != nil {
		return err
	}
	return writeConform(env, report, flags.asJSON)
}

// writeConform prints a report; it returns errReported if there are findings.
func writeConform(env Environment, report *conform.Report, asJSON bool) error {
	var err error
	if asJSON {
		encoder := json.NewEncoder(env.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(report)
	} else {
		err = conform.WriteText(env.Stdout, report)
	}
	if err == nil && len(report.Findings) > 0 {
		return errReported
	}
	return err
}

// open opens the sources of a design's tables. The total is the approximate number of their items, 0 if unknown.
func (flags *conformFlags) open(ctx context.Context, env Environment, d *design.Design) (map[string]conform.Pass, int64, error) {
	var names []string
	for _, t := range d.Tables {
		names = append(names, t.Name)
	}
	exports, err := named("export", flags.exports, names)
	if err != nil {
		return nil, 0, err
	}
	tables, err := named("table", flags.tables, names)
	if err != nil {
		return nil, 0, err
	}
	passes, total := map[string]conform.Pass{}, int64(0)
	add := func(name string, s source.Source) {
		total += s.Count()
		passes[name] = func() iter.Seq2[source.Item, error] { return s.Items(ctx) }
	}
	for _, t := range d.Tables {
		if len(exports) > 0 {
			dir, given := exports[t.Name]
			if !given {
				continue // tables without an export are not checked
			}
			export, err := source.OpenExport(dir)
			if err != nil {
				return nil, 0, err
			}
			add(t.Name, export)
			continue
		}
		physical, given := tables[t.Name]
		if !given {
			physical = t.Physical
		}
		table, err := flags.openTable(ctx, env, physical)
		if err != nil {
			return nil, 0, err
		}
		add(t.Name, table)
	}
	return passes, total, nil
}

// passBars shows the progress of each pass over the items.
type passBars struct {
	env            Environment
	total          int64
	progressWanted bool
	pass           int
	bar            *progress
}

func (b *passBars) update(pass int, items int64) {
	if pass != b.pass {
		b.end()
		what := "conform"
		if pass > 1 {
			what = "conform, pass " + strconv.Itoa(pass)
		}
		b.pass, b.bar = pass, newProgress(b.env, what, unitThings, b.progressWanted)
		if b.total == 0 {
			b.bar.begin()
		}
	}
	if b.total > 0 {
		b.bar.update(items, max(b.total, items))
	}
}

func (b *passBars) end() { b.bar.end() }
