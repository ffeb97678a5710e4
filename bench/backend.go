package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
)

// backend is a store that servers share, running. What it cannot tell is nil, and "–" in the report.
type backend struct {
	name string
	// url is what serve --store takes; counted is the same store, by way of what counts traffic.
	url, counted string
	traffic      func() traffic
	cpu          func() time.Duration // used so far
	logBytes     gauge                // written to the log on which commits wait
	activity     func(context.Context) (activity, error)
	pause        func() // while something else is measured
	resume       func()
	remove       func()
}

// backends starts each store that servers can share.
var backends = []func(context.Context) (*backend, error){startPostgres}

// activity is what the store's processes do at a moment, or on average: how many of them compute, wait for the log to be on disk, wait for the
// locks of an update, wait within a transaction for the server, and wait for anything else.
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

// startPostgres starts the PostgreSQL server of the machine, durable, with memory and a log that make checkpoints rare.
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
		url:     postgrestest.URL("bench", s),
		counted: fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable&search_path=bench", p.port()),
		traffic: p.traffic,
		cpu:     func() time.Duration { return familyTime(s.Processes()) },
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
