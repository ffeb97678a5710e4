package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/load"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/system"
)

// caller sends requests to a running demo.
type caller struct {
	url    string
	access map[string]run.Access // by system
	client *http.Client
	// accepted and refused report whether any token was accepted or rejected.
	accepted, refused atomic.Bool
	// tokens caches tokens by system, user and groups, because signing one takes longer than many requests.
	tokens sync.Map
}

// systemLoad is a route's measurement.
type systemLoad struct {
	System string `json:"system"`
	load.Result
}

func newLoad(env Environment, systems []system.System) *cobra.Command {
	c := caller{}
	o := load.Options{}
	var data, only string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "load",
		Short: "Measure the throughput and latency of each route of the systems",
		Long: `Call each route of each system of a running demo, one route after the other, each on several connections for a while,
and print requests a second, the median and the 99th percentile of the latency, and the statuses of the responses. Each
connection is a user of its own. With --rate, requests are due at that rate whether or not the systems keep up, and latency is
measured from when a request was due. Without it, each connection sends its next request after the previous response. If a
request needs something to work on, such as an order to pay, this is created first and not measured.

The written data stays in the demo's database, with the existing data. systems/load measures the same with a demo and a
temporary directory of its own.`,
		Example: `  demo load
  demo load --system appcore --duration 10s --connections 32 --json
  demo load --system appcore --rate 500 --connections 64 --duration 5s`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			systems, err := chosen(systems, only)
			if err != nil {
				return err
			}
			if err := checkLoad(o); err != nil {
				return err
			}
			if c.access, err = openIssuers(systems, data, ""); err != nil {
				return fmt.Errorf("%w (--data must be the directory of the running demo)", err)
			}
			c.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.Connections, DisableCompression: true}}
			c.url = strings.TrimSuffix(c.url, "/")
			if err := c.ask(cmd.Context(), env.Program); err != nil {
				return err
			}
			results, err := c.load(cmd.Context(), systems, o, env, asJSON)
			if c.refused.Load() && !c.accepted.Load() {
				return fmt.Errorf("every token was rejected: --data must be the directory of the demo at %s, but is %s (%w)",
					c.url, data, cmp.Or(err, errUnauthorized))
			}
			if err == nil && asJSON {
				return json.NewEncoder(env.Stdout).Encode(results)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.url, "url", "http://"+defaultWeb, "URL of the systems of the demo")
	f.DurationVar(&o.Duration, "duration", time.Second, "how long to call each route; with 0, each connection calls it once")
	f.IntVar(&o.Connections, "connections", 16, "how many call at once") //nolint:mnd // said by the flag
	f.Float64Var(&o.Rate, "rate", 0, "requests per second for each route; 0 sends the next request after each response")
	f.StringVar(&only, "system", "", "only this system")
	f.StringVar(&data, "data", defaultData, "the demo's data directory, which contains the keys of its tokens")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// errUnauthorized is the error for a load whose requests were all rejected.
var errUnauthorized = errors.New("every response was 401")

// chosen returns the systems with a name, or all systems.
func chosen(systems []system.System, only string) ([]system.System, error) {
	if only == "" {
		return systems, nil
	}
	var names []string
	for _, s := range systems {
		if s.Name == only {
			return []system.System{s}, nil
		}
		names = append(names, s.Name)
	}
	return nil, fmt.Errorf("--system %s: unknown system (want one of %s)", only, strings.Join(names, ", "))
}

// chosenOne returns the system with a name, which is required.
func chosenOne(env Environment, systems []system.System, name string) (system.System, error) {
	if name == "" {
		return system.System{}, fmt.Errorf("--system: name one, such as %s (%s systems lists them)", systems[0].Name, env.Program)
	}
	found, err := chosen(systems, name)
	if err != nil {
		return system.System{}, err
	}
	return found[0], nil
}

// checkLoad rejects options that cannot be measured.
func checkLoad(o load.Options) error {
	if o.Duration < 0 {
		return fmt.Errorf("--duration %v: want a time such as 10s, or 0 for one call by each connection", o.Duration)
	}
	if o.Connections < 1 {
		return fmt.Errorf("--connections %d: want 1 or more", o.Connections)
	}
	if o.Rate < 0 || o.Rate > maxRate || math.IsNaN(o.Rate) {
		return fmt.Errorf("--rate %v: want requests per second, up to %d", o.Rate, maxRate)
	}
	if o.Rate > 0 && o.Duration == 0 {
		return errors.New("--rate needs --duration")
	}
	return nil
}

// maxRate exceeds what a machine can serve.
const maxRate = 1_000_000

// ask checks that the demo is running before anything is printed.
func (c *caller) ask(ctx context.Context, program string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/health", http.NoBody)
	if err != nil || request.URL.Host == "" {
		return fmt.Errorf("--url %s: want http://host:port", c.url)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return fmt.Errorf("no demo is running: %w (start one with %s serve, or pass its address with --url)", err, program)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("no demo is running at %s: GET /health returned %s (--url is the address of the systems, not of the database)", c.url, response.Status)
	}
	return nil
}

// load loads systems one after the other, and prints each result as it arrives.
func (c *caller) load(ctx context.Context, systems []system.System, o load.Options, env Environment, quiet bool) ([]systemLoad, error) {
	const form = "%-14s %-46s %10s %10s %10s  %s\n"
	if !quiet {
		fmt.Fprintf(env.Stdout, form, "system", "route", "requests/s", "p50", "p99", "responses")
	}
	var all []systemLoad
	for _, s := range systems {
		o.OnResult = func(r load.Result) {
			all = append(all, systemLoad{s.Name, r})
			if !quiet {
				fmt.Fprintf(env.Stdout, form, s.Name, r.Route, fmt.Sprintf("%.0f", r.PerSecond), short(r.P50), short(r.P99), responses(r))
			}
		}
		send := func(ctx context.Context, r load.Request) (load.Response, error) { return c.send(ctx, s.Name, r) }
		if _, err := load.Run(ctx, s.Load, send, o); err != nil {
			return all, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return all, nil
}

// send sends a request to a system.
func (c *caller) send(ctx context.Context, system string, r load.Request) (load.Response, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, c.url+"/"+system+r.Path, strings.NewReader(r.Body))
	if err != nil {
		return load.Response{}, err
	}
	if r.User != "" {
		token, err := c.token(system, r.User, r.Groups)
		if err != nil {
			return load.Response{}, err
		}
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if r.Body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.Header {
		request.Header.Set(name, value)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return load.Response{}, err
	}
	if r.User != "" {
		if response.StatusCode == http.StatusUnauthorized {
			c.refused.Store(true)
		} else {
			c.accepted.Store(true)
		}
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return load.Response{Status: response.StatusCode, Body: body}, err
}

func (c *caller) token(system, sub string, groups []string) (string, error) {
	key := fmt.Sprint(system, " ", sub, groups)
	if kept, ok := c.tokens.Load(key); ok {
		return kept.(string), nil //nolint:forcetypeassert // the map's only values
	}
	token, err := c.access[system].Issuer.Mint(auth.Claims{Sub: sub, Groups: groups, TTL: time.Hour})
	if err == nil {
		c.tokens.Store(key, token)
	}
	return token, err
}

func short(d time.Duration) string { return d.Round(10 * time.Microsecond).String() } //nolint:mnd // two digits of a millisecond

// responses formats the statuses with their counts, and the response to the first rejected request.
func responses(r load.Result) string {
	var statuses []string
	for _, status := range slices.Sorted(maps.Keys(r.Responses)) {
		statuses = append(statuses, fmt.Sprintf("%d×%d", r.Responses[status], status))
	}
	if r.Waited > 0 {
		statuses = append(statuses, fmt.Sprintf("(%d waited for a connection)", r.Waited))
	}
	return strings.Join(append(statuses, r.Refusal), " ")
}
