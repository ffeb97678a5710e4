package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/spf13/cobra"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/anonymise"
	"github.com/monotable/monotable/internal/tools/tablecopy"
)

// copyAttempts is the number of attempts of a request during a copy: a server may restart meanwhile.
const copyAttempts = 12

type copyFlags struct {
	from, to         connectionFlags
	tables           []string
	state            string
	segments         int
	units            float64
	follow, finish   bool
	enableStream     bool
	existing, verify bool
	progress         bool
	anonymise        string
}

func newCopy(env Environment) *cobra.Command {
	flags := copyFlags{from: connectionFlags{flag: "from"}, to: connectionFlags{flag: "to"}}
	cmd := &cobra.Command{
		Use:   "copy --from URL|aws --to URL|aws",
		Short: "Copy tables from one DynamoDB endpoint to another, once or while they are in use",
		Long: `Copy tables with their indexes, tags, items, TTL, streams and deletion protection from one endpoint to another: AWS,
monotable, DynamoDB Local, LocalStack. All items are compared at the end.

A stopped copy, for whatever reason, resumes when you run the same command again. Its progress is in the file --state,
which is removed at the end.

To move tables while they are in use, add --follow. It records the position of the tables' streams, copies the items,
and then applies all changes until you press Ctrl-C. When it says "caught up", stop the writing programs, press
Ctrl-C, and run the command again with --finish instead: it applies the last changes, compares all items, and turns on
TTL and streams. Streams keep changes for 24 hours, so a table must be copied within that time.

--anonymise DESIGN makes a copy for developers: values of email and secret fields are replaced by pseudonyms, with
equal pseudonyms for equal values, also in keys, indexes, copies and markers. Attributes that the design does not
declare are omitted and listed.

The source is only read, except that --enable-stream turns on the stream of a table that has none, and turns it off
again at the end.

Not copied: replicas, backups, point-in-time recovery, resource policies, contributor insights, warm throughput, auto
scaling, Kinesis destinations, KMS keys.`,
		Example: `  monotable copy --from http://127.0.0.1:8000 --to http://127.0.0.1:8001
  monotable copy --from aws --from-region eu-west-1 --to http://127.0.0.1:8000 --table shop=shop-dev --units 200
  monotable copy --from aws --from-region eu-west-1 --to http://127.0.0.1:8000 --table shop-prod=shop --anonymise shop.design.yaml
  AWS_PROFILE=prod monotable copy --from http://db:8000 --to aws --follow
  AWS_PROFILE=prod monotable copy --from http://db:8000 --to aws --finish`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return copyTables(cmd.Context(), env, &flags) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.from.endpoint, "from", "", "`URL` of the source, or aws")
	f.StringVar(&flags.from.region, "from-region", "", "region of the source; default: from an AWS endpoint, from the profile, "+regionDefaults)
	f.StringVar(&flags.from.profile, "from-profile", "", "AWS profile for the source; default: the environment")
	f.StringVar(&flags.to.endpoint, "to", "", "`URL` of the target, or aws")
	f.StringVar(&flags.to.region, "to-region", "", "region of the target; default as for --from-region")
	f.StringVar(&flags.to.profile, "to-profile", "", "AWS profile for the target; default: the environment")
	f.StringArrayVar(&flags.tables, "table", nil, "table to copy, or NAME=NEW to copy it to another name; may be repeated; default: all tables")
	f.StringVar(&flags.state, "state", "monotable-copy.json", "`file` for the progress of the copy")
	f.IntVar(&flags.segments, "segments", defaultSegments, "number of segments of a table to copy in parallel")
	f.Float64Var(&flags.units, "units", 0, "maximum read and write units per second for the whole copy; 0 means no limit")
	f.BoolVar(&flags.follow, "follow", false, "after the items, apply changes until interrupted")
	f.BoolVar(&flags.finish, "finish", false, "finish a copy with --follow: apply the last changes, compare, turn on TTL and streams")
	f.BoolVar(&flags.enableStream, "enable-stream", false, "for --follow, turn on the stream of source tables that have none")
	f.StringVar(&flags.anonymise, "anonymise", "", "`design` file that says which addresses and secrets to replace by pseudonyms")
	f.BoolVar(&flags.existing, "existing", false, "write to tables that already exist in the target, without changing their settings")
	f.BoolVar(&flags.verify, "verify", true, "compare all items at the end")
	progressFlag(cmd, &flags.progress)
	excludeFlags(cmd.Flags(), "", "follow", "finish", "anonymise")
	return cmd
}

func copyTables(ctx context.Context, env Environment, flags *copyFlags) error {
	if flags.from.endpoint == "" || flags.to.endpoint == "" {
		return errors.New("say where to copy from and to: --from URL|aws --to URL|aws")
	}
	if !(flags.units >= 0) { // NaN fails every comparison
		return errors.New("--units: want a number of units per second, or 0 for no limit")
	}
	var o tablecopy.Options
	for _, side := range []struct {
		flags *connectionFlags
		e     *tablecopy.Endpoint
	}{{&flags.from, &o.From}, {&flags.to, &o.To}} {
		c, err := connect(ctx, env, *side.flags)
		if err != nil {
			return err
		}
		// The copy's own clients wait for a restarting server, which is not wanted if there is none at the start.
		if _, err := c.database().ListTables(ctx, &dynamodb.ListTablesInput{Limit: aws.Int32(1)}); errors.Is(err, syscall.ECONNREFUSED) {
			return fmt.Errorf("--%s: no server is listening at %s: start it, or use another URL", side.flags.flag, c.endpoint)
		}
		*side.e = tablecopy.Endpoint{Name: c.endpoint, Client: c.database(func(o *dynamodb.Options) { o.RetryMaxAttempts = copyAttempts }), Streams: c.streams()}
	}
	for _, s := range flags.tables {
		name, target, renamed := strings.Cut(s, "=")
		if !renamed {
			target = name
		}
		if name == "" || target == "" {
			return fmt.Errorf("--table %q: want NAME or NAME=NEW", s)
		}
		o.Tables = append(o.Tables, tablecopy.Table{Source: name, Target: target})
	}
	pseudonyms, err := flags.pseudonyms(env, &o)
	if err != nil {
		return err
	}
	switch {
	case flags.follow:
		o.Mode = tablecopy.Follow
	case flags.finish:
		o.Mode = tablecopy.Finish
	}
	o.StateFile, o.Segments, o.Units = flags.state, flags.segments, flags.units
	o.Existing, o.EnableStream, o.Verify = flags.existing, flags.enableStream, flags.verify
	o.Logger = slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	bar := &copyBar{env: env, progressWanted: flags.progress}
	o.Progress = bar.update
	o.Logf = func(format string, args ...any) {
		bar.clear()
		fmt.Fprintf(env.Stdout, format+"\n", args...)
	}
	err = tablecopy.Run(ctx, o)
	bar.end()
	if left := pseudonyms(); len(left) > 0 {
		fmt.Fprintf(env.Stdout, "omitted, because the design does not declare them: %s\n", strings.Join(left, ", "))
	}
	switch {
	case err == nil && flags.follow:
		fmt.Fprintf(env.Stdout, "stopped; the state is in %s: use --follow to continue, or --finish to finish the copy\n", flags.state)
		return nil
	case ctx.Err() != nil:
		if _, err := os.Stat(flags.state); errors.Is(err, fs.ErrNotExist) {
			return errors.New("interrupted before anything was copied; run the same command to start again")
		}
		return fmt.Errorf("interrupted; run the same command to resume from %s", flags.state)
	default:
		return err
	}
}

// pseudonyms prepares a copy with pseudonyms, if the flags request one. The function it returns lists the omitted
// attributes.
func (flags *copyFlags) pseudonyms(env Environment, o *tablecopy.Options) (leftOut func() []string, err error) {
	if flags.anonymise == "" {
		return func() []string { return nil }, nil
	}
	d, err := design.Load(flags.anonymise)
	if err != nil {
		return nil, designError(env, err)
	}
	if len(o.Tables) == 0 {
		return nil, errors.New("--anonymise: say which tables to copy: --table NAME=NEW")
	}
	a := anonymise.New(d)
	for _, t := range o.Tables {
		if !a.Covers(t.Source) {
			return nil, fmt.Errorf("--anonymise: the design %s has no table %s", flags.anonymise, t.Source)
		}
	}
	o.Transform = a.Item
	return a.LeftOut, nil
}

// copyBar shows the progress of one table at a time.
type copyBar struct {
	env            Environment
	progressWanted bool
	what           string
	bar            *progress
}

func (b *copyBar) update(what string, done, total int64) {
	if what != b.what {
		b.end()
		b.what, b.bar = what, newProgress(b.env, what, unitThings, b.progressWanted)
	}
	b.bar.update(done, total)
}

func (b *copyBar) clear() { b.bar.clear() }
func (b *copyBar) end()   { b.bar.end() }
