// Package demo is the demo command: the database and all systems in one process, tokens to call them with, and sample data.
//
// # Model
//
//	demo serve ─▶ the database's serve command ─▶ its companion: a Host of all systems, their issuers, the page that names them
//
// registry.go lists the systems. Each has its own issuer and admin group: a token for one system is rejected by all others. The
// issuers' keys are stored beside the data, so a running demo accepts tokens signed by demo token.
//
// The demo signs tokens for anyone. It is for development on the loopback interface, and warns if it listens elsewhere.
package demo

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/internal/tools/cli"
	"github.com/monotable/monotable/systems/internal/system"
)

const defaultData = "./data"

// Environment is everything that a command uses from its process.
type Environment struct {
	// Program is the command's name as typed. Database is the database's own command, for advice that can be pasted.
	Program, Database string
	Getenv            func(string) string
	Environ           func() []string // the environment as NAME=VALUE; nil if only Getenv is known
	Stdout, Stderr    io.Writer
}

// Run runs the command line args (without the program's name) until it or ctx ends, and returns the exit status: 0, or 1 after an
// error, which is printed to Stderr in one line.
func Run(ctx context.Context, args []string, env Environment) int {
	return runWith(ctx, args, env, registered())
}

func runWith(ctx context.Context, args []string, env Environment, systems []system.System) int {
	root := newRoot(env, systems)
	root.SetArgs(args)
	if cmd, err := root.ExecuteContextC(ctx); err != nil {
		fmt.Fprintf(env.Stderr, "demo: %s\n", cli.Message(cmd, err))
		return 1
	}
	return 0
}

func newRoot(env Environment, systems []system.System) *cobra.Command {
	root := &cobra.Command{
		Use:   "demo",
		Short: "The database and the systems built on it, in one process",
		Long: `demo starts the database together with the systems that are built on it, and everything needed to try them.
It signs tokens for anyone: use it for development on this machine only.`,
		Example: `  demo serve                                # the database on port 8000, the systems on http://127.0.0.1:8080/
  demo token --system appcore --sub u-123   # an access token that appcore accepts
  demo seed --system NAME --items 10k`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return cli.PrepareFlags(cmd, env.Getenv)
		},
	}
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.AddCommand(newServe(env, systems), newToken(env, systems), newSeed(env, systems), newLoad(env, systems), newSystems(env, systems), newOpenAPI(env, systems))
	cli.ExplainArguments(root)
	return root
}

func newSystems(env Environment, systems []system.System) *cobra.Command {
	return &cobra.Command{
		Use: "systems", Short: "List the systems", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
			for _, s := range systems {
				fmt.Fprintf(table, "%s\t%s\t%s\n", s.Name, s.Title, s.About)
			}
			return table.Flush()
		},
	}
}
