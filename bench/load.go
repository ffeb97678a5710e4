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
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// measurement is one workload against one server, or several that share a store, for a while.
type measurement struct {
	opsPerSecond float64 // without those that were refused
	p50, p99     time.Duration
	cpuPerOp     time.Duration
	conflicts    float64   // share of the requests that got TransactionConflict
	perOp        []float64 // what each of the gauges went on by, for each request
}

// gauge is a count that only goes on.
type gauge func() (float64, error)

// freshFrom gives every run numbers of its own for new items, above all preloaded ones.
var freshFrom atomic.Int64

// freshPerRun is more than a run can use.
const freshPerRun = 5_000_000

// measure runs a closed loop on each of n connections, which the servers share evenly.
func measure(ctx context.Context, servers []*server, w workload, n int, set settings, gauges ...gauge) (measurement, error) {
	t := w.body(set.items)
	base := int(freshFrom.Add(freshPerRun)) + set.items
	workers := make([]*worker, n)
	for i := range workers {
		s := servers[i%len(servers)]
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.addr)
		if err != nil {
			return measurement{}, err
		}
		defer connection.Close()
		workers[i] = newWorker(connection, s, w, t, &filler{
			random: rand.New(rand.NewPCG(uint64(i), uint64(base))), connection: i, connections: n, next: base + i,
		})
	}
	if err := runAll(workers, set.duration/5); err != nil { // warm up
		return measurement{}, err
	}
	for _, worker := range workers {
		worker.latencies, worker.conflicts = worker.latencies[:0], 0
	}
	gauges = append([]gauge{func() (float64, error) { return float64(cpuOf(servers)), nil }}, gauges...)
	before, err := readAll(gauges)
	begin := time.Now()
	err = errors.Join(err, runAll(workers, set.duration))
	elapsed := time.Since(begin)
	after, failure := readAll(gauges)
	var latencies []time.Duration
	conflicts := 0
	for _, worker := range workers {
		latencies = append(latencies, worker.latencies...)
		conflicts += worker.conflicts
	}
	if err = errors.Join(err, failure); err != nil || len(latencies) == 0 {
		return measurement{}, err
	}
	slices.Sort(latencies)
	requests := float64(len(latencies))
	m := measurement{
		opsPerSecond: (requests - float64(conflicts)) / elapsed.Seconds(),
		p50:          latencies[len(latencies)/2],
		p99:          latencies[len(latencies)*99/100],
		conflicts:    float64(conflicts) / requests,
	}
	for i := range gauges {
		m.perOp = append(m.perOp, (after[i]-before[i])/requests)
	}
	m.cpuPerOp, m.perOp = time.Duration(m.perOp[0]), m.perOp[1:]
	return m, nil
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

func runAll(workers []*worker, d time.Duration) error {
	var wg sync.WaitGroup
	errs := make([]error, len(workers))
	until := time.Now().Add(d)
	for i, w := range workers {
		wg.Go(func() { errs[i] = w.run(until) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// worker is one connection in a closed loop.
type worker struct {
	connection net.Conn
	reader     *bufio.Reader
	request    []byte // head and body
	body       []byte // the part of request behind the head
	signer     *signer
	signature  []byte // the part of the head that is to have it
	slots      []slot
	filler     *filler
	latencies  []time.Duration
	contended  bool // requests may meet transactions of other connections
	conflicts  int  // how many have
}

func newWorker(connection net.Conn, s *server, w workload, t template, f *filler) *worker {
	target := "DynamoDB_20120810." + w.target
	head := fmt.Sprintf("POST / HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-amz-json-1.0\r\n"+
		"X-Amz-Target: %s\r\nX-Amz-Date: %s\r\nContent-Length: %d\r\nAuthorization: %s", s.addr, target, signedAt, len(t.body), authorization)
	signature := len(head)
	head += unsigned + "\r\n"
	if s.echo {
		head += "X-Echo-Bytes: " + strconv.Itoa(w.echoBytes) + "\r\n"
	}
	request := append([]byte(head+"\r\n"), t.body...)
	return &worker{
		connection: connection, reader: bufio.NewReaderSize(connection, 64<<10),
		request: request, body: request[len(request)-len(t.body):], slots: t.slots, filler: f,
		signer: newSigner(s.addr, target), signature: request[signature : signature+len(unsigned)], contended: w.contended,
	}
}

func (w *worker) run(until time.Time) error {
	for {
		begin := time.Now()
		if begin.After(until) {
			return nil
		}
		w.filler.fill(w.body, w.slots)
		w.signer.sign(w.signature, w.body)
		if _, err := w.connection.Write(w.request); err != nil {
			return err
		}
		err := readAnswer(w.reader)
		if w.contended && errors.Is(err, errConflict) {
			w.conflicts++
		} else if err != nil {
			return err
		}
		w.latencies = append(w.latencies, time.Since(begin))
	}
}

// errConflict is the error of a request that met a transaction.
var errConflict = errors.New("TransactionConflict")

// readAnswer reads one HTTP answer and discards its body; any status but 200 is an error.
func readAnswer(r *bufio.Reader) error {
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

// refusal reads the body of an answer that is an error, and returns it as one.
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
