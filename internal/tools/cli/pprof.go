package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
)

// servePprof serves the profiles of this process at addr, on a listener of their own: whoever may ask the
// database need not see its memory. It returns what ends it, nil where addr is "".
func servePprof(ctx context.Context, addr string, logger *slog.Logger) (stop func() error, err error) {
	if addr == "" {
		return func() error { return nil }, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s for --pprof: %w", addr, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	s := &http.Server{Handler: mux, ReadHeaderTimeout: pprofHeaderTimeout}
	go func() {
		if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			logger.Warn("profiles are no longer served", "error", err)
		}
	}()
	logger.Info("serving profiles", "url", "http://"+listener.Addr().String()+"/debug/pprof/")
	return s.Close, nil
}
