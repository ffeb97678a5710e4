package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/server"
	"github.com/monotable/monotable/internal/httpguard"
	"github.com/monotable/monotable/internal/tools/dynamodblocal"
)

const (
	localCommand = "dynamodb-local"
	localPort    = 8000
	// transientDelay is how long -delayTransientStatuses keeps tables and indexes CREATING, UPDATING and DELETING.
	transientDelay = 2 * time.Second
)

// localFlags are DynamoDB Local's own.
type localFlags struct {
	port                                        int
	inMemory, sharedDB, delay, optimize, noTele bool
	dbPath, cors                                string
	help, version                               bool
}

func newDynamoDBLocal(env Environment) *cobra.Command {
	return &cobra.Command{
		Use:   localCommand + " [-port PORT] [-inMemory] [-sharedDb] [-dbPath DIR] [-cors ORIGINS]",
		Short: "Start the database as a drop-in for DynamoDB Local, with its flags",
		Long: `Start the database as a drop-in replacement for DynamoDB Local, for programs and test suites written for it.

  -port PORT               the port to listen on, on all addresses (default 8000)
  -inMemory                keep the data in memory
  -dbPath DIR              the directory of the databases (default the current directory)
  -sharedDb                use one database for all; otherwise one per access key and Region
  -cors ORIGINS            comma-separated origins of web pages that may send requests (default *, all)
  -delayTransientStatuses  keep tables and indexes CREATING, UPDATING and DELETING for ` + transientDelay.String() + `
  -optimizeDbBeforeStartup compact the databases on opening; needs -dbPath
  -disableTelemetry        accepted, but no telemetry is ever sent
  -version, -help

Everything before -jar FILE is ignored, so DynamoDB Local's command lines work unchanged. Requests need an access key
of letters and digits, which is not verified. Data is stored in monotable's own format, in directories next to
DynamoDB Local's files. At most 128 databases are open at the same time. For a server that verifies signatures, use
monotable serve.`,
		Example: `  monotable dynamodb-local -inMemory -sharedDb
  monotable dynamodb-local -port 8001 -dbPath ./dynamodb
  monotable dynamodb-local -Djava.library.path=./DynamoDBLocal_lib -jar DynamoDBLocal.jar -inMemory`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			var flags localFlags
			if err := flags.parse(args); err != nil {
				return err
			}
			switch {
			case flags.help:
				return cmd.Help()
			case flags.version:
				_, err := fmt.Fprintln(env.Stdout, currentVersion().Version)
				return err
			}
			return serveLocal(cmd.Context(), env, &flags)
		},
	}
}

func (f *localFlags) parse(args []string) error {
	if jar := slices.Index(args, "-jar"); jar >= 0 {
		args = args[min(jar+2, len(args)):]
	}
	set := flag.NewFlagSet(localCommand, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.IntVar(&f.port, "port", localPort, "")
	set.BoolVar(&f.inMemory, "inMemory", false, "")
	set.BoolVar(&f.sharedDB, "sharedDb", false, "")
	set.StringVar(&f.dbPath, "dbPath", "", "")
	set.StringVar(&f.cors, "cors", "*", "")
	set.BoolVar(&f.delay, "delayTransientStatuses", false, "")
	set.BoolVar(&f.optimize, "optimizeDbBeforeStartup", false, "")
	set.BoolVar(&f.noTele, "disableTelemetry", false, "")
	set.BoolVar(&f.version, "version", false, "")
	set.BoolVar(&f.help, "help", false, "")
	set.BoolVar(&f.help, "h", false, "")
	err := set.Parse(args)
	switch {
	case err != nil:
		return fmt.Errorf("%w (monotable %s -help lists the flags)", err, localCommand)
	case set.NArg() > 0:
		return fmt.Errorf("unexpected argument %q (monotable %s -help lists the flags)", set.Arg(0), localCommand)
	case f.port < 0 || f.port > 65535:
		return fmt.Errorf("-port %d: want a port from 1 to 65535, or 0 for any free port", f.port)
	case f.inMemory && f.dbPath != "":
		return errors.New("-dbPath and -inMemory cannot be combined")
	case f.optimize && f.dbPath == "":
		return errors.New("-optimizeDbBeforeStartup needs -dbPath")
	}
	if info, err := os.Stat(f.dbPath); err == nil && !info.IsDir() {
		return fmt.Errorf("-dbPath %s: want a directory", f.dbPath)
	}
	return nil
}

// options are the server's options.
func (f *localFlags) options() dynamodblocal.Options {
	o := dynamodblocal.Options{SharedDB: f.sharedDB, Optimize: f.optimize, Database: monotable.Options{CORSOrigins: strings.Split(f.cors, ",")}}
	if !f.inMemory {
		o.Path = f.dbPath
		if o.Path == "" {
			o.Path = "."
		}
	}
	if f.delay {
		o.Database.TableDelay = transientDelay
	}
	if !f.sharedDB { // there may be many databases
		o.Database.CacheSize, o.Database.MemTableSize = 16<<20, 4<<20
		o.Database.RequestMemory, o.Database.WriteMemory = 128<<20, 64<<20
	}
	return o
}

func serveLocal(ctx context.Context, env Environment, flags *localFlags) error {
	surviveClosedPipes()
	logger, err := (&logFlags{level: "info", format: "text"}).logger(env.Stderr)
	if err != nil {
		return err
	}
	options := flags.options()
	options.Database.Logger = logger
	options.Database.OnFatal = func(err error) { endProcess(env, err) }
	if _, err := httpguard.New(nil, options.Database.CORSOrigins); err != nil {
		return fmt.Errorf("-cors: %w", err)
	}
	if files, _ := filepath.Glob(filepath.Join(options.Path, "*.db")); options.Path != "" && len(files) > 0 {
		logger.Warn("files of DynamoDB Local are not read; import them with monotable import-local FILE.db", "files", files)
	}
	handler, err := dynamodblocal.New(options)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("", strconv.Itoa(flags.port)))
	if err != nil {
		return errors.Join(fmt.Errorf("listen on port %d: %w (use -port for another one)", flags.port, err), handler.Close())
	}
	printLocal(env.Stdout, flags, listener.Addr(), options.Path)
	listener = server.LimitConnections(listener, defaultConnections)
	return errors.Join(serveUntilDone(ctx, server.HTTPServer(handler, logger), listener, logger), handler.Close())
}

// printLocal writes DynamoDB Local's output at its start. Testcontainers' module for Rust waits for the first line,
// others show it.
func printLocal(w io.Writer, flags *localFlags, addr net.Addr, path string) {
	_, port, _ := net.SplitHostPort(addr.String())
	if path == "" {
		path = "null"
	}
	fmt.Fprintf(w, "Initializing DynamoDB Local with the following configuration:\n"+
		"Port:\t%s\nInMemory:\t%t\nVersion:\tmonotable %s\nDbPath:\t%s\nSharedDb:\t%t\nshouldDelayTransientStatuses:\t%t\nCorsParams:\t%s\n\n",
		port, flags.inMemory, currentVersion().Version, path, flags.sharedDB, flags.delay, flags.cors)
}
