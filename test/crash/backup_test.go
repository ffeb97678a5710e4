package crash

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/test/internal/ledger"
	"github.com/monotable/monotable/test/internal/serverproc"
)

// copies is a test of the commands that copy data directories. Its table is filled one item after the other, so the number of
// items in a copy shows the time of the copy.
type copies struct {
	binary string
	random *rand.Rand
	dir    string // the data
	dest   string // destination of the current copy
	acked  atomic.Int64
}

func newCopies(t *testing.T) *copies {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	c := &copies{
		binary: serverproc.Build(t), random: rand.New(rand.NewPCG(seed, 0)),
		dir: filepath.Join(t.TempDir(), "data"), dest: filepath.Join(t.TempDir(), "copy"),
	}
	server := c.serve(t)
	client := connect(server)
	createTable(t, client)
	for range 60 {
		c.putMany(t, client, 25)
	}
	server.Stop(t)
	return c
}

func (c *copies) serve(t *testing.T) *serverproc.Server {
	t.Helper()
	return serverproc.Start(t, c.binary, "--data", c.dir, "--log-level", "warn")
}

// putMany puts the next items in one request.
func (c *copies) putMany(t *testing.T, client *dynamodb.Client, n int) {
	t.Helper()
	requests := make([]types.WriteRequest, n)
	for i := range requests {
		requests[i].PutRequest = &types.PutRequest{Item: numbered(c.acked.Load() + int64(i))}
	}
	out, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
		RequestItems: map[string][]types.WriteRequest{tableName: requests},
	})
	if err != nil || len(out.UnprocessedItems) > 0 {
		t.Fatalf("put: %v, %d unprocessed", err, len(out.UnprocessedItems))
	}
	c.acked.Add(int64(n))
}

// numbered returns item n, which has a few incompressible kilobytes.
func numbered(n int64) attributes {
	it := ledger.Item("n#"+strconv.FormatInt(n, 10), int(n))
	filler := make([]byte, 4096)
	random := rand.New(rand.NewPCG(uint64(n), 0))
	for i := range filler {
		filler[i] = byte(random.Uint32())
	}
	it["filler"] = &types.AttributeValueMemberB{Value: filler}
	return it
}

// putOn puts one item after the other until ctx ends or the server has exited.
func (c *copies) putOn(ctx context.Context, client *dynamodb.Client) {
	for {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: numbered(c.acked.Load())})
		if err != nil {
			return
		}
		c.acked.Add(1)
	}
}

// run runs a command of the tool until it exits.
func (c *copies) run(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), c.binary, args...).CombinedOutput()
	return string(out), err
}

// moment returns how long to wait before the kill: up to the duration of the undisturbed command.
func (c *copies) moment(t *testing.T, args ...string) <-chan time.Time {
	t.Helper()
	begun := time.Now()
	if output, err := c.run(t, args...); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, output)
	}
	took := time.Since(begun)
	if err := os.RemoveAll(c.dest); err != nil {
		t.Fatal(err)
	}
	return time.After(time.Duration(c.random.Int64N(int64(took))))
}

// start starts a command of the tool. ended returns its error.
func (c *copies) start(t *testing.T, args ...string) (tool *exec.Cmd, ended <-chan error) {
	t.Helper()
	tool = exec.CommandContext(t.Context(), c.binary, args...)
	if err := tool.Start(); err != nil {
		t.Fatal(err)
	}
	end := make(chan error, 1)
	go func() { end <- tool.Wait() }()
	return tool, end
}

// outcome checks the result of a copy: nothing, something that every command rejects, or a complete copy with a minimum number of
// items. It removes the copy.
func (c *copies) outcome(t *testing.T, least int64) string {
	t.Helper()
	defer os.RemoveAll(c.dest)
	if _, err := os.Stat(c.dest); errors.Is(err, fs.ErrNotExist) {
		return "nothing"
	}
	output, err := c.run(t, "verify", c.dest)
	if err != nil {
		if !strings.Contains(output, "incomplete copy") && !strings.Contains(output, "no database") {
			t.Errorf("half a copy is not refused as one: %s", output)
		}
		if _, err := c.run(t, "stats", c.dest); err == nil {
			t.Error("half a copy has statistics")
		}
		return "refused"
	}
	if n := c.count(t, c.dest); n < least || n > c.acked.Load()+1 {
		t.Errorf("the copy has %d items, want %d to %d", n, least, c.acked.Load()+1)
	}
	return "complete"
}

// count returns the number of items in a directory.
func (c *copies) count(t *testing.T, dir string) int64 {
	t.Helper()
	output, err := c.run(t, "stats", dir, "--json")
	if err != nil {
		t.Fatalf("stats: %v\n%s", err, output)
	}
	var stats struct{ Total struct{ Rows int64 } }
	if err := json.Unmarshal([]byte(output), &stats); err != nil {
		t.Fatal(err)
	}
	return stats.Total.Rows
}

// TestBackupWhileWriting: a backup shows one moment during its creation, and contains everything acknowledged before it started.
func TestBackupWhileWriting(t *testing.T) {
	c := newCopies(t)
	server := c.serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	written := make(chan struct{})
	go func() { defer close(written); c.putOn(ctx, connect(server)) }()
	for range (*killsFlag + 1) / 2 {
		before := c.acked.Load()
		if output, err := c.run(t, "backup", c.dir, c.dest); err != nil {
			t.Fatalf("backup: %v\n%s", err, output)
		}
		if got := c.outcome(t, before); got != "complete" {
			t.Errorf("the backup is %s", got)
		}
	}
	cancel()
	<-written
	server.Stop(t)
	verify(t, c.binary, c.dir)
}

// TestKillServerDuringBackup kills the server while it creates a backup.
func TestKillServerDuringBackup(t *testing.T) {
	c := newCopies(t)
	for round := range *killsFlag {
		server := c.serve(t)
		written := make(chan struct{})
		moment := c.moment(t, "backup", c.dir, c.dest)
		go func() { defer close(written); c.putOn(t.Context(), connect(server)) }()
		before := c.acked.Load()
		_, ended := c.start(t, "backup", c.dir, c.dest)
		<-moment
		server.Kill(t)
		err := <-ended
		<-written
		left := c.outcome(t, before)
		t.Logf("kill %d: the tool ends with %v, left is: %s", round+1, err, left)
		if err == nil && left != "complete" {
			t.Error("the tool reports success")
		}
		verify(t, c.binary, c.dir)
		if n := c.count(t, c.dir); n < c.acked.Load() || n > c.acked.Load()+1 {
			t.Errorf("the directory has %d items, want %d", n, c.acked.Load())
		}
		c.acked.Store(c.count(t, c.dir))
	}
}

// TestKillTool kills the command during a backup by the server, a backup by the command itself, and a restore.
func TestKillTool(t *testing.T) {
	c := newCopies(t)
	backup := filepath.Join(t.TempDir(), "backup")
	if output, err := c.run(t, "backup", c.dir, backup); err != nil {
		t.Fatalf("backup: %v\n%s", err, output)
	}
	for _, test := range []struct {
		name   string
		args   []string
		served bool
	}{
		{"served backup", []string{"backup", c.dir, c.dest}, true},
		{"backup", []string{"backup", c.dir, c.dest}, false},
		{"restore", []string{"restore", backup, c.dest}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			for round := range (*killsFlag + 1) / 2 {
				var server *serverproc.Server
				if test.served {
					server = c.serve(t)
				}
				moment := c.moment(t, test.args...)
				tool, ended := c.start(t, test.args...)
				<-moment
				_ = tool.Process.Kill() // it may already have ended
				err := <-ended
				if test.served {
					server.Stop(t) // ends the rest of the backup
				}
				left := c.outcome(t, c.acked.Load())
				t.Logf("kill %d: %v, left is: %s", round+1, err, left)
				if test.served && left == "refused" || err == nil && left != "complete" {
					t.Errorf("left is %s, after %v", left, err)
				}
				verify(t, c.binary, c.dir)
				verify(t, c.binary, backup)
			}
		})
	}
}
