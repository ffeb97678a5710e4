package faults

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/test/internal/link"
	"github.com/monotable/monotable/test/internal/serverproc"
)

const frontEnds = 3

// cluster is the servers and the links between them. Only the test's goroutine uses it.
type cluster struct {
	binary    string
	store     store
	frontEnds [frontEnds]*frontEnd
}

// frontEnd is a monotable server with its links.
type frontEnd struct {
	process *serverproc.Server
	clients *link.Link
	store   route
	dir     string // of the control socket
	probe   *dynamodb.Client
	probes  int
}

// store is the shared store: processes, and the links by which each server reaches them.
type store interface {
	// route returns a new server's connection to the store.
	route(t *testing.T) route
	// breakages are the faults of the store's own processes; some are in the short list.
	breakages() []breakage
	// whole waits until all processes of the store are running and complete.
	whole(t *testing.T)
	// idle waits until no server is connected, and everything that stopped servers have sent has ended.
	idle(t *testing.T)
	pace() pace
	remove()
}

// route is a server's connection to the store.
type route struct {
	url   string   // for --store
	env   []string // of the server's process
	links []*link.Link
}

// breakage is a fault of a store's processes.
type breakage struct {
	name  string
	short bool // in the short list
	begin func(t *testing.T) (heal func())
}

// pace describes the speed of a store.
type pace struct {
	client time.Duration // timeout of clients
	rest   time.Duration // pause between two changes of a table
}

// start starts a store and servers, which are built with additional flags of the go command.
func start(t *testing.T, startStore func() (store, error), flags ...string) *cluster {
	t.Helper()
	c := &cluster{}
	var err error
	started := make(chan struct{})
	go func() {
		defer close(started)
		c.store, err = startStore()
	}()
	t.Cleanup(func() {
		if <-started; c.store != nil {
			c.store.remove()
		}
	})
	c.binary = serverproc.Build(t, flags...)
	if <-started; err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for n := range c.frontEnds {
		f := &frontEnd{dir: filepath.Join(dir, strconv.Itoa(n)), clients: link.New(t, "tcp", ""), store: c.store.route(t)}
		f.probe = newClient(f.clients, probeTime)
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

// probeTime is the timeout of a write that checks whether a server can write.
const probeTime = 10 * time.Second

// run starts a server's process and points its link to it.
func (c *cluster) run(t *testing.T, f *frontEnd) {
	t.Helper()
	f.process = serverproc.StartWith(t, f.store.env, c.binary, "--store", f.store.url, "--data", f.dir, "--log-level", "error")
	f.clients.Retarget("tcp", f.process.Endpoint[len("http://"):])
}

// newClient returns a client of one server without retries, with a timeout.
func newClient(l *link.Link, timeout time.Duration) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://" + l.Address()), Credentials: aws.AnonymousCredentials{}, RetryMaxAttempts: 1,
		HTTPClient: &http.Client{Timeout: timeout, Transport: &http.Transport{}},
	})
}

// recovered waits until the store is complete and each server can write.
func (c *cluster) recovered(t *testing.T) {
	t.Helper()
	c.store.whole(t)
	for n, f := range c.frontEnds {
		f.writes(t, fmt.Sprintf("server %d writes", n))
	}
}

// writes waits until a server can write.
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

// settle stops all servers but one, which it restarts, with direct connections to the store.
func (c *cluster) settle(t *testing.T) {
	t.Helper()
	for _, f := range c.frontEnds {
		f.process.Stop(t)
		f.clients.Cut()
		for _, l := range f.store.links {
			l.Cut()
		}
	}
	c.store.idle(t)
	c.store.whole(t)
	c.run(t, c.frontEnds[0])
	c.frontEnds[0].writes(t, "a new server writes")
	for _, f := range c.frontEnds[1:] {
		f.clients.Retarget("tcp", c.frontEnds[0].process.Endpoint[len("http://"):])
	}
}

// poll waits until something succeeds.
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
