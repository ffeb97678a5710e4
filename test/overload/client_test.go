package overload

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	otherClients = 8
	otherPace    = 10 * time.Millisecond // from the start of one request of a client to the start of the next
	otherItems   = 1000
	pageItems    = 12 // of 100 KB each: a page ends with the eleventh
	wideIndexes  = 20
)

// client calls the server without an SDK, whose retries would hide what the server does.
type client struct {
	endpoint string
	address  string
	http     *http.Client
}

func clientOf(endpoint string) *client {
	return &client{
		endpoint: endpoint, address: strings.TrimPrefix(endpoint, "http://"),
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
}

var errorCode = regexp.MustCompile(`"__type":"[^"#]*#(\w+)"`)

// call returns the status and, for an error, its code.
func (c *client) call(ctx context.Context, through *http.Client, operation, body string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	response, err := through.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	status := fmt.Sprint(response.StatusCode)
	if code := errorCode.FindSubmatch(text); code != nil {
		status += " " + string(code[1])
	}
	return status, nil
}

func (c *client) must(t *testing.T, operation, body string) {
	t.Helper()
	if status, err := c.call(t.Context(), c.http, operation, body); err != nil || status != "200" {
		t.Fatalf("%s %.200s: %s, %v", operation, body, status, err)
	}
}

func (c *client) createTables(t *testing.T) {
	t.Helper()
	const table = `{"TableName":%q,"BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},` +
		`{"AttributeName":"sk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]%s}`
	c.must(t, "CreateTable", fmt.Sprintf(table, "other", ""))
	c.must(t, "CreateTable", fmt.Sprintf(table, "pages", ""))
	var indexes []string
	for i := range wideIndexes {
		indexes = append(indexes, fmt.Sprintf(`{"IndexName":"all%02d","Projection":{"ProjectionType":"ALL"},`+
			`"KeySchema":[{"AttributeName":"sk","KeyType":"HASH"},{"AttributeName":"pk","KeyType":"RANGE"}]}`, i))
	}
	c.must(t, "CreateTable", fmt.Sprintf(table, "wide", `,"GlobalSecondaryIndexes":[`+strings.Join(indexes, ",")+"]"))
	for i := range pageItems {
		c.must(t, "PutItem", put("pages", "p", fmt.Sprint(i), 100<<10))
	}
	for i := range otherItems {
		c.must(t, "PutItem", put("other", fmt.Sprint(i), "a", 400))
	}
}

func put(table, pk, sk string, size int) string {
	return fmt.Sprintf(`{"TableName":%q,"Item":{"pk":{"S":%q},"sk":{"S":%q},"text":{"S":%q}}}`, table, pk, sk, padded(size))
}

// others lets a few clients read and write small items at a steady pace.
func (c *client) others(ctx context.Context, lasts time.Duration, counts *tally) figures {
	var (
		mu        sync.Mutex
		latencies = map[string][]time.Duration{} // by operation
		failed    int
		clients   sync.WaitGroup
	)
	end := time.Now().Add(lasts)
	for n := range otherClients {
		clients.Go(func() {
			pace := time.NewTicker(otherPace)
			defer pace.Stop()
			for i := n; time.Now().Before(end); i += otherClients {
				pk := fmt.Sprint(i % otherItems)
				operation, body := "GetItem", fmt.Sprintf(`{"TableName":"other","Key":{"pk":{"S":%q},"sk":{"S":"a"}}}`, pk)
				switch (i / otherClients) % 4 {
				case 0:
					operation, body = "PutItem", put("other", pk, "a", 400)
				case 1:
					operation, body = "Query", fmt.Sprintf(`{"TableName":"other","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":%q}}}`, pk)
				}
				start := time.Now()
				status, err := c.call(ctx, c.http, operation, body)
				took := time.Since(start)
				mu.Lock()
				if latencies[operation] = append(latencies[operation], took); err != nil || status != "200" {
					failed++
					counts.add("other clients", fmt.Sprint(status, " ", err))
				}
				mu.Unlock()
				<-pace.C
			}
		})
	}
	clients.Wait()
	return figuresOf(latencies, failed)
}

// tally counts what happened to the load, by kind.
type tally struct {
	mu sync.Mutex
	of map[string]map[string]int
}

func newTally() *tally { return &tally{of: map[string]map[string]int{}} }

func (c *tally) add(kind, met string) { c.addMany(kind, met, 1) }

func (c *tally) addMany(kind, met string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[kind] == nil {
		c.of[kind] = map[string]int{}
	}
	c.of[kind][met] += n
}

func (c *tally) met(kind, response string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[kind][response] > 0
}

// String has one line per kind.
func (c *tally) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(c.of)) {
		fmt.Fprintf(&b, "  %-22s %v\n", kind, c.of[kind])
	}
	return b.String()
}

// dial opens a connection that is closed when ctx ends.
func (c *client) dial(ctx context.Context) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", c.address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	return conn, nil
}
