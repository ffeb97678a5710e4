//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
	"github.com/monotable/monotable/internal/database/storage/kv/tikvkv/tikvtest"
)

// backend is a running store that servers share. Unknown values are nil, and "–" in the report.
type backend struct {
	name   string
	binary string   // the server's program
	env    []string // of the servers
	// url is the value of serve --store; counted is the same store through a proxy that counts traffic.
	url, counted string
	traffic      func() traffic
	cpu          func() time.Duration // used so far
	logBytes     gauge                // written to the log that commits wait for
	activity     func(context.Context) (activity, error)
	pause        func() // while something else is measured
	resume       func()
	remove       func()
}

// backends starts each store that servers can share, by name.
var backends = []struct {
	name  string
	start func(context.Context) (*backend, error)
}{{"postgresql", startPostgres}, {"tikv", startTiKV}}

func backendNames() (list []string) {
	for _, b := range backends {
		list = append(list, b.name)
	}
	return list
}

// activity is the number of the store's processes, at a moment or on average, that compute, wait for the log to be on disk,
// wait for the locks of an update, wait within a transaction for the server, and wait for anything else.
type activity struct {
	Running float64 `json:"running"`
	Log     float64 `json:"log"`
	Locks   float64 `json:"locks"`
	Server  float64 `json:"server"`
	Other   float64 `json:"other"`
}

func (a activity) plus(b activity) activity {
	return activity{a.Running + b.Running, a.Log + b.Log, a.Locks + b.Locks, a.Server + b.Server, a.Other + b.Other}
}

func (a activity) times(f float64) activity {
	return activity{a.Running * f, a.Log * f, a.Locks * f, a.Server * f, a.Other * f}
}

const activitySQL = `select
	count(*) filter (where state = 'active' and wait_event is null)::float8,
	count(*) filter (where state = 'active' and wait_event like 'WAL%')::float8,
	count(*) filter (where state = 'active' and wait_event_type = 'Lock')::float8,
	count(*) filter (where state like 'idle in transaction%')::float8,
	count(*) filter (where state = 'active' and wait_event not like 'WAL%' and wait_event_type <> 'Lock')::float8
	from pg_stat_activity where application_name = 'monotable'`

// startPostgres starts the machine's PostgreSQL server, durable, with memory and log settings that make checkpoints rare.
func startPostgres(ctx context.Context) (*backend, error) {
	s, err := postgrestest.Start("shared_buffers = 512MB", "max_wal_size = 8GB", "checkpoint_timeout = 30min")
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.New(ctx, postgrestest.URL("public", s))
	if err != nil {
		s.Remove()
		return nil, err
	}
	p, err := startProxy(ctx, "unix", s.Socket())
	if err != nil {
		pool.Close()
		s.Remove()
		return nil, err
	}
	return &backend{
		name:    "PostgreSQL",
		binary:  "bin/monotable",
		url:     postgrestest.URL("bench", s),
		counted: fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable&search_path=bench", p.port()),
		traffic: p.traffic,
		cpu:     func() time.Duration { return processTreeTime(s.Processes()) },
		logBytes: func() (bytes float64, err error) {
			err = pool.QueryRow(ctx, "select (pg_current_wal_insert_lsn() - '0/0')::float8").Scan(&bytes)
			return bytes, err
		},
		activity: func(ctx context.Context) (a activity, err error) {
			err = pool.QueryRow(ctx, activitySQL).Scan(&a.Running, &a.Log, &a.Locks, &a.Server, &a.Other)
			return a, err
		},
		pause:  s.Pause,
		resume: s.Resume,
		remove: func() {
			pool.Close()
			_ = p.close()
			s.Remove()
		},
	}, nil
}

// startTiKV starts TiKV's placement driver and three nodes of a stand-in for TiKV, which speaks its protocol. Its processor
// times and speed are not TiKV's, its round trips and bytes are.
func startTiKV(ctx context.Context) (*backend, error) {
	const binary = "bin/monotable-tikv"
	if out, err := exec.CommandContext(ctx, "go", "build", "-tags", "tikv", "-o", binary, "./cmd/monotable").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build -tags tikv: %w\n%s", err, out)
	}
	var own *proxy // of the cluster's processes, which are not counted
	var failure error
	c, err := tikvtest.Start(tikvtest.Options{Proxy: func(_ int, hosts map[string]string) string {
		if own == nil {
			if own, failure = startHTTPProxy(ctx, hosts); failure != nil {
				return ""
			}
		}
		return own.url()
	}})
	if err != nil {
		return nil, errors.Join(failure, err)
	}
	counting, err := startHTTPProxy(ctx, c.Hosts())
	if err != nil {
		c.Remove()
		return nil, err
	}
	return &backend{
		name: "TiKV's stand-in", binary: binary, env: []string{"HTTPS_PROXY=" + counting.url()},
		url: c.Address("bench"), counted: c.Address("bench"), traffic: counting.traffic,
		cpu: func() (sum time.Duration) {
			for _, pid := range c.Processes() {
				own, _ := processTimes(pid)
				sum += own
			}
			return sum
		},
		pause: func() {}, resume: func() {}, // after a pause of seconds it would elect leaders during the measurement
		remove: func() {
			c.Remove()
			_ = errors.Join(own.close(), counting.close())
		},
	}, nil
}
