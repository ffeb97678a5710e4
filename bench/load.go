//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/monotable/monotable/internal/loadgen"
)

// measurement is the result of one workload against one server, or several that share a store.
type measurement struct {
	opsPerSecond         float64 // without rejected ones
	mean, p50, p99, p999 time.Duration
	longest              time.Duration
	cpuPerOp             time.Duration
	allocations, written float64   // of the server per request, and the bytes that it wrote to its disk; 0 for servers without metrics
	conflicts            float64   // share of the requests that got TransactionConflict
	perOp                []float64 // the increase of each gauge per request
}

// gauge reads a count that only increases.
type gauge func() (float64, error)

// freshFrom gives every run its own numbers for new items, above all preloaded ones.
var freshFrom atomic.Int64

// freshPerRun is more than a run can use.
const freshPerRun = 5_000_000

// demand is the load on servers: the number of connections, the duration, and, in an open loop, the rate.
type demand struct {
	connections int
	duration    time.Duration
	rate        float64 // requests due per second; 0 means a closed loop
}

// measure sends a workload's requests on connections that are spread evenly over the servers.
func measure(ctx context.Context, servers []*server, w workload, d demand, items int, gauges ...gauge) (measurement, error) {
	warmUp := min(d.duration/5, time.Second)
	if !w.writes() {
		warmUp = min(d.duration, 2*time.Second) // compactions that reads cause begin after some hundred MB
	}
	workers, err := connect(ctx, servers, w, d.connections, items, int(servers[0].fastest()*(warmUp+d.duration).Seconds()))
	defer func() {
		for _, worker := range workers {
			_ = worker.connection.Close()
		}
	}()
	if err != nil {
		return measurement{}, err
	}
	if _, err := loadgen.Run(ctx, workers, loadgen.Options{Duration: warmUp}); err != nil { // warm up
		return measurement{}, err
	}
	for _, worker := range workers {
		worker.conflicts = 0
	}
	if !w.writes() {
		for _, s := range servers {
			s.settle(ctx, false)
		}
	}
	gauges = append([]gauge{
		func() (float64, error) { return float64(cpuOf(servers)), nil },
		metricOf(servers, "go_memstats_mallocs_total"),
		metricOf(servers, `monotable_written_bytes_total{to="log"}`),
		metricOf(servers, `monotable_written_bytes_total{to="tables"}`),
	}, gauges...)
	before, err := readAll(gauges)
	if err != nil {
		return measurement{}, err
	}
	done, err := loadgen.Run(ctx, workers, loadgen.Options{Duration: d.duration, Rate: d.rate, Sleep: sleepExactly})
	if err != nil {
		return measurement{}, err
	}
	for _, s := range servers {
		s.settle(ctx, w.writes())
	}
	after, err := readAll(gauges)
	if err != nil {
		return measurement{}, err
	}
	conflicts := 0
	for _, worker := range workers {
		conflicts += worker.conflicts
	}
	requests := float64(done.Requests)
	m := measurement{
		opsPerSecond: (requests - float64(conflicts)) / done.Elapsed.Seconds(),
		mean:         done.Mean(), p50: done.Percentile(50), p99: done.Percentile(99), p999: done.Percentile(99.9), longest: done.Max(),
		conflicts: float64(conflicts) / requests,
	}
	for i := range gauges {
		m.perOp = append(m.perOp, (after[i]-before[i])/requests)
	}
	m.cpuPerOp, m.allocations, m.written, m.perOp = time.Duration(m.perOp[0]), m.perOp[1], m.perOp[2]+m.perOp[3], m.perOp[4:]
	return m, nil
}

// connect opens the connections of a run, each with its own requests, and stores the items that the run will use up.
func connect(ctx context.Context, servers []*server, w workload, n, items, consumed int) (workers []*worker, err error) {
	t := w.body(items)
	base := int(freshFrom.Add(freshPerRun)) + items
	if w.consumes && !servers[0].echo {
		if err := store(ctx, servers[0], items1K(base+n, base+n+consumed)); err != nil {
			return nil, err
		}
		servers[0].settle(ctx, true)
	}
	for i := range n {
		s := servers[i%len(servers)]
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.addr)
		if err != nil {
			return workers, err
		}
		workers = append(workers, newWorker(connection, s, w, t, &filler{
			random: rand.New(rand.NewPCG(uint64(i), uint64(base))), connection: i, connections: n, next: base + i,
		}))
	}
	return workers, nil
}

// metricOf is the sum of a metric over servers, without those that have no metrics.
func metricOf(servers []*server, name string) gauge {
	return func() (sum float64, err error) {
		for _, s := range servers {
			if s.metrics == "" {
				continue
			}
			value, failure := s.metric(name)
			if !errors.Is(failure, errNoMetric) { // a server over PostgreSQL writes nothing itself
				sum, err = sum+value, errors.Join(err, failure)
			}
		}
		return sum, err
	}
}

func readAll(gauges []gauge) (values []float64, err error) {
	for _, g := range gauges {
		value, failure := g()
		values, err = append(values, value), errors.Join(err, failure)
	}
	return values, err
}

func cpuOf(servers []*server) (sum time.Duration) {
	for _, s := range servers {
		sum += s.cpu()
	}
	return sum
}

// worker is one connection.
type worker struct {
	connection net.Conn
	reader     *bufio.Reader
	request    []byte // headers and body
	body       []byte // the part of request after the headers
	signer     *signer
	signature  []byte // the part of the headers for the signature
	slots      []slot
	filler     *filler
	contended  bool // requests may conflict with transactions of other connections
	conflicts  int  // number of conflicts
}

func newWorker(connection net.Conn, s *server, w workload, t template, f *filler) *worker {
	target := "DynamoDB_20120810." + w.target
	head := fmt.Sprintf("POST / HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-amz-json-1.0\r\n"+
		"X-Amz-Target: %s\r\nX-Amz-Date: %s\r\nContent-Length: %d\r\nAuthorization: %s", s.addr, target, signedAt, len(t.body), authorization)
	signature := len(head)
	head += unsigned + "\r\n"
	if s.echo {
		head += "X-Echo-Bytes: " + strconv.Itoa(w.echoBytes) + "\r\n"
		head += "X-Echo-Entries: " + strconv.Itoa(w.entries) + "\r\nX-Echo-Store: " + w.storeWork() + "\r\n"
	}
	request := append([]byte(head+"\r\n"), t.body...)
	return &worker{
		connection: connection, reader: bufio.NewReaderSize(connection, 64<<10),
		request: request, body: request[len(request)-len(t.body):], slots: t.slots, filler: f,
		signer: newSigner(s.addr, target), signature: request[signature : signature+len(unsigned)], contended: w.contended,
	}
}

// Prepare fills in and signs the next request.
func (w *worker) Prepare(ctx context.Context) error {
	w.filler.fill(w.body, w.slots)
	w.signer.sign(w.signature, w.body)
	return ctx.Err()
}

// Send sends the request and reads its response.
func (w *worker) Send(context.Context) error {
	if _, err := w.connection.Write(w.request); err != nil {
		return err
	}
	err := readResponse(w.reader)
	if w.contended && errors.Is(err, errConflict) {
		w.conflicts++
		return nil
	}
	return err
}

// errConflict is the error of a request that conflicted with a transaction.
var errConflict = errors.New("TransactionConflict")

// readResponse reads one HTTP response and discards its body; any status but 200 is an error.
func readResponse(r *bufio.Reader) error {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	ok := bytes.HasPrefix(line, []byte("HTTP/1.1 200"))
	length, chunked := 0, false
	for {
		line, err = r.ReadSlice('\n')
		if err != nil {
			return err
		}
		name, value, found := bytes.Cut(bytes.TrimSpace(line), []byte(":"))
		if !found {
			break
		}
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		}
	}
	if !ok {
		return refusal(r, length)
	}
	if chunked {
		return discardChunks(r)
	}
	_, err = r.Discard(length)
	return err
}

// refusal reads the body of an error response, and returns it as an error.
func refusal(r *bufio.Reader, length int) error {
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return err
	}
	if bytes.Contains(body, []byte(errConflict.Error())) {
		return errConflict
	}
	return fmt.Errorf("refused: %.500s", body)
}

func discardChunks(r *bufio.Reader) error {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, r, size+2); err != nil {
			return err
		}
		if size == 0 {
			return nil
		}
	}
}
