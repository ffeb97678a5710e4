package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/monotable/monotable/internal/database/server"
	"github.com/monotable/monotable/internal/httpguard"
	"github.com/monotable/monotable/internal/inprocess"
	"github.com/monotable/monotable/internal/tools/console"
)

const (
	defaultConsoleAddr = "127.0.0.1:8100"
	// consoleTimeout is the timeout of an endpoint.
	consoleTimeout = time.Minute
)

// withConsole serves the console at the address of the API, which it calls like any client.
func withConsole(api http.Handler, flags *serveFlags, designs *console.Designs, signIn bool) http.Handler {
	guard, _ := httpguard.New(flags.allowedHosts, nil) // the names have been checked
	return console.New(console.Options{
		Endpoint: "http://monotable.localhost/", Region: flags.region, Client: inprocess.Client{Handler: api},
		Credentials: credentials.NewStaticCredentialsProvider(placeholderKey, placeholderKey, ""), SignIn: signIn, Guard: guard, Designs: designs,
		Served: &console.Served{Server: true, Metrics: true}, KeepQueries: true,
	}).WithAPI(api)
}

// designFlag declares --design.
func designFlag(set *pflag.FlagSet, files *[]string) {
	set.StringArrayVar(files, "design", nil, "design `file` that describes the tables to the console; repeatable; reloaded when it changes. To store a design with its table, use monotable design attach")
}

// readDesigns reads the files of --design.
func readDesigns(env Environment, files []string) (*console.Designs, error) {
	designs := new(console.Designs)
	for _, file := range files {
		if err := designs.AddFile(file); err != nil {
			return nil, fmt.Errorf("--design %s: %w", file, designError(env, err))
		}
	}
	return designs, nil
}

type consoleFlags struct {
	endpoints, designs      []string
	region, addr, bookmarks string
	readOnly                bool
	log                     logFlags
}

func newConsole(env Environment) *cobra.Command {
	var flags consoleFlags
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Show the tables of any DynamoDB endpoint on a web page",
		Long: `Serve the console for a DynamoDB endpoint until interrupted: this server, DynamoDB Local or AWS.

It is a web page for browsing, querying, scanning and editing items, creating and updating tables, and running
PartiQL. A monotable server has it built in, at /_console/ of its address.

Requests are signed with the credentials of the environment or, for AWS, of the AWS configuration (profiles, SSO,
roles). To use several endpoints, name them with NAME=URL; the page can switch between them. Anyone who can reach the
console acts with these credentials, so it only listens on loopback addresses. --read-only rejects every request that
changes something, in the process and not just on the page.`,
		Example: `  monotable console --endpoint http://127.0.0.1:8000
  AWS_PROFILE=prod monotable console --endpoint aws --read-only
  monotable console --endpoint local=http://127.0.0.1:8000 --endpoint prod=aws
  monotable console --bookmarks queries.json   # keep bookmarked queries in a file, for git
  monotable console --design shop.design.yaml   # show items by entity, and run the design's patterns
  ssh -L 8100:localhost:8100 host   # the console of another machine`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serveConsole(cmd.Context(), env, &flags) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&flags.endpoints, "endpoint", nil, "`URL` of the endpoint, or aws; NAME=URL for each of several; default: "+endpointDefaults)
	f.StringVar(&flags.region, "region", "", "region of the endpoint; default: from an AWS endpoint, "+regionDefaults)
	f.StringVar(&flags.addr, "addr", defaultConsoleAddr, "loopback address to listen on; port 0 picks a free one")
	f.StringVar(&flags.bookmarks, "bookmarks", "", "`file` for bookmarked queries, shared by all users; default: the table "+console.QueriesTable+" of the endpoint if it exists, and otherwise the browser")
	designFlag(f, &flags.designs)
	f.BoolVar(&flags.readOnly, "read-only", false, "reject every request that changes something")
	flags.log.register(f)
	return cmd
}

func serveConsole(ctx context.Context, env Environment, flags *consoleFlags) error {
	surviveClosedPipes()
	logger, err := flags.log.logger(env.Stderr)
	if err != nil {
		return err
	}
	if !isLoopback(flags.addr) {
		return fmt.Errorf("--addr %s: want a loopback address such as %s, because anyone who can reach the console acts with your credentials", flags.addr, defaultConsoleAddr)
	}
	endpoints, err := flags.all(ctx, env)
	if err != nil {
		return err
	}
	designs, err := readDesigns(env, flags.designs)
	if err != nil {
		return err
	}
	for i := range endpoints {
		endpoints[i].Designs = designs
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", flags.addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w (use --addr for another address)", flags.addr, err)
	}
	mode := ""
	if flags.readOnly {
		mode = ", read-only"
	}
	shown, served := endpoints[0].Endpoint, console.New(endpoints[0])
	if len(endpoints) > 1 {
		shown, served = fmt.Sprintf("%d endpoints", len(endpoints)), console.Several(endpoints...)
	}
	fmt.Fprintf(env.Stdout, "monotable: console of %s%s at http://%s%s\n\nStop with Ctrl-C.\n", shown, mode, listener.Addr(), console.Path)
	return serveUntilDone(ctx, server.HTTPServer(served.WithAPI(http.NotFoundHandler()), logger), listener, logger)
}

// all returns the options of the consoles of all endpoints named by the flags or the environment.
func (f *consoleFlags) all(ctx context.Context, env Environment) ([]console.Options, error) {
	if len(f.endpoints) == 0 {
		f.endpoints = []string{""}
	}
	all := make([]console.Options, 0, len(f.endpoints))
	for _, given := range f.endpoints {
		name, address, named := strings.Cut(given, "=")
		if !named || strings.Contains(name, "/") {
			name, address = "", given
		}
		o, err := f.options(ctx, env, address)
		if err != nil {
			return nil, err
		}
		o.Name = name
		all = append(all, o)
	}
	if len(all) == 1 {
		return all, nil
	}
	seen := map[string]bool{}
	for i := range all {
		switch name := all[i].Name; {
		case name == "":
			return nil, fmt.Errorf("--endpoint %s: each of several endpoints needs a name, such as local=%s", f.endpoints[i], f.endpoints[i])
		case console.CheckName(name) != nil:
			return nil, fmt.Errorf("--endpoint: %w", console.CheckName(name))
		case seen[name]:
			return nil, fmt.Errorf("--endpoint: two endpoints are named %q", name)
		default:
			seen[name] = true
		}
	}
	return all, nil
}

// options are the options of a console for an endpoint; "" is the one named by the environment.
func (f *consoleFlags) options(ctx context.Context, env Environment, given string) (console.Options, error) {
	c, err := connect(ctx, env, connectionFlags{flag: "endpoint", endpoint: given, region: f.region})
	if err != nil {
		return console.Options{}, err
	}
	if client, ok := c.http.(*awshttp.BuildableClient); ok {
		c.http = client.WithTimeout(consoleTimeout)
	}
	return console.Options{
		Endpoint: c.endpoint + "/", Address: c.endpoint, Region: c.region, ReadOnly: f.readOnly, Bookmarks: f.bookmarks,
		Client: c.http, Credentials: c.credentials,
	}, nil
}
