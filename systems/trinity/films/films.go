// Package films finds films and series to vote on, from TMDB or a built-in catalogue.
//
// # Model
//
//	Query{MediaType, GenreIDs, Count, Seed} ──▶ Source ──▶ []Film
//	                                              ├ Offline: catalogue.tsv, some 280 films and series
//	                                              └ TMDB: GET /3/discover/{movie,tv}
//
// # Invariants
//
//	F1  A film has the requested media type and one of the requested genres, and is returned once.
//	F2  Ids are below 100,000,000. The catalogue's start at 90,000,001, a range that TMDB does not use.
//	F3  Equal queries of the catalogue return equal results.
//
// The package is safe for concurrent use.
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

// MaxID is the highest film id.
const MaxID = 99_999_999

// Film is a film or a series.
type Film struct {
	ID          int64
	MediaType   string
	Title       string
	Overview    string
	PosterPath  string // TMDB's path, or "" if there is none
	ReleaseDate string // a date, or only a year
	GenreIDs    []int64
}

// Query selects films.
type Query struct {
	MediaType string
	// GenreIDs are the genres of which a film must have at least one; empty means any genre.
	GenreIDs []int64
	// Count is the maximum number of films.
	Count int
	// Seed determines the selection among the films that match.
	Seed string
}

// Source provides films.
type Source interface {
	Films(ctx context.Context, q Query) ([]Film, error)
}

// Genre is a TMDB genre.
type Genre struct {
	ID   int64  `json:"id" doc:"TMDB's id"`
	Name string `json:"name" doc:"Its name"`
}

// Genres returns the genres of a media type, sorted by name.
func Genres(mediaType string) []Genre {
	var list []Genre
	for id, name := range genreNames(mediaType) {
		list = append(list, Genre{id, name})
	}
	slices.SortFunc(list, func(a, b Genre) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Known reports whether all genres belong to the media type.
func Known(mediaType string, ids []int64) bool {
	names := genreNames(mediaType)
	return !slices.ContainsFunc(ids, func(id int64) bool { return names[id] == "" })
}

// genreNames returns TMDB's genre names.
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

// fits reports whether a film matches a query.
func (q Query) fits(f Film) bool {
	return f.MediaType == q.MediaType && (len(q.GenreIDs) == 0 ||
		slices.ContainsFunc(f.GenreIDs, func(id int64) bool { return slices.Contains(q.GenreIDs, id) }))
}
