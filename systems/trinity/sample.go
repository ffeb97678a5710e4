package trinity

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/seed"
	"github.com/monotable/monotable/systems/trinity/films"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

const (
	// A block is a room: its record, its members, films and votes, its match, and the match of each member.
	sampleMembers = 3
	sampleFilms   = 10
	sampleVotes   = 22
	sampleBlock   = 1 + sampleMembers + sampleFilms + sampleVotes + 1 + sampleMembers
	// sampleFirstUser makes the first user the one whose token the demo's page shows.
	sampleFirstUser = 123
)

// sample generates one part of the sample data: rooms and, where the rest of a part is too small for a room, matches of expired
// rooms.
func sample(p seed.Part) iter.Seq[table.Record] {
	return func(yield func(table.Record) bool) {
		m := sampleMaker{Chance: p.Chance}
		n := p.First
		for ; n+sampleBlock <= p.First+p.Items; n += sampleBlock {
			for _, r := range m.room(n) {
				if !yield(r) {
					return
				}
			}
		}
		for ; n < p.First+p.Items; n++ {
			if !yield(m.userMatch(fmt.Sprintf("u-%d", sampleFirstUser+n), m.match(m.UUID(), m.film(), sampleTime(n))).Record()) {
				return
			}
		}
	}
}

type sampleMaker struct{ seed.Chance }

// sampleTime gives each record a second of its own, so that times do not depend on the sample's size.
func sampleTime(n int) time.Time {
	return time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Second)
}

// sampleEnd is later than any use of the sample.
func sampleEnd() time.Time { return time.Date(2100, time.January, 1, 0, 0, 0, 0, time.UTC) }

// room generates a block. All members have voted yes for the first film; no other film has all votes.
func (m sampleMaker) room(n int) []table.Record {
	at := sampleTime(n)
	block := n / sampleBlock
	room := trinitydb.Room{
		RoomID: m.UUID(), Code: sampleCode(block), HostID: fmt.Sprintf("u-%d", sampleFirstUser+block), MediaType: trinitydb.MediaTypeMovie,
		MemberCount: sampleMembers, HasMatch: true, Version: sampleMembers - 1, CreatedAt: at, TTL: sampleEnd(),
	}
	chosen := m.films(sampleFilms)
	yes := make([]int64, sampleFilms)
	votes := make([]int64, sampleMembers)
	var records []table.Record
	for i := range sampleVotes {
		member, film := i%sampleMembers, i/sampleMembers
		v := trinitydb.Vote{
			RoomID: room.RoomID, UserID: sampleUser(block, member), MovieID: chosen[film].ID, Timestamp: at, TTL: room.TTL,
			Vote: film == 0 || member > 0 && m.IntN(2) == 0, // the host votes no for all films except the first
		}
		votes[member]++
		if v.Vote {
			yes[film]++
			room.Version++
		}
		records = append(records, v.Record())
	}
	match := m.match(room.RoomID, chosen[0], at)
	for i := range sampleMembers {
		match.MatchedUsers = append(match.MatchedUsers, sampleUser(block, i))
	}
	for i, f := range chosen {
		records = append(records, trinitydb.Movie{
			RoomID: room.RoomID, MovieID: f.ID, Title: f.Title, Overview: f.Overview, ReleaseDate: f.ReleaseDate,
			MediaType: room.MediaType, Yes: yes[i], Matched: i == 0, TTL: room.TTL,
		}.Record())
	}
	for i, userID := range match.MatchedUsers {
		records = append(records, m.userMatch(userID, match).Record(), trinitydb.Member{
			RoomID: room.RoomID, UserID: userID, HostID: room.HostID, Code: room.Code, MediaType: room.MediaType,
			Votes: votes[i], HasMatch: true, JoinedAt: at.Add(time.Duration(i) * time.Millisecond), TTL: room.TTL,
		}.Record())
	}
	return append(records, match.Record(), room.Record())
}

// sampleUser is a member of a block's room. The first is its host; the others are the hosts of the following rooms.
func sampleUser(block, member int) string { return fmt.Sprintf("u-%d", sampleFirstUser+block+member) }

// sampleCode begins with an O, which no other code contains.
func sampleCode(block int) string {
	b := []byte("OAAAAA")
	for i := codeLength - 1; i > 0 && block > 0; i-- {
		b[i] = codeLetters[block%len(codeLetters)]
		block /= len(codeLetters)
	}
	return string(b)
}

func (m sampleMaker) match(roomID string, f films.Film, at time.Time) trinitydb.Match {
	return trinitydb.Match{
		RoomID: roomID, MovieID: f.ID, MatchID: m.UUID(), Title: f.Title, Timestamp: at, Shared: true, TTL: sampleEnd(),
	}
}

func (m sampleMaker) userMatch(userID string, match trinitydb.Match) trinitydb.UserMatch {
	return trinitydb.UserMatch{
		RoomID: match.RoomID, UserID: userID, MovieID: match.MovieID, MatchID: match.MatchID, Title: match.Title, Timestamp: match.Timestamp,
	}
}

func (m sampleMaker) film() films.Film { return m.films(1)[0] }

// films returns some films of the catalogue.
func (m sampleMaker) films(n int) []films.Film {
	list, _ := films.Offline().Films(context.Background(), films.Query{MediaType: films.Movie, Count: n, Seed: m.UUID()}) // the catalogue does not fail
	return list
}
