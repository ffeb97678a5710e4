package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/plural"
	"github.com/monotable/monotable/internal/tools/control"
)

// moveFlags are the flags of the move command.
type moveFlags struct {
	from, to                                string
	encrypt, reopen, asJSON, progressWanted bool
	maxRate                                 byteSize
	keys                                    masterKeyFlags
}

func newMove(env Environment) *cobra.Command {
	var flags moveFlags
	cmd := &cobra.Command{
		Use:   "move --from DIR|URL --to DIR|URL",
		Short: "Move a database from a directory to PostgreSQL or TiKV, or back",
		Long: `Move a whole database between a directory and PostgreSQL or TiKV: tables, indexes, streams with their sequence
numbers, point-in-time recovery, table backups, users and policies. The target must be empty; nothing is ever
overwritten.

If a server has the directory --from open, it moves the database to PostgreSQL or TiKV itself and keeps serving: it
copies the data, follows changes, pauses writes for about a second, and then rejects every request with an error that
SDKs retry. Start the new servers beforehand with serve --await-move: they open the target at that moment. For every
other move, stop all servers of --from first.

The copy is compared with the source and verified. Then --from is marked as moved: servers refuse to open it, with an
error that says where the database is now. Start servers on --to with the same --region, --regions and --master-key.
Files of exports and Kinesis deliveries in the directory are not moved; the command says where they are.

After an error or Ctrl-C before that point, the database stays in --from. After a crash, run the same command again:
it starts over, or completes the last step. --reopen undoes a move: servers can open --from again, but writes made to
--to since then stay in --to.`,
		Example: `  monotable serve --store postgres://monotable@db1,db2/monotable --await-move     # on the new machines
  monotable move --from ./data --to postgres://monotable@db1,db2/monotable
  monotable move --from postgres://monotable@db1,db2/monotable --to ./data      # and back
  monotable move --from ./data --reopen                                         # undo the move`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			keys, err := flags.keys.read(cmd.Context(), env)
			if err != nil {
				return err
			}
			if flags.encrypt && keys.current == nil {
				return errors.New("--encrypt needs --master-key")
			}
			options := &monotable.MoveOptions{From: flags.from, To: flags.to, MasterKey: keys.current, Encrypt: flags.encrypt, Rate: int(flags.maxRate)}
			if flags.reopen {
				if err := monotable.Reopen(cmd.Context(), flags.from, options); err != nil {
					return flags.explain(err)
				}
				if flags.asJSON {
					_, err := fmt.Fprintln(env.Stdout, `{"reopened":true}`)
					return err
				}
				_, err := fmt.Fprintln(env.Stdout, "move: undone, servers can open --from again")
				return err
			}
			return flags.run(cmd, env, options)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.from, "from", "", "the store to move from: a directory, or a URL as in serve --store")
	f.StringVar(&flags.to, "to", "", "the store to move to, which must be empty")
	f.Var(&flags.maxRate, "max-rate", "maximum rate of copying and comparing per second, such as 20MiB; concurrent changes are not limited (default no limit)")
	f.BoolVar(&flags.encrypt, "encrypt", false, "encrypt the directory --to with --master-key")
	f.BoolVar(&flags.reopen, "reopen", false, "undo a move: let servers open --from again")
	flags.keys.registerCurrent(f)
	f.BoolVar(&flags.asJSON, "json", false, "print JSON")
	progressFlag(cmd, &flags.progressWanted)
	return cmd
}

func (m *moveFlags) check() error {
	switch {
	case m.reopen && m.from == "":
		return errors.New("--reopen needs --from, the store that the database was moved from")
	case m.reopen && (m.to != "" || m.encrypt):
		return errors.New("--reopen undoes a move: use it with --from only")
	case m.reopen:
		return nil
	case m.from == "":
		return errors.New("--from is missing: want a directory or a URL like postgres://USER@HOST/DATABASE or tikv://PD")
	case m.to == "":
		return errors.New("--to is missing: want a directory or a URL like postgres://USER@HOST/DATABASE or tikv://PD")
	}
	return nil
}

func (m *moveFlags) run(cmd *cobra.Command, env Environment, options *monotable.MoveOptions) error {
	var bar *progress
	phase, begun, notices := "", time.Now(), []string{}
	options.Progress = func(now string, done, total int64) {
		if now != phase {
			bar.end()
			of := unitBytes
			if now == "verify" {
				of = unitThings
			}
			phase, bar = now, newProgress(env, now, of, m.progressWanted)
		}
		bar.update(done, total)
	}
	options.Notice = func(text string) {
		notices = append(notices, text)
		bar.clear()
		fmt.Fprintf(env.Stderr, "monotable: %s\n", text)
	}
	moved, err := m.move(cmd.Context(), options)
	bar.end()
	if err != nil {
		return m.explain(err)
	}
	seconds := time.Since(begun).Seconds()
	if m.asJSON {
		return json.NewEncoder(env.Stdout).Encode(struct {
			monotable.Moved
			Notices []string `json:"notices"`
			Seconds float64  `json:"seconds"`
		}{moved, notices, seconds})
	}
	if moved.Completed {
		_, err = fmt.Fprintln(env.Stdout, "move: completed")
		return err
	}
	if moved.Rounds > 0 {
		_, err = fmt.Fprintf(env.Stdout, "move: writes were paused for %.2f s, after %s\n", moved.Held, plural.Of(moved.Rounds, "round"))
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "move: %s, %s, %s, %s, %s, %s in %.1f s, verified\n",
		plural.Of(moved.Verified.Tables, "table"), plural.Of(moved.Verified.Items, "item"), plural.Of(moved.Keys, "key"), plural.Of(moved.LogRecords, "log record"),
		plural.Of(moved.Backups, "backup"), formatBytes(moved.Bytes), seconds)
	return err
}

// move makes the server that has the directory open move it, if there is one.
func (m *moveFlags) move(ctx context.Context, options *monotable.MoveOptions) (monotable.Moved, error) {
	if !strings.Contains(m.from, "://") {
		client, err := control.Dial(ctx, m.from)
		if err == nil {
			return client.Move(ctx, options)
		}
		if !errors.Is(err, control.ErrNotServed) {
			return monotable.Moved{}, err
		}
	}
	return monotable.Move(ctx, options)
}

// explain adds advice for a directory that a server has open.
func (m *moveFlags) explain(err error) error {
	if errors.Is(err, monotable.ErrLocked) {
		return fmt.Errorf("a server has the directory open: stop it first (%w)", err)
	}
	return err
}
