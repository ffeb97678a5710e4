package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/monotable/monotable/internal/httpguard"
	"github.com/monotable/monotable/internal/tools/cli"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/system"
)

const (
	defaultWeb     = "127.0.0.1:8080"
	cursorKeyBytes = 32
)

// newServe is the database's serve command with the systems as its companion.
func newServe(env Environment, systems []system.System) *cobra.Command {
	var web, public, sample string
	var origins []string
	cmd := cli.NewServe(
		cli.Environment{Program: env.Database, Getenv: env.Getenv, Environ: env.Environ, Stdout: env.Stdout, Stderr: env.Stderr},
		cli.Companion{
			Flags: func(f *pflag.FlagSet) {
				f.StringVar(&web, "web", defaultWeb, "address of the systems; port 0 picks a free one")
				f.StringVar(&public, "public-url", "", "`address` at which other devices reach the systems, such as http://192.168.1.5:8080, or lan for this machine's; Trinity's page shows it and signs guests in (default none)")
				f.StringVar(&sample, "sample", "", "load a sample of this many items, 1k to 1M, into each system whose tables are empty (default none)")
				f.StringSliceVar(&origins, "web-cors-origin", nil, "`origin` whose web pages may call the systems, or * for all; repeatable (default none)")
			},
			Start: func(ctx context.Context, host cli.CompanionHost) (func() error, error) {
				return start(ctx, env, host, web, public, sample, origins, systems)
			},
		},
	)
	cmd.Short = "Start the database and the systems"
	cmd.Long = `Start the database and the systems in one process, until interrupted.

--addr serves the DynamoDB API, as monotable serve does: its requests are not authenticated.
--web  serves the systems: a page that names them, and below /NAME/ the API of each with its documentation. Their requests
       need an access token, and the demo signs one for anyone: the page shows one, and demo token signs others.

This is for development: keep both addresses on loopback. Neither accepts requests from web pages of other origins: --cors-origin
and --web-cors-origin allow origins, and requests to a public host name need --allowed-host.

With the default --durability sync, a write is on disk before it is acknowledged. "interval" syncs every 100 ms, "none" leaves
it to the operating system: faster, and a crash may lose the last writes.`
	cmd.Example = `  demo serve --data ./data
  demo serve --web :8080 --public-url lan     # for phones in this network
  demo serve --memory --addr 127.0.0.1:0 --web 127.0.0.1:0`
	return cmd
}

// start serves the systems over an open database until ctx ends.
func start(ctx context.Context, env Environment, host cli.CompanionHost, web, public, sample string, origins []string, systems []system.System) (stop func() error, err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", web)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w (use --web for another address)", web, err)
	}
	if public, err = run.PublicAddress(public, listener.Addr(), net.InterfaceAddrs); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	logger := slog.New(run.Mask(host.Logger.Handler()))
	run.WarnDevIssuer(logger, listener.Addr())
	base := "http://" + listener.Addr().String()
	h, err := open(ctx, env, host, logger, base, public, origins, systems)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	database := run.InProcess(host.DB)
	if err := fill(ctx, h, database, systems, sample, env.Stdout); err != nil {
		return nil, errors.Join(err, h.Close(), listener.Close())
	}
	for name, text := range designs {
		if err := host.AddDesign(name+".design.yaml", text); err != nil {
			return nil, errors.Join(fmt.Errorf("the design of %s: %w", name, err), h.Close(), listener.Close())
		}
	}
	x := &index{base: base, console: host.Console, data: host.Data, signing: signing(env.Program, host.Data), issuer: h.Issuer, systems: systems, client: database.DynamoDB}
	x.register(h)
	h.Handle("POST "+tokensPath, tokens(h.Issuer, systems))
	fmt.Fprintf(env.Stdout, "systems at %s/\n", base)
	if public != "" {
		fmt.Fprintf(env.Stdout, "from other machines: %s/\n", public)
	}
	for _, s := range systems {
		fmt.Fprintf(env.Stdout, "  %-14s %s/%s/docs\n", s.Name, base, s.Name)
	}
	served := make(chan error, 1)
	go func() { served <- run.Serve(ctx, listener, h) }()
	return func() error { return <-served }, nil
}

func open(ctx context.Context, env Environment, host cli.CompanionHost, logger *slog.Logger, base, public string, origins []string, systems []system.System) (*run.Host, error) {
	guard, err := httpguard.New(host.AllowedHosts, origins)
	if err != nil {
		return nil, fmt.Errorf("--web-cors-origin: %w", err) // the hosts were checked with the database's flags
	}
	key := make([]byte, cursorKeyBytes)
	_, _ = rand.Read(key) // never fails
	if host.Data != "" {
		var err error
		if key, err = run.KeptKey(run.KeyPath(host.Data, run.CursorKey)); err != nil {
			return nil, err
		}
	}
	var dir string
	if host.Data != "" {
		dir = run.KeyPath(host.Data, "")
	}
	access, err := openIssuers(systems, host.Data, base)
	if err != nil {
		return nil, err
	}
	return run.NewHost(ctx, run.Options{
		Database: run.InProcess(host.DB), CursorKey: key, Access: access,
		// Programs on this machine are trusted to name the callers they act for, as they are when they sign tokens: demo load
		// calls from many addresses, and developers can try a proxy.
		Logger: logger, Origins: origins, Admit: admission(guard), Proxies: []string{"127.0.0.0/8", "::1"}, Getenv: env.Getenv,
		Listed: true, Tokens: tokensPath, PublicURL: public, Dir: dir,
	}, systems...)
}
