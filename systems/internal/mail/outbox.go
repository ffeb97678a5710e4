package mail

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
)

// outboxMost is how many messages an Outbox stores.
const outboxMost = 100

// Outbox stores the last hundred messages in memory instead of sending them: for the demo and for tests.
type Outbox struct {
	mu      sync.Mutex
	letters []Letter
}

// Send implements Sender.
func (o *Outbox) Send(_ context.Context, l Letter) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.letters = append(o.letters, l)
	if over := len(o.letters) - outboxMost; over > 0 {
		o.letters = slices.Delete(o.letters, 0, over)
	}
	return nil
}

// Letters returns the stored messages, newest first.
func (o *Outbox) Letters() []Letter {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := slices.Clone(o.letters)
	slices.Reverse(out)
	return out
}

// ServeHTTP serves the messages as JSON, newest first. Its callers can impersonate any user, so it is only for systems with
// invented users.
func (o *Outbox) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string]any{"letters": o.Letters()}) // the client may have disconnected
}
