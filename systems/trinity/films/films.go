// Package films finds films and series to vote on: at TMDB, or in a catalogue that is built in.
//
// # Model
//
//	Query{MediaType, GenreIDs, Count, Seed} ──▶ Source ──▶ []Film
//	                                              ├ Offline: catalogue.tsv, some 280 films and series
//	                                              └ TMDB: GET /3/discover/{movie,tv}
//
// # Invariants
//
//	F1  A film is of the media type and of any of the genres that are asked for, and comes once.
//	F2  Ids are below 100,000,000. Those of the catalogue begin at 90,000,001, where TMDB has none.
//	F3  Equal queries of the catalogue have equal answers.
//
// All of the package may be used from any number of goroutines.
package films

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// The media types.
const (
	Movie = "MOVIE"
	TV    = "TV"
)

// MaxID is the highest id that a film may have.
const MaxID = 99_999_999

// Film is a film or a series.
type Film struct {
	ID          int64
	MediaType   string
	Title       string
	Overview    string
	PosterPath  string // TMDB's; "" for none
	ReleaseDate string // a day, or a year where the day is not known
	GenreIDs    []int64
}

// Query is what is asked for.
type Query struct {
	MediaType string
	// GenreIDs are those of which a film has at least one; none is any.
	GenreIDs []int64
	// Count is how many are wanted at most.
	Count int
	// Seed chooses among them.
	Seed string
}

// Source has films.
type Source interface {
	Films(ctx context.Context, q Query) ([]Film, error)
}

// Genre is one of TMDB's.
type Genre struct {
	ID   int64  `json:"id" doc:"TMDB's id"`
	Name string `json:"name" doc:"What it is called"`
}

// Genres are those of a media type, by name.
func Genres(mediaType string) []Genre {
	var list []Genre
	for id, name := range genreNames(mediaType) {
		list = append(list, Genre{id, name})
	}
	slices.SortFunc(list, func(a, b Genre) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Known tells whether all genres are of the media type.
func Known(mediaType string, ids []int64) bool {
	names := genreNames(mediaType)
	return !slices.ContainsFunc(ids, func(id int64) bool { return names[id] == "" })
}

// genreNames are the names that TMDB gives to its genres.
func genreNames(mediaType string) map[int64]string {
	names := map[int64]string{16: "Animation", 35: "Comedy", 80: "Crime", 99: "Documentary", 18: "Drama", 10751: "Family", 9648: "Mystery", 37: "Western"}
	if mediaType == TV {
		maps.Copy(names, map[int64]string{10759: "Action & Adventure", 10762: "Kids", 10764: "Reality", 10765: "Sci-Fi & Fantasy", 10768: "War & Politics"})
		return names
	}
	maps.Copy(names, map[int64]string{
		28: "Action", 12: "Adventure", 14: "Fantasy", 36: "History", 27: "Horror", 10402: "Music", 10749: "Romance",
		878: "Science Fiction", 53: "Thriller", 10752: "War",
	})
	return names
}

// fits tells whether a film is what is asked for.
func (q Query) fits(f Film) bool {
	return f.MediaType == q.MediaType && (len(q.GenreIDs) == 0 ||
		slices.ContainsFunc(f.GenreIDs, func(id int64) bool { return slices.Contains(q.GenreIDs, id) }))
}
