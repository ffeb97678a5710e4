//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// serveEcho is the minimum that a net/http server can do for a request: read it, and respond with the requested number of bytes.
// It is an upper bound for any server on net/http. With a directory as second argument it also does the least that a database on
// our store would do: see echoStore.
func serveEcho(args []string) error {
	filler := bytes.Repeat([]byte("e"), 1<<20)
	work := func(r *http.Request) ([]byte, error) {
		_, err := io.Copy(io.Discard, r.Body)
		return filler, err
	}
	if len(args) > 1 {
		store, err := openEchoStore(args[1])
		if err != nil {
			return err
		}
		work = func(r *http.Request) ([]byte, error) { return store.work(r, filler) }
	}
	s := &http.Server{
		Addr:              args[0],
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			response, err := work(r)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			size, err := strconv.Atoi(r.Header.Get("X-Echo-Bytes"))
			if err != nil || size < 0 || size > len(response) {
				size = 2
			}
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			w.Header().Set("Content-Length", strconv.Itoa(size))
			_, _ = w.Write(response[:size])
		}),
	}
	return s.ListenAndServe()
}

// echoStore is a store of entries of 1 KB with random keys. A request writes, deletes or reads as many of them as its header says,
// without looking at what a write replaces: about the most that a database on net/http and this store can reach. It is no strict
// bound, because the keys and the history of the two stores differ. Writes are durable before the response.
type echoStore struct{ store kv.Store }

const (
	echoKeys  = 60_000 // 20,000 items with two index entries each
	echoValue = 1024
)

func openEchoStore(dir string) (echoStore, error) {
	store, err := pebblekv.Open(dir, pebblekv.Options{})
	if err != nil {
		return echoStore{}, err
	}
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))) // as monotable does while it writes
	const batch = 1000
	for n := range echoKeys / batch {
		keys := make([][]byte, batch)
		for i := range keys {
			keys[i] = echoKey(n*batch + i)
		}
		if err := (echoStore{store}).write(context.Background(), keys, make([]byte, echoValue)); err != nil {
			return echoStore{}, err
		}
	}
	return echoStore{store}, nil
}

// echoKey returns a key as long as those of items, with a number's digits swapped so that consecutive numbers are not neighbors.
func echoKey(number int) []byte {
	const length = 24
	key := make([]byte, length)
	binary.LittleEndian.PutUint64(key, uint64(number)) //nolint:gosec // it is positive
	return key
}

// work does what a request asks for, and returns what to respond with.
func (s echoStore) work(r *http.Request, filler []byte) ([]byte, error) {
	body := make([]byte, max(echoValue, r.ContentLength))
	if _, err := io.ReadFull(r.Body, body[:max(0, r.ContentLength)]); err != nil {
		return nil, err
	}
	entries, err := strconv.Atoi(r.Header.Get("X-Echo-Entries"))
	if err != nil {
		return nil, err
	}
	ctx := context.WithoutCancel(r.Context()) // the context of net/http would cost more than what it cancels
	switch how := r.Header.Get("X-Echo-Store"); how {
	case "read":
		return s.read(ctx, entries)
	case "write", "delete":
		keys := make([][]byte, entries)
		for i := range keys {
			keys[i] = echoKey(rand.IntN(echoKeys)) //nolint:gosec // a load
		}
		value := body[:echoValue]
		if how == "delete" {
			value = nil
		}
		return filler, s.write(ctx, keys, value)
	default:
		return nil, fmt.Errorf("X-Echo-Store is %q", how)
	}
}

// write sets the keys, or deletes them if the value is nil.
func (s echoStore) write(ctx context.Context, keys [][]byte, value []byte) error {
	return s.store.Update(ctx, kv.Intent{Write: keys}, func(t kv.Txn) error {
		for _, key := range keys {
			if value == nil {
				t.Delete(key)
			} else {
				t.Set(key, value)
			}
		}
		return nil
	})
}

// read copies entries from a random position on.
func (s echoStore) read(ctx context.Context, entries int) (response []byte, err error) {
	it, err := s.store.Iter(ctx, echoKey(rand.IntN(echoKeys)), nil, kv.IterOptions{Limit: entries}) //nolint:gosec // a load
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	response = make([]byte, 0, entries*echoValue)
	for range entries {
		if !it.Next() {
			break
		}
		response = append(response, it.Value()...)
	}
	return response, it.Err()
}
