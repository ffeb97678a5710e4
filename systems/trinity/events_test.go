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

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/trinity"
)

// receivedEvent is an event as a client receives it.
type receivedEvent struct{ id, name, data string }

func (h receivedEvent) json(tb testing.TB, into any) {
	tb.Helper()
	if err := json.Unmarshal([]byte(h.data), into); err != nil {
		tb.Fatalf("%+v: %v", h, err)
	}
}

// feed is an event stream being read.
type feed struct {
	lines *bufio.Reader
	stop  context.CancelFunc
	// changed collects the events that next has skipped.
	changed []receivedEvent
}

// watch subscribes to a room, starting after a given event.
func watch(tb testing.TB, c client, roomID, since string) *feed {
	tb.Helper()
	ctx, stop := context.WithTimeout(tb.Context(), time.Minute)
	tb.Cleanup(stop)
	r := apitest.Request{Method: http.MethodGet, Path: "/rooms/" + roomID + "/events", As: c.sub, Header: map[string]string{"Last-Event-ID": since}}
	response, body := c.v.Stream(ctx, tb, r)
	if response.Status != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		tb.Fatalf("%s watches: %d %s", c.sub, response.Status, response.Header.Get("Content-Type"))
	}
	return &feed{lines: bufio.NewReader(body), stop: stop}
}

// watchAt subscribes to a room at another process.
func watchAt(t *testing.T, p *neighbour, sub, roomID string) *feed {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/rooms/"+roomID+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+p.token(t, sub))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s watches: %d", sub, response.StatusCode)
	}
	return &feed{lines: bufio.NewReader(response.Body), stop: stop}
}

// next waits for an event. At the end of the stream the event's name is "".
func (f *feed) next(tb testing.TB) receivedEvent {
	tb.Helper()
	var h receivedEvent
	for {
		line, err := f.lines.ReadString('\n')
		if err == io.EOF {
			return receivedEvent{}
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
			if h.name == "changed" { // from another stream than matches, so it comes before or after them
				f.changed = append(f.changed, h)
				h = receivedEvent{}
			}
			if h.name != "" {
				return h
			}
		}
	}
}

// TestEvents: members receive joins, leaves and matches once each, including matches that they missed while disconnected.
func TestEvents(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(4), CheckInterval: time.Hour}))
	v.Work(t)
	a, b, c := client{v, ana}, client{v, bruno}, client{v, cho}
	room := a.create(t, "k")
	feed := watch(t, a, room.ID, "")
	if h := feed.next(t); h.name != "ready" {
		t.Fatalf("first comes %+v", h)
	}
	person := func(h receivedEvent, name, userID string) {
		t.Helper()
		var p trinity.Person
		if h.name != name {
			t.Fatalf("came %+v, want %s of %s", h, name, userID)
		}
		if h.json(t, &p); p.UserID != userID {
			t.Errorf("%s: %+v, want %s", name, p, userID)
		}
	}
	match := func(h receivedEvent, movieID int64) {
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

	// While no client is connected: another match caused by a leave, and one by a vote.
	a.vote(t, room.ID, 2, true)
	b.vote(t, room.ID, 2, true)
	c.leave(t, room.ID)
	a.vote(t, room.ID, 3, true)
	b.vote(t, room.ID, 3, true)
	back := watch(t, a, room.ID, first.id)
	match(back.next(t), 2)
	match(back.next(t), 3)
	if h := back.next(t); h.name != "ready" {
		t.Fatalf("after the missed events, the next one is %+v", h)
	}
	fresh := watch(t, b, room.ID, "")
	for _, movieID := range []int64{1, 2, 3} {
		match(fresh.next(t), movieID)
	}
	if h := fresh.next(t); h.name != "ready" {
		t.Fatalf("after all matches comes %+v", h)
	}
	b.leave(t, room.ID)
	// The event about Cho's leaving may only arrive now: the stream consumer can be late, and both subscribed after it.
	late := func(h receivedEvent) bool {
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
			t.Errorf("a member who left gets %+v", h)
		}
	}
}

// TestEventsInEveryProcess: members receive events immediately, whichever process they are connected to, and whether or not it
// runs the workers.
func TestEventsInEveryProcess(t *testing.T) {
	t.Parallel()
	system := trinity.System(trinity.Options{Films: some(2), CheckInterval: time.Hour})
	v := apitest.Open(t, system)
	p := another(t, v, system, v.Database.DynamoDB)
	v.Work(t)
	p.work(t)
	a, b := client{v, ana}, client{v, bruno}
	room := a.create(t, "k")
	feeds := []*feed{watch(t, a, room.ID, ""), watchAt(t, p, ana, room.ID)}
	hear := func(name string) {
		t.Helper()
		for i, f := range feeds {
			if h := f.next(t); h.name != name {
				t.Fatalf("at process %d came %+v, want %s", i, h, name)
			}
		}
	}
	hear("ready")
	b.join(t, room.Code)
	hear("joined")
	a.vote(t, room.ID, 1, true)
	b.vote(t, room.ID, 1, true)
	hear("match")
	b.leave(t, room.ID)
	hear("left")
}

// TestEventsWithoutFollower: without a stream consumer, checks of the table find the matches, and that a member has left.
func TestEventsWithoutFollower(t *testing.T) {
	t.Parallel()
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
		t.Errorf("a member who left gets %+v", h)
	}
}

// TestForeignItems: foreign or incomplete items in the tables block neither events nor users' matches.
func TestForeignItems(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(2), CheckInterval: time.Hour}))
	v.Work(t)
	a, b, c := client{v, ana}, client{v, bruno}, client{v, cho}
	room := a.create(t, "k")
	feed := watch(t, a, room.ID, "")
	if h := feed.next(t); h.name != "ready" {
		t.Fatalf("first comes %+v", h)
	}
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	for tableName, foreign := range map[string][]map[string]types.AttributeValue{
		"trinity-votes": {
			{"roomId": text("MEMBERS#" + room.ID), "userMovieId": text("u-1#JOINED")},
			{"roomId": text("MEMBERS#"), "userMovieId": text("#")},
			{"roomId": text("x"), "userMovieId": text("x"), "vote": text("yes")},
		},
		"trinity-matches": {
			{"roomId": text(room.ID), "movieId": &types.AttributeValueMemberN{Value: "1"}, "shared": text("no")},
			{"roomId": text("x"), "movieId": &types.AttributeValueMemberN{Value: "-1.5"}},
		},
	} {
		for _, item := range foreign {
			if _, err := v.Database.DynamoDB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &tableName, Item: item}); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.join(t, room.Code)
	c.join(t, room.Code)
	a.vote(t, room.ID, 2, true)
	b.vote(t, room.ID, 2, true)
	c.leave(t, room.ID)
	received := map[string]bool{}
	for !received["match"] || !received["left"] { // from two tables, so in either order
		received[feed.next(t).name] = true
	}
	apitest.Eventually(t, "the match is shared", func() bool { return len(all[trinity.OwnMatch](t, b, "/matches")) == 1 })
}

// TestStreamsEndAfterAWhile: a stream ends after a while, so that its client's token is checked again, and when the room expires.
func TestStreamsEndAfterAWhile(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(2), CheckInterval: time.Millisecond}))
	a := client{v, ana}
	room := a.create(t, "k")
	for _, after := range []time.Duration{15 * time.Minute, 24 * time.Hour} {
		feed := watch(t, a, room.ID, "")
		if h := feed.next(t); h.name != "ready" {
			t.Fatalf("first comes %+v", h)
		}
		v.Clock.Advance(after)
		if h := feed.next(t); h.name != "" {
			t.Errorf("after %v comes %+v", after, h)
		}
	}
}

// TestStreamsEndWithProcess: streams end when the process does.
func TestStreamsEndWithProcess(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, trinity.System(trinity.Options{Films: some(2), CheckInterval: time.Millisecond}))
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
