package cli

import (
	"net/http"
	"net/http/pprof"

	"github.com/monotable/monotable/internal/httpguard"
)

// profiles serves the profiles of this process. They include its command line, which may contain a password.
func profiles(guard *httpguard.Guard) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return guarded(guard, mux)
}
