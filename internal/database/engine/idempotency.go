package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// tokenLifetime is how long a ClientRequestToken is remembered after its request has succeeded.
const tokenLifetime = 10 * time.Minute

// token is the ClientRequestToken of a request that may have been sent before. A nil *token is a request
// without one.
//
// The record of a token is written in the transaction that it stands for, so it is there exactly if that
// has happened. Records are kept by windows of a lifetime's length:
//
//	key    keyenc.Token(window "/" token)
//	value  ┌────────────┬─────────────┐
//	       │ time       │ fingerprint │   milliseconds since the epoch, big endian; SHA-256 of the
//	       └────────────┴─────────────┘   request's content
//	         8 bytes      32 bytes
//
// A live record is in the window of now or the one before, and all older windows are dropped at once.
// While a request is under way it holds the key of the token without a window, so that a second one with
// the same token meets it. The clock is read by who holds that key: the one who comes later reads the later time,
// and so looks for the record in the right windows.
type token struct {
	text        string
	lock        []byte
	fingerprint [sha256.Size]byte
}

// newToken makes the token of a request whose content has a fingerprint; nil where the request has none.
func newToken(text *string, fingerprint func() [sha256.Size]byte) *token {
	if text == nil {
		return nil
	}
	return &token{text: *text, lock: keyenc.Token("/" + *text), fingerprint: fingerprint()}
}

func tokenWindow(t time.Time) int64 { return t.UnixMilli() / tokenLifetime.Milliseconds() }

func tokenKey(window int64, text string) []byte { return keyenc.Token(windowPrefix(window) + text) }

// windowPrefix is of fixed width, so that windows stand in order.
func windowPrefix(window int64) string { return fmt.Sprintf("%012x/", window) }

// keys are what a request with the token holds: the lock, and where a record would be now, so that a store which is far away reads it at
// once.
func (t *token) keys(now time.Time) [][]byte {
	if t == nil {
		return nil
	}
	return [][]byte{t.lock, tokenKey(tokenWindow(now), t.text), tokenKey(tokenWindow(now)-1, t.text)}
}

// replayed reports whether the request has been carried out before, and fails where another one has been
// under the same token.
func (t *token) replayed(txn kv.Reader, now time.Time) (bool, error) {
	if t == nil {
		return false, nil
	}
	for _, window := range []int64{tokenWindow(now), tokenWindow(now) - 1} {
		record, err := txn.Get(tokenKey(window, t.text))
		if err != nil {
			return false, err
		}
		if record == nil {
			continue
		}
		if len(record) != 8+sha256.Size {
			return false, fmt.Errorf("engine: record of token %q has %d bytes", t.text, len(record))
		}
		finished := time.UnixMilli(int64(binary.BigEndian.Uint64(record)))
		if now.Sub(finished) >= tokenLifetime {
			continue
		}
		if !bytes.Equal(record[8:], t.fingerprint[:]) {
			return false, apierr.TokenOfOtherRequest.With()
		}
		return true, nil
	}
	return false, nil
}

// record remembers that the request has been carried out.
func (t *token) record(txn kv.Txn, now time.Time) {
	if t == nil {
		return
	}
	value := binary.BigEndian.AppendUint64(nil, uint64(now.UnixMilli()))
	txn.Set(tokenKey(tokenWindow(now), t.text), append(value, t.fingerprint[:]...))
}

// sweepTokens drops the records of windows that are over, at the first transaction of a new window. Its
// failure is of no consequence to the request.
func (e *Engine) sweepTokens(ctx context.Context, t *token) {
	if t == nil {
		return
	}
	window := tokenWindow(e.options.Now())
	if last := e.sweptWindow.Load(); window <= last || !e.sweptWindow.CompareAndSwap(last, window) {
		return
	}
	lo := keyenc.Token(windowPrefix(0))
	hi := keyenc.Token(windowPrefix(window - 1))
	if err := e.store.DeleteRange(ctx, lo, hi); err != nil {
		e.options.Logger.WarnContext(ctx, "dropping expired transaction tokens", "error", err)
	}
}
