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

// token is the ClientRequestToken of a request, which may be a retry. A nil *token is a request without one.
//
// The record of a token is written in the transaction of its request, so it exists exactly if that has been committed. Records
// are grouped in windows as long as a token's lifetime:
//
//	key    keyenc.Token(window "/" token)
//	value  ┌────────────┬─────────────┐
//	       │ time       │ fingerprint │   milliseconds since the epoch, big endian; SHA-256 of the
//	       └────────────┴─────────────┘   request's content
//	         8 bytes      32 bytes
//
// A live record is in the current window or the previous one; all older windows are dropped at once. A request in progress holds
// the key of its token without a window, so that a concurrent one with the same token conflicts with it. While holding that key it
// takes the time from the store's numbers: the later request gets a later time, also at another server, whose clock may be behind,
// and therefore searches the right windows.
type token struct {
	text        string
	lock        []byte
	fingerprint [sha256.Size]byte
}

// newToken returns the token of a request whose content has a fingerprint, or nil if the request has none.
func newToken(text *string, fingerprint func() [sha256.Size]byte) *token {
	if text == nil {
		return nil
	}
	return &token{text: *text, lock: keyenc.Token("/" + *text), fingerprint: fingerprint()}
}

func tokenWindow(t time.Time) int64 { return t.UnixMilli() / tokenLifetime.Milliseconds() }

func tokenKey(window int64, text string) []byte { return keyenc.Token(windowPrefix(window) + text) }

// windowPrefix has a fixed width, so that windows sort by time.
func windowPrefix(window int64) string { return fmt.Sprintf("%012x/", window) }

// keys returns the keys that a request with the token holds: the lock, and the keys where a record may be now, so that a remote
// store reads them in advance.
func (t *token) keys(now time.Time) [][]byte {
	if t == nil {
		return nil
	}
	return [][]byte{t.lock, tokenKey(tokenWindow(now), t.text), tokenKey(tokenWindow(now)-1, t.text)}
}

// tokenTime returns the time of an update that holds the lock of a token.
func tokenTime(txn kv.Txn) time.Time { return time.UnixMilli(txn.LogSeq().Millis()) }

// replayed reports whether the request has already been executed, and fails if a different request had the same token.
func (t *token) replayed(txn kv.Txn) (bool, error) {
	if t == nil {
		return false, nil
	}
	now := tokenTime(txn)
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

// record remembers that the request has been executed.
func (t *token) record(txn kv.Txn) {
	if t == nil {
		return
	}
	now := tokenTime(txn)
	value := binary.BigEndian.AppendUint64(nil, uint64(now.UnixMilli()))
	txn.Set(tokenKey(tokenWindow(now), t.text), append(value, t.fingerprint[:]...))
}

// sweepTokens drops expired windows at the first transaction of a new window. A failure does not affect the request.
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
