package trinity_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/sam"
	"github.com/monotable/monotable/systems/internal/system"
	"github.com/monotable/monotable/systems/trinity"
)

// template describes the deployment: which patterns each function calls. A room's functions check whether the caller is a member
// and, if not, whether the room exists.
func template(v *apitest.Server) sam.Template {
	member := func(patterns ...string) []string { return append([]string{"MemberOf", "RoomByID"}, patterns...) }
	leave := member("VotesOfUserInRoom", "TakeBackYes", "TakeBackNo", "Movies", "Members", "Leave", "LeaveWithMatches")
	return sam.Template{
		Name: trinity.Name, Title: "Trinity", Design: "trinity.design.yaml", Routes: v.Routes(),
		Functions: map[string][]string{
			"exportOwnData":      {"ExportPerson"},
			"eraseOwnData":       append([]string{"RoomsOfUser", "ErasePerson"}, leave...),
			"listGenres":         {},
			"createRoom":         {"OpenRoom", "RoomByID"},
			"listRooms":          {"RoomsOfUser"},
			"listHostedRooms":    {"RoomsOfHost"},
			"listUnmatchedRooms": {"RoomsOfUserWithoutMatch"},
			"getRoom":            member("Members"),
			"getRoomByCode":      {"RoomByCode"},
			"joinRoom":           {"RoomByCode", "RoomByID", "Join"},
			"removeMember":       leave,
			"closeRoom":          member("Members", "CloseRoom"),
			"leaveRoom":          leave,
			"listCandidates":     member("Movies"),
			"castVote":           member("MovieOf", "VoteNo", "VoteYes", "VoteYesAfterMatch", "Members", "CompleteMatch", "VoteOf", "MatchOf"),
			"getVote":            member("VoteOf"),
			"listOwnVotes":       member("VotesOfUserInRoom"),
			"listVotes":          member("VotesOfRoom"),
			"listRoomMatches":    member("MatchesOfRoom"),
			"getMatch":           member("MatchOf"),
			"listMatches":        {"MatchesOfUser"},
			"watchRoom":          member("MatchesOfRoom"),
		},
		Streams: []sam.Stream{{
			Name: "matches", Table: "trinity-matches", Patterns: []string{"ShareMatch", "MarkMember"},
			Filter: `{"eventName":["INSERT"],"dynamodb":{"NewImage":{"shared":{"BOOL":[false]}}}}`,
		}},
		Settings: []sam.Setting{{
			Variable: "TRINITY_TMDB_TOKEN", Parameter: "TmdbToken", Secret: true,
			About: "An API read access token of TMDB; without one films are of the built-in catalogue",
		}},
	}
}

// TestTemplate: the files in lambda are generated from the design and the API.
func TestTemplate(t *testing.T) {
	t.Parallel()
	template(apitest.Open(t, trinity.System(trinity.Options{}))).Compare(t, "lambda")
}

// TestMain runs every test with the permissions that the template gives to each function.
func TestMain(m *testing.M) {
	apitest.Main(m, template, func() system.System { return trinity.System(trinity.Options{Films: some(6)}) })
}
