package trinity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

const (
	// eventRetry tells clients when to reconnect, in milliseconds.
	eventRetry = 1000
	// eventWrite is how long a client may take to read an event.
	eventWrite = 10 * time.Second
	// eventLife limits a stream's duration. The client then reconnects, and its token is checked again.
	eventLife = 15 * time.Minute
)

// eventID identifies a match within its room. Later matches have higher sequence numbers; those created by the same leave share
// one.
type eventID struct{ seq, movieID int64 }

func (id eventID) String() string { return fmt.Sprintf("%d-%d", id.seq, id.movieID) }

// parseEventID parses the result of String; the zero value precedes all matches.
func parseEventID(text string) (eventID, bool) {
	if text == "" {
		return eventID{seq: -1}, true
	}
	seq, movieID, _ := strings.Cut(text, "-")
	var id eventID
	var errs [2]error
	id.seq, errs[0] = strconv.ParseInt(seq, 10, 64)
	id.movieID, errs[1] = strconv.ParseInt(movieID, 10, 64)
	return id, errs[0] == nil && errs[1] == nil && id.seq >= 0 && id.movieID >= 0 && id.String() == text
}

// feed is one client's event stream: first the matches that it has not seen, then events as they happen.
//
// If a stream consumer has failed or not started, the hub misses matches. So the feed also reads them from the table: after
// subscribing, and then periodically. Each match is sent once.
type feed struct {
	service *service
	m       membership
	since   eventID
	sent    map[int64]bool
	out     http.ResponseWriter
}

// watchRoom handles a member's request for events.
func (s *service) watchRoom(ctx context.Context, in *watchedRoom) (*huma.StreamResponse, error) {
	since, ok := parseEventID(in.LastEventID)
	if !ok {
		return nil, problem.BadRequest(problem.CodeInvalidParameter, "no event has such an id", problem.Field{Field: "header.Last-Event-ID", Message: "is not the id of an event"})
	}
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	m, err := s.member(ctx, who.Sub, in.RoomID)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "text/event-stream")
		ctx.SetHeader("Cache-Control", "no-store")
		ctx.SetHeader("X-Accel-Buffering", "no")
		_, w := humago.Unwrap(ctx)
		f := &feed{service: s, m: m, since: since, sent: map[int64]bool{}, out: w}
		if err := f.run(ctx.Context()); err != nil && ctx.Context().Err() == nil {
			s.logger.DebugContext(ctx.Context(), "event stream ended", "error", err)
		}
	}}, nil
}

// Reasons to end a stream, besides the client and the process ending.
var (
	// errLagging ends the stream of a client that reads more slowly than events arrive.
	errLagging    = errors.New("the client is too far behind")
	errLeft       = errors.New("the member has left")
	errLongEnough = errors.New("the stream has lasted as long as streams do")
)

func (f *feed) run(ctx context.Context) error {
	s := f.service
	end := s.clock().Add(eventLife)
	subscribed, unsubscribe := s.hub.subscribe(f.m.item.RoomID)
	defer unsubscribe()
	if err := f.look(ctx); err != nil {
		return err
	}
	live := f.live()
	if live {
		if err := f.awaitHub(ctx); err != nil {
			return err
		}
	}
	if err := f.write(fmt.Sprintf("retry: %d\n", eventRetry), "ready", struct{}{}); err != nil || !live {
		return err // behind a gateway that waits for the whole answer this is all, and the client comes again
	}
	tick := time.NewTicker(s.check)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, open := <-subscribed.events:
			if !open {
				return errLagging
			}
			if err := f.tell(e); err != nil {
				return err
			}
		case <-tick.C:
			if s.over(end) {
				return errLongEnough
			}
			m, err := s.member(ctx, f.m.item.UserID, f.m.item.RoomID)
			if err == nil && m.item.Closed {
				err = f.tell(event{changed: &m.item}) // unless the client has heard it
			}
			if err != nil {
				return err
			}
			if err := f.look(ctx); err != nil {
				return err
			}
			if err := f.send(": \n\n"); err != nil { // keeps the connection open
				return err
			}
		}
	}
}

// live reports whether the client receives events as they are sent. Behind a gateway that buffers responses it does not.
func (f *feed) live() bool {
	return !errors.Is(http.NewResponseController(f.out).SetWriteDeadline(time.Now().Add(eventWrite)), http.ErrNotSupported)
}

// awaitHub waits until the hub receives all events, so that nothing is missed after ready. If its consumers cannot start, it
// waits until the first check.
func (f *feed) awaitHub(ctx context.Context) error {
	select {
	case <-f.service.hub.followed:
		return nil
	default:
	}
	wait := time.NewTimer(f.service.check)
	defer wait.Stop()
	select {
	case <-f.service.hub.followed:
	case <-wait.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return f.look(ctx) // again, for what was made meanwhile
}

// look sends the table's matches that have not been sent.
func (f *feed) look(ctx context.Context) error {
	for match, err := range f.service.db.MatchesOfRoomAll(ctx, trinitydb.MatchesOfRoomInput{RoomID: f.m.item.RoomID}) {
		if err == nil {
			err = f.match(match)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// match sends a match unless the client has it. Matches that share the sequence number of the last one seen are sent again,
// because the client may have seen only some of them.
func (f *feed) match(match trinitydb.Match) error {
	id := eventID{match.Seq, match.MovieID}
	if id.seq < f.since.seq || id == f.since || f.sent[match.MovieID] {
		return nil
	}
	f.sent[match.MovieID] = true
	return f.write("id: "+id.String()+"\n", "match", matchOf(match))
}

func (f *feed) tell(e event) error {
	switch {
	case e.match != nil:
		return f.match(*e.match)
	case e.joined != nil && e.joined.UserID == f.m.item.UserID:
		return nil
	case e.joined != nil:
		return f.write("", "joined", personOf(*e.joined))
	case e.changed != nil && e.changed.UserID != f.m.item.UserID:
		return f.write("", "changed", personOf(*e.changed))
	case e.changed != nil && e.changed.Closed && !f.m.item.Closed:
		f.m.item.Closed = true
		return f.write("", "closed", RoomClosed{})
	case e.changed != nil:
		return f.write("", "changed", personOf(*e.changed))
	case e.left.UserID == f.m.item.UserID:
		if !e.left.JoinedAt.Before(f.m.item.JoinedAt) { // not an earlier time that he was in the room
			return errLeft
		}
		return nil
	default:
		return f.write("", "left", personOf(*e.left))
	}
}

// write sends an event with its head, a line or none.
func (f *feed) write(head, name string, data any) error {
	text, err := api.MarshalJSON(data)
	if err != nil {
		return err
	}
	return f.send(head + "event: " + name + "\ndata: " + string(text) + "\n\n")
}

func (f *feed) send(text string) error {
	connection := http.NewResponseController(f.out)
	_ = connection.SetWriteDeadline(time.Now().Add(eventWrite)) // not every connection has deadlines
	if _, err := strings.NewReader(text).WriteTo(f.out); err != nil {
		return err
	}
	if err := connection.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}
