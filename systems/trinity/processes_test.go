package trinity_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/trinity"
)

// TestTwoProcesses: members at two processes vote on all films concurrently. Each film becomes one match, and a member connected
// to one process receives all matches, including those created after the other process was killed.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	peers := apitest.Processes(t, trinity.System(trinity.Options{Films: some(6)}))
	first, second := peers[0].Server, peers[1].Server
	host := client{first, ana}
	room := host.create(t, "k")
	members := []client{host}
	for n := range 3 {
		c := client{[]*apitest.Server{second, first}[n%2], fmt.Sprint("member-", n)}
		c.join(t, room.Code)
		members = append(members, c)
	}
	received := watch(t, client{second, ana}, room.ID, "")
	var all sync.WaitGroup
	for _, c := range members {
		all.Go(func() {
			for film := range int64(4) {
				c.vote(t, room.ID, film+1, true, http.StatusCreated, http.StatusOK)
			}
		})
	}
	all.Wait()
	peers[0].Kill()
	for _, c := range members {
		client{second, c.sub}.vote(t, room.ID, 5, true)
	}
	for _, c := range members {
		if matches := (client{second, c.sub}).matches(t, room.ID); len(matches) != 5 {
			t.Errorf("%s sees %d matches of five", c.sub, len(matches))
		}
	}
	seen := map[string]bool{}
	for len(seen) < 5 {
		if e := received.next(t); e.name == "match" {
			if seen[e.data] {
				t.Errorf("a match is told of twice: %s", e.data)
			}
			seen[e.data] = true
		}
	}
}
