package overload

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// The kinds of load.
const (
	senderKind      = "slow sender"
	readerKind      = "slow reader"
	streamKind      = "HTTP/2 stream"
	transactionKind = "transaction of 4 MB"
	largeKind       = "transaction of 16 MB"
	oversizedKind   = "transaction of 40 MB"
)

const (
	senderBytes = 16 << 20
	// A sender sends a part at each interval: the faster ones just fast enough not to be disconnected.
	senderBeat           = 250 * time.Millisecond
	slowPart, steadyPart = 4 << 10, 24 << 10

	streamsPerConnection = 100
	transactionItems     = 100
	retryWait            = time.Second // on average
)

// attack starts the load, which runs until ctx ends. ended waits for that.
func (c *client) attack(ctx context.Context, l load, counts *tally) (ended func()) {
	var all sync.WaitGroup
	repeat := func(n int, kind string, once func(i int) (string, error)) {
		for i := range n {
			all.Go(func() {
				for ctx.Err() == nil {
					met, err := once(i)
					if ctx.Err() != nil {
						return
					}
					if err != nil {
						met = "connection ends"
					}
					counts.add(kind, met)
					if met != "200" {
						pause(ctx, rand.N(2*retryWait)) // like SDKs: not all at the same time
					}
				}
			})
		}
	}
	filler := padded(steadyPart)
	repeat(l.Senders, senderKind, func(i int) (string, error) { return c.sendSlowly(ctx, filler[:[]int{slowPart, steadyPart}[i%2]]) })
	repeat(l.Readers, readerKind, func(int) (string, error) { return c.readSlowly(ctx) })
	for range (l.Streams + streamsPerConnection - 1) / streamsPerConnection {
		h2 := unencryptedHTTP2()
		context.AfterFunc(ctx, h2.CloseIdleConnections)
		repeat(min(l.Streams, streamsPerConnection), streamKind, func(int) (string, error) {
			return c.call(ctx, h2, "Query", queryPage)
		})
	}
	large, oversized := transaction(0, 40, 390<<10), transaction(0, transactionItems, 390<<10)
	for i := range l.Transactions {
		// Alternating, so that each one changes all items.
		bodies := [...]string{transaction(i, transactionItems, 40<<10), transaction(i, transactionItems, 40<<10-1)}
		n := 0
		repeat(1, transactionKind, func(int) (string, error) {
			n++
			return c.call(ctx, c.http, "TransactWriteItems", bodies[n%2])
		})
	}
	repeat(1, largeKind, func(int) (string, error) { return c.call(ctx, c.http, "TransactWriteItems", large) })
	repeat(l.Oversized, oversizedKind, func(int) (string, error) { return c.declare(ctx, "TransactWriteItems", len(oversized)) })
	return all.Wait
}

const queryPage = `{"TableName":"pages","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"p"}}}`

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func unencryptedHTTP2() *http.Client {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{Protocols: protocols}}
}

// transaction puts items of a size, for a single client, into the table with 20 indexes.
func transaction(client, items, size int) string {
	text := padded(size)
	var b strings.Builder
	b.WriteString(`{"TransactItems":[`)
	for i := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"Put":{"TableName":"wide","Item":{"pk":{"S":"%d/%d"},"sk":{"S":"s"},"text":{"S":%q}}}}`, client, i, text)
	}
	b.WriteString("]}")
	return b.String()
}

func header(operation string, length int) string {
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"+
		"X-Amz-Target: DynamoDB_20120810.%s\r\nContent-Length: %d\r\n\r\n", operation, length)
}

// sendSlowly sends a body in parts until it is complete or rejected.
func (c *client) sendSlowly(ctx context.Context, part string) (string, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	go func() {
		_, err := io.WriteString(conn, header("BatchWriteItem", senderBytes))
		for sent := 0; err == nil && sent+len(part) <= senderBytes && ctx.Err() == nil; sent += len(part) {
			_, err = io.WriteString(conn, part)
			pause(ctx, senderBeat)
		}
	}()
	return status(conn)
}

// readSlowly asks for pages of 1 MB and reads none of them.
func (c *client) readSlowly(ctx context.Context) (string, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4 << 10)
	}
	for ctx.Err() == nil {
		if _, err := io.WriteString(conn, header("Query", len(queryPage))+queryPage); err != nil {
			return "", err // the server does not wait forever
		}
		pause(ctx, time.Second)
	}
	return "", ctx.Err()
}

// declare announces a body that is too large and sends none of it.
func (c *client) declare(ctx context.Context, operation string, length int) (string, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, header(operation, length)); err != nil {
		return "", err
	}
	return status(conn)
}

// status returns the status of the first response on a connection.
func status(conn net.Conn) (string, error) {
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	met := fmt.Sprint(response.StatusCode)
	if code := errorCode.FindSubmatch(body); code != nil && response.StatusCode == http.StatusBadRequest {
		met += " " + string(code[1])
	}
	return met, nil
}
