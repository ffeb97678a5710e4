package trinity_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/trinity"
)

// The document's matches, data flow, capacity, metrics and tests.

// matchLines are the patterns of trinity-matches.
func (d *document) matchLines() []apitest.Line {
	return []apitest.Line{
		{Says: "1. Obtener Matches de una Sala", Holds: func(t *testing.T) {
			t.Helper()
			found := d.v.Query(t, "trinity-matches", "", "roomId = :roomId", map[string]string{":roomId": d.room.ID})
			if list := d.b.matches(t, d.room.ID); len(list) != 1 || list[0].MatchID != d.match.MatchID || len(found) != 1 {
				t.Errorf("shown %+v, found %v", list, found)
			}
			d.v.ExpectAsked(t, "listRoomMatches", d.room.ID, "Query")
		}},
		{Says: "2. Verificar Match Específico", Holds: func(t *testing.T) {
			t.Helper()
			var match trinity.Match
			if d.c.do(t, &match, get("", "/rooms/"+d.room.ID+"/matches/1"), http.StatusOK); match.MatchID != d.match.MatchID {
				t.Errorf("shown %+v", match)
			}
			d.c.do(t, nil, get("", "/rooms/"+d.room.ID+"/matches/2"), http.StatusNotFound)
			if it := d.v.Item(t, "trinity-matches", "roomId", d.room.ID, "movieId", "1"); it["matchId"] == "" {
				t.Errorf("stored %v", it)
			}
			d.v.ExpectAsked(t, "getMatch", d.room.ID, "GetItem")
		}},
		{Says: "3. Obtener Matches de Usuario (Todas las Salas)", Instead: "a Query of an index of items, one for each user of a match: no index looks into a list", Holds: func(t *testing.T) {
			t.Helper()
			a, b := client{d.v, "u-all-1"}, client{d.v, "u-all-2"}
			var want []string
			for _, key := range []string{"k-1", "k-2"} {
				room := a.create(t, key)
				b.join(t, room.Code)
				a.vote(t, room.ID, 3, true)
				d.v.Clock.Advance(time.Second)
				want = slices.Insert(want, 0, b.vote(t, room.ID, 3, true).Match.MatchID)
			}
			for _, who := range []client{a, b} {
				var got []string
				for _, m := range all[trinity.OwnMatch](t, who, "/matches") {
					got = append(got, m.MatchID)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s is shown %v, want %v", who.sub, got, want)
				}
				d.v.ExpectAsked(t, "listMatches", who.sub, "Query user-index")
			}
		}},
		{Says: "Optimización Futura: GSI por Usuario", Instead: "it is there now", Holds: func(t *testing.T) {
			t.Helper()
			for _, index := range d.v.Described(t, "trinity-matches").GlobalSecondaryIndexes {
				if k := index.KeySchema; *index.IndexName == "user-index" && *k[0].AttributeName == "userId" && *k[1].AttributeName == "timestamp" {
					return
				}
			}
			t.Error("there is no index by userId and timestamp")
		}},
	}
}

// flowLines are the document's data flow.
func (d *document) flowLines() []apitest.Line {
	return []apitest.Line{
		{Says: "A --> B[Candidates Stored]", Holds: func(t *testing.T) {
			t.Helper()
			room := d.a.create(t, "flow-a")
			if list := all[trinity.Candidate](t, d.a, "/rooms/"+room.ID+"/candidates"); len(list) != 6 || list[0].Title != "Film 1" || list[0].PosterPath == "" {
				t.Errorf("a new room has the films %+v", list)
			}
		}},
		{Says: "C[User Joins] --> D[Participation Record]", Holds: func(t *testing.T) {
			t.Helper()
			room := d.a.create(t, "flow-c")
			d.b.join(t, room.Code)
			if it := d.v.Item(t, "trinity-votes", "roomId", "MEMBERS#"+room.ID, "userMovieId", bruno+"#JOINED"); len(it) == 0 {
				t.Error("the join is not recorded")
			}
		}},
		{Says: "E[User Votes] --> F[Vote Record]", Holds: func(t *testing.T) {
			t.Helper()
			room := d.a.create(t, "flow-e")
			d.a.vote(t, room.ID, 4, false)
			if it := d.v.Item(t, "trinity-votes", "roomId", room.ID, "userMovieId", ana+"#4"); it["vote"] != "false" {
				t.Errorf("recorded is %v", it)
			}
		}},
		{Says: "G[All Users Vote Yes] --> H[Match Created]", Holds: func(t *testing.T) {
			t.Helper()
			room := d.a.create(t, "flow-g")
			d.b.join(t, room.Code)
			if first := d.a.vote(t, room.ID, 1, true); first.Match != nil {
				t.Errorf("the first of two votes created %+v", first.Match)
			}
			if last := d.b.vote(t, room.ID, 1, true); last.Match == nil || len(d.a.matches(t, room.ID)) != 1 {
				t.Errorf("the last vote created %+v", last.Match)
			}
		}},
		{Says: "H --> I[Notifications Sent]", Holds: d.notified},
		{Says: "should store vote correctly", Holds: func(t *testing.T) {
			t.Helper()
			room := d.a.create(t, "should-1")
			cast := d.a.vote(t, room.ID, 5, true)
			var found trinity.Vote
			if d.a.do(t, &found, get("", "/rooms/"+room.ID+"/votes/5"), http.StatusOK); found != cast.Vote || found.UserID != ana || found.MovieID != 5 || !found.Vote {
				t.Errorf("cast %+v, found %+v", cast.Vote, found)
			}
		}},
		{Says: "should create match when all users vote positively", Holds: func(t *testing.T) {
			t.Helper()
			room := d.a.create(t, "should-2")
			d.b.join(t, room.Code)
			d.a.vote(t, room.ID, 5, true)
			d.b.vote(t, room.ID, 5, true)
			var match trinity.Match
			if d.a.do(t, &match, get("", "/rooms/"+room.ID+"/matches/5"), http.StatusOK); !slices.Equal(match.MatchedUsers, []string{ana, bruno}) {
				t.Errorf("the match is %+v", match)
			}
		}},
	}
}

// notified: members with an open stream receive a match immediately. Where connections cannot stay open, they receive it with the
// next poll.
func (d *document) notified(t *testing.T) {
	t.Helper()
	room := d.a.create(t, "told")
	d.b.join(t, room.Code)
	if !d.v.Live() {
		d.a.vote(t, room.ID, 1, true)
		d.b.vote(t, room.ID, 1, true)
		r := get(ana, "/rooms/"+room.ID+"/events")
		if response := d.v.Do(t, r); !strings.Contains(string(response.Body), "event: match\n") {
			t.Errorf("the response is %s", response.Body)
		}
		return
	}
	feed := watch(t, d.a, room.ID, "")
	defer feed.stop()
	if first := feed.next(t); first.name != "ready" {
		t.Fatalf("the first event is %+v", first)
	}
	d.a.vote(t, room.ID, 1, true)
	created := d.b.vote(t, room.ID, 1, true).Match
	var received trinity.Match
	if h := feed.next(t); h.name != "match" {
		t.Errorf("told is %+v", h)
	} else if h.json(t, &received); received.MatchID != created.MatchID {
		t.Errorf("told is %+v, made %+v", received, created)
	}
}

// capacityLines: batches, capacity, metrics and alarms.
func (d *document) capacityLines() []apitest.Line {
	tables := []string{"trinity-rooms", "trinity-votes", "trinity-matches"}
	charted := func(metric string) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			for _, name := range []string{"TrinityRoomsTable", "TrinityVotesTable", "TrinityMatchesTable"} {
				if !strings.Contains(apitest.TemplateText(t), `[\"AWS/DynamoDB\",\"`+metric+`\",\"TableName\",\"${`+name+`}\"`) {
					t.Errorf("the dashboard has no %s of %s", metric, name)
				}
			}
		}
	}
	counted := func(of func(*types.TableDescription) *int64) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			for _, name := range tables {
				if n := of(d.v.Described(t, name)); n == nil || *n == 0 {
					t.Errorf("nothing is counted of %s", name)
				}
			}
		}
	}
	return []apitest.Line{
		{Says: "Batch Operations", Instead: "a vote is a transaction with its tally; a batch has no conditions, and some of it may come back", Holds: func(t *testing.T) {
			t.Helper()
			d.v.Never(t, "BatchWriteItem")
			scan(t, d.v).sound(t)
		}},
		{Says: "Read/Write Capacity Planning", Holds: func(t *testing.T) {
			t.Helper()
			for _, name := range tables {
				if b := d.v.Described(t, name).BillingModeSummary; b == nil || b.BillingMode != types.BillingModePayPerRequest {
					t.Errorf("%s is billed by %+v", name, b)
				}
			}
		}},
		{Says: "ConsumedReadCapacityUnits: Capacidad de lectura utilizada", Holds: charted("ConsumedReadCapacityUnits")},
		{Says: "ConsumedWriteCapacityUnits: Capacidad de escritura utilizada", Holds: charted("ConsumedWriteCapacityUnits")},
		{
			Says: "ThrottledRequests: Requests limitados por capacidad", Instead: "ReadThrottleEvents and WriteThrottleEvents, which are told of indexes too",
			Holds: func(t *testing.T) {
				t.Helper()
				charted("ReadThrottleEvents")(t)
				charted("WriteThrottleEvents")(t)
			},
		},
		{Says: "ItemCount: Número de items en tabla", Instead: "CloudWatch has no such metric: DescribeTable tells it", Holds: counted(func(is *types.TableDescription) *int64 { return is.ItemCount })},
		{Says: "TableSizeBytes: Tamaño total de la tabla", Instead: "CloudWatch has no such metric: DescribeTable tells it", Holds: counted(func(is *types.TableDescription) *int64 { return is.TableSizeBytes })},
		{Says: "CloudWatch Alarms", Holds: func(t *testing.T) {
			t.Helper()
			for _, name := range []string{"TrinityRoomsTable", "TrinityVotesTable", "TrinityMatchesTable"} {
				if !strings.Contains(apitest.TemplateText(t), "\n  "+name+"ThrottleAlarm:\n") {
					t.Errorf("no alarm reports throttling of %s", name)
				}
			}
		}},
	}
}
