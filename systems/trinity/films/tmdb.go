package films

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	tmdbURL     = "https://api.themoviedb.org"
	tmdbTimeout = 5 * time.Second
	// tmdbResponseMax is far larger than a page of twenty films.
	tmdbResponseMax = 1 << 20
	// tmdbPages is the maximum number of pages of twenty that are requested.
	tmdbPages = 5
)

// TMDBOptions configure the access to The Movie Database.
type TMDBOptions struct {
	// Token is an API read access token.
	Token string
	// URL is the API's address; "" means TMDB's own.
	URL string
	// Language of titles and overviews; "" means en-US.
	Language string
	// Client sends the requests; nil means one with a timeout of 5 s.
	Client *http.Client
}

// TMDB is The Movie Database as a Source: the most popular films first. It ignores Seed.
type TMDB struct{ o TMDBOptions }

// NewTMDB validates the options.
func NewTMDB(o TMDBOptions) (*TMDB, error) {
	if o.Token == "" {
		return nil, errors.New("tmdb: no token")
	}
	o.URL, o.Language = cmp.Or(o.URL, tmdbURL), cmp.Or(o.Language, "en-US")
	if o.Client == nil {
		o.Client = &http.Client{Timeout: tmdbTimeout}
	}
	return &TMDB{o}, nil
}

// discovered is a page of results.
type discovered struct {
	TotalPages int `json:"total_pages"`
	Results    []struct {
		ID           int64   `json:"id"`
		Title        string  `json:"title"`
		Name         string  `json:"name"`
		Overview     string  `json:"overview"`
		PosterPath   string  `json:"poster_path"`
		ReleaseDate  string  `json:"release_date"`
		FirstAirDate string  `json:"first_air_date"`
		GenreIDs     []int64 `json:"genre_ids"`
	} `json:"results"`
}

// Films requests pages until it has enough films.
func (t *TMDB) Films(ctx context.Context, q Query) ([]Film, error) {
	var list []Film
	for page := 1; page <= tmdbPages && len(list) < q.Count; page++ {
		found, err := t.page(ctx, q, page)
		if err != nil {
			return nil, err
		}
		for _, r := range found.Results {
			f := Film{
				ID: r.ID, MediaType: q.MediaType, Title: cmp.Or(r.Title, r.Name), Overview: r.Overview, PosterPath: r.PosterPath,
				ReleaseDate: cmp.Or(r.ReleaseDate, r.FirstAirDate), GenreIDs: r.GenreIDs,
			}
			known := slices.ContainsFunc(list, func(g Film) bool { return g.ID == f.ID }) // pages can shift between requests
			if f.ID > 0 && f.ID <= MaxID && f.Title != "" && !known && q.fits(f) {
				list = append(list, f)
			}
		}
		if page >= found.TotalPages {
			break
		}
	}
	return list[:min(q.Count, len(list))], nil
}

func (t *TMDB) page(ctx context.Context, q Query, page int) (*discovered, error) {
	kind := "movie"
	if q.MediaType == TV {
		kind = "tv"
	}
	query := url.Values{
		"language": {t.o.Language}, "sort_by": {"popularity.desc"}, "include_adult": {"false"}, "page": {strconv.Itoa(page)},
	}
	if len(q.GenreIDs) > 0 {
		var ids []string
		for _, id := range q.GenreIDs {
			ids = append(ids, strconv.FormatInt(id, 10))
		}
		query.Set("with_genres", strings.Join(ids, "|")) // any of them
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.o.URL+"/3/discover/"+kind+"?"+query.Encode(), nil)
	if err != nil {
		return nil, fmt.Errorf("tmdb: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+t.o.Token)
	request.Header.Set("Accept", "application/json")
	response, err := t.o.Client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("tmdb: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("tmdb: discover %s: status %d", kind, response.StatusCode)
	}
	var found discovered
	if err := json.NewDecoder(io.LimitReader(response.Body, tmdbResponseMax)).Decode(&found); err != nil {
		return nil, fmt.Errorf("tmdb: discover %s: %w", kind, err)
	}
	return &found, nil
}
