package postgreskv

import (
	"context"
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

// configure returns how to connect to the database of a URL, and the schema of the store in it.
func configure(address string, o Options) (config *pgxpool.Config, schema string, err error) {
	if config, err = pgxpool.ParseConfig(address); err != nil {
		return nil, "", fmt.Errorf("postgreskv: %w", err)
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTime
	}
	if config.PingTimeout == 0 { // of a connection that has been idle
		config.PingTimeout = healthTime
	}
	if config.ConnConfig.ValidateConnect == nil {
		config.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if mode := config.ConnConfig.DefaultQueryExecMode; mode == pgx.QueryExecModeExec || mode == pgx.QueryExecModeSimpleProtocol {
		// These need pgx's table of Go types, which releases are built without (tools/dist).
		return nil, "", fmt.Errorf("postgreskv: default_query_exec_mode is %s: want cache_statement, cache_describe or describe_exec", mode)
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
		return nil, "", fmt.Errorf("postgreskv: search_path is %q: want the name of one schema", schema)
	}
	params["search_path"] = pgx.Identifier{schema}.Sanitize()
	config.ConnConfig.DialFunc = dialer().DialContext
	config.MaxConns = int32(o.Connections) //nolint:gosec // a small number
	config.ConnConfig.OnNotice = countWarning
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		assignShard(c.PgConn())
		if err := requireSettings(ctx, c); err != nil {
			return err
		}
		return requireDurable(ctx, c)
	}
	return config, schema, nil
}

// connect makes the pools. The server ends updates that stand still for longer than pause.
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

// pingIdle is how long a connection may have been idle to be used without a ping.
const pingIdle = time.Second

// lost tells a pool whether a connection that it is about to use is lost, which it then takes for one to ping, and not to use. Where one does
// not answer, others will not either: a machine is gone, or something between has forgotten them. All that are idle are given up, so that
// one call waits for one ping.
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

// forget has the pools use new connections.
func (s *Store) forget() {
	for _, pool := range s.pools() {
		pool.Reset()
	}
}

// idleTimeout is the setting by which the server ends transactions that stand still, after some milliseconds or, for 0, never.
const idleTimeout = "idle_in_transaction_session_timeout"

// requireSettings refuses a connection without the settings that it was opened with: a pooler between the store and the server may have kept
// them to itself, and another session's in their place.
func requireSettings(ctx context.Context, c *pgx.Conn) error {
	rows, err := c.Query(ctx, "select name, setting from pg_settings where name = any($1)", []string{"search_path", idleTimeout})
	if err != nil {
		return err
	}
	var name, is string
	_, err = pgx.ForEachRow(rows, []any{&name, &is}, func() error {
		if want := c.Config().RuntimeParams[name]; is != want {
			return fmt.Errorf("the server did not apply the setting %s (it is %q, want %q): poolers such as PgBouncer do not pass it on; connect to the server directly", name, is, want)
		}
		return nil
	})
	return err
}

// requireDurable refuses a server that may lose acknowledged commits in a power cut.
func requireDurable(ctx context.Context, c *pgx.Conn) error {
	var commit, fsync, pages string
	err := c.QueryRow(ctx, "select current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes')").
		Scan(&commit, &fsync, &pages)
	switch {
	case err != nil:
		return err
	case fsync != "on" || pages != "on":
		return fmt.Errorf("the server may lose acknowledged writes in a power cut: fsync is %s and full_page_writes is %s; switch both on", fsync, pages)
	case commit == "off":
		_, err = c.Exec(ctx, "set synchronous_commit = on")
	}
	return err
}

// The keys of a connection's custom data.
const (
	warningsKey = "warnings" // how many the server has sent
	shardKey    = "shard"    // of the counters to which the connection adds
)

// countWarning counts the server's warnings. It warns when a commit ended without its standby's confirmation, which is then not to be
// taken for one.
func countWarning(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		c.CustomData()[warningsKey] = warnings(c) + 1
	}
}

func warnings(c *pgconn.PgConn) int {
	n, _ := c.CustomData()[warningsKey].(int)
	return n
}

// Counters have as many shards as this; each process uses some that lie together.
const (
	shardsAll     = 1024
	shardsProcess = 64
)

var (
	firstShard = rand.N(shardsAll/shardsProcess) * shardsProcess
	nextShard  atomic.Uint32
)

// assignShard gives a connection a shard that no other one of this process has, as long as there are enough.
func assignShard(c *pgconn.PgConn) {
	c.CustomData()[shardKey] = firstShard + int(nextShard.Add(1)%shardsProcess)
}

func shardOf(c *pgconn.PgConn) int {
	shard, _ := c.CustomData()[shardKey].(int)
	return shard
}

// redacted is a URL without the passwords that it may have as parameters, too.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the database"
	}
	u.RawQuery = ""
	return u.Redacted()
}

// Describe is a URL as people may see it, and as it tells one store from another: hosts, user, database and schema, without the password.
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
