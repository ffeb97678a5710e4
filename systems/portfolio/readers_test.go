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
	"github.com/monotable/monotable/systems/portfolio"
)

// TestConcurrentLikes lets 64 users like and unlike a post concurrently: one half has liked it before and unlikes it, the other half
// likes it twice.
func TestConcurrentLikes(t *testing.T) {
	t.Parallel()
	const users = 64
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "popular")
	path := "/posts/" + p.PostID + "/like"
	for i := 0; i < users; i += 2 {
		like(t, v, fmt.Sprint("u-", i), p.PostID)
	}
	var all sync.WaitGroup
	for i := range users {
		for range 2 {
			all.Go(func() {
				method, want := http.MethodPut, http.StatusOK
				if i%2 == 0 {
					method, want = http.MethodDelete, http.StatusNoContent
				}
				if response := v.Insist(t, request(method, path, fmt.Sprint("u-", i))); response.Status != want {
					t.Errorf("user %d: %d %s", i, response.Status, response.Body)
				}
			})
		}
	}
	all.Wait()
	s := scan(t, v)
	s.sound(t)
	if n := s.posts[p.PostID].LikeCount; n != users/2 {
		t.Errorf("%d likes, want %d", n, users/2)
	}
	var want, got []string
	for i := 1; i < users; i += 2 {
		want = append(want, fmt.Sprint("u-", i))
	}
	for _, l := range walk[portfolio.Like](t, v, "/posts/"+p.PostID+"/likes", "", 10) {
		got = append(got, l.UserID)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("liked by %v, want %v", got, want)
	}
}

// TestConcurrentLikesAndUnlikes lets a few users change their minds repeatedly and concurrently.
func TestConcurrentLikesAndUnlikes(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "popular")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 9 {
				method := []string{http.MethodPut, http.MethodDelete}[n%2]
				v.Insist(t, request(method, "/posts/"+p.PostID+"/like", fmt.Sprint("u-", i%4)))
			}
		})
	}
	all.Wait()
	scan(t, v).sound(t)
}

// TestConcurrentComments sends comments of many users concurrently, each twice, while the post is archived.
func TestConcurrentComments(t *testing.T) {
	t.Parallel()
	const users = 24
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "popular")
	var mu sync.Mutex
	created := map[string]string{} // comments by user
	var all sync.WaitGroup
	for i := range users {
		for range 2 {
			all.Go(func() {
				sub := fmt.Sprint("u-", i)
				r := request(http.MethodPost, "/posts/"+p.PostID+"/comments", sub, map[string]any{"body": "of " + sub})
				r.Key = "same"
				response := v.Insist(t, r)
				if response.Status == http.StatusConflict && response.Problem(t).Code == portfolio.CodePostArchived {
					return
				}
				var c portfolio.Comment
				response.JSON(t, &c)
				mu.Lock()
				defer mu.Unlock()
				if before, ok := created[sub]; ok && before != c.CommentID {
					t.Errorf("%s has created %s and %s with one key", sub, before, c.CommentID)
				}
				created[sub] = c.CommentID
			})
		}
		if i == users/2 {
			all.Go(func() { setStatus(t, v, ana, p.PostID, "archived") })
		}
	}
	all.Wait()
	s := scan(t, v)
	s.sound(t)
	if len(s.comments) != len(created) {
		t.Errorf("%d comments, want %d", len(s.comments), len(created))
	}
	for sub, id := range created {
		if c := s.comments[id]; c.UserID != sub || c.Body != "of "+sub {
			t.Errorf("%s was answered %s, which is %+v", sub, id, c)
		}
	}
}

// TestRetriedCommentAfterClosing: a retried comment gets the first response, although the post no longer accepts comments.
func TestRetriedCommentAfterClosing(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "archived")
	first := comment(t, v, bruno, p.PostID, "c", "Hello")
	setStatus(t, v, ana, p.PostID, "archived")
	if again := comment(t, v, bruno, p.PostID, "c", "Hello"); again != first {
		t.Errorf("the first response was %+v, now it is %+v", first, again)
	}
	scan(t, v).sound(t)
}

// TestConcurrentDeletionsOfComment: concurrent deletions of a comment delete it once, while other comments are added and the post is edited.
func TestConcurrentDeletionsOfComment(t *testing.T) {
	t.Parallel()
	const many = 16
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "popular")
	c := comment(t, v, bruno, p.PostID, "c", "Hello")
	responses := make([]*apitest.Response, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			responses[i] = v.Insist(t, request(http.MethodDelete, "/posts/"+p.PostID+"/comments/"+c.CommentID, bruno))
		})
		if i%4 == 0 {
			r := request(http.MethodPost, "/posts/"+p.PostID+"/comments", carla, map[string]any{"body": "Hello"})
			r.Key = fmt.Sprint("c-", i)
			all.Go(func() { v.Insist(t, r) })
			all.Go(func() { v.Insist(t, request(http.MethodPut, "/posts/"+p.PostID, ana, content("edited", "cat-123"))) })
		}
	}
	all.Wait()
	done := 0
	for i, r := range responses {
		switch {
		case r.Status == http.StatusNoContent:
			done++
		case r.Status != http.StatusNotFound:
			t.Errorf("%d: %d %s", i, r.Status, r.Body)
		}
	}
	s := scan(t, v)
	s.sound(t)
	if done != 1 || s.posts[p.PostID].CommentCount != many/4 {
		t.Errorf("taken back %d times, %d comments are left, want %d", done, s.posts[p.PostID].CommentCount, many/4)
	}
}

// TestConcurrentBookmarks: concurrent requests bookmark a post once, and all get the same response.
func TestConcurrentBookmarks(t *testing.T) {
	t.Parallel()
	const many = 16
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "popular")
	responses := make([]*apitest.Response, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() { responses[i] = v.Insist(t, request(http.MethodPut, "/bookmarks/"+p.PostID, bruno)) })
	}
	all.Wait()
	for i, r := range responses {
		if r.Status != http.StatusOK || string(r.Body) != string(responses[0].Body) {
			t.Errorf("%d: %d %s, want 200 %s", i, r.Status, r.Body, responses[0].Body)
		}
	}
	if kept := walk[portfolio.Bookmark](t, v, "/bookmarks", bruno, 10); len(kept) != 1 {
		t.Errorf("kept %+v", kept)
	}
}

// TestLongNames: user pools choose their user ids. One that does not fit into the keys is rejected, and no accepted one makes a
// key too long.
func TestLongNames(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "read")
	n := 0
	calls := func(sub string) []apitest.Request {
		n++
		write := request(http.MethodPost, "/posts", sub, content("title", "cat-123"))
		say := request(http.MethodPost, "/posts/"+p.PostID+"/comments", sub, map[string]any{"body": "x"})
		write.Key, say.Key = strings.Repeat("w", 200), strings.Repeat("c", 200)
		return []apitest.Request{
			request(http.MethodPut, "/me", sub, map[string]any{"email": fmt.Sprintf("u%d@example.com", n), "name": "x"}), get("/me", sub),
			write, get("/me/posts", sub), say, request(http.MethodPut, "/posts/"+p.PostID+"/like", sub), get("/posts/"+p.PostID+"/like", sub),
			get("/me/likes", sub), request(http.MethodPut, "/bookmarks/"+p.PostID, sub), get("/bookmarks", sub), get("/notifications", sub),
		}
	}
	for sub, want := range map[string]int{
		strings.Repeat("u", 128): http.StatusOK, "a:b@c.d_e-f": http.StatusOK,
		strings.Repeat("u", 129): http.StatusBadRequest, strings.Repeat("u", 3000): http.StatusBadRequest,
		"u#1": http.StatusBadRequest, "*": http.StatusBadRequest, "é": http.StatusBadRequest, "a\x00": http.StatusBadRequest,
	} {
		for _, r := range calls(sub) {
			if response := v.Do(t, r); response.Status/100 != want/100 {
				t.Errorf("%s %s as %.20q: %d, want %d: %s", r.Method, r.Path, sub, response.Status, want, response.Body)
			}
		}
		public := http.StatusOK
		if len(sub) > 255 { // no token can have such a sub
			public = http.StatusUnauthorized
		}
		if response := v.Do(t, get("/posts/"+p.PostID, sub)); response.Status != public {
			t.Errorf("public data, as %.20q: %d, want %d", sub, response.Status, public)
		}
	}
}

// TestCommentLists: a post's comments are listed in order, a user's comments newest first.
func TestCommentLists(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	posts := []portfolio.Post{published(t, v, ana, "one"), published(t, v, ana, "two")}
	var want []portfolio.Comment // by ana, on the first post
	var all []portfolio.Comment  // by ana
	for i := range 21 {
		c := comment(t, v, []string{ana, ana, bruno}[i%3], posts[i%2].PostID, fmt.Sprint("c-", i), fmt.Sprint("comment ", i))
		if c.UserID == ana {
			all = slices.Insert(all, 0, c)
		}
		if i%2 == 0 {
			want = append(want, c)
		}
		v.Clock.Advance(time.Millisecond)
	}
	if got := walk[portfolio.Comment](t, v, "/posts/"+posts[0].PostID+"/comments", "", 4); !slices.Equal(got, want) {
		t.Errorf("the post's are\n%v, want\n%v", got, want)
	}
	if got := walk[portfolio.Comment](t, v, "/users/"+ana+"/comments", "", 5); !slices.Equal(got, all) {
		t.Errorf("the user's are\n%v, want\n%v", got, all)
	}
}

// TestUsersListOnlyTheirOwn: users list only their own likes and bookmarks, newest first.
func TestUsersListOnlyTheirOwn(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	var want []string
	for i := range 9 {
		p := published(t, v, ana, fmt.Sprintf("title-%d", i))
		if i%3 != 0 {
			like(t, v, bruno, p.PostID)
			call[portfolio.Bookmark](t, v, request(http.MethodPut, "/bookmarks/"+p.PostID, bruno))
			want = slices.Insert(want, 0, p.PostID)
		} else {
			like(t, v, carla, p.PostID)
			call[portfolio.Bookmark](t, v, request(http.MethodPut, "/bookmarks/"+p.PostID, carla))
		}
		v.Clock.Advance(time.Millisecond)
	}
	var liked, kept []string
	for _, l := range walk[portfolio.Like](t, v, "/me/likes", bruno, 4) {
		liked = append(liked, l.PostID)
	}
	for _, b := range walk[portfolio.Bookmark](t, v, "/bookmarks", bruno, 4) {
		kept = append(kept, b.PostID)
	}
	if !slices.Equal(liked, want) || !slices.Equal(kept, want) {
		t.Errorf("liked %v and kept %v, want %v", liked, kept, want)
	}
}

// TestAddressIsUnique lets many users claim one address concurrently, each in a different case; one of them gets it.
func TestAddressIsUnique(t *testing.T) {
	t.Parallel()
	taken(t, "address", portfolio.CodeEmailTaken, func(i int) apitest.Request {
		address := []byte("somebody@example.com")
		for bit := range 5 {
			if i>>bit&1 == 1 {
				address[bit] -= 'a' - 'A'
			}
		}
		return request(http.MethodPut, "/me", fmt.Sprint("u-", i), map[string]any{"email": string(address), "name": "Somebody"})
	})
}

// TestSlugIsUnique does the same for categories and their slugs.
func TestSlugIsUnique(t *testing.T) {
	t.Parallel()
	taken(t, "slug", portfolio.CodeSlugTaken, func(i int) apitest.Request {
		r := request(http.MethodPut, fmt.Sprint("/categories/cat-", i), admin, map[string]any{"slug": "go", "name": "Go"})
		r.Groups = []string{adminGroup}
		return r
	})
}

// taken lets many users claim one thing concurrently.
func taken(t *testing.T, what, code string, take func(int) apitest.Request) {
	t.Helper()
	const many = 32
	v := apitest.Open(t, portfolio.System())
	responses := make([]*apitest.Response, many)
	var all sync.WaitGroup
	for i := range responses {
		all.Go(func() { responses[i] = v.Insist(t, take(i)) })
	}
	all.Wait()
	got := 0
	for i, r := range responses {
		switch {
		case r.Status == http.StatusOK:
			got++
		case r.Status != http.StatusConflict || r.Problem(t).Code != code:
			t.Errorf("%d: %d %s", i, r.Status, r.Body)
		}
	}
	s := scan(t, v)
	s.sound(t)
	if got != 1 || len(s.emails)+len(s.slugs) != 1 {
		t.Errorf("%d got the %s, which exists %d times", got, what, len(s.emails)+len(s.slugs))
	}
}

// TestAddressMoves: a released address is free again, and users keep their address when they only change its case.
func TestAddressMoves(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	save := func(sub, email string) apitest.Request {
		return request(http.MethodPut, "/me", sub, map[string]any{"email": email, "name": "Somebody"})
	}
	created := call[portfolio.Profile](t, v, save(ana, "ana@example.com"))
	v.Clock.Advance(time.Second)
	changed := call[portfolio.Profile](t, v, save(ana, "ANA@example.com"))
	if !changed.CreatedAt.Equal(created.CreatedAt) || !changed.UpdatedAt.After(created.UpdatedAt) || changed.Email != "ANA@example.com" {
		t.Errorf("%+v became %+v", created, changed)
	}
	v.Run(t, []apitest.Case{
		refused("taken", save(bruno, "ana@EXAMPLE.com"), http.StatusConflict, portfolio.CodeEmailTaken),
		done("left", save(ana, "souza@example.com"), http.StatusOK),
		done("free", save(bruno, "ana@EXAMPLE.com"), http.StatusOK),
		refused("not two of one", save(bruno, "Souza@example.com"), http.StatusConflict, portfolio.CodeEmailTaken),
	})
	s := scan(t, v)
	s.sound(t)
	if s.emails["EMAIL#ana@example.com"] != bruno || s.emails["EMAIL#souza@example.com"] != ana {
		t.Errorf("addresses %v", s.emails)
	}
}

// TestDrafts: only its author can reach a draft, by any route and whatever the user ids.
func TestDrafts(t *testing.T) {
	t.Parallel()
	for _, author := range []string{ana, "everyone", "author", "POST", "@"} {
		t.Run(author, func(t *testing.T) { draftHidden(t, author) })
	}
}

func draftHidden(t *testing.T, author string) {
	t.Helper()
	v := apitest.Open(t, portfolio.System())
	category(t, v, "cat-123", "go")
	p := write(t, v, author, "secret", "cat-123")
	at := "/posts/" + p.PostID
	post := request(http.MethodPost, at+"/comments", bruno, map[string]any{"body": "x"})
	post.Key = "k"
	for _, r := range []apitest.Request{
		get(at, bruno), get(at, ""), get(at+"/comments", bruno), get(at+"/likes", bruno), get(at+"/like", bruno), post,
		request(http.MethodPut, at+"/like", bruno), request(http.MethodPut, "/bookmarks/"+p.PostID, bruno),
	} {
		expectNone(t, v, r)
	}
	for _, path := range []string{"/posts", "/posts?status=archived", "/categories/cat-123/posts", "/me/posts", "/me/posts?status=published"} {
		if response := v.Do(t, get(path, bruno)); response.Status != http.StatusOK || strings.Contains(string(response.Body), "secret") {
			t.Errorf("%s: %d %s", path, response.Status, response.Body)
		}
	}
	for _, index := range []string{"GSI1", "GSI2"} {
		for it := range items(t, v, index) {
			if text(it["postId"]) == p.PostID {
				t.Errorf("%s has %v", index, it)
			}
		}
	}
}
