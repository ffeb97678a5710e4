package main

import (
	"bufio"
	"bytes"
	"context"
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

// measurement is one workload against one server for a while.
type measurement struct {
	opsPerSecond float64
	p99          time.Duration
	cpuPerOp     time.Duration
}

// freshFrom gives every run numbers of its own for new items, above all preloaded ones.
var freshFrom atomic.Int64

// freshPerRun is more than a run can use.
const freshPerRun = 20_000_000

// measure runs a closed loop on each of n connections.
func measure(ctx context.Context, s *server, w workload, n int, set settings) (measurement, error) {
	t := w.body(set.items)
	base := int(freshFrom.Add(freshPerRun)) + set.items
	workers := make([]*worker, n)
	for i := range workers {
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
		worker.latencies = worker.latencies[:0]
	}
	cpu, begin := s.cpu(), time.Now()
	err := runAll(workers, set.duration)
	elapsed, cpu := time.Since(begin), s.cpu()-cpu
	var latencies []time.Duration
	for _, worker := range workers {
		latencies = append(latencies, worker.latencies...)
	}
	if err != nil || len(latencies) == 0 {
		return measurement{}, err
	}
	slices.Sort(latencies)
	return measurement{
		opsPerSecond: float64(len(latencies)) / elapsed.Seconds(),
		p99:          latencies[len(latencies)*99/100],
		cpuPerOp:     cpu / time.Duration(len(latencies)),
	}, nil
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
		signer: newSigner(s.addr, target), signature: request[signature : signature+len(unsigned)],
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
		if err := readAnswer(w.reader); err != nil {
			return err
		}
		w.latencies = append(w.latencies, time.Since(begin))
	}
}

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
		body, err := r.Peek(min(length, 500))
		return fmt.Errorf("refused: %s (%w)", body, err)
	}
	if chunked {
		return discardChunks(r)
	}
	_, err = r.Discard(length)
	return err
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
