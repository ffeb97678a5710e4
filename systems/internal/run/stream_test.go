package run_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/system"
	"github.com/monotable/monotable/systems/internal/systemtest"
)

// TestEveryProcess: each process, even one without workers, receives the records of a stream that every process consumes: those
// written after it started, and none from before.
func TestEveryProcess(t *testing.T) {
	t.Parallel()
	const processes = 3
	db := monotabletest.New(t)
	issuer, err := auth.NewIssuer("notes", "http://issuer.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := issuer.Mint(auth.Claims{Sub: "u-1"})
	if err != nil {
		t.Fatal(err)
	}
	var hosts [processes]*run.Host
	var seen, begun [processes]chan string
	for i := range processes {
		seen[i], begun[i] = make(chan string, 10), make(chan string, 10)
		notes := systemtest.Notes(systemtest.Hooks{Seen: seen[i]})
		open := notes.Open
		notes.Open = func(ctx context.Context, d system.Deps) (*system.Service, error) {
			service, err := open(ctx, d)
			if err == nil {
				service.Streams[0].EveryProcess, service.Streams[0].Begun = true, func() { begun[i] <- "" }
			}
			return service, err
		}
		hosts[i], err = run.NewHost(t.Context(), run.Options{
			Database: run.InProcess(db), CursorKey: make([]byte, 32), Access: run.SignedHere(issuer), NoWorkers: i > 0,
		}, notes)
		if err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(hosts[0].Mux())
	t.Cleanup(server.Close)
	write := func(id string) {
		t.Helper()
		response := systemtest.Call(t, "POST", server.URL+"/notes/notes", `{"text":"hello"}`, "Authorization", "Bearer "+token, "Idempotency-Key", id)
		if response.Status != http.StatusCreated {
			t.Fatalf("%d %s", response.Status, response.Body)
		}
	}
	write("before")
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	for i, h := range hosts {
		working.Go(func() { h.Work(ctx) })
		<-begun[i]
	}
	write("after")
	for i := range processes {
		if id := <-seen[i]; id != "after" {
			t.Errorf("process %d received %q", i, id)
		}
	}
	stop()
	working.Wait()
}
