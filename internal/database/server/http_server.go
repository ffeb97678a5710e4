package server

import (
	"log/slog"
	"net/http"
	"time"
)

// Limits of connections. AWS's limit on the header block is 16 KB; net/http counts the request line with it
// and allows 4 KB beyond the limit that it is given.
const (
	headerMax         = 16<<10 - 4<<10
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 2 * time.Minute
	idleTimeout       = 3 * time.Minute
)

// HTTPServer returns an http.Server for the handler with the API's limits, for HTTP/1.1 and HTTP/2, with and
// without TLS. The caller gives it a listener, and a TLSConfig if it is to speak TLS.
func HTTPServer(handler http.Handler, logger *slog.Logger) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           handler,
		Protocols:         protocols,
		MaxHeaderBytes:    headerMax,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		// What net/http complains about is the doing of clients.
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}
