package trinity_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/trinity"
	"github.com/monotable/monotable/systems/trinity/films"
)

// asks matches the parts of the document that contain requirements: tables with fields and patterns, records, data flow,
// monitoring and tests.
var asks = regexp.MustCompile(`Tabla: trinity-\w+|^  \w+\??: [^;]+;.*//.*|^#### (\d\.|code-index|Voto|Registro|Obtener|Hot|Composite).*|` +
	`^- (Unirse|Validar).*|^### (Time|Optimi|Batch|Read|Cloud).*|\w\[.*\] --> .*|[AH] --> \w\[.*\]|^- \*\*\w+(Units|Requests|Count|Bytes)\*\*: .*|should (store|create) [\w ]+`)

// TestDocument checks every line of the document.
func TestDocument(t *testing.T) {
	t.Parallel()
	apitest.EachLine(t, trinity.System(trinity.Options{Films: posters(6), CheckInterval: time.Millisecond}), asks, func(t *testing.T, v *apitest.Server) []apitest.Line {
		t.Helper()
		d := documented(t, v)
		return slices.Concat(d.tableLines(), d.fieldLines(), d.keyLines(), d.roomLines(), d.voteLines(), d.matchLines(), d.flowLines(), d.capacityLines())
	})
}

// posters is a Source of the films 1 to n with all details.
type posters int

func (n posters) Films(context.Context, films.Query) ([]films.Film, error) {
	var list []films.Film
	for i := range int64(n) {
		list = append(list, films.Film{
			ID: i + 1, MediaType: films.Movie, Title: fmt.Sprint("Film ", i+1), Overview: "Two people meet.", PosterPath: "/poster.jpg", ReleaseDate: "1999-03-31",
		})
	}
	return list, nil
}

// document is a system in which everything in the document has happened once: three members of a room all want film 1, and one of
// them does not want film 2.
type document struct {
	v       *apitest.Server
	a, b, c client
	room    trinity.Room
	match   trinity.Match
}

func documented(t *testing.T, v *apitest.Server) *document {
	t.Helper()
	d := &document{v: v, a: client{v, ana}, b: client{v, bruno}, c: client{v, cho}}
	d.a.do(t, &d.room, apitest.Request{Method: http.MethodPost, Path: "/rooms", Key: "document", Body: map[string]any{"mediaType": "MOVIE", "genreIds": []int{35, 878}}}, http.StatusCreated)
	d.b.join(t, d.room.Code)
	d.c.join(t, d.room.Code)
	d.a.vote(t, d.room.ID, 1, true)
	d.b.vote(t, d.room.ID, 1, true)
	d.c.vote(t, d.room.ID, 2, false)
	cast := d.c.vote(t, d.room.ID, 1, true)
	if cast.Match == nil {
		t.Fatal("all have said yes, and there is no match")
	}
	d.match = *cast.Match
	v.Deliver(t)
	return d
}

// ids returns the ids of rooms.
func ids(rooms []trinity.JoinedRoom) []string {
	list := make([]string, len(rooms))
	for i, r := range rooms {
		list[i] = r.ID
	}
	return list
}

// roomLines are the patterns of trinity-rooms.
func (d *document) roomLines() []apitest.Line {
	return []apitest.Line{
		{Says: "1. Obtener Sala por ID", Instead: "the films are items of their own, so that the room that each vote reads is small", Holds: func(t *testing.T) {
			t.Helper()
			var found trinity.RoomWithMembers
			if d.b.do(t, &found, get("", "/rooms/"+d.room.ID), http.StatusOK); found.ID != d.room.ID || len(found.Members) != 3 {
				t.Errorf("shown %+v", found)
			}
			if it := d.v.Item(t, "trinity-rooms", "id", d.room.ID); it["hostId"] == "" || it["candidates"] != "" {
				t.Errorf("stored %v", it)
			}
			d.v.ExpectAsked(t, "getRoom", d.room.ID, "GetItem")
		}},
		{Says: "2. Buscar Sala por Código", Instead: "a marker has the room's id: it is read consistently, and enforces that the code is one room's", Holds: func(t *testing.T) {
			t.Helper()
			var found trinity.Room
			if d.c.do(t, &found, get("", "/codes/"+d.room.Code), http.StatusOK); found.ID != d.room.ID {
				t.Errorf("shown %+v", found)
			}
			d.v.ExpectAsked(t, "getRoomByCode", "CODE#"+d.room.Code, "GetItem")
		}},
		{Says: "code-index", Instead: "there is no such index, for it would be late and enforce nothing", Holds: func(t *testing.T) {
			t.Helper()
			for _, index := range d.v.Described(t, "trinity-rooms").GlobalSecondaryIndexes {
				if *index.IndexName == "code-index" {
					t.Error("there is one")
				}
			}
			if it := d.v.Item(t, "trinity-rooms", "id", "CODE#"+d.room.Code); it["roomId"] == "" {
				t.Errorf("the marker is %v", it)
			}
		}},
		{Says: "Unirse a sala con código", Holds: func(t *testing.T) {
			t.Helper()
			room := d.a.create(t, "join")
			if joined := (client{d.v, "u-new"}).join(t, strings.ToLower(room.Code)); joined.ID != room.ID || joined.MemberCount != 2 {
				t.Errorf("joined %+v", joined)
			}
		}},
		{Says: "Validar unicidad de códigos", Holds: func(t *testing.T) {
			t.Helper()
			codes := []string{"AAAAAA", "AAAAAA", "BBBBBB"}
			v := apitest.Open(t, trinity.System(trinity.Options{Films: posters(2), NewCode: func() string {
				next := codes[0]
				codes = codes[1:]
				return next
			}}))
			first, second := client{v, ana}.create(t, "k"), client{v, bruno}.create(t, "k")
			if first.Code != "AAAAAA" || second.Code != "BBBBBB" {
				t.Errorf("two rooms have the codes %s and %s", first.Code, second.Code)
			}
		}},
		{Says: "3. Obtener Salas por Host", Instead: "a Query of an index, not a Scan", Holds: func(t *testing.T) {
			t.Helper()
			host := client{d.v, "u-host"}
			room := host.create(t, "k")
			host.join(t, d.room.Code) // of another host
			if rooms := all[trinity.HostedRoom](t, host, "/rooms/hosted"); len(rooms) != 1 || rooms[0].ID != room.ID {
				t.Errorf("shown %+v", rooms)
			}
			d.v.ExpectAsked(t, "listHostedRooms", host.sub, "Query host-index")
			host.leave(t, d.room.ID)
		}},
		{Says: "Time To Live (TTL)", Instead: "votes, members and matches have the room's time too; what is over and not removed yet is not found", Holds: func(t *testing.T) {
			t.Helper()
			v := apitest.Open(t, trinity.System(trinity.Options{Films: posters(2)}))
			a := client{v, ana}
			room := a.create(t, "k")
			a.vote(t, room.ID, 1, true)
			ends := fmt.Sprint(v.Clock.Now().Add(24 * time.Hour).Unix())
			for _, name := range []string{"trinity-rooms", "trinity-votes"} {
				for it := range v.Database.Items(t, name, "") {
					if ttl, ok := it["ttl"].(*types.AttributeValueMemberN); !ok || ttl.Value != ends {
						t.Errorf("goes at %v, not at %s: %v", it["ttl"], ends, it)
					}
				}
			}
			v.Clock.Advance(24 * time.Hour)
			v.Run(t, []apitest.Case{refused("over", get(ana, "/rooms/"+room.ID), http.StatusNotFound, problem.CodeNotFound, "")})
		}},
		{Says: "Obtener Salas del Usuario (Sin Matches)", Instead: "one Query, in which the host's rooms are too, since the host is a member", Holds: func(t *testing.T) {
			t.Helper()
			who := client{d.v, "u-unmatched"}
			own := who.create(t, "k")
			other := d.a.create(t, "without")
			d.v.Clock.Advance(time.Second)
			who.join(t, other.Code)
			who.join(t, d.room.Code) // which already has a match
			if got := ids(all[trinity.JoinedRoom](t, who, "/rooms/unmatched")); !slices.Equal(got, []string{other.ID, own.ID}) {
				t.Errorf("shown %v, want %v", got, []string{other.ID, own.ID})
			}
			d.v.ExpectAsked(t, "listUnmatchedRooms", who.sub, "Query unmatched-index")
			who.leave(t, d.room.ID)
		}},
	}
}

// voteLines are the patterns and records of trinity-votes.
func (d *document) voteLines() []apitest.Line {
	own := fmt.Sprintf("/rooms/%s/votes/", d.room.ID)
	return []apitest.Line{
		{Says: "1. Obtener Todos los Votos de una Sala", Holds: func(t *testing.T) {
			t.Helper()
			votes := all[trinity.Vote](t, d.a, "/rooms/"+d.room.ID+"/votes")
			found := d.v.Query(t, "trinity-votes", "", "roomId = :roomId", map[string]string{":roomId": d.room.ID})
			if len(votes) != 4 || len(found) != 4 {
				t.Errorf("shown %+v, found %v; want four votes", votes, found)
			}
			d.v.ExpectAsked(t, "listVotes", d.room.ID, "Query")
		}},
		{Says: "2. Obtener Voto Específico", Holds: func(t *testing.T) {
			t.Helper()
			var vote trinity.Vote
			if d.c.do(t, &vote, get("", own+"2"), http.StatusOK); vote.UserID != cho || vote.MovieID != 2 || vote.Vote {
				t.Errorf("shown %+v", vote)
			}
			if it := d.v.Item(t, "trinity-votes", "roomId", d.room.ID, "userMovieId", cho+"#2"); it["vote"] == "" {
				t.Errorf("stored %v", it)
			}
			d.v.ExpectAsked(t, "getVote", d.room.ID, "GetItem")
		}},
		{Says: "3. Obtener Votos de Usuario en Sala", Holds: func(t *testing.T) {
			t.Helper()
			votes := all[trinity.Vote](t, d.c, own+"mine")
			found := d.v.Query(t, "trinity-votes", "", "roomId = :roomId AND begins_with(userMovieId, :userId)", map[string]string{":roomId": d.room.ID, ":userId": cho + "#"})
			if len(votes) != 2 || len(found) != 2 || votes[0].UserID != cho || votes[1].UserID != cho {
				t.Errorf("shown %+v, found %v; want two votes of %s", votes, found, cho)
			}
			d.v.ExpectAsked(t, "listOwnVotes", d.room.ID, "Query")
		}},
		{Says: "4. Obtener Participación de Usuario (Todas las Salas)", Instead: "a Query of an index, in which members are and votes are not", Holds: func(t *testing.T) {
			t.Helper()
			who := client{d.v, "u-everywhere"}
			first, second := who.create(t, "k"), d.a.create(t, "everywhere")
			d.v.Clock.Advance(time.Second)
			who.join(t, second.Code)
			who.vote(t, second.ID, 1, true)
			if got := ids(all[trinity.JoinedRoom](t, who, "/rooms")); !slices.Equal(got, []string{second.ID, first.ID}) {
				t.Errorf("shown %v", got)
			}
			d.v.ExpectAsked(t, "listRooms", who.sub, "Query user-index")
		}},
		{Says: "Voto Real", Holds: func(t *testing.T) {
			t.Helper()
			got := d.v.Item(t, "trinity-votes", "roomId", d.room.ID, "userMovieId", ana+"#1")
			if got["roomId"] != d.room.ID || got["userMovieId"] != ana+"#1" || got["userId"] != ana || got["movieId"] != "1" || got["vote"] != "true" || got["timestamp"] == "" {
				t.Errorf("stored %v", got)
			}
		}},
		{Says: "Registro de Participación", Instead: "members have a partition of their own, so that votes are votes: without movieId, vote and isParticipation", Holds: func(t *testing.T) {
			t.Helper()
			got := d.v.Item(t, "trinity-votes", "roomId", "MEMBERS#"+d.room.ID, "userMovieId", ana+"#JOINED")
			if got["userId"] != ana || got["joinedAt"] == "" || got["movieId"] != "" || got["vote"] != "" || got["isParticipation"] != "" {
				t.Errorf("stored %v", got)
			}
			if it := d.v.Item(t, "trinity-votes", "roomId", d.room.ID, "userMovieId", ana+"#JOINED"); len(it) != 0 {
				t.Errorf("among the votes is %v", it)
			}
		}},
		{Says: "Hot Partition Avoidance", Holds: func(t *testing.T) {
			t.Helper()
			other := d.b.create(t, "hot")
			d.b.vote(t, other.ID, 1, true)
			for _, a := range d.v.Accesses()["castVote"] {
				if !regexp.MustCompile(uuid).MatchString(a.Leading) {
					t.Errorf("a vote does %+v, which rooms share", a)
				}
			}
			if found := d.v.Query(t, "trinity-votes", "", "roomId = :roomId", map[string]string{":roomId": other.ID}); len(found) != 1 {
				t.Errorf("the room's partition has %v", found)
			}
		}},
		{Says: "Composite Keys Eficientes", Holds: func(t *testing.T) {
			t.Helper()
			for condition, want := range map[string]int{"begins_with(userMovieId, :sk)": 2, "userMovieId = :sk": 0} {
				if found := d.v.Query(t, "trinity-votes", "", "roomId = :roomId AND "+condition, map[string]string{":roomId": d.room.ID, ":sk": cho + "#"}); len(found) != want {
					t.Errorf("%s finds %v, want %d", condition, found, want)
				}
			}
			if found := d.v.Query(t, "trinity-votes", "", "roomId = :roomId AND userMovieId = :sk", map[string]string{":roomId": d.room.ID, ":sk": cho + "#2"}); len(found) != 1 {
				t.Errorf("the exact key finds %v", found)
			}
		}},
	}
}
