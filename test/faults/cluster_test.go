package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/jackc/pgx/v5"

	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
	"github.com/monotable/monotable/test/internal/link"
	"github.com/monotable/monotable/test/internal/serverproc"
)

const frontEnds = 3

// cluster is the servers and what is between them. It belongs to the goroutine of the test.
type cluster struct {
	binary    string
	postgres  [2]*postgrestest.Server
	primary   int // which of the two takes writes
	frontEnds [frontEnds]*frontEnd
}

// frontEnd is a monotable server with its links.
type frontEnd struct {
	process *serverproc.Server
	clients *link.Link
	store   [2]*link.Link // to each server of PostgreSQL
	dir     string        // of the control socket
	probe   *dynamodb.Client
	probes  int
}

func start(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{}
	var err error
	started := make(chan struct{})
	go func() {
		defer close(started)
		c.postgres, err = startPostgres()
	}()
	t.Cleanup(func() {
		<-started
		for _, s := range c.postgres {
			if s != nil {
				s.Remove()
			}
		}
	})
	c.binary = serverproc.Build(t)
	if <-started; err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for n := range c.frontEnds {
		f := &frontEnd{dir: filepath.Join(dir, strconv.Itoa(n)), clients: link.New(t, "tcp", "")}
		for i, s := range c.postgres {
			f.store[i] = link.New(t, "unix", s.Socket())
		}
		f.probe = newClient(f.clients, 5*time.Second)
		c.frontEnds[n] = f
		c.run(t, f)
	}
	_, err = c.frontEnds[0].probe.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("probes"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeN}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run starts a server's process, to which its link then leads.
func (c *cluster) run(t *testing.T, f *frontEnd) {
	t.Helper()
	url := fmt.Sprintf("postgres://postgres@%s,%s/postgres?sslmode=disable&search_path=faults&synchronous_commit=on&connect_timeout=2",
		f.store[0].Address(), f.store[1].Address())
	f.process = serverproc.Start(t, c.binary, "--store", url, "--data", f.dir, "--log-level", "error")
	f.clients.Retarget("tcp", f.process.Endpoint[len("http://"):])
}

// newClient returns a client of one server that tries everything once, and waits so long.
func newClient(l *link.Link, timeout time.Duration) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://" + l.Address()), Credentials: aws.AnonymousCredentials{}, RetryMaxAttempts: 1,
		HTTPClient: &http.Client{Timeout: timeout, Transport: &http.Transport{}},
	})
}

// recovered waits until the standby has everything and each server writes.
func (c *cluster) recovered(t *testing.T) {
	t.Helper()
	c.replicated(t)
	for n, f := range c.frontEnds {
		f.writes(t, fmt.Sprintf("server %d writes", n))
	}
}

// writes waits until a server writes.
func (f *frontEnd) writes(t *testing.T, what string) {
	t.Helper()
	poll(t, what, func() error {
		f.probes++
		_, err := f.probe.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("probes"), Item: map[string]types.AttributeValue{
			"id": &types.AttributeValueMemberN{Value: strconv.Itoa(f.probes)},
		}})
		return err
	})
}

// replicated waits until the standby has all that the primary shows: what a primary shows after a restart its standby may not have yet.
func (c *cluster) replicated(t *testing.T) {
	t.Helper()
	var end string
	poll(t, "the primary answers", func() error { return c.ask(t, &end, "select pg_current_wal_flush_lsn()::text") })
	poll(t, "the standby has everything", func() error {
		var has bool
		return c.mustBe(c.ask(t, &has, `select exists (
			select from pg_stat_replication where sync_state = 'sync' and state = 'streaming' and flush_lsn >= $1::pg_lsn)`, end), &has)
	})
}

// idle waits until no client has a session at the primary: what a server that is gone had sent has ended.
func (c *cluster) idle(t *testing.T) {
	t.Helper()
	poll(t, "no session is left", func() error {
		var is bool
		return c.mustBe(c.ask(t, &is, "select count(*) = 1 from pg_stat_activity where backend_type = 'client backend'"), &is)
	})
}

func (c *cluster) mustBe(err error, is *bool) error {
	if err == nil && !*is {
		return errors.New("not yet")
	}
	return err
}

// ask asks the primary.
func (c *cluster) ask(t *testing.T, answer any, sql string, args ...any) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, postgrestest.URL("pg_catalog", c.postgres[c.primary]))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	return conn.QueryRow(ctx, sql, args...).Scan(answer)
}

// settle ends all servers but one, which it starts anew, without links to PostgreSQL that could hold anything.
func (c *cluster) settle(t *testing.T) {
	t.Helper()
	for _, f := range c.frontEnds {
		f.process.Stop(t)
		f.clients.Cut()
		f.store[0].Cut()
		f.store[1].Cut()
	}
	c.idle(t)
	c.replicated(t)
	c.run(t, c.frontEnds[0])
	c.frontEnds[0].writes(t, "a new server writes")
	for _, f := range c.frontEnds[1:] {
		f.clients.Retarget("tcp", c.frontEnds[0].process.Endpoint[len("http://"):])
	}
}

// poll waits until something is done without an error.
func poll(t *testing.T, what string, do func() error) {
	t.Helper()
	for begun := time.Now(); ; <-time.After(20 * time.Millisecond) { // other processes give no signal
		err := do()
		if err == nil {
			return
		}
		if time.Since(begun) > patience {
			t.Fatalf("%v later: not so: %s: %v", patience, what, err)
		}
	}
}
