package appcore_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/apitest"
)

// TestTwoProcesses: two processes serve and settle on one database. Each request is sent to both concurrently and takes effect
// once. When the process that consumes the stream is killed, the other settles the rest: each transaction once, with one
// notification. Pages connected to one process see changes made by the other.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	peers := apitest.Processes(t, appcore.System(appcore.Options{}))
	first, second := peers[0].Server, peers[1].Server
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	hear := next(ctx, t, second, apitest.Request{Method: http.MethodGet, Path: "/events", As: ana})
	hear("ready")
	created := map[string]bool{}
	var mu sync.Mutex
	send := func(v *apitest.Server, n int) string {
		r := apitest.Request{Method: http.MethodPost, Path: "/transactions", As: ana, Key: fmt.Sprint("both-", n), Body: map[string]any{"amount": 500, "currency": "ARS"}}
		response := v.Insist(t, r)
		var tx appcore.Transaction
		if response.Status != http.StatusCreated && response.Status != http.StatusOK {
			t.Errorf("request %d: %d %s", n, response.Status, response.Body)
			return ""
		}
		response.JSON(t, &tx)
		return tx.TxID
	}
	var all sync.WaitGroup
	for n := range 24 {
		all.Go(func() {
			var one, other string
			var both sync.WaitGroup
			both.Go(func() { one = send(first, n) })
			both.Go(func() { other = send(second, n) })
			both.Wait()
			if one != other {
				t.Errorf("request %d created %s and %s", n, one, other)
			}
			mu.Lock()
			created[one] = true
			mu.Unlock()
		})
	}
	all.Wait()
	peers[0].Kill()
	for n := range 8 {
		created[send(second, 100+n)] = true
	}
	if len(created) != 32 {
		t.Errorf("%d of 32 transactions were created", len(created))
	}
	apitest.Eventually(t, "settle what is left", func() bool {
		for _, tx := range scan(t, second).truth {
			if tx.Status == appcoredb.TxStatusPending {
				return false
			}
		}
		return true
	})
	s := scan(t, second)
	for id := range created {
		if tx := s.truth[id]; tx.Status != appcoredb.TxStatusCompleted || s.copies[id] != tx || len(s.notifications[id]) != 1 || len(s.requests[id]) != 1 {
			t.Errorf("%+v, a copy %+v, %d notifications, %d records", tx, s.copies[id], len(s.notifications[id]), len(s.requests[id]))
		}
	}
	for settled := 0; settled == 0; { // by both
		if e := hear(""); strings.Contains(e, `"status":"COMPLETED"`) {
			settled++
		}
	}
}
