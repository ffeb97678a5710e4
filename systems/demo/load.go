package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/load"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/system"
)

// caller makes requests of a demo that serves.
type caller struct {
	url    string
	issuer *auth.Issuer
	client *http.Client
	// tokens are kept by user and groups: signing one takes longer than many a request.
	tokens sync.Map
}

// systemLoad is what a route of a system did.
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
		Short: "Measure each route of the systems: requests a second and latency",
		Long: `Call each route of each system of a running demo, one route after the other, each on several connections for a while,
and print requests a second, the median and the 99th percentile of the latency, and the statuses of the answers. Each
connection is a user of its own. What a request uses up (an order to be paid, say) is made before it and not counted.`,
		Example: `  demo load
  demo load --system appcore --duration 10s --connections 32 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if c.issuer, err = auth.OpenIssuer(keys(data, run.IssuerKeys), "", nil); err != nil {
				return fmt.Errorf("%w (--data names the directory of the demo that runs)", err)
			}
			c.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.Connections, DisableCompression: true}}
			results, err := c.load(cmd.Context(), chosen(systems, only), o, env, asJSON)
			if err == nil && asJSON {
				return json.NewEncoder(env.Stdout).Encode(results)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.url, "url", "http://"+defaultWeb, "where the demo serves the systems")
	f.DurationVar(&o.Duration, "duration", time.Second, "how long each route is called; 0 calls each once")
	f.IntVar(&o.Connections, "connections", 16, "how many call at once") //nolint:mnd // said by the flag
	f.StringVar(&only, "system", "", "only this system")
	f.StringVar(&data, "data", defaultData, "the demo's data directory, which has the keys of its tokens")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// chosen are the systems of a name, or all.
func chosen(systems []system.System, only string) []system.System {
	return slices.DeleteFunc(slices.Clone(systems), func(s system.System) bool { return only != "" && s.Name != only })
}

// load loads systems one after the other, and prints each result when it is there.
func (c *caller) load(ctx context.Context, systems []system.System, o load.Options, env Environment, quiet bool) ([]systemLoad, error) {
	if len(systems) == 0 {
		return nil, errors.New("there is no such system; demo systems lists them")
	}
	const form = "%-14s %-46s %10s %10s %10s  %s\n"
	if !quiet {
		fmt.Fprintf(env.Stdout, form, "system", "route", "requests/s", "p50", "p99", "answers")
	}
	var all []systemLoad
	for _, s := range systems {
		o.Told = func(r load.Result) {
			all = append(all, systemLoad{s.Name, r})
			if !quiet {
				fmt.Fprintf(env.Stdout, form, s.Name, r.Route, fmt.Sprintf("%.0f", r.PerSecond), short(r.P50), short(r.P99), answers(r))
			}
		}
		send := func(ctx context.Context, r load.Request) (load.Answer, error) { return c.send(ctx, s.Name, r) }
		if _, err := load.Run(ctx, s.Load, send, o); err != nil {
			return all, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return all, nil
}

// send makes a request of a system.
func (c *caller) send(ctx context.Context, system string, r load.Request) (load.Answer, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, c.url+"/"+system+r.Path, strings.NewReader(r.Body))
	if err != nil {
		return load.Answer{}, err
	}
	if r.User != "" {
		token, err := c.token(r.User, r.Groups)
		if err != nil {
			return load.Answer{}, err
		}
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if r.Body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.Header {
		request.Header.Set(name, value)
	}
	answer, err := c.client.Do(request)
	if err != nil {
		return load.Answer{}, fmt.Errorf("%w (is the demo running? start it with demo serve)", err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	return load.Answer{Status: answer.StatusCode, Body: body}, err
}

func (c *caller) token(sub string, groups []string) (string, error) {
	key := fmt.Sprint(sub, groups)
	if kept, ok := c.tokens.Load(key); ok {
		return kept.(string), nil //nolint:forcetypeassert // the map's only values
	}
	token, err := c.issuer.Mint(auth.Claims{Sub: sub, Groups: groups, TTL: time.Hour})
	if err == nil {
		c.tokens.Store(key, token)
	}
	return token, err
}

func short(d time.Duration) string { return d.Round(10 * time.Microsecond).String() } //nolint:mnd // two digits of a millisecond

// answers are the statuses with their numbers, and what the first refused request was told.
func answers(r load.Result) string {
	var statuses []string
	for _, status := range slices.Sorted(maps.Keys(r.Answers)) {
		statuses = append(statuses, fmt.Sprintf("%d×%d", r.Answers[status], status))
	}
	return strings.Join(append(statuses, r.Refusal), " ")
}
