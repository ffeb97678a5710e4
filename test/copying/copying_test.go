// Package copying moves a table between two servers with "monotable copy" while programs write to it, kills the command
// repeatedly, and compares the target with the writers' records.
package copying

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/test/internal/serverproc"
)

const (
	items   = 1500
	writers = 3
	wait    = 2 * time.Minute
)

// TestMoveUnderWrites kills the copy with SIGKILL while it copies items and again while it follows changes.
func TestMoveUnderWrites(t *testing.T) {
	binary := serverproc.Build(t)
	source, target := serverproc.Start(t, binary, "--memory"), serverproc.Start(t, binary, "--memory")
	from, to := connect(source), connect(target)
	create(t, from)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	all := make([]*writer, writers)
	for i := range all {
		all[i] = &writer{client: from, number: i, random: rand.New(rand.NewPCG(seed, uint64(i))), last: map[string]string{}} //nolint:gosec // a test's values
		for range items / writers {
			all[i].write(t)
		}
	}
	stop := writeOn(t, all)
	c := command{binary: binary, state: filepath.Join(t.TempDir(), "copy.json"), args: []string{
		"copy", "--from", source.Endpoint, "--to", target.Endpoint, "--table", "things=moved", "--follow", "--enable-stream", "--segments", "60",
	}}

	first := c.start(t, "--units", "800")
	c.copied(t, first, 1)
	first.kill(t)
	if done := c.copied(t, nil, 0); done == 0 {
		t.Fatal("the state of the killed copy has no items")
	}
	second := c.start(t)
	second.waitFor(t, "resuming: already copied 0 of 1 table")
	second.waitFor(t, "caught up; new changes are copied as they arrive")
	second.kill(t)
	third := c.start(t)
	third.waitFor(t, "caught up; new changes are copied as they arrive")
	stop()
	if err := third.process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	third.waitFor(t, "stopped; the state is in")
	if err := third.wait(); err != nil {
		t.Fatalf("the copy that followed ended with %v", err)
	}

	c.args[7] = "--finish"
	last := c.start(t)
	last.waitFor(t, "found no differences")
	if err := last.wait(); err != nil {
		t.Fatalf("the copy ended with %v:\n%s", err, last.text())
	}
	if _, err := os.Stat(c.state); !os.IsNotExist(err) {
		t.Errorf("the state file is left: %v", err)
	}
	want := map[string]string{}
	for _, w := range all {
		maps.Copy(want, w.last)
	}
	if got := contents(t, to); !maps.Equal(got, want) {
		t.Errorf("the target has %d items, which are not the %d that were written", len(got), len(want))
	}
	d, err := from.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("things")})
	if err != nil || d.Table.StreamSpecification != nil && aws.ToBool(d.Table.StreamSpecification.StreamEnabled) {
		t.Errorf("the stream of the source is still on, or %v", err)
	}
}

func connect(s *serverproc.Server) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: &s.Endpoint, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

func create(t *testing.T, client *dynamodb.Client) {
	t.Helper()
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("things"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// writer puts and deletes its own items and records their latest values.
type writer struct {
	client *dynamodb.Client
	number int
	random *rand.Rand
	last   map[string]string // the value of each item
	writes int
}

func (w *writer) write(t *testing.T) {
	t.Helper()
	w.writes++
	id := fmt.Sprintf("w%d-%d", w.number, w.random.IntN(items))
	key := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}}
	if w.random.IntN(5) == 0 {
		if _, err := w.client.DeleteItem(context.WithoutCancel(t.Context()), &dynamodb.DeleteItemInput{TableName: aws.String("things"), Key: key}); err != nil {
			t.Error(err)
		}
		delete(w.last, id)
		return
	}
	value := fmt.Sprint(w.writes)
	key["value"] = &types.AttributeValueMemberS{Value: value}
	key["fill"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", 1000)}
	if _, err := w.client.PutItem(context.WithoutCancel(t.Context()), &dynamodb.PutItemInput{TableName: aws.String("things"), Item: key}); err != nil {
		t.Error(err)
	}
	w.last[id] = value
}

// writeOn runs the writers until the returned function is called.
func writeOn(t *testing.T, all []*writer) (stop func()) {
	t.Helper()
	var wg sync.WaitGroup
	end := make(chan struct{})
	for _, w := range all {
		wg.Go(func() {
			pace := time.NewTicker(5 * time.Millisecond)
			defer pace.Stop()
			for {
				select {
				case <-end:
					return
				case <-pace.C:
					w.write(t)
				}
			}
		})
	}
	stop = sync.OnceFunc(func() { close(end); wg.Wait() })
	t.Cleanup(stop)
	return stop
}

func contents(t *testing.T, client *dynamodb.Client) map[string]string {
	t.Helper()
	out := map[string]string{}
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String("moved"), ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			out[item["id"].(*types.AttributeValueMemberS).Value] = item["value"].(*types.AttributeValueMemberS).Value
		}
	}
	return out
}

// command is the command under test, with the arguments of all its runs.
type command struct {
	binary, state string
	args          []string
}

// run is one process of the command.
type run struct {
	process *os.Process
	wait    func() error
	exited  chan struct{}

	mu    sync.Mutex
	lines strings.Builder
	more  chan struct{} // receives a value after each line of output
}

func (c *command) start(t *testing.T, args ...string) *run {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.binary, append(append(c.args, "--state", c.state), args...)...) //nolint:gosec // our own binary
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &run{process: cmd.Process, exited: make(chan struct{}), more: make(chan struct{}, 1)}
	r.wait = sync.OnceValue(func() error {
		err := cmd.Wait()
		_ = in.Close()
		return err
	})
	go func() {
		defer close(r.exited)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			r.mu.Lock()
			r.lines.WriteString(lines.Text() + "\n")
			r.mu.Unlock()
			select {
			case r.more <- struct{}{}:
			default:
			}
		}
	}()
	go func() { _ = r.wait() }()
	t.Cleanup(func() {
		_ = r.process.Kill()
		<-r.exited
		if t.Failed() {
			t.Logf("a copy said:\n%s", r.text())
		}
	})
	return r
}

func (r *run) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines.String()
}

// waitFor waits until the command has printed a text.
func (r *run) waitFor(t *testing.T, text string) {
	t.Helper()
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for !strings.Contains(r.text(), text) {
		select {
		case <-r.more:
		case <-r.exited:
			if !strings.Contains(r.text(), text) {
				t.Fatalf("the copy ended and did not say %q", text)
			}
		case <-deadline.C:
			t.Fatalf("the copy did not say %q within %v", text, wait)
		}
	}
}

func (r *run) kill(t *testing.T) {
	t.Helper()
	if err := r.process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-r.exited
}

// copied waits until the state file reports a number of copied items, and returns the actual number.
func (c *command) copied(t *testing.T, r *run, least int) int {
	t.Helper()
	deadline, tick := time.NewTimer(wait), time.NewTicker(5*time.Millisecond)
	defer deadline.Stop()
	defer tick.Stop()
	for {
		var state struct {
			Tables []struct{ Segments []struct{ Items int } }
		}
		n := 0
		if data, err := os.ReadFile(c.state); err == nil {
			if err := json.Unmarshal(data, &state); err != nil {
				t.Fatal(err)
			}
			for _, table := range state.Tables {
				for _, s := range table.Segments {
					n += s.Items
				}
			}
		}
		if n >= least {
			return n
		}
		select {
		case <-tick.C:
		case <-r.exited:
			t.Fatal("the copy ended before it had copied items")
		case <-deadline.C:
			t.Fatalf("no items are copied after %v", wait)
		}
	}
}
