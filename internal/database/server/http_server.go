package server

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/monotable/monotable/internal/database/server/http1"
)

// Limits of connections. AWS's limit on the header block is 16 KB; net/http includes the request line and allows 4 KB more than
// the given limit.
const (
	headerMax         = 16<<10 - 4<<10
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 2 * time.Minute
	// writeTimeout applies to responses that fit into a connection's buffers; larger ones set their own.
	writeTimeout = 3 * time.Minute
	idleTimeout  = 3 * time.Minute

	// Limits of an HTTP/2 connection: concurrent requests, and the data it may send before they read it. Go's defaults, 250 and 1
	// MB, are meant for fewer connections.
	streamsMax          = 100
	connectionBufferMax = 256 << 10
	streamBufferMax     = 64 << 10
	frameMax            = 16 << 10
	unwritableTimeout   = 30 * time.Second
)

// HTTPServer returns a server for the handler with the API's limits, for HTTP/1.1 and HTTP/2, with and without TLS. The caller
// provides a listener and, for TLS, sets the TLSConfig of its HTTP().
func HTTPServer(handler http.Handler, logger *slog.Logger) *http1.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return http1.New(&http.Server{
		Handler:           handler,
		Protocols:         protocols,
		MaxHeaderBytes:    headerMax,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		ConnContext:       markSurplus,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          streamsMax,
			MaxReadFrameSize:              frameMax,
			MaxReceiveBufferPerConnection: connectionBufferMax,
			MaxReceiveBufferPerStream:     streamBufferMax,
			WriteByteTimeout:              unwritableTimeout,
		},
		// net/http's complaints are about clients.
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	})
}
