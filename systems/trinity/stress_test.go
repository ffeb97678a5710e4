package trinity_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/databasetest"
	"github.com/monotable/monotable/systems/trinity"
)

// TestManyVoters: up to 32 people in each room vote on films concurrently, some of them twice, while others join and leave. Afterwards
// all stored data is consistent, and each film that everyone wanted is a match, once.
func TestManyVoters(t *testing.T) {
	t.Parallel()
	const comers, movies = 4, 3
	rooms, voters := 4, 32
	switch {
	case databasetest.Other():
		rooms = 2 // it is slow
	case databasetest.OnTiKV():
		rooms, voters = 1, 16
	}
	seed := rand.Uint64() //nolint:gosec // a test's
	t.Logf("seed %d", seed)
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(movies)}))
	var all sync.WaitGroup
	ids := make([]string, rooms)
	for n := range rooms {
		host := client{v, fmt.Sprintf("u-%d-0", n)}
		room := host.create(t, "k")
		ids[n] = room.ID
		for i := 1; i < voters; i++ {
			client{v, fmt.Sprintf("u-%d-%d", n, i)}.join(t, room.Code)
		}
		for i := range voters {
			r := rand.New(rand.NewPCG(seed, uint64(n*voters+i))) //nolint:gosec // a test's
			who := client{v, fmt.Sprintf("u-%d-%d", n, i)}
			all.Go(func() {
				for _, f := range r.Perm(movies) {
					// All want the first film, except one who leaves. The last film is wanted by some.
					yes := f == 0 && i != 1 || f == 1 || f == 2 && r.IntN(2) == 0
					who.vote(t, room.ID, int64(f+1), yes)
					if r.IntN(3) == 0 {
						who.vote(t, room.ID, int64(f+1), yes, http.StatusOK)
					}
				}
				if i < 3 && i > 0 {
					who.leave(t, room.ID)
				}
			})
		}
		for i := range comers {
			who := client{v, fmt.Sprintf("u-%d-c%d", n, i)}
			all.Go(func() {
				who.join(t, room.Code)
				who.vote(t, room.ID, int64(i%movies+1), true)
				who.leave(t, room.ID)
			})
		}
	}
	all.Wait()
	v.Deliver(t)
	s := scan(t, v)
	s.sound(t)
	for _, id := range ids {
		r := s.rooms[id]
		if len(r.members) != voters-2 {
			t.Errorf("%s has %d members, want %d", id, len(r.members), voters-2)
		}
		for _, movieID := range []int64{1, 2} {
			if _, ok := r.matches[movieID]; !ok {
				t.Errorf("%s: all of %d want film %d, and it is no match", id, len(r.members), movieID)
			}
		}
	}
}

// TestDevices: people join, vote and leave repeatedly, each from two devices at the same time. Whatever is rejected, the stored
// data remains consistent.
func TestDevices(t *testing.T) {
	t.Parallel()
	const people, devices, steps, movies = 6, 2, 30, 3
	seed := rand.Uint64() //nolint:gosec // a test's
	t.Logf("seed %d", seed)
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(movies)}))
	room := client{v, ana}.create(t, "k")
	var all sync.WaitGroup
	for i := range people * devices {
		r := rand.New(rand.NewPCG(seed, uint64(i))) //nolint:gosec // a test's
		who := client{v, fmt.Sprintf("u-%d", i/devices)}
		all.Go(func() {
			for range steps {
				switch r.IntN(6) {
				case 0:
					who.leave(t, room.ID)
				case 1, 2:
					who.join(t, room.Code)
				default:
					vote := apitest.Request{
						Method: http.MethodPut, Path: fmt.Sprintf("/rooms/%s/votes/%d", room.ID, r.IntN(movies)+1), Body: map[string]any{"vote": r.IntN(4) > 0},
					}
					// Not a member at the moment, removed between two requests, or voted differently on the other device.
					who.do(t, nil, vote, http.StatusCreated, http.StatusOK, http.StatusForbidden, http.StatusNotFound, http.StatusConflict)
				}
			}
		})
	}
	all.Wait()
	v.Deliver(t)
	v.Deliver(t)
	scan(t, v).sound(t)
}

// TestConcurrentRoomCodesDiffer: rooms that draw the same codes get different ones.
func TestConcurrentRoomCodesDiffer(t *testing.T) {
	t.Parallel()
	const hosts = 16
	var mu sync.Mutex
	next := 0
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(2), NewCode: func() string {
		mu.Lock()
		defer mu.Unlock()
		next++
		return fmt.Sprintf("AAAA%02d", next/2) // each code is drawn twice
	}}))
	codes := make([]string, hosts)
	var all sync.WaitGroup
	for i := range hosts {
		all.Go(func() { codes[i] = client{v, fmt.Sprintf("u-%d", i)}.create(t, "k").Code })
	}
	all.Wait()
	seen := map[string]bool{}
	for _, code := range codes {
		if seen[code] {
			t.Errorf("two rooms have the code %s", code)
		}
		seen[code] = true
	}
	scan(t, v).sound(t)
}

// TestCreateOnce: a request that many clients send concurrently creates one room.
func TestCreateOnce(t *testing.T) {
	t.Parallel()
	const clients = 16
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(2)}))
	responses := make([]*apitest.Response, clients)
	var all sync.WaitGroup
	for i := range responses {
		all.Go(func() {
			responses[i] = v.Do(t, apitest.Request{Method: http.MethodPost, Path: "/rooms", As: ana, Key: "k", Body: `{"mediaType":"TV"}`})
		})
	}
	all.Wait()
	created := 0
	for _, r := range responses {
		if r.Status == http.StatusCreated {
			created++
		}
		if r.Status != http.StatusCreated && r.Status != http.StatusOK || string(r.Body) != string(responses[0].Body) {
			t.Errorf("%d %s, another got %s", r.Status, r.Body, responses[0].Body)
		}
	}
	s := scan(t, v)
	s.sound(t)
	if created != 1 || len(s.rooms) != 1 {
		t.Errorf("%d were told that they had made one, of %d rooms", created, len(s.rooms))
	}
	client{v, bruno}.join(t, s.codes[0].Code)
	again := v.Do(t, apitest.Request{Method: http.MethodPost, Path: "/rooms", As: ana, Key: "k", Body: `{"mediaType":"TV"}`})
	if string(again.Body) != string(responses[0].Body) {
		t.Errorf("when another has joined: %s, want the first response %s", again.Body, responses[0].Body)
	}
}

// TestRoomHasAtMostFortyMembers: a room has at most forty members, however many users join concurrently.
func TestRoomHasAtMostFortyMembers(t *testing.T) {
	t.Parallel()
	const most, comers = 40, 48
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(1)}))
	room := client{v, ana}.create(t, "k")
	var mu sync.Mutex
	in := 1
	var all sync.WaitGroup
	for i := range comers {
		all.Go(func() {
			who := client{v, fmt.Sprintf("u-%d", i)}
			status := who.do(t, nil, apitest.Request{Method: http.MethodPut, Path: "/codes/" + room.Code + "/member"}, http.StatusCreated, http.StatusConflict)
			mu.Lock()
			defer mu.Unlock()
			if status == http.StatusCreated {
				in++
			}
		})
	}
	all.Wait()
	s := scan(t, v)
	s.sound(t)
	if in != most || len(s.rooms[room.ID].members) != most {
		t.Errorf("%d were let in, %d are in, want %d", in, len(s.rooms[room.ID].members), most)
	}
	// All of them agree, which is the largest possible transaction.
	var last *trinity.Match
	for _, m := range s.rooms[room.ID].members {
		if got := (client{v, m.UserID}).vote(t, room.ID, 1, true); got.Match != nil {
			last = got.Match
		}
	}
	if last == nil || len(last.MatchedUsers) != most {
		t.Errorf("forty agree on %+v", last)
	}
	scan(t, v).sound(t)
}
