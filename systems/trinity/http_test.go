package trinity_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/trinity"
)

// TestRoutes calls every operation with valid and invalid input over each transport.
func TestRoutes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, trinity.System(trinity.Options{CheckInterval: time.Millisecond}), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		routes(t, v)
	})
}

// routes calls every operation with valid and invalid input.
func routes(t *testing.T, v *apitest.Server) {
	t.Helper()
	t.Run("create", func(t *testing.T) { v.Run(t, createCases()) })
	t.Run("lists", func(t *testing.T) { v.Run(t, listCases()) })
	room := client{v, ana}.create(t, "routes")
	t.Run("codes", func(t *testing.T) { v.Run(t, codeCases(room)) })
	t.Run("room", func(t *testing.T) { v.Run(t, roomCases(room)) })
	t.Run("votes", func(t *testing.T) { voteRoutes(t, v, room) })
	t.Run("events", func(t *testing.T) { eventRoutes(t, v, room) })
	t.Run("host", func(t *testing.T) { v.Run(t, hostCases(room)) })
	v.Deliver(t)
	leaving, staying := client{v, "u-leaving"}, client{v, bruno}
	left := leaving.create(t, "leaving")
	staying.join(t, left.Code)
	film := all[trinity.Candidate](t, leaving, "/rooms/"+left.ID+"/candidates")[0]
	leaving.vote(t, left.ID, film.MovieID, true)
	if staying.vote(t, left.ID, film.MovieID, true).Match == nil {
		t.Fatal("all have said yes, and there is no match")
	}
	t.Run("data", func(t *testing.T) {
		v.Person(t, apitest.Person{As: leaving.sub, Design: "trinity.design.yaml", Entities: []string{"Room", "Member", "UserMatch"}})
	})
	v.Covered(t)
}

// TestUnauthenticatedRequestsAreRejected: without a valid token only the genres are accessible.
func TestUnauthenticatedRequestsAreRejected(t *testing.T) {
	t.Parallel()
	apitest.Each(t, trinity.System(trinity.Options{}), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		v.RejectsUnauthenticated(t)
	})
}

func get(sub, path string) apitest.Request {
	return apitest.Request{Method: http.MethodGet, Path: path, As: sub}
}

// refused is a case that must be rejected with a problem about a part of the request.
func refused(name string, r apitest.Request, status int, code, field string) apitest.Case {
	return apitest.Case{Name: name, Request: r, Status: status, Code: code, Field: field}
}

func createCases() []apitest.Case {
	good := map[string]any{"mediaType": "MOVIE", "genreIds": []int{35, 878}}
	post := func(sub, key string, body any) apitest.Request {
		return apitest.Request{Method: http.MethodPost, Path: "/rooms", As: sub, Key: key, Body: body}
	}
	invalid := func(name string, body any, field string) apitest.Case {
		return refused(name, post(ana, "bad", body), http.StatusBadRequest, problem.CodeInvalidBody, field)
	}
	badKey := func(name, key string) apitest.Case {
		return refused(name, post(ana, key, good), http.StatusBadRequest, problem.CodeInvalidParameter, "header.Idempotency-Key")
	}
	var first []byte
	return []apitest.Case{
		{Name: "made", Request: post(ana, "k-1", good), Status: http.StatusCreated, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var room trinity.Room
			first = r.Body
			if r.JSON(tb, &room); room.HostID != ana || room.MediaType != "MOVIE" || len(room.GenreIDs) != 2 || room.MemberCount != 1 || room.HasMatch ||
				len(room.Code) != 6 || !room.ExpiresAt.Equal(room.CreatedAt.Add(24*time.Hour).Truncate(time.Second)) {
				tb.Errorf("created %+v", room)
			}
			if at := r.Header.Get("Location"); at != "rooms/"+room.ID {
				tb.Errorf("Location is %q", at)
			}
		}},
		{Name: "replayed", Request: post(ana, "k-1", good), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			if string(r.Body) != string(first) {
				tb.Errorf("the second response is %s, the first was %s", r.Body, first)
			}
		}},
		refused("key of another request", post(ana, "k-1", map[string]any{"mediaType": "TV"}), http.StatusUnprocessableEntity, problem.CodeKeyReused, ""),
		refused("key of another name", post(ana, "k-1", map[string]any{"mediaType": good["mediaType"], "genreIds": good["genreIds"], "name": "Ana"}), http.StatusUnprocessableEntity, problem.CodeKeyReused, ""),
		{Name: "key of another user", Request: post(bruno, "k-1", good), Status: http.StatusCreated, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var room trinity.Room
			if r.JSON(tb, &room); room.HostID != bruno || strings.Contains(string(first), room.ID) {
				tb.Errorf("created %+v, after %s", room, first)
			}
		}},
		{Name: "no genres", Request: post(ana, "k-2", map[string]any{"mediaType": "TV"}), Status: http.StatusCreated},
		badKey("no key", ""),
		badKey("long key", strings.Repeat("k", 201)),
		badKey("key with other characters", "k#1"),
		invalid("no JSON", `{"mediaType":`, ""),
		invalid("no body", nil, ""),
		invalid("no media type", map[string]any{"genreIds": []int{35}}, "body"),
		invalid("another media type", map[string]any{"mediaType": "BOOK"}, "body.mediaType"),
		invalid("three genres", map[string]any{"mediaType": "MOVIE", "genreIds": []int{35, 878, 18}}, "body.genreIds"),
		invalid("a genre twice", map[string]any{"mediaType": "MOVIE", "genreIds": []int{35, 35}}, "body.genreIds"),
		invalid("an unknown genre", map[string]any{"mediaType": "MOVIE", "genreIds": []int{1}}, "body.genreIds"),
		invalid("a genre of the other type", map[string]any{"mediaType": "TV", "genreIds": []int{28}}, "body.genreIds"),
		invalid("a genre as a text", map[string]any{"mediaType": "MOVIE", "genreIds": []string{"35"}}, "body.genreIds[0]"),
		invalid("somebody else's name", map[string]any{"mediaType": "MOVIE", "hostId": bruno}, "body.hostId"),
		{Name: "too large", Request: post(ana, "bad", `{"mediaType":"`+strings.Repeat("A", 2<<20)+`"}`), Status: http.StatusRequestEntityTooLarge, Code: problem.CodeBodyTooLarge},
	}
}

// listCases are the lists of a user's own items.
func listCases() []apitest.Case {
	var cases []apitest.Case
	for _, path := range []string{"/rooms", "/rooms/hosted", "/rooms/unmatched", "/matches"} {
		bad := func(name, query, code, field string) apitest.Case {
			return refused(path+" "+name, get(ana, path+query), http.StatusBadRequest, code, field)
		}
		cases = append(
			cases,
			apitest.Case{Name: path, Request: get(ana, path), Status: http.StatusOK},
			apitest.Case{Name: path + " of a stranger", Request: get("u-nobody", path), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
				tb.Helper()
				if text := strings.TrimSpace(string(r.Body)); text != `{"items":[]}` {
					tb.Errorf("a stranger finds %s", text)
				}
			}},
			bad("no limit", "?limit=0", problem.CodeInvalidParameter, "query.limit"),
			bad("high limit", "?limit=101", problem.CodeInvalidParameter, "query.limit"),
			bad("limit of another type", "?limit=ten", problem.CodeInvalidParameter, "query.limit"),
			bad("long cursor", "?cursor="+strings.Repeat("A", 5000), problem.CodeInvalidParameter, "query.cursor"),
			bad("made-up cursor", "?cursor=AQ", problem.CodeInvalidCursor, ""),
		)
	}
	return append(
		cases,
		apitest.Case{Name: "genres", Request: get("", "/genres"), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			if !strings.Contains(string(r.Body), `{"id":878,"name":"Science Fiction"}`) {
				tb.Errorf("the genres are %s", r.Body)
			}
		}},
		apitest.Case{Name: "genres of series", Request: get("", "/genres?mediaType=TV"), Status: http.StatusOK},
		refused("genres of books", get("", "/genres?mediaType=BOOK"), http.StatusBadRequest, problem.CodeInvalidParameter, "query.mediaType"),
	)
}

func codeCases(room trinity.Room) []apitest.Case {
	join := func(sub, code string) apitest.Request {
		return apitest.Request{Method: http.MethodPut, Path: "/codes/" + code + "/member", As: sub}
	}
	is := func(members int64) func(testing.TB, *apitest.Response) {
		return func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var found trinity.Room
			if r.JSON(tb, &found); found.ID != room.ID || found.Code != room.Code || found.MemberCount != members {
				tb.Errorf("got %+v, want %s with %d members", found, room.ID, members)
			}
		}
	}
	return []apitest.Case{
		{Name: "by code", Request: get(bruno, "/codes/"+room.Code), Status: http.StatusOK, Check: is(1)},
		{Name: "in small letters", Request: get(bruno, "/codes/"+strings.ToLower(room.Code)), Status: http.StatusOK, Check: is(1)},
		refused("no room's code", get(bruno, "/codes/OOOOOO"), http.StatusNotFound, problem.CodeNotFound, ""),
		refused("short code", get(bruno, "/codes/AAA"), http.StatusBadRequest, problem.CodeInvalidParameter, "path.code"),
		refused("long code", get(bruno, "/codes/AAAAAAA"), http.StatusBadRequest, problem.CodeInvalidParameter, "path.code"),
		refused("code with other characters", get(bruno, "/codes/AAA-AA"), http.StatusBadRequest, problem.CodeInvalidParameter, "path.code"),
		{Name: "join", Request: join(bruno, room.Code), Status: http.StatusCreated, Check: is(2)},
		{Name: "join again", Request: join(bruno, room.Code), Status: http.StatusOK, Check: is(2)},
		{Name: "join one's own", Request: join(ana, strings.ToLower(room.Code)), Status: http.StatusOK, Check: is(2)},
		refused("join no room", join(bruno, "OOOOOO"), http.StatusNotFound, problem.CodeNotFound, ""),
		refused("join by half a code", join(bruno, "AAA"), http.StatusBadRequest, problem.CodeInvalidParameter, "path.code"),
	}
}

// hostCases: a host removes members and closes the room; others cannot.
func hostCases(room trinity.Room) []apitest.Case {
	remove := func(sub, id, member string) apitest.Request {
		return apitest.Request{Method: http.MethodDelete, Path: "/rooms/" + id + "/members/" + member, As: sub}
	}
	end := func(sub, id string) apitest.Request {
		return apitest.Request{Method: http.MethodPut, Path: "/rooms/" + id + "/closed", As: sub}
	}
	join := apitest.Request{Method: http.MethodPut, Path: "/codes/" + room.Code + "/member", As: bruno}
	named := join
	named.Body = map[string]any{"name": " Zoë "}
	badly := join
	badly.Body = map[string]any{"name": "a\nb"}
	closed := func(tb testing.TB, r *apitest.Response) {
		tb.Helper()
		var found trinity.Room
		if r.JSON(tb, &found); !found.Closed || found.ID != room.ID {
			tb.Errorf("got %+v", found)
		}
	}
	return []apitest.Case{
		refused("remove, as a stranger", remove(cho, room.ID, bruno), http.StatusForbidden, problem.CodeForbidden, ""),
		refused("remove from no room", remove(ana, nowhere, bruno), http.StatusNotFound, problem.CodeNotFound, ""),
		refused("remove from no id", remove(ana, "x", bruno), http.StatusBadRequest, problem.CodeInvalidParameter, "path.id"),
		refused("remove too long", remove(ana, room.ID, strings.Repeat("a", 129)), http.StatusBadRequest, problem.CodeInvalidParameter, "path.userId"),
		{Name: "remove", Request: remove(ana, room.ID, bruno), Status: http.StatusNoContent},
		{Name: "remove again", Request: remove(ana, room.ID, bruno), Status: http.StatusNoContent},
		refused("removed", get(bruno, "/rooms/"+room.ID), http.StatusForbidden, problem.CodeForbidden, ""),
		refused("join under a bad name", badly, http.StatusBadRequest, problem.CodeInvalidBody, "body.name"),
		{Name: "join under a name", Request: named, Status: http.StatusCreated},
		{Name: "the name", Request: get(ana, "/rooms/"+room.ID), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var found trinity.RoomWithMembers
			if r.JSON(tb, &found); len(found.Members) != 2 || found.Members[0].Name != "" || found.Members[1].Name != "Zoë" {
				tb.Errorf("found %+v", found.Members)
			}
		}},
		refused("remove, as a member", remove(bruno, room.ID, ana), http.StatusForbidden, "not_host", ""),
		refused("close, as a member", end(bruno, room.ID), http.StatusForbidden, "not_host", ""),
		refused("close, as a stranger", end(cho, room.ID), http.StatusForbidden, problem.CodeForbidden, ""),
		refused("close no room", end(ana, nowhere), http.StatusNotFound, problem.CodeNotFound, ""),
		{Name: "close", Request: end(ana, room.ID), Status: http.StatusOK, Check: closed},
		{Name: "close again", Request: end(ana, room.ID), Status: http.StatusOK, Check: closed},
		refused("vote in a closed room", apitest.Request{Method: http.MethodPut, Path: "/rooms/" + room.ID + "/votes/1", As: bruno, Body: map[string]any{"vote": true}}, http.StatusNotFound, problem.CodeNotFound, ""),
		refused("join a closed room", apitest.Request{Method: http.MethodPut, Path: "/codes/" + room.Code + "/member", As: cho}, http.StatusConflict, "room_closed", ""),
		{Name: "join a closed room that one is in", Request: join, Status: http.StatusOK},
	}
}

// roomCases: only members can access a room's content.
func roomCases(room trinity.Room) []apitest.Case {
	cases := []apitest.Case{
		{Name: "room", Request: get(bruno, "/rooms/"+room.ID), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var found struct {
				trinity.Room
				Members []trinity.Person
			}
			if r.JSON(tb, &found); found.ID != room.ID || found.MemberCount != 2 || len(found.Members) != 2 {
				tb.Errorf("found %+v", found)
			}
		}},
		{Name: "candidates", Request: get(bruno, "/rooms/"+room.ID+"/candidates?limit=100"), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var found struct{ Items []trinity.Candidate }
			if r.JSON(tb, &found); len(found.Items) != 30 || found.Items[0].Title == "" || found.Items[0].MediaType != "MOVIE" {
				tb.Errorf("found %+v", found)
			}
		}},
	}
	for _, path := range []string{"", "/candidates", "/votes", "/votes/mine", "/matches", "/votes/1", "/matches/1", "/events"} {
		cases = append(
			cases,
			refused("no member"+path, get(cho, "/rooms/"+room.ID+path), http.StatusForbidden, problem.CodeForbidden, ""),
			refused("no room"+path, get(ana, "/rooms/"+nowhere+path), http.StatusNotFound, problem.CodeNotFound, ""),
			refused("no id"+path, get(ana, "/rooms/room-123"+path), http.StatusBadRequest, problem.CodeInvalidParameter, "path.id"),
			refused("capitals"+path, get(ana, "/rooms/"+strings.ToUpper(nowhere)+path), http.StatusBadRequest, problem.CodeInvalidParameter, "path.id"),
		)
	}
	for _, path := range []string{"/candidates", "/votes", "/votes/mine", "/matches"} {
		cases = append(
			cases,
			apitest.Case{Name: "list" + path, Request: get(ana, "/rooms/"+room.ID+path), Status: http.StatusOK},
			refused("no limit"+path, get(ana, "/rooms/"+room.ID+path+"?limit=0"), http.StatusBadRequest, problem.CodeInvalidParameter, "query.limit"),
			refused("made-up cursor"+path, get(ana, "/rooms/"+room.ID+path+"?cursor=AQ"), http.StatusBadRequest, problem.CodeInvalidCursor, ""),
		)
	}
	return cases
}

func voteRoutes(t *testing.T, v *apitest.Server, room trinity.Room) {
	t.Helper()
	film := all[trinity.Candidate](t, client{v, ana}, "/rooms/"+room.ID+"/candidates")[0]
	at := func(roomID string, movieID any) string { return fmt.Sprintf("/rooms/%s/votes/%v", roomID, movieID) }
	put := func(sub, path string, body any) apitest.Request {
		return apitest.Request{Method: http.MethodPut, Path: path, As: sub, Body: body}
	}
	yes, no := map[string]any{"vote": true}, map[string]any{"vote": false}
	own := at(room.ID, film.MovieID)
	invalid := func(name string, body any, field string) apitest.Case {
		return refused(name, put(ana, own, body), http.StatusBadRequest, problem.CodeInvalidBody, field)
	}
	leave := func(sub, roomID string) apitest.Request {
		return apitest.Request{Method: http.MethodDelete, Path: "/rooms/" + roomID + "/member", As: sub}
	}
	v.Run(t, []apitest.Case{
		invalid("no body", nil, ""),
		invalid("nothing", map[string]any{}, "body"),
		invalid("another type", map[string]any{"vote": "yes"}, "body.vote"),
		invalid("another field", map[string]any{"vote": true, "userId": bruno}, "body.userId"),
		refused("no film's id", put(ana, at(room.ID, "x"), yes), http.StatusBadRequest, problem.CodeInvalidParameter, "path.movieId"),
		refused("film zero", put(ana, at(room.ID, 0), yes), http.StatusBadRequest, problem.CodeInvalidParameter, "path.movieId"),
		refused("film too high", put(ana, at(room.ID, 100_000_000), yes), http.StatusBadRequest, problem.CodeInvalidParameter, "path.movieId"),
		refused("no film of the room", put(ana, at(room.ID, 1), yes), http.StatusNotFound, problem.CodeNotFound, ""),
		refused("no to no film of the room", put(ana, at(room.ID, 1), no), http.StatusNotFound, problem.CodeNotFound, ""),
		refused("no member", put(cho, own, yes), http.StatusForbidden, problem.CodeForbidden, ""),
		refused("no room", put(ana, at(nowhere, film.MovieID), yes), http.StatusNotFound, problem.CodeNotFound, ""),
		refused("not voted", get(ana, own), http.StatusNotFound, problem.CodeNotFound, ""),
		refused("not matched", get(ana, fmt.Sprintf("/rooms/%s/matches/%d", room.ID, film.MovieID)), http.StatusNotFound, problem.CodeNotFound, ""),
		{Name: "yes", Request: put(ana, own, yes), Status: http.StatusCreated},
		{Name: "own vote", Request: get(ana, own), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var vote trinity.Vote
			if r.JSON(tb, &vote); vote.UserID != ana || vote.MovieID != film.MovieID || !vote.Vote {
				tb.Errorf("found %+v", vote)
			}
		}},
		refused("another's vote", get(bruno, own), http.StatusNotFound, problem.CodeNotFound, ""),
		{Name: "yes again", Request: put(ana, own, yes), Status: http.StatusOK},
		refused("no after yes", put(ana, own, no), http.StatusConflict, "vote_is_final", ""),
		{Name: "match", Request: put(bruno, own, yes), Status: http.StatusCreated},
		{Name: "the match", Request: get(ana, fmt.Sprintf("/rooms/%s/matches/%d", room.ID, film.MovieID)), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var match trinity.Match
			if r.JSON(tb, &match); match.Title != film.Title || match.RoomID != room.ID {
				tb.Errorf("found %+v", match)
			}
		}},
		refused("leave no room", leave(ana, nowhere), http.StatusNotFound, problem.CodeNotFound, ""),
		refused("leave no id", leave(ana, "room-123"), http.StatusBadRequest, problem.CodeInvalidParameter, "path.id"),
		{Name: "leave", Request: leave(bruno, room.ID), Status: http.StatusNoContent},
		{Name: "leave again", Request: leave(bruno, room.ID), Status: http.StatusNoContent},
		refused("gone", get(bruno, "/rooms/"+room.ID), http.StatusForbidden, problem.CodeForbidden, ""),
	})
}

func eventRoutes(t *testing.T, v *apitest.Server, room trinity.Room) {
	t.Helper()
	events := func(id string) apitest.Request {
		r := get(ana, "/rooms/"+room.ID+"/events")
		r.Header = map[string]string{"Last-Event-ID": id}
		return r
	}
	for _, id := range []string{"x", "1", "1-", "1-2-3", "-1-2", "+1-2", "01-2", strings.Repeat("1", 50)} {
		v.Run(t, []apitest.Case{refused("id "+id, events(id), http.StatusBadRequest, problem.CodeInvalidParameter, "header.Last-Event-ID")})
	}
	if !v.Live() { // Lambda returns the available events
		v.Run(t, []apitest.Case{{Name: "events", Request: events(""), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			if text := string(r.Body); !strings.Contains(text, "event: match\n") || !strings.HasSuffix(text, "event: ready\ndata: {}\n\n") {
				tb.Errorf("events are %q", text)
			}
		}}})
		return
	}
	feed := watch(t, client{v, ana}, room.ID, "")
	if first := feed.next(t); first.name != "match" || first.id == "" {
		t.Errorf("the first event is %+v", first)
	}
	if second := feed.next(t); second.name != "ready" {
		t.Errorf("the second event is %+v", second)
	}
}

// TestCursorOfAnother: even in a list that all members see, a cursor is valid only for the caller who received it.
func TestCursorOfAnother(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, trinity.System(trinity.Options{}))
	room := client{v, ana}.create(t, "cursors")
	client{v, bruno}.join(t, room.Code)
	var page struct{ Next string }
	list := apitest.Query("/rooms/"+room.ID+"/candidates", "limit", "2")
	client{v, ana}.do(t, &page, get(ana, list), http.StatusOK)
	if page.Next == "" {
		t.Fatal("two candidates are all")
	}
	next := list + "&cursor=" + page.Next
	v.Run(t, []apitest.Case{
		{Name: "her own", Request: get(ana, next), Status: http.StatusOK},
		refused("another member's", get(bruno, next), http.StatusBadRequest, problem.CodeInvalidCursor, ""),
	})
}
