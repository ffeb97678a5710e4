package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

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
		Short: "Carry out what it takes to go from one design to another",
		Long: `Take a table from one design to another while programs of both are in use:

  plan    the steps, with what they cost and how long they take; the designs of the programs in between
  run     makes indexes, and gives items what the new design wants, as far as it can before the next deployment
  status  how far it is
  verify  compares all items with what they should be by now
  finish  removes what only the old design has

Each write depends on the item being as it was read, so that no write of the application is lost. The state is kept in the table
monotable-migrations at the endpoint: what is stopped, by whatever, goes on where it was. docs/migrations.md has an example.`,
		Example: `  monotable migrate plan old.yaml new.yaml --units 500 -o transition
  monotable migrate run old.yaml new.yaml --endpoint http://127.0.0.1:8000 --table shop=shop-dev --units 500
  monotable migrate run old.yaml new.yaml --endpoint http://127.0.0.1:8000 --table shop=shop-dev --units 500 --deployed dual-writes
  monotable migrate finish old.yaml new.yaml --endpoint http://127.0.0.1:8000 --table shop=shop-dev --yes`,
		RunE: group,
	}
	cmd.AddCommand(newMigratePlan(env), newMigrateRun(env), newMigrateStatus(env), newMigrateVerify(env), newMigrateFinish(env))
	return cmd
}

// migrateCommand is a subcommand with the flags that all have.
func migrateCommand(flags *migrateFlags, name, short, long, example string, run func(ctx context.Context, p *migrate.Plan) error, env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " OLD NEW", Short: short, Long: long, Example: example, Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(flags.units >= 0) { // NaN is neither
				return errors.New("--units: want a number of units a second, or 0 for no limit")
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
	f.StringArrayVar(&flags.fills, "fill", nil, "value of a required field that items lack: Order.gift=false, Order.note='', or another field, Order.remark=note, Order.city=address.city")
	f.StringArrayVar(&flags.makes, "make", nil, "new entity of which each item of another gets one, as Account=User: fields of equal name and type are taken over, --fill says the others")
	f.Float64Var(&flags.units, "units", 0, "read and write units a second that it may take in all; 0 is no limit")
	return cmd
}

// target adds the flags that say where the tables are.
func (flags *migrateFlags) target(cmd *cobra.Command) *cobra.Command {
	f := cmd.Flags()
	flags.register(f)
	f.StringArrayVar(&flags.tables, "table", nil, "the table's own name, where it is not the design's, as shop=shop-dev")
	f.StringVar(&flags.stateTable, "state-table", migrate.DefaultStateTable, "table at the endpoint in which the migration is recorded; it is made where it is not there")
	return cmd
}

func newMigratePlan(env Environment) *cobra.Command {
	var flags migrateFlags
	cmd := migrateCommand(&flags, "plan", "Show the steps from one design to another",
		`Show the steps by number: what the command does, and what you deploy in between, with prices by the volumes of the designs, index entries
included, and the time that they take at --units a second.

With -o DIR, write the designs of the programs in between: DIR/dual-writes.design.json has the patterns of the old design and
DIR/new-reads.design.json those of the new one, and both write what both designs want. All commands take them: check, test, generate.

The exit status is 1 when a change cannot be carried out; what to do instead is said with it.`,
		`  monotable migrate plan old.yaml new.yaml --units 500
  monotable migrate plan old.yaml new.yaml -o transition && monotable generate transition/dual-writes.design.json -o shopdb
  monotable migrate plan old.yaml new.yaml --fill Order.gift=false --json`,
		func(_ context.Context, p *migrate.Plan) error { return printPlan(env, &flags, p) }, env)
	cmd.Flags().StringVarP(&flags.output, "output", "o", "", "directory for the designs of the programs in between")
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

// open prepares the migration at the flags' target, with its progress on standard error. end is to be called at the end.
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
		return nil, nil, fmt.Errorf("--segments: a Scan has 1 to 1000000 segments, not %d", flags.segments)
	}
	client, err := databaseClient(ctx, env, flags.endpoint, flags.region)
	if err != nil {
		return nil, nil, err
	}
	bar := newProgress(env, "migrate", unitThings, flags.progress)
	m, err = migrate.Open(p, migrate.Target{
		Client: client, Tables: tables, StateTable: flags.stateTable, Segments: flags.segments, Units: flags.units,
		TakeOver: flags.takeOver,
		Say:      func(format string, args ...any) { fmt.Fprintf(env.Stdout, format+"\n", args...) },
		Progress: func(pass migrate.Pass) { bar.update(pass.Seen, max(pass.Seen, p.Items())) },
	})
	return m, bar.end, err
}

func newMigrateRun(env Environment) *cobra.Command {
	var flags migrateFlags
	cmd := migrateCommand(&flags, "run", "Make indexes and write items, as far as it can before the next deployment",
		`Carry out what can be done before the next deployment, and say what comes next. First tables and indexes are made; when programs that write
both shapes are deployed and no other is left, which --deployed dual-writes says, items get what the new design wants, and are compared.

It may be stopped at any time, by whatever: it goes on where it was when it is run again. Only one runs at a time; one that died without a
word holds its place for 20 seconds, or until --take-over. The exit status is 1 when items are found that are not as they should be.`,
		`  monotable migrate run old.yaml new.yaml --endpoint http://127.0.0.1:8000 --table shop=shop-dev --units 500
  monotable migrate run old.yaml new.yaml --region eu-west-1 --endpoint https://dynamodb.eu-west-1.amazonaws.com --units 500 --deployed dual-writes`,
		func(ctx context.Context, p *migrate.Plan) error {
			return flags.carryOut(ctx, env, p, func(m *migrate.Migration) (*conform.Report, error) {
				return m.Run(ctx, migrate.Milestone(flags.deployed))
			})
		}, env)
	cmd.Flags().StringVar(&flags.deployed, "deployed", "", "that programs of this design are deployed and none of before is left: dual-writes or new-reads")
	cmd.Flags().BoolVar(&flags.takeOver, "take-over", false, "do not wait for the place of another run, which has died")
	progressFlag(cmd, &flags.progress)
	return flags.target(cmd)
}

// endpointError is an error with advice, where nothing listens.
func endpointError(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("nothing listens there: start the database with \"monotable serve\", or name another --endpoint (%w)", err)
	}
	return err
}

// carryOut does something of a migration, and says what was found or what comes next.
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
		return endpointError(err)
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
	cmd := migrateCommand(&flags, "status", "Show how far a migration is", "Show which steps are done, what has been used, who runs it now, and what comes next.",
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
				return endpointError(err)
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
	cmd := migrateCommand(&flags, "verify", "Compare all items with what they should be by now",
		`Read all items and compare them, as "monotable conform" does, with what they should be by now: the old design before items are written, then
what both designs want, and at last the new one. With --final, with the new design, apart from what finish would remove.

Nothing is written. The exit status is 1 when something is found.`,
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
				return endpointError(err)
			}
			return writeConform(env, report, flags.asJSON)
		}, env)
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON, as monotable conform does")
	cmd.Flags().BoolVar(&flags.final, "final", false, "compare with the new design, apart from what finish would remove")
	return flags.target(cmd)
}

func newMigrateFinish(env Environment) *cobra.Command {
	var flags migrateFlags
	cmd := migrateCommand(&flags, "finish", "Remove what only the old design has",
		`Compare all items with the new design and, if all that is left over is what only the old design has, remove that: indexes, copies, markers,
attributes, items of entities that are gone. It says that no program but those of the new design is in use, and there is no way back.

It may be stopped at any time and goes on where it was. The exit status is 1 when something is found.`,
		`  monotable migrate finish old.yaml new.yaml --endpoint http://127.0.0.1:8000 --table shop=shop-dev --units 500 --yes`,
		func(ctx context.Context, p *migrate.Plan) error {
			if !flags.yes {
				return errors.New("finish deletes what only the old design has, which \"monotable migrate plan\" lists: say --yes when no program of before is in use")
			}
			return flags.carryOut(ctx, env, p, func(m *migrate.Migration) (*conform.Report, error) { return m.Finish(ctx) })
		}, env)
	cmd.Flags().BoolVar(&flags.yes, "yes", false, "that no program but those of the new design is in use")
	cmd.Flags().BoolVar(&flags.takeOver, "take-over", false, "do not wait for the place of another run, which has died")
	progressFlag(cmd, &flags.progress)
	return flags.target(cmd)
}
