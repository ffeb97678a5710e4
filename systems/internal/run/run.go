// Package run is a process that serves systems: it opens a database, creates tables, serves the APIs, runs the workers, and shuts
// down in order.
//
// # Model
//
//	Config ─▶ Database (in this process, an endpoint, AWS) ─┐
//	          keys and issuer ──────────────────────────────┼─▶ Host: Systems opened, handler, workers ─▶ Serve
//	          logger, metrics ──────────────────────────────┘
//
// Command is the command of a single system; the demo creates a Host with all of them over the database that it serves; Lambda
// creates one without workers.
//
// # Invariants
//
//	R1  Tables are created only in a database in this process or at a named endpoint, never on AWS unless requested.
//	    If an existing table has other keys, the start fails and says what differs.
//	R2  Shutdown is in order: no new requests, requests in flight end, event streams end, workers end, systems close, the
//	    database closes last.
//	R3  A failed worker is restarted, after waits that grow from 100 ms to 30 s. It never ends the process, and neither does
//	    a stream handler: its batch is retried, even after a panic.
//	R4  No token, key or e-mail address reaches the log.
//	R5  No two systems of a process share an issuer, so a token for one system is rejected by the others.
//
// # Errors
//
// Mistakes in Config are reported with the flag's name. Any failure before the process serves ends it.
package run

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/monotable/monotable/internal/interrupt"
	"github.com/monotable/monotable/systems/internal/system"
)

// Environment is everything that a command uses from its process.
type Environment struct {
	Getenv         func(string) string
	Stdout, Stderr io.Writer
}

// Main is the main function of a system's own command. In Lambda it runs any function of the system.
func Main(s system.System) {
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") != "" {
		Lambda(s)
		return
	}
	ctx, stop := interrupt.Context()
	cmd := Command(s, Environment{Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr})
	err := cmd.ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", s.Name, strings.TrimPrefix(err.Error(), s.Name+": "))
		os.Exit(1)
	}
}

// Command serves a system until its context ends.
func Command(s system.System, env Environment) *cobra.Command {
	var c Config
	cmd := &cobra.Command{
		Use:   s.Name,
		Short: s.Title,
		Long: s.Title + ": " + s.About + `

Without further words it keeps its data in ./data. --endpoint names a DynamoDB API; --aws, or the environment of ECS,
uses DynamoDB on AWS. Every flag is an environment variable too: --client-id is APP_CLIENT_ID; PORT, AWS_REGION,
COGNITO_USER_POOL_ID and COGNITO_CLIENT_ID are known as well.`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return FlagsFromEnvironment(cmd.Flags(), env.Getenv)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.checkKept(cmd.Flags()); err != nil {
				return err
			}
			return c.serve(cmd.Context(), s, env)
		},
	}
	cmd.SetOut(env.Stdout)
	cmd.SetErr(env.Stderr)
	c.Register(cmd.Flags())
	return cmd
}

// FlagsFromEnvironment sets flags that are missing on the command line from APP_ variables, and from variables that platforms set.
func FlagsFromEnvironment(flags *pflag.FlagSet, getenv func(string) string) error {
	var faults []error
	set := func(flag *pflag.Flag, name, value string) {
		if value == "" || flag == nil || flag.Changed {
			return
		}
		if err := flags.Set(flag.Name, value); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
		}
	}
	flags.VisitAll(func(flag *pflag.Flag) {
		name := "APP_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		set(flag, name, getenv(name))
	})
	if port := getenv("PORT"); port != "" {
		set(flags.Lookup("addr"), "PORT", ":"+port)
	}
	set(flags.Lookup("region"), "AWS_REGION", getenv("AWS_REGION"))
	set(flags.Lookup("client-id"), "COGNITO_CLIENT_ID", getenv("COGNITO_CLIENT_ID"))
	set(flags.Lookup("issuer"), "COGNITO_USER_POOL_ID", userPool(getenv("COGNITO_USER_POOL_ID")))
	return errors.Join(faults...)
}

// userPool returns the issuer of a user pool, whose id begins with its Region.
func userPool(id string) string {
	region, _, found := strings.Cut(id, "_")
	if !found {
		return ""
	}
	return "https://cognito-idp." + region + ".amazonaws.com/" + id
}
