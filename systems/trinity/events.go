package trinity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

const (
	// eventRetry is when a client comes again whose connection has ended, in milliseconds.
	eventRetry = 1000
	// eventWrite is how long a client may take to read an event.
	eventWrite = 10 * time.Second
)

// eventID names a match among those of its room: later ones have a higher sequence number, those that one leaving has made
// have the same.
type eventID struct{ seq, movieID int64 }

func (id eventID) String() string { return fmt.Sprintf("%d-%d", id.seq, id.movieID) }

// parseEventID reads what String has written; the zero value is before all matches.
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

// feed is one client's event stream: first the matches that it has not seen, then what happens.
//
// Whatever the hub does not tell, because another process follows the stream or a record is late, a look at the table finds:
// when the feed begins, after it has subscribed, and again and again. A match is sent once.
type feed struct {
	service *service
	m       membership
	since   eventID
	sent    map[int64]bool
	live    bool
	out     http.ResponseWriter
}

// newFeed is the answer to a member's request for events.
func (s *service) newFeed(m membership, since eventID) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "text/event-stream")
		ctx.SetHeader("Cache-Control", "no-store")
		ctx.SetHeader("X-Accel-Buffering", "no")
		_, w := humago.Unwrap(ctx)
		f := &feed{service: s, m: m, since: since, sent: map[int64]bool{}, out: w, live: true}
		if err := f.run(ctx.Context()); err != nil && ctx.Context().Err() == nil {
			s.logger.DebugContext(ctx.Context(), "event stream ended", "error", err)
		}
	}}
}

// errLagging is for a client that does not read as fast as events come.
var errLagging = errors.New("the client is too far behind")

func (f *feed) run(ctx context.Context) error {
	s := f.service
	subscribed, end := s.hub.subscribe(f.m.item.RoomID)
	defer end()
	if err := f.look(ctx); err != nil {
		return err
	}
	if err := f.write(fmt.Sprintf("retry: %d\n", eventRetry), "ready", struct{}{}); err != nil || !f.live {
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
			if _, err := s.member(ctx, f.m.item.UserID, f.m.item.RoomID); err != nil {
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

// look sends the matches of the table that have not been sent.
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

// match sends a match, unless the client has it. Of those that were made together with the last one that it has seen, it may
// have seen only some: these come again.
func (f *feed) match(match trinitydb.Match) error {
	id := eventID{match.Seq, match.MovieID}
	if id.seq < f.since.seq || id == f.since || f.sent[match.MovieID] {
		return nil
	}
	f.sent[match.MovieID] = true
	return f.write("id: "+id.String()+"\n", "match", matchOf(match))
}

// errLeft ends the stream of who has left.
var errLeft = errors.New("the member has left")

func (f *feed) tell(e event) error {
	switch {
	case e.match != nil:
		return f.match(*e.match)
	case e.joined != nil && e.joined.UserID == f.m.item.UserID:
		return nil
	case e.joined != nil:
		return f.write("", "joined", personOf(*e.joined))
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
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return f.send(head + "event: " + name + "\ndata: " + string(text) + "\n\n")
}

func (f *feed) send(text string) error {
	connection := http.NewResponseController(f.out)
	if errors.Is(connection.SetWriteDeadline(time.Now().Add(eventWrite)), http.ErrNotSupported) {
		f.live = false
	}
	if _, err := strings.NewReader(text).WriteTo(f.out); err != nil {
		return err
	}
	if err := connection.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}
