package trinity

import (
	"time"

	"github.com/monotable/monotable/systems/internal/byname"
	"github.com/monotable/monotable/systems/trinity/films"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

// Response types. Fields are filled from the stored fields of the same name, so a type lists everything that callers can see.

// Genres is a list of genres.
type Genres struct {
	Items []films.Genre `json:"items" nullable:"false" doc:"The genres, by name"`
}

// Room is a room.
type Room struct {
	ID          string              `json:"id" from:"RoomID" format:"uuid" doc:"The room's id"`
	Code        string              `json:"code" doc:"The code for joining"`
	HostID      string              `json:"hostId" doc:"Its author"`
	MediaType   trinitydb.MediaType `json:"mediaType" enum:"MOVIE,TV" doc:"The kind of titles"`
	GenreIDs    []int64             `json:"genreIds" nullable:"false" doc:"TMDB genres, at most two"`
	MemberCount int64               `json:"memberCount" doc:"The number of members"`
	HasMatch    bool                `json:"hasMatch" doc:"Whether there is a match"`
	Closed      bool                `json:"closed" doc:"Whether its host has closed it"`
	CreatedAt   time.Time           `json:"createdAt" doc:"When it was created"`
	ExpiresAt   time.Time           `json:"expiresAt" from:"TTL" doc:"When it expires, with everything that belongs to it"`
}

// RoomWithMembers is a room with all its members.
type RoomWithMembers struct {
	Room
	Members []Person `json:"members" nullable:"false" doc:"The members"`
}

// HostedRoom is a room in the list of rooms that the caller hosts.
type HostedRoom struct {
	ID        string              `json:"id" from:"RoomID" format:"uuid" doc:"The room's id"`
	Code      string              `json:"code" doc:"The code for joining"`
	MediaType trinitydb.MediaType `json:"mediaType" enum:"MOVIE,TV" doc:"The kind of titles"`
	GenreIDs  []int64             `json:"genreIds" nullable:"false" doc:"TMDB genres, at most two"`
	HasMatch  bool                `json:"hasMatch" doc:"Whether there is a match"`
	CreatedAt time.Time           `json:"createdAt" doc:"When it was created"`
	ExpiresAt time.Time           `json:"expiresAt" from:"TTL" doc:"When it expires, with everything that belongs to it"`
}

// JoinedRoom is a room in the list of rooms that the caller is a member of.
type JoinedRoom struct {
	ID        string              `json:"id" from:"RoomID" format:"uuid" doc:"The room's id"`
	Code      string              `json:"code" doc:"The code for joining"`
	HostID    string              `json:"hostId" doc:"Its author"`
	MediaType trinitydb.MediaType `json:"mediaType" enum:"MOVIE,TV" doc:"The kind of titles"`
	HasMatch  bool                `json:"hasMatch" from:",optional" doc:"Whether there is a match"`
	JoinedAt  time.Time           `json:"joinedAt" doc:"When you joined"`
	ExpiresAt time.Time           `json:"expiresAt" from:"TTL" doc:"When it expires, with everything that belongs to it"`
}

// Person is a member of a room.
type Person struct {
	UserID   string    `json:"userId" doc:"Who it is"`
	Name     string    `json:"name,omitempty" doc:"The member's chosen name"`
	JoinedAt time.Time `json:"joinedAt" doc:"Since when"`
	Votes    int64     `json:"votes" doc:"The number of films they have voted on"`
}

// Candidate is a film that a room votes on.
type Candidate struct {
	MovieID     int64               `json:"movieId" doc:"TMDB's id; from 90000001 on it is one of the offline catalogue"`
	Title       string              `json:"title" doc:"Its name"`
	Overview    string              `json:"overview" doc:"What it is about"`
	PosterPath  string              `json:"posterPath,omitempty" doc:"TMDB's path of the poster"`
	ReleaseDate string              `json:"releaseDate" doc:"The release date, or only the year"`
	MediaType   trinitydb.MediaType `json:"mediaType" enum:"MOVIE,TV" doc:"What it is"`
	Yes         int64               `json:"yes" doc:"The number of yes votes"`
	Matched     bool                `json:"matched" doc:"Whether it is a match"`
}

// Vote is a member's vote on a film.
type Vote struct {
	UserID    string    `json:"userId" doc:"The voter"`
	MovieID   int64     `json:"movieId" doc:"The film"`
	Vote      bool      `json:"vote" doc:"Whether it is a yes vote"`
	Timestamp time.Time `json:"timestamp" doc:"When it was cast"`
}

// CastVote is a vote with its effect.
type CastVote struct {
	Vote
	Match *Match `json:"match,omitempty" doc:"The film's match, if there is one and you voted yes"`
}

// Match is a film for which all members of a room have voted yes.
type Match struct {
	MatchID      string    `json:"matchId" format:"uuid" doc:"The match's id"`
	RoomID       string    `json:"roomId" format:"uuid" doc:"The room"`
	MovieID      int64     `json:"movieId" doc:"The film"`
	Title        string    `json:"title" doc:"Its name"`
	PosterPath   string    `json:"posterPath,omitempty" doc:"TMDB's path of the poster"`
	MatchedUsers []string  `json:"matchedUsers" nullable:"false" doc:"The members at that time"`
	Timestamp    time.Time `json:"timestamp" doc:"When it was created"`
}

// OwnMatch is a match that the caller took part in. It outlives the room.
type OwnMatch struct {
	MatchID    string    `json:"matchId" format:"uuid" doc:"The match's id"`
	RoomID     string    `json:"roomId" format:"uuid" doc:"The room, which may have expired"`
	MovieID    int64     `json:"movieId" doc:"The film"`
	Title      string    `json:"title" doc:"Its name"`
	PosterPath string    `json:"posterPath,omitempty" doc:"TMDB's path of the poster"`
	Timestamp  time.Time `json:"timestamp" doc:"When it was created"`
}

// Conversions of stored items for events.
var (
	personOf = byname.Copy[trinitydb.Member, Person]()
	matchOf  = byname.Copy[trinitydb.Match, Match]()
)

// RoomClosed is the last event of a stream whose room the host has closed. It has no data.
type RoomClosed struct{}
