package portfolio_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/portfolio"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// TestPostsAreListedByPublication: a draft that was written long ago is the newest post once it is published, and archiving it does not
// change its place.
func TestPostsAreListedByPublication(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	category(t, v, "cat-1", "one")
	slow := write(t, v, ana, "slow", "cat-1")
	v.Clock.Advance(24 * time.Hour)
	quick := write(t, v, ana, "quick", "cat-1")
	setStatus(t, v, ana, quick.PostID, "published")
	v.Clock.Advance(24 * time.Hour)
	at := v.Clock.Now()
	setStatus(t, v, ana, slow.PostID, "published")
	first := func(path string, query ...string) {
		t.Helper()
		found := walk[portfolio.PostSummary](t, v, path, ana, 4, query...)
		if len(found) != 2 || found[0].PostID != slow.PostID || !found[0].CreatedAt.Equal(at) || found[1].PostID != quick.PostID {
			t.Errorf("%s: %+v, want the one that was published last, of %s", path, found, at)
		}
	}
	first("/posts")
	first("/categories/cat-1/posts")
	first("/me/posts", "status", "published")
	v.Clock.Advance(24 * time.Hour)
	setStatus(t, v, ana, slow.PostID, "archived")
	setStatus(t, v, ana, quick.PostID, "archived")
	first("/me/posts", "status", "archived")
}

// TestPostLists reads all lists of posts. Each contains the posts of its status, category or author, newest first, including
// posts of the same millisecond, but no drafts of other users.
func TestPostLists(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	categories, authors, statuses := []string{"cat-1", "cat-2"}, []string{ana, bruno}, []string{"draft", "published", "archived"}
	category(t, v, "cat-1", "one")
	category(t, v, "cat-2", "two")
	var written []portfolio.Post // in their final state
	for i := range 36 {
		p := write(t, v, authors[i%2], fmt.Sprintf("title-%d", i), categories[i/6%2])
		for _, status := range statuses[1 : 1+i%3] {
			setStatus(t, v, p.AuthorID, p.PostID, status)
		}
		p.Status = map[int]portfoliodb.PostStatus{0: "draft", 1: "published", 2: "archived"}[i%3]
		written = append(written, p)
		if i%4 == 0 {
			v.Clock.Advance(time.Millisecond)
		}
	}
	for _, c := range []struct {
		path, as string
		query    []string
		has      func(portfolio.Post) bool
	}{
		{"/posts", "", nil, func(p portfolio.Post) bool { return p.Status == "published" }},
		{"/posts", ana, []string{"status", "published"}, func(p portfolio.Post) bool { return p.Status == "published" }},
		{"/posts", "", []string{"status", "archived"}, func(p portfolio.Post) bool { return p.Status == "archived" }},
		{"/categories/cat-1/posts", "", nil, func(p portfolio.Post) bool { return p.Status == "published" && p.CategoryID == "cat-1" }},
		{"/categories/cat-2/posts", bruno, nil, func(p portfolio.Post) bool { return p.Status == "published" && p.CategoryID == "cat-2" }},
		{"/me/posts", ana, nil, func(p portfolio.Post) bool { return p.Status == "draft" && p.AuthorID == ana }},
		{"/me/posts", bruno, []string{"status", "published"}, func(p portfolio.Post) bool { return p.Status == "published" && p.AuthorID == bruno }},
		{"/me/posts", bruno, []string{"status", "archived"}, func(p portfolio.Post) bool { return p.Status == "archived" && p.AuthorID == bruno }},
		{"/me/posts", carla, nil, func(portfolio.Post) bool { return false }},
	} {
		t.Run(fmt.Sprint(c.path, c.query, " as ", c.as), func(t *testing.T) {
			var want []string
			for _, p := range written {
				if c.has(p) {
					want = append(want, p.PostID)
				}
			}
			slices.SortFunc(want, func(a, b string) int { return strings.Compare(b, a) }) // a ULID begins with its time
			var got []string
			for _, p := range walk[portfolio.PostSummary](t, v, c.path, c.as, 4, c.query...) {
				got = append(got, p.PostID)
				i := slices.IndexFunc(written, func(w portfolio.Post) bool { return w.PostID == p.PostID })
				if w := written[i]; p.Title != w.Title || p.Excerpt != w.Excerpt || p.AuthorID != w.AuthorID || p.Status != w.Status || p.CategoryID != w.CategoryID || !p.CreatedAt.Equal(w.CreatedAt) {
					t.Errorf("listed as %+v, want %+v", p, w.PostSummary)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got\n%v, want\n%v", got, want)
			}
		})
	}
	scan(t, v).sound(t)
}

// TestCursors: a cursor is valid for one list and one caller, and reveals nothing.
func TestCursors(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	category(t, v, "cat-123", "go")
	for i := range 3 {
		write(t, v, ana, fmt.Sprintf("title-%d", i), "cat-123")
	}
	next := call[page[portfolio.PostSummary]](t, v, get("/me/posts?limit=2", ana)).Next
	damaged := []byte(next)
	damaged[len(damaged)/2] ^= 1
	v.Run(t, []apitest.Case{
		done("own", get(apitest.Query("/me/posts", "cursor", next), ana), http.StatusOK),
		refused("another's", get(apitest.Query("/me/posts", "cursor", next), bruno), http.StatusBadRequest, problem.CodeInvalidCursor),
		refused("of another status", get(apitest.Query("/me/posts", "cursor", next, "status", "archived"), ana), http.StatusBadRequest, problem.CodeInvalidCursor),
		refused("of another list", get(apitest.Query("/bookmarks", "cursor", next), ana), http.StatusBadRequest, problem.CodeInvalidCursor),
		refused("damaged", get(apitest.Query("/me/posts", "cursor", string(damaged)), ana), http.StatusBadRequest, problem.CodeInvalidCursor),
	})
	if strings.Contains(next, "USER") || strings.Contains(next, "draft") {
		t.Errorf("the cursor %q reveals its position", next)
	}
}

// TestPublicCursors: a cursor of a public list stays valid when its holder signs in or out.
func TestPublicCursors(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	for i := range 3 {
		published(t, v, ana, fmt.Sprintf("title-%d", i))
	}
	for _, as := range []string{"", ana} {
		next := call[page[portfolio.PostSummary]](t, v, get("/posts?limit=2", as)).Next
		for _, later := range []string{"", ana, bruno} {
			if rest := call[page[portfolio.PostSummary]](t, v, get(apitest.Query("/posts", "cursor", next), later)); len(rest.Items) != 1 {
				t.Errorf("the cursor of %q gives %q %d posts, want 1", as, later, len(rest.Items))
			}
		}
	}
}

// TestForeignCursors: no list accepts a cursor of another post, category, status, user or list.
func TestForeignCursors(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	category(t, v, "cat-456", "sql")
	var posts []string
	for i := range 4 {
		p := published(t, v, []string{ana, bruno}[i/2], fmt.Sprintf("title-%d", i))
		posts = append(posts, p.PostID)
		for _, sub := range []string{bruno, carla} {
			comment(t, v, sub, p.PostID, fmt.Sprint("c-", i), "Hello")
			like(t, v, sub, p.PostID)
			call[portfolio.Bookmark](t, v, request(http.MethodPut, "/bookmarks/"+p.PostID, sub))
		}
	}
	v.Deliver(t)
	lists := []apitest.Request{
		get("/posts?limit=1", ""), get("/posts?limit=1&status=archived", ""),
		get("/categories/cat-123/posts?limit=1", ""), get("/categories/cat-456/posts?limit=1", ""), get("/categories?limit=1", ""),
		get("/me/posts?limit=1&status=published", ana), get("/me/posts?limit=1&status=published", bruno), get("/me/posts?limit=1&status=draft", ana),
		get("/posts/"+posts[0]+"/comments?limit=1", ""), get("/posts/"+posts[1]+"/comments?limit=1", ""),
		get("/users/"+bruno+"/comments?limit=1", ""), get("/users/"+carla+"/comments?limit=1", ""),
		get("/posts/"+posts[0]+"/likes?limit=1", ""), get("/posts/"+posts[1]+"/likes?limit=1", ""),
		get("/me/likes?limit=1", bruno), get("/me/likes?limit=1", carla), get("/bookmarks?limit=1", bruno), get("/bookmarks?limit=1", carla),
		get("/notifications?limit=1", ana), get("/notifications?limit=1", bruno),
	}
	for _, from := range lists {
		next := call[page[struct{}]](t, v, from).Next
		if next == "" {
			continue // no drafts, no archived posts, none in the other category
		}
		for _, at := range lists {
			r := at
			r.Path += "&cursor=" + next
			want := http.StatusBadRequest
			if r.Path == from.Path+"&cursor="+next && r.As == from.As {
				want = http.StatusOK
			}
			if response := v.Do(t, r); response.Status != want || want != http.StatusOK && response.Problem(t).Code != problem.CodeInvalidCursor {
				t.Errorf("%s as %q with the cursor of %s as %q: %d %s, want %d", at.Path, at.As, from.Path, from.As, response.Status, response.Body, want)
			}
		}
	}
}

// TestPostPage: one request returns a post with its newest twenty comments, newest first.
func TestPostPage(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "page")
	var want []string
	for i := range 25 {
		c := comment(t, v, []string{ana, bruno}[i%2], p.PostID, fmt.Sprint("c-", i), fmt.Sprint("comment ", i))
		want = append(want, c.CommentID)
		v.Clock.Advance(time.Millisecond)
	}
	like(t, v, bruno, p.PostID)
	found := call[portfolio.PostPage](t, v, get("/posts/"+p.PostID, ""))
	slices.Reverse(want)
	got := make([]string, len(found.Comments))
	for i, c := range found.Comments {
		got[i] = c.CommentID
	}
	if !slices.Equal(got, want[:20]) {
		t.Errorf("comments %v, want %v", got, want[:20])
	}
	if found.Body != "All of page" || found.CommentCount != 25 || found.LikeCount != 1 || found.Comments[0].Body != "comment 24" {
		t.Errorf("found %+v", found)
	}
	var asked []string
	for _, a := range v.Accesses()["getPost"] {
		asked = append(asked, a.Action)
	}
	if !slices.Equal(asked, []string{"dynamodb:Query"}) {
		t.Errorf("it was found by %v, want one Query", asked)
	}
}

// TestWriteOnce sends one request from many clients concurrently: one creates the post, and all get its response.
func TestWriteOnce(t *testing.T) {
	t.Parallel()
	const clients = 32
	v := apitest.Open(t, portfolio.System())
	category(t, v, "cat-123", "go")
	bodies := []map[string]any{content("one", "cat-123"), content("two", "cat-123")}
	responses := make([]*apitest.Response, clients)
	var all sync.WaitGroup
	for i := range responses {
		r := request(http.MethodPost, "/posts", ana, bodies[i%2])
		r.Key = "once"
		all.Go(func() { responses[i] = v.Insist(t, r) })
	}
	all.Wait()
	first := slices.IndexFunc(responses, func(r *apitest.Response) bool { return r.Status == http.StatusCreated })
	if first < 0 {
		t.Fatalf("no request created the post: %d %s", responses[0].Status, responses[0].Body)
	}
	for i, r := range responses {
		same := i%2 == first%2
		switch {
		case i == first:
		case same && (r.Status != http.StatusOK || string(r.Body) != string(responses[first].Body)):
			t.Errorf("client %d: %d %s, want 200 %s", i, r.Status, r.Body, responses[first].Body)
		case !same && (r.Status != http.StatusUnprocessableEntity || r.Problem(t).Code != problem.CodeKeyReused):
			t.Errorf("client %d with another body: %d %s", i, r.Status, r.Body)
		}
	}
	s := scan(t, v)
	s.sound(t)
	if len(s.posts) != 1 || len(s.requests) != 1 {
		t.Errorf("%d posts and %d records of requests, want 1", len(s.posts), len(s.requests))
	}
}

// TestReplayLater: a retry gets the first response, although the post has changed since. The key is forgotten after a day.
func TestReplayLater(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	category(t, v, "cat-123", "go")
	r := request(http.MethodPost, "/posts", ana, content("first", "cat-123"))
	r.Key = "k"
	first := v.Do(t, r)
	var p portfolio.Post
	first.JSON(t, &p)
	v.Clock.Advance(time.Minute)
	call[portfolio.Post](t, v, request(http.MethodPut, "/posts/"+p.PostID, ana, content("edited", "cat-123")))
	setStatus(t, v, ana, p.PostID, "published")
	like(t, v, bruno, p.PostID)
	if again := v.Do(t, r); again.Status != http.StatusOK || string(again.Body) != string(first.Body) {
		t.Errorf("replayed as %d %s, want 200 %s", again.Status, again.Body, first.Body)
	}
	v.Clock.Advance(24 * time.Hour)
	if later := call[portfolio.Post](t, v, r); later.PostID == p.PostID {
		t.Error("after a day the response to the first post was replayed")
	}
}

// TestConcurrentEdits edits a post in two categories while it is published and archived, and while other users try to edit it. Its
// index entries are correct, and no other user has changed it.
func TestConcurrentEdits(t *testing.T) {
	t.Parallel()
	const editors = 16
	v := apitest.Open(t, portfolio.System())
	category(t, v, "cat-1", "one")
	category(t, v, "cat-2", "two")
	for round := range 3 {
		p := write(t, v, ana, fmt.Sprintf("round-%d", round), "cat-1")
		var all sync.WaitGroup
		for i := range editors {
			all.Go(func() {
				mine := v.Insist(t, request(http.MethodPut, "/posts/"+p.PostID, ana, content(fmt.Sprintf("edit-%d", i), fmt.Sprintf("cat-%d", 1+i%2))))
				if mine.Status != http.StatusOK {
					t.Errorf("the author edits: %d %s", mine.Status, mine.Body)
				}
				theirs := v.Insist(t, request(http.MethodPut, "/posts/"+p.PostID, bruno, content("stolen", "cat-1")))
				if theirs.Status != http.StatusForbidden && theirs.Status != http.StatusNotFound { // while it is a draft
					t.Errorf("another user edits: %d %s", theirs.Status, theirs.Body)
				}
			})
		}
		for _, status := range []string{"published", "archived"} {
			all.Go(func() {
				v.Insist(t, request(http.MethodPut, "/posts/"+p.PostID+"/status", ana, map[string]any{"status": status}))
			})
		}
		all.Wait()
	}
	s := scan(t, v)
	s.sound(t)
	for _, p := range s.posts {
		if !strings.HasPrefix(p.Title, "edit-") || s.contents[p.PostID] != "All of "+p.Title || p.Status == "draft" {
			t.Errorf("%+v with %q", p, s.contents[p.PostID])
		}
	}
}

// TestStaleEditIsRejected: an editor with a stale version does not overwrite later changes. A like in between does not count as a change,
// and an edit without a version overwrites.
func TestStaleEditIsRejected(t *testing.T) {
	apitest.Each(t, portfolio.System(), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		category(t, v, "cat-1", "one")
		p := write(t, v, ana, "title", "cat-1")
		setStatus(t, v, ana, p.PostID, "published")
		path := "/posts/" + p.PostID
		read := v.Do(t, apitest.Request{Method: http.MethodGet, Path: path, As: ana}).Header.Get("ETag")
		v.Do(t, apitest.Request{Method: http.MethodPut, Path: path + "/like", As: bruno})
		edit := func(match, title string, want int) *apitest.Response {
			t.Helper()
			r := apitest.Request{
				Method: http.MethodPut, Path: path, As: ana, Body: portfolio.PostInput{Title: title, Body: "text", CategoryID: "cat-1"},
				Header: map[string]string{},
			}
			if match != "" {
				r.Header["If-Match"] = match
			}
			response := v.Do(t, r)
			if response.Status != want {
				t.Errorf("%s with %q: %d %s, want %d", title, match, response.Status, response.Body, want)
			}
			return response
		}
		saved := edit(read, "first", http.StatusOK).Header.Get("ETag")
		if code := edit(read, "second", http.StatusPreconditionFailed).Problem(t).Code; code != problem.CodeChanged {
			t.Errorf("refused with %s", code)
		}
		edit(saved, "third", http.StatusOK)
		edit("", "fourth", http.StatusOK)
		edit(`"no tag"`, "fifth", http.StatusPreconditionFailed)
		var is portfolio.PostPage
		v.Do(t, apitest.Request{Method: http.MethodGet, Path: path, As: ana}).JSON(t, &is)
		if is.Title != "fourth" {
			t.Errorf("the title is %s", is.Title)
		}
		scan(t, v).sound(t)
	})
}
