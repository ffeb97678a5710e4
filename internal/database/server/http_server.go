package server

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/monotable/monotable/internal/database/server/http1"
)

// Limits of connections. AWS's limit on the header block is 16 KB; net/http counts the request line with it
// and allows 4 KB beyond the limit that it is given.
const (
	headerMax         = 16<<10 - 4<<10
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 2 * time.Minute
	// writeTimeout is for responses that fit into the buffers of a connection; larger ones set their own.
	writeTimeout = 3 * time.Minute
	idleTimeout  = 3 * time.Minute

	// Limits of an HTTP/2 connection: requests at once, and what it may send before they read it. Go's defaults, 250 and
	// 1 MB, are for fewer connections.
	streamsMax          = 100
	connectionBufferMax = 256 << 10
	streamBufferMax     = 64 << 10
	frameMax            = 16 << 10
	unwritableTimeout   = 30 * time.Second
)

// HTTPServer returns a server for the handler with the API's limits, for HTTP/1.1 and HTTP/2, with and
// without TLS. The caller gives it a listener, and its HTTP() a TLSConfig if it is to speak TLS.
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
		// What net/http complains about is the doing of clients.
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	})
}
