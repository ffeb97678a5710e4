package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/tools/cli"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/seed"
	"github.com/monotable/monotable/systems/internal/system"
)

const (
	barInterval = 100 * time.Millisecond
	barWidth    = 30
)

// seedFlags are the flags of the seed command.
type seedFlags struct {
	system, items  string
	seed           uint64
	data, endpoint string
	over           bool
}

func newSeed(env Environment, systems []system.System) *cobra.Command {
	var flags seedFlags
	cmd := &cobra.Command{
		Use:   "seed --system NAME --items N",
		Short: "Load sample data into a system",
		Long: `Load generated data into a system: the same data for the same --items and --seed.

Only one process can have a data directory open. If a demo or monotable serve has --data open, the data is loaded through its
DynamoDB API; its address is found automatically. Otherwise, the data is written to the directory. With --endpoint, it is
loaded through that API, and --data is ignored.

Samples are loaded without reading existing items, so numbers and unique values could occur twice. Tables that already have
items are therefore rejected. --over loads the sample anyway, for example to finish an interrupted one.`,
		Example: `  demo seed --system NAME --items 10k
  demo seed --system NAME --items 1M --endpoint http://127.0.0.1:8000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd.Context(), env, systems) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.system, "system", "", "name of the system (demo systems lists them)")
	f.StringVar(&flags.items, "items", "1k", "number of items, 1k to 1M")
	f.Uint64Var(&flags.seed, "seed", 1, "different seeds generate different data")
	f.StringVar(&flags.data, "data", defaultData, "the data directory")
	f.BoolVar(&flags.over, "over", false, "load into tables that already have items")
	f.StringVar(&flags.endpoint, "endpoint", "", "URL of a DynamoDB API to load through, instead of --data")
	return cmd
}

func (f *seedFlags) run(ctx context.Context, env Environment, systems []system.System) error {
	s, err := chosenOne(env, systems, f.system)
	if err != nil {
		return err
	}
	items, err := seed.ParseItems(f.items)
	if err != nil {
		return fmt.Errorf("--items: %w", err)
	}
	database, err := f.open(ctx, env)
	if err != nil {
		return err
	}
	err = f.load(ctx, env, database, s, items)
	return errors.Join(err, database.Close())
}

// open opens the data directory, or the API of the process that has it open.
func (f *seedFlags) open(ctx context.Context, env Environment) (*run.Database, error) {
	c := &run.Config{Data: f.data, Endpoint: f.endpoint, Region: "us-east-1", Durability: "interval"}
	logger := slog.New(slog.DiscardHandler)
	getenv := func(name string) string {
		if name == "AWS_EXECUTION_ENV" || name == "AWS_LAMBDA_FUNCTION_NAME" { // these stand for AWS, but samples go where the flags say
			return ""
		}
		return env.Getenv(name)
	}
	database, err := run.OpenDatabase(ctx, c, getenv, logger)
	if !errors.Is(err, monotable.ErrLocked) {
		return database, err
	}
	serving, fault := cli.Endpoint(ctx, f.data)
	if fault != nil || serving == "" { // the process serves no DynamoDB API
		return nil, errors.Join(err, fault)
	}
	fmt.Fprintf(env.Stderr, "demo: %s is open in another process: loading through its API at %s\n", f.data, serving)
	c.Endpoint = serving
	return run.OpenDatabase(ctx, c, getenv, logger)
}

func (f *seedFlags) load(ctx context.Context, env Environment, database *run.Database, s system.System, items int) error {
	issuer, err := auth.NewIssuer(s.Name, "http://seed.invalid", nil) // nothing calls it
	if err != nil {
		return err
	}
	host, err := run.NewHost(ctx, run.Options{
		Database: database, CursorKey: make([]byte, cursorKeyBytes), Access: run.SignedHere(issuer), Getenv: env.Getenv,
	}, s)
	if err != nil {
		return err
	}
	sample := host.Service(s.Name).Sample
	if sample.Records == nil || sample.Load == nil {
		return errors.Join(fmt.Errorf("%s has no sample data", s.Name), host.Close())
	}
	if !f.over {
		if err := empty(ctx, database, s.Tables(run.DefaultStage)); err != nil {
			return errors.Join(err, host.Close())
		}
	}
	begun := time.Now()
	bar := newBar(env.Stderr, s.Name, items)
	stored, err := seed.Run(ctx, sample, seed.Options{Items: items, Seed: f.seed, Progress: func(n int) { _ = bar.Set(n) }})
	_ = bar.Finish()
	if err = errors.Join(err, host.Close()); err != nil {
		return fmt.Errorf("%d of %d items stored: %w", stored, items, err)
	}
	fmt.Fprintf(env.Stdout, "%d items stored in %s in %s\n", stored, s.Name, time.Since(begun).Round(time.Millisecond))
	return nil
}

// empty returns an error if a table has items.
func empty(ctx context.Context, database *run.Database, tables []system.Table) error {
	for _, t := range tables {
		first, err := database.DynamoDB.Scan(ctx, &dynamodb.ScanInput{TableName: t.Create.TableName, Limit: aws.Int32(1)})
		if err != nil {
			return err
		}
		if len(first.Items) > 0 {
			return fmt.Errorf("table %s already has items, which a sample could overwrite: use an empty directory (--data), or --over to load it anyway", *t.Create.TableName)
		}
	}
	return nil
}

// newBar returns a progress bar on a terminal, and an invisible one elsewhere.
func newBar(out io.Writer, what string, total int) *progressbar.ProgressBar {
	f, isFile := out.(*os.File)
	visible := isFile && term.IsTerminal(int(f.Fd()))
	return progressbar.NewOptions(
		total,
		progressbar.OptionSetWriter(out), progressbar.OptionSetDescription(what), progressbar.OptionSetWidth(barWidth),
		progressbar.OptionThrottle(barInterval), progressbar.OptionShowCount(), progressbar.OptionSetElapsedTime(true),
		progressbar.OptionSetVisibility(visible), progressbar.OptionClearOnFinish(),
	)
}
