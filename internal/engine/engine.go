// Package engine executes DynamoDB's operations on a kv.Store.
package engine

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/monotable/monotable/internal/storage/kv"
)

// Options of an engine; the zero value works.
type Options struct {
	Region    string           // default us-east-1
	AccountID string           // default 000000000000
	Now       func() time.Time // default time.Now
	Rand      io.Reader        // default crypto/rand
	Logger    *slog.Logger     // default: discard
	// GSIDelay makes reads of global secondary indexes see the state of that long ago. Default 0.
	GSIDelay time.Duration
	// TableDelay is how long a table stays CREATING, UPDATING or DELETING. Default 0: the answer to
	// the request shows the state, the next request finds it over.
	TableDelay time.Duration
	// TTLInterval is how often expired items are looked for. Default 1 s; negative: only by ExpireNow.
	TTLInterval time.Duration
}

// Engine executes operations: one method an operation (PutItem, Query, …) that takes the input struct of
// package api, whose member constraints have been checked (api.Validate), and returns the output struct or
// an error; an *apierr.Error is for the client, anything else is a fault of ours. All methods may be called
// at once.
type Engine struct{}

// Open starts an engine on a store: it checks the format version, loads the catalog and resumes the jobs
// (backfills, drops) that were under way. The engine closes the store in Close.
func Open(ctx context.Context, store kv.Store, o Options) (*Engine, error) { panic("skeleton") }

// Close stops the jobs and closes the store.
func (e *Engine) Close() error { panic("skeleton") }
