package trinity

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/live"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

// eventID identifies a match within its room. Later matches have higher sequence numbers; matches created by the same leave share
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

// feed is one client's event stream: first the matches that the client has not seen, then events as they happen.
//
// If a stream consumer has failed or not started, the hub misses matches. So the feed also reads them from the table, after
// subscribing and then periodically. Each match is sent once.
type feed struct {
	service *service
	m       membership
	since   eventID
	sent    map[int64]bool
	out     live.Stream
}

// watchRoom handles a member's request for events.
func (s *service) watchRoom(ctx context.Context, in *watchedRoom) (*huma.StreamResponse, error) {
	since, ok := parseEventID(in.LastEventID)
	if !ok {
		return nil, problem.BadRequest(problem.CodeInvalidParameter, "no event has that id", problem.Field{Field: "header.Last-Event-ID", Message: "is not an event id"})
	}
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	m, err := s.member(ctx, who.Sub, in.RoomID)
	if err != nil {
		return nil, err
	}
	return live.Respond(s.logger, func(ctx context.Context, out live.Stream) error {
		return (&feed{service: s, m: m, since: since, sent: map[int64]bool{}, out: out}).run(ctx)
	}), nil
}

// Reasons to end a stream, other than the end of the client or the process.
var (
	// errLagging means that a client reads events more slowly than they occur.
	errLagging = errors.New("the client is too far behind")
	errLeft    = errors.New("the member has left")
)

func (f *feed) run(ctx context.Context) error {
	s := f.service
	end := s.clock().Add(live.Life)
	events, stop := s.hub.Follow(f.m.item.RoomID)
	defer stop()
	if err := f.look(ctx); err != nil {
		return err
	}
	lasts := f.out.Lasts()
	if lasts {
		if err := f.awaitHub(ctx); err != nil {
			return err
		}
	}
	if err := f.out.Ready(); err != nil || !lasts {
		return err // behind a gateway that buffers the response this is all, and the client requests it again
	}
	tick := time.NewTicker(s.check)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, open := <-events:
			if !open {
				return errLagging
			}
			if err := f.send(e); err != nil {
				return err
			}
		case <-tick.C:
			if s.over(end) {
				return live.ErrLongEnough
			}
			m, err := s.member(ctx, f.m.item.UserID, f.m.item.RoomID)
			if err == nil && m.item.Closed {
				err = f.send(event{changed: &m.item}) // unless the client already has it
			}
			if err != nil {
				return err
			}
			if err := f.look(ctx); err != nil {
				return err
			}
			if err := f.out.KeepOpen(); err != nil {
				return err
			}
		}
	}
}

// awaitHub waits until the hub receives all events, so that nothing after ready is missed. If the hub's consumers cannot start,
// it only waits until the first check.
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
	return f.look(ctx) // again, for matches created in the meantime
}

// look sends the table's matches that have not yet been sent.
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

// match sends a match unless the client has it. Matches that share the sequence number of the client's last event are sent again,
// because the client may have seen only some of them.
func (f *feed) match(match trinitydb.Match) error {
	id := eventID{match.Seq, match.MovieID}
	if id.seq < f.since.seq || id == f.since || f.sent[match.MovieID] {
		return nil
	}
	f.sent[match.MovieID] = true
	return f.write(id.String(), "match", matchOf(match))
}

func (f *feed) send(e event) error {
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
		if !e.left.JoinedAt.Before(f.m.item.JoinedAt) { // not an earlier membership of the same user
			return errLeft
		}
		return nil
	default:
		return f.write("", "left", personOf(*e.left))
	}
}

// write sends an event, with an id unless the id is "".
func (f *feed) write(id, name string, data any) error {
	text, err := api.MarshalJSON(data)
	if err != nil {
		return err
	}
	return f.out.Event(id, name, text)
}
