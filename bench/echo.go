package main

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"time"
)

// serveEcho is the minimum that a net/http server can do for a request: read it, and respond with the requested number of bytes.
// It is an upper bound for any server on net/http.
func serveEcho(args []string) error {
	filler := bytes.Repeat([]byte("e"), 1<<20)
	s := &http.Server{
		Addr:              args[0],
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			size, err := strconv.Atoi(r.Header.Get("X-Echo-Bytes"))
			if err != nil || size < 0 || size > len(filler) {
				size = 2
			}
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			w.Header().Set("Content-Length", strconv.Itoa(size))
			_, _ = w.Write(filler[:size])
		}),
	}
	return s.ListenAndServe()
}
