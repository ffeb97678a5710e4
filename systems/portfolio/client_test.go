package portfolio_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/portfolio"
)

const (
	ana   = "u-123"
	bruno = "u-456"
	carla = "u-789"
	// nowhere is a well-formed ULID of nothing.
	nowhere = "01HM699R7006AFVGQT5ZYC0GEK"
	// admin is in the administrators' group.
	admin      = "u-1"
	adminGroup = portfolio.AdminGroup
)

// request returns a request, with an optional body.
func request(method, path, as string, body ...any) apitest.Request {
	r := apitest.Request{Method: method, Path: path, As: as}
	if len(body) > 0 {
		r.Body = body[0]
	}
	return r
}

func get(path, as string) apitest.Request { return request(http.MethodGet, path, as) }

// call sends a request that must succeed, and decodes its response.
func call[T any](tb testing.TB, v *apitest.Server, r apitest.Request) T {
	tb.Helper()
	var out T
	response := v.Do(tb, r)
	if response.Status >= http.StatusMultipleChoices {
		tb.Fatalf("%s %s: %d %s", r.Method, r.Path, response.Status, response.Body)
	}
	if response.Status != http.StatusNoContent {
		response.JSON(tb, &out)
	}
	return out
}

// category creates a category with an id and slug.
func category(tb testing.TB, v *apitest.Server, id, slug string) portfolio.Category {
	tb.Helper()
	r := request(http.MethodPut, "/categories/"+id, admin, map[string]any{"slug": slug, "name": "Category " + slug})
	r.Groups = []string{adminGroup}
	return call[portfolio.Category](tb, v, r)
}

// content returns the body of a request that writes a post.
func content(title, categoryID string) map[string]any {
	return map[string]any{"title": title, "excerpt": "About " + title, "body": "All of " + title, "categoryId": categoryID}
}

// write writes a draft.
func write(tb testing.TB, v *apitest.Server, sub, title, categoryID string) portfolio.Post {
	tb.Helper()
	r := request(http.MethodPost, "/posts", sub, content(title, categoryID))
	r.Key = "write-" + title
	return call[portfolio.Post](tb, v, r)
}

// setStatus publishes or archives a post.
func setStatus(tb testing.TB, v *apitest.Server, sub, postID, status string) {
	tb.Helper()
	call[struct{}](tb, v, request(http.MethodPut, "/posts/"+postID+"/status", sub, map[string]any{"status": status}))
}

// published returns a user's published post, and creates its category if it is missing.
func published(tb testing.TB, v *apitest.Server, sub, title string) portfolio.Post {
	tb.Helper()
	category(tb, v, "cat-123", "go")
	p := write(tb, v, sub, title, "cat-123")
	setStatus(tb, v, sub, p.PostID, "published")
	return p
}

// comment comments on a post.
func comment(tb testing.TB, v *apitest.Server, sub, postID, key, body string) portfolio.Comment {
	tb.Helper()
	r := request(http.MethodPost, "/posts/"+postID+"/comments", sub, map[string]any{"body": body})
	r.Key = key
	return call[portfolio.Comment](tb, v, r)
}

// like likes a post.
func like(tb testing.TB, v *apitest.Server, sub, postID string) portfolio.Like {
	tb.Helper()
	return call[portfolio.Like](tb, v, request(http.MethodPut, "/posts/"+postID+"/like", sub))
}

// page is a response with a list.
type page[T any] struct {
	Items []T
	Next  string
}

// walk reads a list in pages of a given size, and fails the test if any page but the last is not full.
func walk[T any](tb testing.TB, v *apitest.Server, path, as string, size int, query ...string) (all []T) {
	tb.Helper()
	for next := ""; ; {
		p := call[page[T]](tb, v, get(apitest.Query(path, append(query, "limit", fmt.Sprint(size), "cursor", next)...), as))
		all = append(all, p.Items...)
		if next = p.Next; next == "" {
			return all
		}
		if len(p.Items) != size {
			tb.Errorf("%s: a page with %d items before the last, want %d", path, len(p.Items), size)
		}
	}
}
