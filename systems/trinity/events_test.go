package trinity_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/trinity"
)

// happening is an event as a client gets it.
type happening struct{ id, name, data string }

func (h happening) json(tb testing.TB, into any) {
	tb.Helper()
	if err := json.Unmarshal([]byte(h.data), into); err != nil {
		tb.Fatalf("%+v: %v", h, err)
	}
}

// feed is an event stream that is being read.
type feed struct {
	lines *bufio.Reader
	stop  context.CancelFunc
}

// watch follows a room, from an event on.
func watch(tb testing.TB, c client, roomID, since string) *feed {
	tb.Helper()
	ctx, stop := context.WithTimeout(tb.Context(), time.Minute)
	tb.Cleanup(stop)
	r := apitest.Request{Method: http.MethodGet, Path: "/rooms/" + roomID + "/events", As: c.sub, Header: map[string]string{"Last-Event-ID": since}}
	answer, body := c.v.Stream(ctx, tb, r)
	if answer.Status != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		tb.Fatalf("%s watches: %d %s", c.sub, answer.Status, answer.Header.Get("Content-Type"))
	}
	return &feed{lines: bufio.NewReader(body), stop: stop}
}

// next waits for an event. At the end of the stream its name is "".
func (f *feed) next(tb testing.TB) happening {
	tb.Helper()
	var h happening
	for {
		line, err := f.lines.ReadString('\n')
		if err == io.EOF {
			return happening{}
		}
		if err != nil {
			tb.Fatal(err)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			h.id = value
		case "event":
			h.name = value
		case "data":
			h.data = value
		case "":
			if h.name != "" {
				return h
			}
		}
	}
}

// TestEvents: members hear of who comes and goes and of matches, each once, and of those that they have missed when they come
// back.
func TestEvents(t *testing.T) {
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(4), CheckInterval: time.Hour}))
	v.Work(t)
	a, b, c := client{v, ana}, client{v, bruno}, client{v, cho}
	room := a.create(t, "k")
	feed := watch(t, a, room.ID, "")
	if h := feed.next(t); h.name != "ready" {
		t.Fatalf("first comes %+v", h)
	}
	person := func(h happening, name, userID string) {
		t.Helper()
		var p trinity.Person
		if h.name != name {
			t.Fatalf("came %+v, want %s of %s", h, name, userID)
		}
		if h.json(t, &p); p.UserID != userID {
			t.Errorf("%s: %+v, want %s", name, p, userID)
		}
	}
	match := func(h happening, movieID int64) {
		t.Helper()
		var m trinity.Match
		if h.name != "match" || h.id == "" {
			t.Fatalf("came %+v, want the match of film %d", h, movieID)
		}
		if h.json(t, &m); m.MovieID != movieID || m.RoomID != room.ID {
			t.Errorf("match %+v, want of film %d", m, movieID)
		}
	}
	b.join(t, room.Code)
	person(feed.next(t), "joined", bruno)
	a.vote(t, room.ID, 1, true)
	b.vote(t, room.ID, 1, true)
	first := feed.next(t)
	match(first, 1)
	c.join(t, room.Code)
	person(feed.next(t), "joined", cho)
	feed.stop()

	// While nobody listens: another match by a leaving, and one by a vote.
	a.vote(t, room.ID, 2, true)
	b.vote(t, room.ID, 2, true)
	c.leave(t, room.ID)
	a.vote(t, room.ID, 3, true)
	b.vote(t, room.ID, 3, true)
	back := watch(t, a, room.ID, first.id)
	match(back.next(t), 2)
	match(back.next(t), 3)
	if h := back.next(t); h.name != "ready" {
		t.Fatalf("after what was missed comes %+v", h)
	}
	fresh := watch(t, b, room.ID, "")
	for _, movieID := range []int64{1, 2, 3} {
		match(fresh.next(t), movieID)
	}
	if h := fresh.next(t); h.name != "ready" {
		t.Fatalf("after all matches comes %+v", h)
	}
	b.leave(t, room.ID)
	// The stream may tell of Cho's leaving only now: it follows the table, and both began to listen after it.
	late := func(h happening) bool {
		var p trinity.Person
		if h.name != "left" {
			return false
		}
		h.json(t, &p)
		return p.UserID == cho
	}
	h := back.next(t)
	for late(h) {
		h = back.next(t)
	}
	person(h, "left", bruno)
	for h := fresh.next(t); h.name != ""; h = fresh.next(t) {
		if !late(h) {
			t.Errorf("who has left hears %+v", h)
		}
	}
}

// TestEventsWithoutFollower: where no follower tells the hub, a look at the table finds the matches, and that a member has left.
func TestEventsWithoutFollower(t *testing.T) {
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(2), CheckInterval: time.Millisecond}))
	a, b := client{v, ana}, client{v, bruno}
	room := a.create(t, "k")
	b.join(t, room.Code)
	feed := watch(t, b, room.ID, "")
	if h := feed.next(t); h.name != "ready" {
		t.Fatalf("first comes %+v", h)
	}
	a.vote(t, room.ID, 2, true)
	b.vote(t, room.ID, 2, true)
	if h := feed.next(t); h.name != "match" {
		t.Errorf("came %+v, want the match", h)
	}
	b.leave(t, room.ID)
	if h := feed.next(t); h.name != "" {
		t.Errorf("who has left hears %+v", h)
	}
}

// TestEventsEnd: streams end when the process does.
func TestEventsEnd(t *testing.T) {
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(2)}))
	a := client{v, ana}
	room := a.create(t, "k")
	feed := watch(t, a, room.ID, "")
	if h := feed.next(t); h.name != "ready" {
		t.Fatalf("first comes %+v", h)
	}
	v.Host.Drain()
	if h := feed.next(t); h.name != "" {
		t.Errorf("a process that ends says %+v", h)
	}
}
