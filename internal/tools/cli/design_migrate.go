package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/conform"
	"github.com/monotable/monotable/internal/tools/designer/migrate"
)

type migrateFlags struct {
	sourceFlags
	tables, fills, makes         []string
	units                        float64
	stateTable, output, deployed string
	takeOver, yes, asJSON, final bool
}

func newMigrate(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Migrate tables from one design to another",
		Long: `Migrate tables from one design to another while programs of both are in use:

  plan    shows the steps with their cost and duration, and writes the designs of the intermediate programs
  run     creates indexes and updates items, as far as possible before the next deployment
  status  shows the progress
  verify  compares all items with their expected state
  finish  removes everything that only the old design needs

Each write is conditional on the item being unchanged since it was read, so no application write is lost. The state is
kept in the table monotable-migrations at the endpoint: after an interruption, the migration continues where it
stopped. See docs/migrations.md for an example.`,
		Example: `  monotable migrate plan old.yaml new.yaml --units 500 -o transition
  monotable migrate run old.yaml new.yaml --endpoint http://127.0.0.1:8000 --table shop=shop-dev --units 500
  monotable migrate run old.yaml new.yaml --endpoint http://127.0.0.1:8000 --table shop=shop-dev --units 500 --deployed dual-writes
  monotable migrate finish old.yaml new.yaml --endpoint http://127.0.0.1:8000 --table shop=shop-dev --yes`,
		RunE: group,
	}
	cmd.AddCommand(newMigratePlan(env), newMigrateRun(env), newMigrateStatus(env), newMigrateVerify(env), newMigrateFinish(env))
	return cmd
}

// migrateCommand is a subcommand with the common flags.
func migrateCommand(flags *migrateFlags, name, short, long, example string, run func(ctx context.Context, p *migrate.Plan) error, env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " OLD NEW", Short: short, Long: long, Example: example, Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(flags.units >= 0) { // NaN fails every comparison
				return errors.New("--units: want a number of units per second, or 0 for no limit")
			}
			var designs [2]*design.Design
			for i, name := range args {
				var err error
				if designs[i], err = design.Load(name); err != nil {
					return designError(env, err)
				}
			}
			p, err := migrate.New(designs[0], designs[1], migrate.Options{Fills: flags.fills, Makes: flags.makes, Units: flags.units})
			if err != nil {
				return err
			}
			return run(cmd.Context(), p)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&flags.fills, "fill", nil, "value for a required field that items lack: Order.gift=false, Order.note='', or from another field: Order.remark=note, Order.city=address.city")
	f.StringArrayVar(&flags.makes, "make", nil, "create an item of a new entity for each item of another, such as Account=User: fields with the same name and type are copied, --fill sets the others")
	f.Float64Var(&flags.units, "units", 0, "maximum read and write units per second in total; 0 means no limit")
	return cmd
}

// target adds the flags that identify the database.
func (flags *migrateFlags) target(cmd *cobra.Command) *cobra.Command {
	f := cmd.Flags()
	flags.register(f)
	f.StringArrayVar(&flags.tables, "table", nil, "the table's actual name, if it differs from the design's, such as shop=shop-dev")
	f.StringVar(&flags.stateTable, "state-table", migrate.DefaultStateTable, "table at the endpoint that records the migration; created if it does not exist")
	return cmd
}

func newMigratePlan(env Environment) *cobra.Command {
	var flags migrateFlags
	cmd := migrateCommand(&flags, "plan", "Show the steps from one design to another",
		`Show the numbered steps: what the command does and what you deploy in between, with their costs, based on the declared
volumes and including index entries, and their duration at --units per second.

With -o DIR, also write the designs of the intermediate programs: DIR/dual-writes.design.json has the patterns of the
old design, DIR/new-reads.design.json those of the new one, and both write what both designs need. All commands accept
them: check, test, generate.

The exit status is 1 if a change cannot be carried out; the output says what to do instead.`,
		`  monotable migrate plan old.yaml new.yaml --units 500
  monotable migrate plan old.yaml new.yaml -o transition && monotable generate transition/dual-writes.design.json -o shopdb
  monotable migrate plan old.yaml new.yaml --fill Order.gift=false --json`,
		func(_ context.Context, p *migrate.Plan) error { return printPlan(env, &flags, p) }, env)
	cmd.Flags().StringVarP(&flags.output, "output", "o", "", "directory for the designs of the intermediate programs")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON")
	return cmd
}

func printPlan(env Environment, flags *migrateFlags, p *migrate.Plan) error {
	var err error
	if flags.asJSON {
		encoder := json.NewEncoder(env.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(p)
	} else {
		err = migrate.WriteText(env.Stdout, p)
	}
	if err == nil && len(p.Refusals) > 0 {
		return errReported
	}
	if err != nil || flags.output == "" {
		return err
	}
	if err := os.MkdirAll(flags.output, 0o755); err != nil { //nolint:gosec // designs hold no secrets
		return err
	}
	for name, d := range map[migrate.Milestone]*design.Design{migrate.DualWrites: p.DualWrites, migrate.NewReads: p.NewReads} {
		if d == nil {
			continue
		}
		data, err := d.JSON()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(flags.output, string(name)+".design.json"), data, 0o644); err != nil { //nolint:gosec // the same
			return err
		}
	}
	return nil
}

// open prepares the migration at the flags' target, with its progress on standard error. The caller must call end.
func (flags *migrateFlags) open(ctx context.Context, env Environment, p *migrate.Plan) (m *migrate.Migration, end func(), err error) {
	if len(p.Refusals) > 0 {
		if err := migrate.WriteText(env.Stderr, p); err != nil {
			return nil, nil, err
		}
		return nil, nil, errReported
	}
	tables, err := named("table", flags.tables, p.Tables())
	if err != nil {
		return nil, nil, err
	}
	if flags.segments < 1 {
		return nil, nil, fmt.Errorf("--segments %d: want 1 to 1000000", flags.segments)
	}
	client, err := databaseClient(ctx, env, flags.endpoint, flags.region)
	if err != nil {
		return nil, nil, err
	}
	bar := newProgress(env, "migrate", unitThings, flags.progress)
	m, err = migrate.Open(p, migrate.Target{
		Client: client, Tables: tables, StateTable: flags.stateTable, Segments: flags.segments, Units: flags.units,
		TakeOver: flags.takeOver,
		Logf:     func(format string, args ...any) { fmt.Fprintf(env.Stdout, format+"\n", args...) },
		Progress: func(pass migrate.Pass) { bar.update(pass.Seen, max(pass.Seen, p.Items())) },
	})
	return m, bar.end, err
}

func newMigrateRun(env Environment) *cobra.Command {
	var flags migrateFlags
	cmd := migrateCommand(&flags, "run", "Create indexes and update items, as far as possible before the next deployment",
		`Carry out everything that is possible before the next deployment, and say what comes next. First, tables and indexes
are created. Once only programs that write both shapes are deployed, which you confirm with --deployed dual-writes,
items are updated for the new design and compared.

You can stop it at any time: the next run continues where it stopped. Only one can run at a time; a crashed run blocks
others for 20 seconds, or until --take-over. The exit status is 1 if there are items that are not in their expected
state.`,
		`  monotable migrate run old.yaml new.yaml --endpoint http://127.0.0.1:8000 --table shop=shop-dev --units 500
  monotable migrate run old.yaml new.yaml --region eu-west-1 --endpoint https://dynamodb.eu-west-1.amazonaws.com --units 500 --deployed dual-writes`,
		func(ctx context.Context, p *migrate.Plan) error {
			return flags.carryOut(ctx, env, p, func(m *migrate.Migration) (*conform.Report, error) {
				return m.Run(ctx, migrate.Milestone(flags.deployed))
			})
		}, env)
	cmd.Flags().StringVar(&flags.deployed, "deployed", "", "confirm that only programs with this design are deployed: dual-writes or new-reads")
	cmd.Flags().BoolVar(&flags.takeOver, "take-over", false, "take over from a crashed run without waiting")
	progressFlag(cmd, &flags.progress)
	return flags.target(cmd)
}

// carryOut runs a step of a migration, and prints the findings or the next step.
func (flags *migrateFlags) carryOut(ctx context.Context, env Environment, p *migrate.Plan, do func(*migrate.Migration) (*conform.Report, error)) error {
	m, end, err := flags.open(ctx, env, p)
	if err != nil {
		return err
	}
	report, err := do(m)
	end()
	if errors.Is(err, migrate.ErrFindings) && report != nil {
		return errors.Join(conform.WriteText(env.Stdout, report), errReported)
	}
	if err != nil {
		return err
	}
	state, _, err := m.Status(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "next: %s\n", m.Next(state))
	return err
}

func newMigrateStatus(env Environment) *cobra.Command {
	var flags migrateFlags
	cmd := migrateCommand(&flags, "status", "Show the progress of a migration", "Show which steps are done, the capacity used, who is running it, and what comes next.",
		`  monotable migrate status old.yaml new.yaml --endpoint http://127.0.0.1:8000 --table shop=shop-dev
  monotable migrate status old.yaml new.yaml --json`,
		func(ctx context.Context, p *migrate.Plan) error {
			m, end, err := flags.open(ctx, env, p)
			if err != nil {
				return err
			}
			end()
			state, holder, err := m.Status(ctx)
			if err != nil {
				return err
			}
			if !flags.asJSON {
				return m.WriteStatus(env.Stdout, state, holder)
			}
			encoder := json.NewEncoder(env.Stdout)
			encoder.SetIndent("", "  ")
			return encoder.Encode(struct {
				migrate.State
				Holder string `json:"holder,omitempty"`
				Next   string `json:"next"`
			}{state, holder, m.Next(state)})
		}, env)
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON")
	return flags.target(cmd)
}

func newMigrateVerify(env Environment) *cobra.Command {
	var flags migrateFlags
	cmd := migrateCommand(&flags, "verify", "Compare all items with their expected state",
		`Read all items and compare them, like "monotable conform", with their expected state: the old design before items are
updated, then what both designs need, and finally the new design. With --final, compare with the new design, ignoring
what finish would remove.

Nothing is written. The exit status is 1 if there are findings.`,
		`  monotable migrate verify old.yaml new.yaml --endpoint http://127.0.0.1:8000 --table shop=shop-dev
  monotable migrate verify old.yaml new.yaml --units 200 --final`,
		func(ctx context.Context, p *migrate.Plan) error {
			m, end, err := flags.open(ctx, env, p)
			if err != nil {
				return err
			}
			report, err := m.Verify(ctx, flags.final)
			end()
			if err != nil {
				return err
			}
			return writeConform(env, report, flags.asJSON)
		}, env)
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON, as monotable conform does")
	cmd.Flags().BoolVar(&flags.final, "final", false, "compare with the new design, ignoring what finish would remove")
	return flags.target(cmd)
}

func newMigrateFinish(env Environment) *cobra.Command {
	var flags migrateFlags
	cmd := migrateCommand(&flags, "finish", "Remove everything that only the old design needs",
		`Compare all items with the new design and, if the only differences are leftovers of the old design, remove them:
indexes, copies, markers, attributes, items of removed entities. Only run it when all programs use the new design:
there is no way back.

You can stop it at any time: the next run continues where it stopped. The exit status is 1 if there are findings.`,
		`  monotable migrate finish old.yaml new.yaml --endpoint http://127.0.0.1:8000 --table shop=shop-dev --units 500 --yes`,
		func(ctx context.Context, p *migrate.Plan) error {
			if !flags.yes {
				return errors.New("finish deletes everything that only the old design needs, as listed by \"monotable migrate plan\": confirm with --yes that only programs with the new design are in use")
			}
			return flags.carryOut(ctx, env, p, func(m *migrate.Migration) (*conform.Report, error) { return m.Finish(ctx) })
		}, env)
	cmd.Flags().BoolVar(&flags.yes, "yes", false, "confirm that only programs with the new design are in use")
	cmd.Flags().BoolVar(&flags.takeOver, "take-over", false, "take over from a crashed run without waiting")
	progressFlag(cmd, &flags.progress)
	return flags.target(cmd)
}
