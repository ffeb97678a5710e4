package films_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/trinity/films"
)

func query(t *testing.T, s films.Source, q films.Query) []films.Film {
	t.Helper()
	list, err := s.Films(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestCatalogue: the catalogue has at least 200 titles, all complete.
func TestCatalogue(t *testing.T) {
	seen, total := map[any]bool{}, 0
	for _, kind := range []string{films.Movie, films.TV} {
		for _, f := range query(t, films.Offline(), films.Query{MediaType: kind, Count: 1000}) {
			total++
			name := kind + " " + f.Title + " " + f.ReleaseDate
			if seen[f.ID] || seen[name] {
				t.Errorf("%s occurs twice", name)
			}
			seen[f.ID], seen[name] = true, true
			if f.ID <= 90_000_000 || f.ID > films.MaxID || f.Title == "" || f.Title != strings.TrimSpace(f.Title) ||
				!strings.HasSuffix(f.Overview, ".") || len(f.Overview) < 20 || f.ReleaseDate < "1930" || f.ReleaseDate > "2026" || f.PosterPath != "" {
				t.Errorf("%+v is not whole", f)
			}
			if len(f.GenreIDs) == 0 || !films.Known(kind, f.GenreIDs) {
				t.Errorf("%s has the genres %v", f.Title, f.GenreIDs)
			}
		}
	}
	if total < 200 {
		t.Errorf("%d titles, want 200 or more", total)
	}
}

func TestOffline(t *testing.T) {
	q := films.Query{MediaType: films.Movie, GenreIDs: []int64{27, 99}, Count: 5, Seed: "a"}
	list := query(t, films.Offline(), q)
	if len(list) != 5 {
		t.Fatalf("%d films, want 5", len(list))
	}
	for _, f := range list {
		if f.MediaType != films.Movie || !slices.Contains(f.GenreIDs, 27) && !slices.Contains(f.GenreIDs, 99) {
			t.Errorf("%+v was not requested", f)
		}
	}
	if again := query(t, films.Offline(), q); !reflect.DeepEqual(again, list) {
		t.Errorf("asked again: %v, first %v", again, list)
	}
	q.Seed = "b"
	if other := query(t, films.Offline(), q); reflect.DeepEqual(other, list) {
		t.Error("another seed chooses the same")
	}
	if none := query(t, films.Offline(), films.Query{MediaType: films.Movie, GenreIDs: []int64{10759}, Count: 5}); len(none) != 0 {
		t.Errorf("films of a genre of series: %v", none)
	}
	// Every offered genre must have films, or rooms with that genre could not be opened.
	for _, kind := range []string{films.Movie, films.TV} {
		for _, g := range films.Genres(kind) {
			if len(query(t, films.Offline(), films.Query{MediaType: kind, GenreIDs: []int64{g.ID}, Count: 1})) == 0 {
				t.Errorf("no %s of %s", kind, g.Name)
			}
		}
	}
}

// TestTMDB checks the requests, page by page, and how responses are parsed.
func TestTMDB(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		q := r.URL.Query()
		asked = append(asked, r.URL.Path+" "+q.Get("with_genres")+" "+q.Get("page"))
		fmt.Fprintf(w, `{"page":%[1]s,"total_pages":2,"results":[
			{"id":1%[1]s,"name":"Series %[1]s","overview":"About.","poster_path":"/p.jpg","first_air_date":"2008-01-20","genre_ids":[18]},
			{"id":7,"name":"On both pages","poster_path":null,"genre_ids":[37]},
			{"id":8,"name":"Of another genre","genre_ids":[35]},
			{"id":100000000,"name":"Of too high an id","genre_ids":[18]}]}`, q.Get("page"))
	}))
	t.Cleanup(server.Close)
	source := func(token string) films.Source {
		s, err := films.NewTMDB(films.TMDBOptions{Token: token, URL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	q := films.Query{MediaType: films.TV, GenreIDs: []int64{18, 37}, Count: 30}
	want := []films.Film{
		{ID: 11, MediaType: films.TV, Title: "Series 1", Overview: "About.", PosterPath: "/p.jpg", ReleaseDate: "2008-01-20", GenreIDs: []int64{18}},
		{ID: 7, MediaType: films.TV, Title: "On both pages", GenreIDs: []int64{37}},
		{ID: 12, MediaType: films.TV, Title: "Series 2", Overview: "About.", PosterPath: "/p.jpg", ReleaseDate: "2008-01-20", GenreIDs: []int64{18}},
	}
	if got := query(t, source("secret"), q); !reflect.DeepEqual(got, want) {
		t.Errorf("found\n%+v, want\n%+v", got, want)
	}
	if requests := []string{"/3/discover/tv 18|37 1", "/3/discover/tv 18|37 2"}; !slices.Equal(asked, requests) {
		t.Errorf("asked %q, want %q", asked, requests)
	}
	q.Count = 1
	if got := query(t, source("secret"), q); len(got) != 1 || len(asked) != 3 {
		t.Errorf("asked for one, found %v with %d requests", got, len(asked)-2)
	}
	if _, err := source("wrong").Films(t.Context(), q); err == nil || strings.Contains(err.Error(), "wrong") {
		t.Errorf("refused with %v, want the status and no token", err)
	}
	if _, err := films.NewTMDB(films.TMDBOptions{}); err == nil {
		t.Error("no token was accepted")
	}
}
