package trinity_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

// The document's tables and fields, compared with the stored items.

// tableLines: the three tables with their keys.
func (d *document) tableLines() []apitest.Line {
	keys := func(name string, want ...string) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			is := d.v.Described(t, name)
			var got []string
			for _, k := range is.KeySchema {
				for _, a := range is.AttributeDefinitions {
					if *a.AttributeName == *k.AttributeName {
						got = append(got, *a.AttributeName+":"+string(a.AttributeType))
					}
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s has the keys %v, want %v", name, got, want)
			}
		}
	}
	return []apitest.Line{
		{Says: "Tabla: trinity-rooms", Holds: keys("trinity-rooms", "id:S")},
		{Says: "Tabla: trinity-votes", Holds: keys("trinity-votes", "roomId:S", "userMovieId:S")},
		{Says: "Tabla: trinity-matches", Holds: keys("trinity-matches", "roomId:S", "movieId:N")},
	}
}

// kind selects the items of a table that have a certain attribute.
type kind struct{ table, has string }

var (
	rooms       = kind{"trinity-rooms", "memberCount"}
	candidates  = kind{"trinity-votes", "overview"}
	votes       = kind{"trinity-votes", "vote"}
	matches     = kind{"trinity-matches", "matchedUsers"}
	userMatches = kind{"trinity-matches", "userId"}
)

// stored returns the items of a kind.
func (d *document) stored(t *testing.T, k kind) []table.Item {
	t.Helper()
	var found []table.Item
	for it := range d.v.Database.Items(t, k.table, "") {
		if it[k.has] != nil {
			found = append(found, it)
		}
	}
	if len(found) == 0 {
		t.Fatalf("no item of %+v", k)
	}
	return found
}

const (
	uuid    = `[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`
	instant = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`
	user    = `u-[\w-]+`
)

// fieldLines: every item of a kind has each field as an attribute, and the values match a pattern.
func (d *document) fieldLines() []apitest.Line {
	var lines []apitest.Line
	for _, f := range []struct {
		says, instead string
		of            kind
		attribute     string
		value         string // of a string, number or boolean
	}{
		{"id: string; // Partition Key - UUID único", "", rooms, "id", uuid},
		{"id: string; // PK: UUID único de la sala", "", rooms, "id", uuid},
		{"code: string; // Código de 6 caracteres (GSI)", "the code is in no index, a marker finds it", rooms, "code", `[A-Z0-9]{6}`},
		{"code: string; // GSI Partition Key", "the code is in no index, a marker finds it", rooms, "code", `[A-Z0-9]{6}`},
		{"hostId: string; // ID del usuario creador", "", rooms, "hostId", user},
		{"mediaType: 'MOVIE' | 'TV'; // Tipo de contenido", "", rooms, "mediaType", `MOVIE|TV`},
		{"createdAt: string; // ISO timestamp de creación", "", rooms, "createdAt", instant},
		{"ttl: number; // Unix timestamp para expiración (24h)", "", rooms, "ttl", `\d{10}`},
		{"id: number; // ID de TMDB", "it is movieId, as in votes and matches", candidates, "movieId", `\d+`},
		{"title: string; // Título de la película", "", candidates, "title", `Film \d`},
		{"overview: string; // Sinopsis", "", candidates, "overview", `.+`},
		{"posterPath?: string; // URL del poster", "it is TMDB's path, to which a client adds the size that it wants", candidates, "posterPath", `/.+`},
		{"releaseDate: string; // Fecha de estreno", "", candidates, "releaseDate", `\d{4}-\d\d-\d\d`},
		{"mediaType: 'MOVIE' | 'TV'; // Tipo de media", "", candidates, "mediaType", `MOVIE|TV`},
		{"roomId: string; // Partition Key", "", votes, "roomId", uuid},
		{`userMovieId: string; // Sort Key: formato "userId#movieId"`, "", votes, "userMovieId", user + `#\d+`},
		{"roomId: string; // PK: ID de la sala", "", votes, "roomId", uuid},
		{`userMovieId: string; // SK: "userId#movieId" o "userId#JOINED"`, "userId#JOINED is in the partition of the room's members", votes, "userMovieId", user + `#\d+`},
		{"userId: string; // ID del usuario", "", votes, "userId", user},
		{"movieId: number; // ID de TMDB (-1 para participación)", "a participation is no vote, and has none", votes, "movieId", `\d+`},
		{"vote: boolean; // true = positivo, false = negativo", "", votes, "vote", `true|false`},
		{"timestamp: string; // ISO timestamp del voto", "", votes, "timestamp", instant},
		{"isParticipation?: boolean; // Flag para registros de participación", "a participation is no vote, so that no vote has it", votes, "isParticipation", ""},
		{"movieId: number; // Sort Key", "", matches, "movieId", `\d+`},
		{"roomId: string; // PK: ID de la sala donde ocurrió", "", matches, "roomId", uuid},
		{"movieId: number; // SK: ID de TMDB de la película", "", matches, "movieId", `\d+`},
		{"matchId: string; // UUID único del match", "", matches, "matchId", uuid},
		{"timestamp: string; // ISO timestamp del match", "", matches, "timestamp", instant},
		{"userId: string; // GSI PK (extraído de matchedUsers)", "it is of an item for each user, which a list's element cannot be", userMatches, "userId", user},
		{"timestamp: string; // GSI SK para ordenamiento", "", userMatches, "timestamp", instant},
		{"roomId: string; // Atributo proyectado", "the item's key needs its attribute: the room is called room", userMatches, "room", uuid},
		{"movieId: number; // Atributo proyectado", "", userMatches, "movieId", `\d+`},
	} {
		lines = append(lines, apitest.Line{Says: f.says, Instead: f.instead, Holds: func(t *testing.T) {
			t.Helper()
			for _, it := range d.stored(t, f.of) {
				if got := apitest.Plain(it)[f.attribute]; !regexp.MustCompile("^(" + f.value + ")$").MatchString(got) {
					t.Errorf("%s is %q in %v", f.attribute, got, it)
				}
			}
		}})
	}
	return append(
		lines,
		apitest.Line{Says: "genreIds: number[]; // IDs de géneros TMDB (máx 2)", Holds: func(t *testing.T) {
			t.Helper()
			for _, it := range d.stored(t, rooms) {
				if genres, ok := it["genreIds"].(*types.AttributeValueMemberL); !ok || len(genres.Value) > 2 {
					t.Errorf("genreIds is %v", it["genreIds"])
				}
			}
			three := apitest.Request{Method: http.MethodPost, Path: "/rooms", As: ana, Key: "three", Body: map[string]any{"mediaType": "MOVIE", "genreIds": []int{35, 878, 18}}}
			d.v.Run(t, []apitest.Case{refused("three", three, http.StatusBadRequest, problem.CodeInvalidBody, "body.genreIds")})
		}},
		apitest.Line{Says: "candidates: MovieCandidate[]; // Lista de candidatos", Instead: "items of their own, beside their votes, with a tally", Holds: func(t *testing.T) {
			t.Helper()
			found := d.v.Query(t, "trinity-votes", "", "roomId = :roomId", map[string]string{":roomId": "MOVIES#" + d.room.ID})
			if len(found) != 6 || found[0]["yes"] == "" {
				t.Errorf("the room's films are %v", found)
			}
		}},
		apitest.Line{Says: "matchedUsers: string[]; // Array de IDs de usuarios", Holds: func(t *testing.T) {
			t.Helper()
			for _, it := range d.stored(t, matches) {
				if users, ok := it["matchedUsers"].(*types.AttributeValueMemberL); !ok || len(users.Value) < 2 {
					t.Errorf("matchedUsers is %v", it["matchedUsers"])
				}
			}
			if !slices.Equal(d.match.MatchedUsers, []string{ana, bruno, cho}) {
				t.Errorf("shown %v", d.match.MatchedUsers)
			}
		}},
	)
}

// keyLines are the keys with which the document explains how requests are distributed, including its bad examples.
func (d *document) keyLines() []apitest.Line {
	leads := func(name string, want bool) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			if got := *d.v.Described(t, "trinity-votes").KeySchema[0].AttributeName == name; got != want {
				t.Errorf("votes are spread by %s: %v", name, got)
			}
		}
	}
	return []apitest.Line{
		{Says: `date: string; // PK: "2026-02-03" - todos los votos del día`, Holds: leads("date", false)},
		{Says: "userId: string; // SK: distribuye mal", Holds: leads("userId", false)},
		{Says: "roomId: string; // PK: distribuye por sala", Holds: leads("roomId", true)},
		{Says: "userMovieId: string; // SK: distribuye por usuario+película", Holds: func(t *testing.T) {
			t.Helper()
			for _, it := range d.stored(t, votes) {
				if v := apitest.Plain(it); v["userMovieId"] != v["userId"]+"#"+v["movieId"] || strings.Count(v["userMovieId"], "#") != 1 {
					t.Errorf("stored %v", v)
				}
			}
		}},
	}
}
