package faults

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
	"github.com/monotable/monotable/test/internal/link"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	breakAndCheck(t, startPostgres)
}

// postgres is a primary and its synchronous standby.
type postgres struct {
	servers [2]*postgrestest.Server
	primary int             // index of the writable one
	routes  [][2]*link.Link // of each monotable server, to each of the two
}

// The PostgreSQL servers reconnect quickly, and keep what an absent standby has missed.
var postgresSettings = []string{
	"wal_level = replica", "synchronous_commit = local", "max_connections = 600", "wal_keep_size = '256MB'", "wal_retrieve_retry_interval = '100ms'",
}

const (
	oneStandby = "synchronous_standby_names = '*'"
	noStandby  = "synchronous_standby_names = ''"
)

// startPostgres starts a primary that waits for its standby.
func startPostgres() (store, error) {
	primary, err := postgrestest.Start(append([]string{oneStandby}, postgresSettings...)...)
	if err != nil {
		return nil, err
	}
	standby, err := primary.Standby(noStandby)
	if err != nil {
		primary.Remove()
		return nil, err
	}
	return &postgres{servers: [2]*postgrestest.Server{primary, standby}}, nil
}

func (p *postgres) remove() {
	for _, s := range p.servers {
		s.Remove()
	}
}

func (p *postgres) pace() pace { return pace{client: 3 * time.Second, rest: 200 * time.Millisecond} }

func (p *postgres) route(t *testing.T) route {
	t.Helper()
	var links [2]*link.Link
	for i, s := range p.servers {
		links[i] = link.New(t, "unix", s.Socket())
	}
	p.routes = append(p.routes, links)
	url := fmt.Sprintf("postgres://postgres@%s,%s/postgres?sslmode=disable&search_path=faults&synchronous_commit=on&connect_timeout=2",
		links[0].Address(), links[1].Address())
	return route{url: url, links: links[:]}
}

func (p *postgres) breakages() []breakage {
	restart := func(s *postgrestest.Server) func(t *testing.T) func() {
		return func(t *testing.T) func() {
			t.Helper()
			s.Kill()
			return healer(t, s.Restart)
		}
	}
	pause := func(s *postgrestest.Server) func(*testing.T) func() {
		return func(*testing.T) func() {
			s.Pause()
			return s.Resume
		}
	}
	primary, standby := p.servers[p.primary], p.servers[1-p.primary]
	return []breakage{
		{"kill the primary", true, restart(primary)},
		{"pause the primary", false, pause(primary)},
		{"kill the primary and promote its standby", true, func(t *testing.T) func() {
			t.Helper()
			primary.Kill()
			return healer(t, p.failOver)
		}},
		{"kill the standby", false, restart(standby)},
		{"pause the standby", false, pause(standby)},
	}
}

// failOver promotes the standby of a dead primary, and gives it a new standby at the dead one's address.
func (p *postgres) failOver() error {
	dead := p.primary
	p.primary = 1 - dead
	primary := p.servers[p.primary]
	if err := primary.Promote(); err != nil {
		return err
	}
	p.servers[dead].Remove()
	standby, err := primary.Standby(noStandby)
	if err != nil {
		return err
	}
	p.servers[dead] = standby
	for _, links := range p.routes {
		links[dead].Retarget("unix", standby.Socket())
	}
	return primary.Reconfigure(oneStandby)
}

// whole waits until the standby has everything that the primary shows: after a restart, a primary may show what its standby
// does not have yet.
func (p *postgres) whole(t *testing.T) {
	t.Helper()
	var end string
	poll(t, "the primary answers", func() error { return p.ask(t, &end, "select pg_current_wal_flush_lsn()::text") })
	poll(t, "the standby has everything", func() error {
		var has bool
		return mustBe(p.ask(t, &has, `select exists (
			select from pg_stat_replication where sync_state = 'sync' and state = 'streaming' and flush_lsn >= $1::pg_lsn)`, end), &has)
	})
}

// idle waits until no client has a session at the primary, so that everything that stopped servers had sent has ended.
func (p *postgres) idle(t *testing.T) {
	t.Helper()
	poll(t, "no session is left", func() error {
		var is bool
		return mustBe(p.ask(t, &is, "select count(*) = 1 from pg_stat_activity where backend_type = 'client backend'"), &is)
	})
}

func mustBe(err error, is *bool) error {
	if err == nil && !*is {
		return errors.New("not yet")
	}
	return err
}

// ask queries the primary.
func (p *postgres) ask(t *testing.T, response any, sql string, args ...any) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, postgrestest.URL("pg_catalog", p.servers[p.primary]))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	return conn.QueryRow(ctx, sql, args...).Scan(response)
}
