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
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/system"
)

// load is a load run against a demo that serves.
type load struct {
	url         string
	duration    time.Duration
	connections int
	issuer      *auth.Issuer
	client      *http.Client
	// tokens are kept by user and groups: signing one takes longer than many a request.
	tokens sync.Map
}

// routeLoad is what a route did under load.
type routeLoad struct {
	System    string        `json:"system"`
	Route     string        `json:"route"`
	PerSecond float64       `json:"perSecond"`
	P50       time.Duration `json:"p50Nanoseconds"`
	P99       time.Duration `json:"p99Nanoseconds"`
	// Answers are how many answers there were of each status.
	Answers map[int]int `json:"answers"`
}

func newLoad(env Environment, systems []system.System) *cobra.Command {
	l := load{}
	var data, only string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "load",
		Short: "Measure each route of the systems: requests a second and latency",
		Long: `Send the example requests of each system to a running demo, each on several connections for a while, and print
requests a second, the median and the 99th percentile of the latency, and the statuses of the answers. Each connection is
a user of its own, and each request that needs an Idempotency-Key has its own. Creating what exists already is refused:
such statuses are a part of the load.`,
		Example: `  demo load
  demo load --system appcore --duration 10s --connections 32 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if l.issuer, err = auth.OpenIssuer(keys(data, run.IssuerKeys), "", nil); err != nil {
				return fmt.Errorf("%w (--data names the directory of the demo that runs)", err)
			}
			l.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: l.connections, DisableCompression: true}}
			results, err := l.run(cmd.Context(), systems, only)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(env.Stdout).Encode(results)
			}
			return printLoad(env.Stdout, results)
		},
	}
	f := cmd.Flags()
	f.StringVar(&l.url, "url", "http://"+defaultWeb, "where the demo serves the systems")
	f.DurationVar(&l.duration, "duration", 3*time.Second, "how long each route is called") //nolint:mnd // said by the flag
	f.IntVar(&l.connections, "connections", 16, "how many call at once")                   //nolint:mnd // said by the flag
	f.StringVar(&only, "system", "", "only this system")
	f.StringVar(&data, "data", defaultData, "the demo's data directory, which has the keys of its tokens")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (l *load) run(ctx context.Context, systems []system.System, only string) ([]routeLoad, error) {
	var out []routeLoad
	for _, s := range systems {
		if only != "" && s.Name != only {
			continue
		}
		for _, e := range s.Examples { // once each, so that later routes find what earlier ones make
			for c := range l.connections {
				if _, err := l.call(ctx, s, e, c, 0); err != nil {
					return nil, err
				}
			}
		}
		for _, e := range s.Examples {
			measured, err := l.route(ctx, s, e)
			if err != nil {
				return nil, err
			}
			out = append(out, measured)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("there is no system %q with examples; demo systems lists them", only)
	}
	return out, nil
}

// route calls a route on all connections until the time is over.
func (l *load) route(ctx context.Context, s system.System, e system.Example) (routeLoad, error) {
	path, _, _ := strings.Cut(e.Path, "?")
	out := routeLoad{System: s.Name, Route: e.Method + " " + path, Answers: map[int]int{}}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var latencies []time.Duration
	var faults []error
	begin := time.Now()
	for c := range l.connections {
		wg.Go(func() {
			var own []time.Duration
			answers := map[int]int{}
			var err error
			for n := 1; time.Since(begin) < l.duration && err == nil; n++ {
				sent := time.Now()
				var status int
				if status, err = l.call(ctx, s, e, c, n); err == nil {
					own = append(own, time.Since(sent))
					answers[status]++
				}
			}
			mu.Lock()
			defer mu.Unlock()
			latencies = append(latencies, own...)
			for status, n := range answers {
				out.Answers[status] += n
			}
			faults = append(faults, err)
		})
	}
	wg.Wait()
	if err := errors.Join(faults...); err != nil || len(latencies) == 0 {
		return out, err
	}
	slices.Sort(latencies)
	out.PerSecond = float64(len(latencies)) / time.Since(begin).Seconds()
	out.P50, out.P99 = latencies[len(latencies)/2], latencies[len(latencies)*99/100]
	return out, nil
}

// call makes the n-th request of a connection.
func (l *load) call(ctx context.Context, s system.System, e system.Example, connection, n int) (int, error) {
	request, err := http.NewRequestWithContext(ctx, e.Method, l.url+"/"+s.Name+e.Path, strings.NewReader(e.Body))
	if err != nil {
		return 0, err
	}
	token, err := l.token(connection, e.Groups)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if e.Body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range e.Header {
		if name == "Idempotency-Key" {
			value = fmt.Sprintf("load-%d-%d-%d", connection, n, time.Now().UnixNano())
		}
		request.Header.Set(name, value)
	}
	answer, err := l.client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("%s %s: %w (is the demo running? start it with demo serve)", e.Method, e.Path, err)
	}
	defer func() { _ = answer.Body.Close() }()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}

func (l *load) token(connection int, groups []string) (string, error) {
	key := fmt.Sprint(connection, groups)
	if kept, ok := l.tokens.Load(key); ok {
		return kept.(string), nil //nolint:forcetypeassert // the map's only values
	}
	token, err := l.issuer.Mint(auth.Claims{Sub: "load-" + strconv.Itoa(connection), Groups: groups, TTL: time.Hour})
	if err == nil {
		l.tokens.Store(key, token)
	}
	return token, err
}

func printLoad(w io.Writer, results []routeLoad) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "system\troute\trequests/s\tp50\tp99\tanswers")
	for _, r := range results {
		statuses := make([]string, 0, len(r.Answers))
		for _, status := range slices.Sorted(maps.Keys(r.Answers)) {
			statuses = append(statuses, fmt.Sprintf("%d×%d", r.Answers[status], status))
		}
		fmt.Fprintf(table, "%s\t%s\t%.0f\t%s\t%s\t%s\n", r.System, r.Route, r.PerSecond, r.P50.Round(10*time.Microsecond), r.P99.Round(10*time.Microsecond), strings.Join(statuses, " "))
	}
	return table.Flush()
}
