package postgreskv

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// configure returns the connection settings for a URL, and the schema of the store.
func configure(address string, o Options) (config *pgxpool.Config, schema string, err error) {
	if config, err = pgxpool.ParseConfig(address); err != nil {
		return nil, "", hidePassword(address, err)
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTime
	}
	if config.PingTimeout == 0 { // of an idle connection
		config.PingTimeout = healthTime
	}
	if config.ConnConfig.ValidateConnect == nil {
		config.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if mode := config.ConnConfig.DefaultQueryExecMode; mode == pgx.QueryExecModeExec || mode == pgx.QueryExecModeSimpleProtocol {
		// These need pgx's table of Go types, which releases are built without (tools/dist).
		return nil, "", fmt.Errorf("default_query_exec_mode is %s: want cache_statement, cache_describe or describe_exec", mode)
	}
	params := config.ConnConfig.RuntimeParams
	if params["search_path"] == "" {
		params["search_path"] = defaultSchema
	}
	if params["application_name"] == "" {
		params["application_name"] = "monotable"
	}
	schema = params["search_path"]
	if strings.ContainsAny(schema, `,"$`) {
		return nil, "", fmt.Errorf("search_path is %q: want the name of one schema", schema)
	}
	params["search_path"] = pgx.Identifier{schema}.Sanitize()
	config.ConnConfig.DialFunc = dialer().DialContext
	config.MaxConns = int32(o.Connections) //nolint:gosec // a small number
	config.ConnConfig.OnNotice = countWarning
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		assignShard(c.PgConn())
		return requireSettings(ctx, c)
	}
	return config, schema, nil
}

// hidePassword replaces the error of a URL that cannot be parsed if it may have a password: what the error quotes as another part of the URL
// can be the password's.
func hidePassword(address string, err error) error {
	_, rest, _ := strings.Cut(address, "://")
	if end := strings.LastIndexByte(rest, '@'); !strings.Contains(rest[:max(end, 0)], ":") && !strings.Contains(rest, "password=") {
		return err
	}
	return errors.New("the URL cannot be parsed: write characters such as @, /, ? and % of the password as %40, %2F, %3F and %25, " +
		"or set PGPASSWORD instead")
}

// connect creates the pools. The server ends updates that are idle for longer than pause.
func (s *Store) connect(ctx context.Context, config *pgxpool.Config, pause time.Duration) (err error) {
	for pool, limit := range map[**pgxpool.Pool]time.Duration{&s.updates: pause, &s.reads: 0, &s.views: 0} {
		own := config.Copy()
		own.ShouldPing = s.lost
		own.ConnConfig.RuntimeParams[idleTimeout] = strconv.FormatInt(limit.Milliseconds(), 10)
		if *pool, err = pgxpool.NewWithConfig(ctx, own); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) disconnect() {
	for _, pool := range s.pools() {
		if pool != nil {
			pool.Close()
		}
	}
}

func (s *Store) pools() []*pgxpool.Pool { return []*pgxpool.Pool{s.updates, s.reads, s.views} }

// pingIdle is how long a connection may be idle before it is pinged prior to use.
const pingIdle = time.Second

// lost tells a pool whether a connection that it is about to use is lost, so that the pool pings it before use. If one does
// not respond, others will not either: a machine is gone, or something in between has dropped their state. All idle
// connections are then discarded, so that a call waits for only one ping.
func (s *Store) lost(ctx context.Context, p pgxpool.ShouldPingParams) bool {
	if p.IdleDuration < pingIdle {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.pingTime)
	defer cancel()
	if p.Conn.Ping(ctx) == nil {
		return false
	}
	s.forget()
	return true
}

// forget makes the pools use new connections.
func (s *Store) forget() {
	for _, pool := range s.pools() {
		pool.Reset()
	}
}

// idleTimeout is the setting by which the server ends idle transactions, after a number of milliseconds, or never if it is 0.
const idleTimeout = "idle_in_transaction_session_timeout"

// timeouts are the settings by which a server may end statements and transactions in progress. Operators set them for requests of
// applications; a backup of a table takes as long as there is data.
var timeouts = []string{"statement_timeout", "lock_timeout", "transaction_timeout"}

// requireSettings switches off timeouts that are not in the URL, and rejects a connection without the settings that it was opened
// with: a pooler between the store and the server may have dropped them, and apply another session's. It also rejects a server that
// may lose acknowledged commits in a power failure. Only PostgreSQL has the settings that say so.
func requireSettings(ctx context.Context, c *pgx.Conn) error {
	wanted := []string{"search_path", idleTimeout, "synchronous_commit", "fsync", "full_page_writes"}
	rows, err := c.Query(ctx, "select name, setting from pg_settings where name = any($1)", slices.Concat(wanted, timeouts))
	if err != nil {
		return err
	}
	settings := map[string]string{}
	var name, is string
	_, err = pgx.ForEachRow(rows, []any{&name, &is}, func() error {
		settings[name] = is
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range wanted[:2] {
		if is, want := settings[name], c.Config().RuntimeParams[name]; is != want {
			return fmt.Errorf("the server did not apply the setting %s (it is %q, want %q): poolers such as PgBouncer do not pass it on; connect to the server directly", name, is, want)
		}
	}
	if fsync, pages := settings["fsync"], settings["full_page_writes"]; fsync == "off" || pages == "off" {
		return fmt.Errorf("the server may lose acknowledged writes in a power cut: fsync is %s and full_page_writes is %s; switch both on", fsync, pages)
	}
	if settings["synchronous_commit"] == "off" {
		_, err = c.Exec(ctx, "set synchronous_commit = on")
	}
	for _, name := range timeouts {
		_, chosen := c.Config().RuntimeParams[name]
		if is := settings[name]; err == nil && is != "" && is != "0" && !chosen { // not all servers have all of them
			_, err = c.Exec(ctx, "set "+name+" = 0")
		}
	}
	return err
}

// The keys of a connection's custom data.
const (
	warningsKey = "warnings" // number of warnings from the server
	shardKey    = "shard"    // of the counters to which the connection adds
)

// countWarning counts the server's warnings. The server warns if a commit ended without its standby's confirmation, which then
// must not count as confirmed.
func countWarning(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		c.CustomData()[warningsKey] = warnings(c) + 1
	}
}

func warnings(c *pgconn.PgConn) int {
	n, _ := c.CustomData()[warningsKey].(int)
	return n
}

// The number of shards of a counter; each process uses some adjacent ones.
const (
	shardsAll     = 1024
	shardsProcess = 64
)

var (
	firstShard = rand.N(shardsAll/shardsProcess) * shardsProcess
	nextShard  atomic.Uint32
)

// assignShard assigns a shard to a connection that no other one of this process uses, as long as there are enough.
func assignShard(c *pgconn.PgConn) {
	c.CustomData()[shardKey] = firstShard + int(nextShard.Add(1)%shardsProcess)
}

func shardOf(c *pgconn.PgConn) int {
	shard, _ := c.CustomData()[shardKey].(int)
	return shard
}

// Describe is a URL for messages, which also identifies the store: hosts, user, database and schema, without the password.
func Describe(address string) string {
	c, err := pgconn.ParseConfig(address)
	if err != nil {
		return "a PostgreSQL database"
	}
	hosts := []string{describeHost(c.Host, c.Port)}
	for _, f := range c.Fallbacks { // other hosts, and each host without TLS
		hosts = append(hosts, describeHost(f.Host, f.Port))
	}
	u, query := url.URL{Scheme: "postgres", User: url.User(c.User), Path: "/" + c.Database}, url.Values{}
	if all := strings.Join(slices.Compact(hosts), ","); strings.Contains(all, "/") { // sockets
		query.Set("host", all)
	} else {
		u.Host = all
	}
	if schema := c.RuntimeParams["search_path"]; schema != "" && schema != defaultSchema {
		query.Set("search_path", schema)
	}
	u.RawQuery = strings.ReplaceAll(query.Encode(), "%2F", "/")
	return u.String()
}

func describeHost(host string, port uint16) string {
	const defaultPort = 5432
	if port == defaultPort {
		return host
	}
	return fmt.Sprintf("%s:%d", host, port)
}
