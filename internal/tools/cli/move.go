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
	"github.com/monotable/monotable/internal/tools/control"
)

// moveFlags are the flags of the move command.
type moveFlags struct {
	from, to                       string
	encrypt, reopen, asJSON, asked bool
	maxRate                        byteSize
	keys                           masterKeyFlags
}

func newMove(env Environment) *cobra.Command {
	var flags moveFlags
	cmd := &cobra.Command{
		Use:   "move --from DIR|URL --to DIR|URL",
		Short: "Move a database from a directory to PostgreSQL or TiKV, or back",
		Long: `Copy a whole database from one store to another, a directory, a PostgreSQL database or a TiKV cluster: tables, indexes, streams with their
sequence numbers, points in time to restore to, backups of tables, users and policies. The target must be empty, and nothing is ever
overwritten.

If a server has the directory --from open, it moves the database to PostgreSQL or TiKV itself, while it goes on serving: it copies, follows what
changes, holds writes for about a second, and from then on refuses every request with an error that SDKs retry. Start servers of
the target before, with serve --await-move: they open it at that moment. Every other move needs all servers of --from stopped.

The copy is compared with what was read, and verified. Then --from is marked: no server opens it any more, and the error says where
the database is now. Start servers at --to with the same --region, --regions and --master-key. Files of exports and of deliveries to
Kinesis that are in the directory do not move; the command says where they are.

After an error or Ctrl-C before that the database is in --from. After a crash run the same command again: it begins anew, or completes
what was all but done. --reopen takes a move back: servers open --from again, without anything that was written at --to.`,
		Example: `  monotable serve --store postgres://monotable@db1,db2/monotable --await-move     # on the new machines
  monotable move --from ./data --to postgres://monotable@db1,db2/monotable
  monotable move --from postgres://monotable@db1,db2/monotable --to ./data      # and back
  monotable move --from ./data --reopen                                         # no, stay in the directory`,
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
				return errors.New("--encrypt: give --master-key too")
			}
			options := &monotable.MoveOptions{From: flags.from, To: flags.to, MasterKey: keys.current, Encrypt: flags.encrypt, Rate: int(flags.maxRate)}
			if flags.reopen {
				return flags.explain(monotable.Reopen(cmd.Context(), flags.from, options))
			}
			return flags.run(cmd, env, options)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.from, "from", "", "the store that the database is in: a directory, or a URL as serve --store has it")
	f.StringVar(&flags.to, "to", "", "the store that it moves to, which must be empty")
	f.Var(&flags.maxRate, "max-rate", "copy and compare at most so much a second, 20MiB for example; what changes meanwhile is copied without a limit (default no limit)")
	f.BoolVar(&flags.encrypt, "encrypt", false, "encrypt the directory of --to, under --master-key")
	f.BoolVar(&flags.reopen, "reopen", false, "take a move back: let servers open --from again")
	flags.keys.registerCurrent(f)
	f.BoolVar(&flags.asJSON, "json", false, "print JSON")
	progressFlag(cmd, &flags.asked)
	return cmd
}

func (m *moveFlags) check() error {
	switch {
	case m.reopen && m.from == "":
		return errors.New("--reopen: give --from too, the store that the database has been moved from")
	case m.reopen && (m.to != "" || m.encrypt):
		return errors.New("--reopen takes a move back: give it --from alone")
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
			phase, bar = now, newProgress(env, now, of, m.asked)
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
		_, err = fmt.Fprintf(env.Stdout, "move: updates were held for %.2f s, after %d rounds\n", moved.Held, moved.Rounds)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "move: %d tables, %d items, %d keys, %d log records, %d backups, %s in %.1f s, verified\n",
		moved.Verified.Tables, moved.Verified.Items, moved.Keys, moved.LogRecords, moved.Backups, formatBytes(moved.Bytes), seconds)
	return err
}

// move has the server move that has the directory open, if there is one.
func (m *moveFlags) move(ctx context.Context, options *monotable.MoveOptions) (monotable.Moved, error) {
	if !strings.Contains(m.from, "://") {
		client, err := control.Dial(ctx, m.from)
		if err == nil {
			return client.Move(ctx, options)
		}
		if !errors.Is(err, control.ErrNobody) {
			return monotable.Moved{}, err
		}
	}
	return monotable.Move(ctx, options)
}

// explain says what to do about a directory that a server has open.
func (m *moveFlags) explain(err error) error {
	if errors.Is(err, monotable.ErrLocked) {
		return fmt.Errorf("a server has the directory open: stop it first (%w)", err)
	}
	return err
}
