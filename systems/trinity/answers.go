package trinity

import (
	"time"

	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

// Room is a room.
type Room struct {
	ID          string              `json:"id" format:"uuid" doc:"The room's id"`
	Code        string              `json:"code" doc:"What others join by"`
	HostID      string              `json:"hostId" doc:"Who has made it"`
	MediaType   trinitydb.MediaType `json:"mediaType" enum:"MOVIE,TV" doc:"What is voted on"`
	GenreIDs    []int64             `json:"genreIds" nullable:"false" doc:"Genres of TMDB, two at most"`
	MemberCount int64               `json:"memberCount" doc:"How many take part"`
	HasMatch    bool                `json:"hasMatch" doc:"Whether there is a match"`
	CreatedAt   time.Time           `json:"createdAt" doc:"When it was made"`
	ExpiresAt   time.Time           `json:"expiresAt" doc:"When it goes, with all that belongs to it"`
}

func roomOf(r trinitydb.Room) Room {
	return Room{
		ID: r.RoomID, Code: r.Code, HostID: r.HostID, MediaType: r.MediaType, GenreIDs: list(r.GenreIDs), MemberCount: r.MemberCount,
		HasMatch: r.HasMatch, CreatedAt: r.CreatedAt, ExpiresAt: r.TTL,
	}
}

// HostedRoom is a room in the list of those that you have made.
type HostedRoom struct {
	ID        string              `json:"id" format:"uuid" doc:"The room's id"`
	Code      string              `json:"code" doc:"What others join by"`
	MediaType trinitydb.MediaType `json:"mediaType" enum:"MOVIE,TV" doc:"What is voted on"`
	GenreIDs  []int64             `json:"genreIds" nullable:"false" doc:"Genres of TMDB, two at most"`
	HasMatch  bool                `json:"hasMatch" doc:"Whether there is a match"`
	CreatedAt time.Time           `json:"createdAt" doc:"When it was made"`
	ExpiresAt time.Time           `json:"expiresAt" doc:"When it goes, with all that belongs to it"`
}

func hostedOf(r trinitydb.RoomsOfHostItem) HostedRoom {
	return HostedRoom{
		ID: r.RoomID, Code: r.Code, MediaType: r.MediaType, GenreIDs: list(r.GenreIDs), HasMatch: r.HasMatch, CreatedAt: r.CreatedAt, ExpiresAt: r.TTL,
	}
}

// JoinedRoom is a room in the list of those that you are in.
type JoinedRoom struct {
	ID        string              `json:"id" format:"uuid" doc:"The room's id"`
	Code      string              `json:"code" doc:"What others join by"`
	HostID    string              `json:"hostId" doc:"Who has made it"`
	MediaType trinitydb.MediaType `json:"mediaType" enum:"MOVIE,TV" doc:"What is voted on"`
	HasMatch  bool                `json:"hasMatch" doc:"Whether there is a match"`
	JoinedAt  time.Time           `json:"joinedAt" doc:"When you joined"`
	ExpiresAt time.Time           `json:"expiresAt" doc:"When it goes, with all that belongs to it"`
}

func joinedOf(r trinitydb.RoomsOfUserItem) JoinedRoom {
	return JoinedRoom{
		ID: r.RoomID, Code: r.Code, HostID: r.HostID, MediaType: r.MediaType, HasMatch: r.HasMatch, JoinedAt: r.JoinedAt, ExpiresAt: r.TTL,
	}
}

func unmatchedOf(r trinitydb.RoomsOfUserWithoutMatchItem) JoinedRoom {
	return JoinedRoom{ID: r.RoomID, Code: r.Code, HostID: r.HostID, MediaType: r.MediaType, JoinedAt: r.JoinedAt, ExpiresAt: r.TTL}
}

// Person is a member of a room.
type Person struct {
	UserID   string    `json:"userId" doc:"Who it is"`
	JoinedAt time.Time `json:"joinedAt" doc:"Since when"`
	Votes    int64     `json:"votes" doc:"On how many films he has voted"`
}

func personOf(m trinitydb.Member) Person {
	return Person{UserID: m.UserID, JoinedAt: m.JoinedAt, Votes: m.Votes}
}

// Candidate is a film that a room votes on.
type Candidate struct {
	MovieID     int64               `json:"movieId" doc:"TMDB's id; from 90000001 on it is one of the offline catalogue"`
	Title       string              `json:"title" doc:"What it is called"`
	Overview    string              `json:"overview" doc:"What it is about"`
	PosterPath  string              `json:"posterPath,omitempty" doc:"TMDB's path of the poster"`
	ReleaseDate string              `json:"releaseDate" doc:"When it came out: a day, or a year where the day is not known"`
	MediaType   trinitydb.MediaType `json:"mediaType" enum:"MOVIE,TV" doc:"What it is"`
	Yes         int64               `json:"yes" doc:"How many members have said yes"`
	Matched     bool                `json:"matched" doc:"Whether it is a match"`
}

func candidateOf(m trinitydb.Movie) Candidate {
	return Candidate{
		MovieID: m.MovieID, Title: m.Title, Overview: m.Overview, PosterPath: text(m.PosterPath), ReleaseDate: m.ReleaseDate,
		MediaType: m.MediaType, Yes: m.Yes, Matched: m.Matched,
	}
}

// Vote is what somebody thinks of a film.
type Vote struct {
	UserID    string    `json:"userId" doc:"Whose vote it is"`
	MovieID   int64     `json:"movieId" doc:"The film"`
	Vote      bool      `json:"vote" doc:"Whether it is a yes"`
	Timestamp time.Time `json:"timestamp" doc:"When it was cast"`
}

func voteOf(v trinitydb.Vote) Vote {
	return Vote{UserID: v.UserID, MovieID: v.MovieID, Vote: v.Vote, Timestamp: v.Timestamp}
}

// Match is a film that all members of a room have said yes to.
type Match struct {
	MatchID      string    `json:"matchId" format:"uuid" doc:"The match's id"`
	RoomID       string    `json:"roomId" format:"uuid" doc:"The room"`
	MovieID      int64     `json:"movieId" doc:"The film"`
	Title        string    `json:"title" doc:"What it is called"`
	PosterPath   string    `json:"posterPath,omitempty" doc:"TMDB's path of the poster"`
	MatchedUsers []string  `json:"matchedUsers" nullable:"false" doc:"Who was in the room then"`
	Timestamp    time.Time `json:"timestamp" doc:"When it was made"`
}

func matchOf(m trinitydb.Match) Match {
	return Match{
		MatchID: m.MatchID, RoomID: m.RoomID, MovieID: m.MovieID, Title: m.Title, PosterPath: text(m.PosterPath),
		MatchedUsers: list(m.MatchedUsers), Timestamp: m.Timestamp,
	}
}

// OwnMatch is a match that you were part of. It stays when the room has gone.
type OwnMatch struct {
	MatchID    string    `json:"matchId" format:"uuid" doc:"The match's id"`
	RoomID     string    `json:"roomId" format:"uuid" doc:"The room, which may have gone"`
	MovieID    int64     `json:"movieId" doc:"The film"`
	Title      string    `json:"title" doc:"What it is called"`
	PosterPath string    `json:"posterPath,omitempty" doc:"TMDB's path of the poster"`
	Timestamp  time.Time `json:"timestamp" doc:"When it was made"`
}

func ownMatchOf(m trinitydb.UserMatch) OwnMatch {
	return OwnMatch{MatchID: m.MatchID, RoomID: m.RoomID, MovieID: m.MovieID, Title: m.Title, PosterPath: text(m.PosterPath), Timestamp: m.Timestamp}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// list is never null in JSON.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
