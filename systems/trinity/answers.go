package trinity

import (
	"time"

	"github.com/monotable/monotable/systems/internal/byname"
	"github.com/monotable/monotable/systems/trinity/films"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

// Response types. Each field is filled from the stored field of the same name, so a type lists everything that others can see.

// Genres are those that films have.
type Genres struct {
	Items []films.Genre `json:"items" nullable:"false" doc:"The genres, by name"`
}

// Room is a room.
type Room struct {
	ID          string              `json:"id" from:"RoomID" format:"uuid" doc:"The room's id"`
	Code        string              `json:"code" doc:"What others join by"`
	HostID      string              `json:"hostId" doc:"Who has made it"`
	MediaType   trinitydb.MediaType `json:"mediaType" enum:"MOVIE,TV" doc:"What is voted on"`
	GenreIDs    []int64             `json:"genreIds" nullable:"false" doc:"Genres of TMDB, two at most"`
	MemberCount int64               `json:"memberCount" doc:"How many take part"`
	HasMatch    bool                `json:"hasMatch" doc:"Whether there is a match"`
	Closed      bool                `json:"closed" doc:"Whether its host has closed it"`
	CreatedAt   time.Time           `json:"createdAt" doc:"When it was made"`
	ExpiresAt   time.Time           `json:"expiresAt" from:"TTL" doc:"When it goes, with all that belongs to it"`
}

// RoomWithMembers is a room with all who take part.
type RoomWithMembers struct {
	Room
	Members []Person `json:"members" nullable:"false" doc:"Who takes part"`
}

// HostedRoom is a room in the list of those that you have made.
type HostedRoom struct {
	ID        string              `json:"id" from:"RoomID" format:"uuid" doc:"The room's id"`
	Code      string              `json:"code" doc:"What others join by"`
	MediaType trinitydb.MediaType `json:"mediaType" enum:"MOVIE,TV" doc:"What is voted on"`
	GenreIDs  []int64             `json:"genreIds" nullable:"false" doc:"Genres of TMDB, two at most"`
	HasMatch  bool                `json:"hasMatch" doc:"Whether there is a match"`
	CreatedAt time.Time           `json:"createdAt" doc:"When it was made"`
	ExpiresAt time.Time           `json:"expiresAt" from:"TTL" doc:"When it goes, with all that belongs to it"`
}

// JoinedRoom is a room in the list of those that you are in.
type JoinedRoom struct {
	ID        string              `json:"id" from:"RoomID" format:"uuid" doc:"The room's id"`
	Code      string              `json:"code" doc:"What others join by"`
	HostID    string              `json:"hostId" doc:"Who has made it"`
	MediaType trinitydb.MediaType `json:"mediaType" enum:"MOVIE,TV" doc:"What is voted on"`
	HasMatch  bool                `json:"hasMatch" from:",optional" doc:"Whether there is a match"`
	JoinedAt  time.Time           `json:"joinedAt" doc:"When you joined"`
	ExpiresAt time.Time           `json:"expiresAt" from:"TTL" doc:"When it goes, with all that belongs to it"`
}

// Person is a member of a room.
type Person struct {
	UserID   string    `json:"userId" doc:"Who it is"`
	Name     string    `json:"name,omitempty" doc:"What the member wants to be called"`
	JoinedAt time.Time `json:"joinedAt" doc:"Since when"`
	Votes    int64     `json:"votes" doc:"On how many films they have voted"`
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

// Vote is what somebody thinks of a film.
type Vote struct {
	UserID    string    `json:"userId" doc:"Whose vote it is"`
	MovieID   int64     `json:"movieId" doc:"The film"`
	Vote      bool      `json:"vote" doc:"Whether it is a yes"`
	Timestamp time.Time `json:"timestamp" doc:"When it was cast"`
}

// CastVote is a vote with what has come of it.
type CastVote struct {
	Vote
	Match *Match `json:"match,omitempty" doc:"The film's match, if there is one and you have said yes"`
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

// OwnMatch is a match that you were part of. It stays when the room has gone.
type OwnMatch struct {
	MatchID    string    `json:"matchId" format:"uuid" doc:"The match's id"`
	RoomID     string    `json:"roomId" format:"uuid" doc:"The room, which may have gone"`
	MovieID    int64     `json:"movieId" doc:"The film"`
	Title      string    `json:"title" doc:"What it is called"`
	PosterPath string    `json:"posterPath,omitempty" doc:"TMDB's path of the poster"`
	Timestamp  time.Time `json:"timestamp" doc:"When it was made"`
}

// What events have, as the API shows it.
var (
	personOf = byname.Copy[trinitydb.Member, Person]()
	matchOf  = byname.Copy[trinitydb.Match, Match]()
)

// RoomClosed is what an event stream says last when the room's host has closed it: nothing but that.
type RoomClosed struct{}
