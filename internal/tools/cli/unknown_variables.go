package cli

import (
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// otherVariables are MONOTABLE_ variables that are not flags: the root's access key, and those of the npm and Python packages and of
// compose.yaml, which a server may inherit.
var otherVariables = []string{rootKeyVariable, rootSecretVariable, "MONOTABLE_BINARY", "MONOTABLE_IMAGE"}

// unknownVariable is a MONOTABLE_ variable that has no effect on any command.
type unknownVariable struct {
	name    string
	similar string // known names, for advice; "" if none is similar
}

// unknownVariables returns those of the environment. Not among them are variables that the values of flags name.
func unknownVariables(cmd *cobra.Command, env Environment) (unknown []unknownVariable) {
	if env.Environ == nil {
		return nil
	}
	var names []string
	for _, entry := range env.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		// Kubernetes sets variables for a Service named monotable, and tests of this repository set MONOTABLE_TEST_….
		foreign := strings.HasPrefix(name, "MONOTABLE_TEST_") || strings.Contains(name, "_SERVICE_") || strings.Contains(value, "://") && strings.Contains(name, "_PORT")
		if strings.HasPrefix(name, "MONOTABLE_") && value != "" && !foreign && cmd.Flags().Lookup(flagOf(name)) == nil && !slices.Contains(otherVariables, name) {
			names = append(names, name)
		}
	}
	if names == nil {
		return nil
	}
	known := map[string]bool{}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if kind, name, _ := strings.Cut(flag.Value.String(), ":"); kind == "env" {
			known[name] = true
		}
	})
	similar := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range otherVariables[:2] {
		similar.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		similar.AddCommand(&cobra.Command{Use: variable(flag), Run: func(*cobra.Command, []string) {}})
	})
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) { known[variable(flag)] = true })
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRoot(env)) // whose variables may be set for all commands
	for _, name := range slices.Sorted(slices.Values(names)) {
		if !known[name] {
			unknown = append(unknown, unknownVariable{name, strings.Join(similar.SuggestionsFor(name), " or ")})
		}
	}
	return unknown
}

// flagOf is the name of the flag that a variable sets.
func flagOf(variable string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(variable, "MONOTABLE_"), "_", "-"))
}

// warnOfVariables logs variables without effect.
func (f *serveFlags) warnOfVariables(logger *slog.Logger) {
	for _, unknown := range f.unknownVariables {
		hint := "the variables are named like the flags: MONOTABLE_ADDR is --addr"
		if unknown.similar != "" {
			hint = "did you mean " + unknown.similar + "?"
		}
		logger.Warn("unknown environment variable, which has no effect", "name", unknown.name, "hint", hint)
	}
}
