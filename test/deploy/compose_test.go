package deploy

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// patience limits waits for other processes.
const patience = time.Minute

// testCompose: the three servers of compose.yaml are replaced one after the other behind the proxy, as in an upgrade, while
// clients write through the proxy. With the SDK's retries, no write fails and none is lost. The proxy stops using a server that
// has crashed.
func testCompose(t *testing.T, binary string) {
	t.Helper()
	in := install(t, binary, composeManifest(t))
	var nodes []*node
	for range 3 {
		nodes = append(nodes, in.start(t, nil))
	}
	dial := proxy(t, nodes)
	client := in.client("https://monotable:8000", dial)
	waitFor(t, "the proxy knows a server", func() bool {
		_, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
		return err == nil
	})
	createItems(t, client)
	w := in.write(t, dial)
	for i, n := range nodes {
		w.advance(t)
		n.Signal(t, syscall.SIGTERM)
		if status, printed := n.Wait(t); status != 0 {
			t.Fatalf("a server that was told to stop ended with status %d:\n%s", status, printed)
		}
		w.advance(t)
		nodes[i] = in.start(t, n)
		waitFor(t, "the proxy uses the new server", func() bool {
			_, err := in.client("https://monotable:8000", dial).ListTables(t.Context(), &dynamodb.ListTablesInput{})
			_, text := nodes[i].get(t, "/metrics")
			return err == nil && !strings.Contains(text, "\nmonotable_connections_total 0\n")
		})
	}
	nodes[0].Kill(t)
	w.advance(t)
	w.stop(t, client)
}

// proxy runs HAProxy with deploy/haproxy.cfg, with other addresses for itself and the servers. dial connects to it.
func proxy(t *testing.T, nodes []*node) (dial func() (net.Conn, error)) {
	t.Helper()
	dir, err := os.MkdirTemp("", "proxy") //nolint:usetesting // the path of a socket is limited in length
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "api")
	config := replaceOnce(t, read(t, "haproxy.cfg"), "bind :8000", "bind unix@"+socket)
	config = replaceOnce(t, config, "timeout check 3s", "timeout check 30s") // the machine may be slow
	for i, n := range nodes {
		config = replaceOnce(t, config, fmt.Sprintf(" monotable-%d:8000", i+1), fmt.Sprintf(" 127.0.0.1:%d check port %d", n.api, n.metrics))
	}
	if !regexp.MustCompile(`(?m)^ +default-server check port 9464 `).MatchString(config) {
		t.Errorf("the proxy does not ask the metrics' port")
	}
	file := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	cmd := exec.Command("/usr/sbin/haproxy", "-db", "-f", file) //nolint:noctx // it outlives the test's context, which ends before cleanups
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: test/setup installs it", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if _ = cmd.Wait(); t.Failed() {
			t.Logf("the proxy printed:\n%s", &printed)
		}
	})
	return func() (net.Conn, error) { return new(net.Dialer).DialContext(context.Background(), "unix", socket) }
}

func replaceOnce(t *testing.T, text, from, to string) string {
	t.Helper()
	if strings.Count(text, from) != 1 {
		t.Fatalf("%q occurs %d times", from, strings.Count(text, from))
	}
	return strings.Replace(text, from, to, 1)
}

func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); <-time.After(50 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatalf("%v later: not so: %s", patience, what)
		}
	}
}

func createItems(t *testing.T, c *dynamodb.Client) {
	t.Helper()
	_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("items"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeN}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// writers each write 1, 2, 3 … to separate items.
type writers struct {
	acknowledged [4]atomic.Int64
	ended        atomic.Bool
	all          sync.WaitGroup
}

func (in *installation) write(t *testing.T, dial func() (net.Conn, error)) *writers {
	t.Helper()
	w := &writers{}
	for i := range w.acknowledged {
		c := in.client("https://monotable:8000", dial)
		w.all.Go(func() {
			for n := int64(1); !w.ended.Load(); n++ {
				_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: map[string]types.AttributeValue{
					"pk": &types.AttributeValueMemberN{Value: fmt.Sprint(i)}, "n": &types.AttributeValueMemberN{Value: fmt.Sprint(n)},
				}})
				if err != nil {
					t.Errorf("writer %d, write %d: %v", i, n, err)
					return
				}
				w.acknowledged[i].Store(n)
			}
		})
	}
	return w
}

// advance waits until every writer has written again.
func (w *writers) advance(t *testing.T) {
	t.Helper()
	for i := range w.acknowledged {
		before := w.acknowledged[i].Load()
		waitFor(t, fmt.Sprintf("writer %d has written again", i), func() bool { return t.Failed() || w.acknowledged[i].Load() > before })
	}
}

// stop stops the writers, and compares the items with the acknowledged writes.
func (w *writers) stop(t *testing.T, c *dynamodb.Client) {
	t.Helper()
	w.ended.Store(true)
	w.all.Wait()
	for i := range w.acknowledged {
		out, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: aws.String("items"), ConsistentRead: aws.Bool(true), Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberN{Value: fmt.Sprint(i)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := out.Item["n"].(*types.AttributeValueMemberN)
		if last := w.acknowledged[i].Load(); got == nil || got.Value != fmt.Sprint(last) {
			t.Errorf("writer %d: %d was acknowledged last, and there is %v", i, last, out.Item)
		}
	}
}
