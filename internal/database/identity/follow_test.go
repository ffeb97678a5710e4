package identity

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// TestFollow: what one server changes another one knows within seconds; secrets that either has sealed, both can open; and what both
// change at once does not contradict itself.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, master := memkv.New(), []byte(strings.Repeat("k", 32))
		ctx, stop := context.WithCancel(t.Context())
		var following sync.WaitGroup
		servers := make([]*Directory, 2)
		for n := range servers {
			d, err := Open(t.Context(), Options{Store: store, Shared: true, Account: "123456789012", MasterKey: master})
			if err != nil {
				t.Fatal(err)
			}
			following.Go(func() { d.Follow(ctx) })
			servers[n] = d
		}
		for n, d := range servers {
			must := func(r Request) {
				t.Helper()
				if _, err := d.Manage(t.Context(), &r); err != nil {
					t.Fatalf("server %d: %+v: %v", n, r, err)
				}
			}
			name := fmt.Sprint("user", n)
			must(Request{Action: "user create", Name: name})
			must(Request{Action: "key create", User: name})
		}
		<-time.After(3 * time.Second)
		synctest.Wait()
		if one, two := state(t, servers[0]), state(t, servers[1]); one != two {
			t.Errorf("the servers know\n%s\nand\n%s", one, two)
		}
		for n, d := range servers {
			if keys := len(d.view.Load().keys); keys != 2 {
				t.Errorf("server %d can use %d keys, want 2", n, keys)
			}
		}

		// One deletes a policy while the other one attaches it: one of the two is refused.
		for round := range 50 {
			create := Request{Action: "policy create", Name: fmt.Sprint("p", round), Document: anyPolicy}
			if _, err := servers[0].Manage(t.Context(), &create); err != nil {
				t.Fatal(err)
			}
			var deleted, attached error
			var both sync.WaitGroup
			both.Go(func() {
				_, deleted = servers[0].Manage(t.Context(), &Request{Action: "policy delete", Name: create.Name})
			})
			both.Go(func() {
				_, attached = servers[1].Manage(t.Context(), &Request{Action: "policy attach", Name: create.Name, User: "user0"})
			})
			both.Wait()
			if (deleted == nil) == (attached == nil) {
				t.Fatalf("round %d: deleted %v, attached %v", round, deleted, attached)
			}
		}
		if err := errors.Join(servers[0].Reload(t.Context()), servers[1].Reload(t.Context())); err != nil {
			t.Error(err)
		}
		stop()
		following.Wait()
	})
}

// TestFirstSessions: servers that share a new store each begin a session; one of them creates the data key, the other uses it.
func TestFirstSessions(t *testing.T) {
	store, master := memkv.New(), []byte(strings.Repeat("k", 32))
	var servers []*Directory
	for range 2 {
		d, err := Open(t.Context(), Options{Store: store, Shared: true, Account: "123456789012", MasterKey: master})
		if err != nil {
			t.Fatal(err)
		}
		servers = append(servers, d)
	}
	for n, d := range servers {
		credentials, err := d.UserSession(t.Context(), d.Root(), Session{Name: "s", Duration: time.Hour})
		if err != nil {
			t.Fatalf("server %d: %v", n, err)
		}
		for m, other := range servers[:n+1] {
			if _, err := other.openSession(other.view.Load(), credentials.Token); err != nil {
				t.Errorf("server %d cannot open a token of server %d: %v", m, n, err)
			}
		}
	}
}
