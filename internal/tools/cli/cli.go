// Package cli is the monotable command: its subcommands, flags and environment. Nothing below this package
// reads flags or environment variables.
//
// Every flag can also be given as an environment variable: --data as MONOTABLE_DATA, --gsi-delay as
// MONOTABLE_GSI_DELAY. The command line wins.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Environment is everything that a command can use of its process.
type Environment struct {
	// Program is the command that the user typed, for advice that can be pasted.
	Program string
	Getenv  func(string) string
	// Environ lists the environment as NAME=VALUE; nil if only Getenv is known.
	Environ func() []string
	Stdin   io.Reader // nil means empty
	Stdout  io.Writer
	Stderr  io.Writer
}

// errReported ends a command whose own output has reported the error.
var errReported = errors.New("reported")

// Run runs the command line args (without the program's name) until it ends or ctx does, and returns the exit status:
// 0, or 1 after an error, which is printed to Stderr in one line.
func Run(ctx context.Context, args []string, env Environment) int {
	stdout := &checkedOutput{Writer: env.Stdout}
	env.Stdout = stdout
	root := newRoot(env)
	if name := strings.TrimSuffix(filepath.Base(env.Program), ".exe"); name == "java" || len(args) > 0 && args[0] == "-jar" {
		args = append([]string{localCommand}, args...) // in place of DynamoDB Local's Java command
	}
	if slices.Equal(args, []string{"--version"}) { // cobra's flag needs a template, and with templates the program has 13 MB more
		args = []string{"version"}
	}
	rejectUnknown(root)
	// Before flags are parsed, which belong to the command that was meant. Cobra adds the commands that complete when it executes.
	found, rest, err := root.Find(args)
	if err == nil && found.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && !strings.HasPrefix(rest[0], cobra.ShellCompRequestCmd) {
		fmt.Fprintf(env.Stderr, "monotable: %s\n", unknownCommand(found, rest[0]))
		return 1
	}
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if failed := stdout.failed.Load(); err == nil && failed != nil {
		err = *failed
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errReported):
		return 1
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
		fmt.Fprintln(env.Stderr, "monotable: interrupted")
		return 1
	default:
		fmt.Fprintf(env.Stderr, "monotable: %s\n", Message(cmd, err))
		return 1
	}
}

// checkedOutput remembers an error of a write, so that a command does not succeed if its output is lost, on a full disk for example.
type checkedOutput struct {
	io.Writer
	failed atomic.Pointer[error]
}

func (o *checkedOutput) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil {
		o.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// Root returns the command with all its subcommands, for programs that write its manual and completions.
func Root() *cobra.Command { return newRoot(Environment{Getenv: func(string) string { return "" }}) }

func newRoot(env Environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "monotable",
		Short: "DynamoDB's API, durable, on your own machine",
		Long: `monotable is a database with DynamoDB's API: point any AWS SDK or the AWS CLI at it.
Acknowledged writes survive restarts and crashes. It also checks, explains and provisions table designs for DynamoDB,
locally and on AWS.`,
		Example: `  monotable serve --data ./data     # start the database
  eval "$(monotable env)"           # point SDKs and the AWS CLI at it
  aws dynamodb list-tables
  monotable check shop.design.yaml  # check a single-table design`,
		Args:          cobra.ArbitraryArgs, // Run reports unknown commands
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return PrepareFlags(cmd, env.Getenv)
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if _, unknown := errors.AsType[*pflag.NotExistError](err); unknown {
			return fmt.Errorf("%w (%s --help lists the flags)", err, cmd.CommandPath())
		}
		return flagFault("", err)
	})
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	for _, group := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"database", "The database:", []*cobra.Command{newServe(env), newDynamoDBLocal(env), newHealth(env), newEnv(env), newConsole(env), newIAM(env), newStream(env), newExport(env), newImport(env), newCopy(env), newImportLocal(env)}},
		{"directory", "Data directories:", []*cobra.Command{newBackup(env), newRestore(env), newMove(env), newVerify(env), newCompact(env), newStats(env), newInsights(env)}},
		{"design", "Table designs:", []*cobra.Command{
			newCheck(env), newTest(env), newExplain(env), newCost(env), newDocs(env), newProvision(env), newGenerate(env), newDiff(env), newMigrate(env), newRaces(env), newConform(env), newInfer(env), newDesign(env), newFmt(env), newResolve(env), newSchema(env), newVet(env), newLSP(env), newMCP(env),
		}},
	} {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, command := range group.commands {
			command.GroupID = group.id
			root.AddCommand(command)
		}
	}
	root.AddCommand(newVersion(env))
	ExplainArguments(root)
	completeValues(root)
	return root
}

// rejectUnknown makes the help and completion commands, which cobra adds, fail for unknown commands and shells.
func rejectUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err == nil && len(rest) > 0 {
					err = unknownCommand(found, rest[0])
				}
				return err
			}
		case "completion":
			cmd.Args, cmd.RunE = cobra.ArbitraryArgs, group
		}
	}
}

// group is the RunE of a command that only has subcommands: without arguments it prints its help, with an unknown word
// it fails.
func group(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(cmd, args[0])
	}
	return cmd.Help()
}

// unknownCommand is the error of a word that is not a subcommand. It names those with a similar name.
func unknownCommand(cmd *cobra.Command, word string) error {
	cmd.SuggestionsMinimumDistance = 2 // as in cobra's own message
	if similar := cmd.SuggestionsFor(word); len(similar) > 0 {
		return fmt.Errorf("unknown command %q for %q (did you mean %s?)", word, cmd.CommandPath(), strings.Join(similar, " or "))
	}
	return fmt.Errorf("unknown command %q for %q (%s --help lists the commands)", word, cmd.CommandPath(), cmd.CommandPath())
}

// logFlags are the flags that control logging.
type logFlags struct {
	level  string
	format string
}

func (l *logFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&l.level, "log-level", "info", "what to log: debug, info, warn or error")
	flags.StringVar(&l.format, "log-format", "text", "how to log: text or json")
}

func (l *logFlags) logger(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.level)); err != nil {
		return nil, fmt.Errorf("--log-level %q: want debug, info, warn or error", l.level)
	}
	options := &slog.HandlerOptions{Level: level}
	switch l.format {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	default:
		return nil, fmt.Errorf("--log-format %q: want text or json", l.format)
	}
}
