package mail

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
)

// outboxMost is how many letters an Outbox keeps.
const outboxMost = 100

// Outbox keeps letters in memory instead of sending them, the last hundred: for the demo and for tests.
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

// Letters are those that are kept, the newest first.
func (o *Outbox) Letters() []Letter {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := slices.Clone(o.letters)
	slices.Reverse(out)
	return out
}

// ServeHTTP shows the letters as JSON, the newest first. Anybody who may call it can be anybody: it is for a system whose
// users are made up.
func (o *Outbox) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string]any{"letters": o.Letters()}) // to a client that is gone, or not
}
