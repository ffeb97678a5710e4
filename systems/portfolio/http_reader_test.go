package portfolio_test

import (
	"net/http"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/portfolio"
)

func likeCases(t *testing.T, v *apitest.Server) []apitest.Case {
	t.Helper()
	p := published(t, v, ana, "liked")
	draft := write(t, v, ana, "liked-draft", "cat-123")
	archived := published(t, v, ana, "liked-archived")
	like(t, v, bruno, archived.PostID)
	setStatus(t, v, ana, archived.PostID, "archived")
	put := func(sub, postID string) apitest.Request {
		return request(http.MethodPut, "/posts/"+postID+"/like", sub)
	}
	remove := func(sub, postID string) apitest.Request {
		return request(http.MethodDelete, "/posts/"+postID+"/like", sub)
	}
	count := func(n int64) apitest.Case {
		return done("counted", get("/posts/"+p.PostID, ""), http.StatusOK, bodyMatches(func(p portfolio.PostPage) bool { return p.LikeCount == n }))
	}
	is := bodyMatches(func(l portfolio.Like) bool { return l.UserID == bruno && l.PostID == p.PostID && !l.CreatedAt.IsZero() })
	return []apitest.Case{
		refused("not yet", get("/posts/"+p.PostID+"/like", bruno), http.StatusNotFound, problem.CodeNotFound),
		done("none", get("/posts/"+p.PostID+"/likes", ""), http.StatusOK),
		done("liked", put(bruno, p.PostID), http.StatusOK, is),
		done("liked again", put(bruno, p.PostID), http.StatusOK, is),
		done("own like", get("/posts/"+p.PostID+"/like", bruno), http.StatusOK, is),
		done("one's own post", put(ana, p.PostID), http.StatusOK),
		count(2),
		done("who likes it", get("/posts/"+p.PostID+"/likes", ""), http.StatusOK, bodyMatches(func(l page[portfolio.Like]) bool {
			return len(l.Items) == 2 && l.Items[0].UserID == ana && l.Items[1].UserID == bruno
		})),
		done("what one likes", get("/me/likes", ana), http.StatusOK, bodyMatches(func(l page[portfolio.Like]) bool { return len(l.Items) == 1 && l.Items[0].PostID == p.PostID })),
		done("no more", remove(bruno, p.PostID), http.StatusNoContent),
		done("no more, again", remove(bruno, p.PostID), http.StatusNoContent),
		count(1),
		refused("a draft", put(bruno, draft.PostID), http.StatusNotFound, problem.CodeNotFound),
		refused("nothing", put(bruno, nowhere), http.StatusNotFound, problem.CodeNotFound),
		refused("in the archive", put(carla, archived.PostID), http.StatusConflict, portfolio.CodePostArchived),
		done("in the archive, as before", put(bruno, archived.PostID), http.StatusOK),
		done("no more, in the archive", remove(bruno, archived.PostID), http.StatusNoContent),
		done("nothing, no more", remove(bruno, nowhere), http.StatusNoContent),
		invalid("no ULID", put(bruno, "post-1"), "path.id"),
		invalid("no ULID, no more", remove(bruno, "post-1"), "path.id"),
		invalid("own like of no ULID", get("/posts/post-1/like", bruno), "path.id"),
		invalid("likes of no ULID", get("/posts/post-1/likes", ""), "path.id"),
	}
}

func bookmarkCases(t *testing.T, v *apitest.Server) []apitest.Case {
	t.Helper()
	p := published(t, v, ana, "kept")
	draft := write(t, v, ana, "kept-draft", "cat-123")
	put := func(sub, postID string) apitest.Request {
		return request(http.MethodPut, "/bookmarks/"+postID, sub)
	}
	remove := func(sub, postID string) apitest.Request {
		return request(http.MethodDelete, "/bookmarks/"+postID, sub)
	}
	is := bodyMatches(func(b portfolio.Bookmark) bool {
		return b.PostID == p.PostID && b.PostTitle == "kept" && !b.CreatedAt.IsZero()
	})
	return []apitest.Case{
		refused("not yet", get("/bookmarks/"+p.PostID, bruno), http.StatusNotFound, problem.CodeNotFound),
		done("neither liked nor kept", get("/posts/"+p.PostID+"/mine", bruno), http.StatusOK, bodyMatches(func(m portfolio.Mine) bool { return m == portfolio.Mine{Name: "Bruno"} })),
		done("kept", put(bruno, p.PostID), http.StatusOK, is),
		done("kept, not liked", get("/posts/"+p.PostID+"/mine", bruno), http.StatusOK, bodyMatches(func(m portfolio.Mine) bool { return m == portfolio.Mine{Bookmarked: true, Name: "Bruno"} })),
		done("nothing", get("/posts/"+nowhere+"/mine", bruno), http.StatusOK, bodyMatches(func(m portfolio.Mine) bool { return m == portfolio.Mine{Name: "Bruno"} })),
		invalid("no ULID, of mine", get("/posts/post-1/mine", bruno), "path.id"),
		done("edited meanwhile", request(http.MethodPut, "/posts/"+p.PostID, ana, content("renamed", "cat-123")), http.StatusOK),
		done("kept again", put(bruno, p.PostID), http.StatusOK, is),
		done("found", get("/bookmarks/"+p.PostID, bruno), http.StatusOK, is),
		refused("somebody else's", get("/bookmarks/"+p.PostID, carla), http.StatusNotFound, problem.CodeNotFound),
		done("listed", get("/bookmarks", bruno), http.StatusOK, bodyMatches(func(l page[portfolio.Bookmark]) bool { return len(l.Items) == 1 && l.Items[0].PostTitle == "kept" })),
		done("somebody else's list", get("/bookmarks", carla), http.StatusOK, bodyMatches(func(l page[portfolio.Bookmark]) bool { return l.Items != nil && len(l.Items) == 0 })),
		refused("a draft", put(bruno, draft.PostID), http.StatusNotFound, problem.CodeNotFound),
		refused("nothing", put(bruno, nowhere), http.StatusNotFound, problem.CodeNotFound),
		done("somebody else's, forgotten", remove(carla, p.PostID), http.StatusNoContent),
		done("still there", get("/bookmarks/"+p.PostID, bruno), http.StatusOK, is),
		done("forgotten", remove(bruno, p.PostID), http.StatusNoContent),
		done("forgotten again", remove(bruno, p.PostID), http.StatusNoContent),
		refused("gone", get("/bookmarks/"+p.PostID, bruno), http.StatusNotFound, problem.CodeNotFound),
		invalid("no ULID", put(bruno, "post-1"), "path.id"),
		invalid("no ULID, forgotten", remove(bruno, "post-1"), "path.id"),
		invalid("no ULID, found", get("/bookmarks/post-1", bruno), "path.id"),
	}
}

// TestForeignIDs: an id of another kind of thing is not found.
func TestForeignIDs(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "post")
	c := comment(t, v, bruno, p.PostID, "c", "Hello")
	v.Deliver(t)
	n := call[page[portfolio.Notification]](t, v, get("/notifications", ana)).Items[0]
	status, read := map[string]any{"status": "archived"}, map[string]any{"read": true}
	for _, id := range []string{c.CommentID, n.NotificationID} {
		say := request(http.MethodPost, "/posts/"+id+"/comments", ana, map[string]any{"body": "x"})
		say.Key = "k-" + id
		for _, r := range []apitest.Request{
			get("/posts/"+id, ana), request(http.MethodPut, "/posts/"+id, ana, content("x", "cat-123")), request(http.MethodPut, "/posts/"+id+"/status", ana, status),
			get("/posts/"+id+"/comments", ""), say, get("/posts/"+id+"/likes", ""), get("/posts/"+id+"/like", ana), request(http.MethodPut, "/posts/"+id+"/like", ana),
			get("/bookmarks/"+id, ana), request(http.MethodPut, "/bookmarks/"+id, ana),
		} {
			expectNone(t, v, r)
		}
	}
	expectNone(t, v, request(http.MethodPatch, "/notifications/"+p.PostID, ana, read))
	expectNone(t, v, request(http.MethodPatch, "/notifications/"+c.CommentID, ana, read))
	expectNone(t, v, request(http.MethodDelete, "/posts/"+p.PostID+"/comments/"+n.NotificationID, ana))
	expectNone(t, v, request(http.MethodDelete, "/posts/"+p.PostID+"/comments/"+p.PostID, ana))
	expectNone(t, v, request(http.MethodDelete, "/posts/"+c.CommentID+"/comments/"+c.CommentID, bruno))
	expectNone(t, v, get("/users/"+p.PostID, ""))
	expectNone(t, v, get("/categories/"+ana, ""))
	expectNone(t, v, get("/slugs/cat-123", ""))
	scan(t, v).sound(t)
}

// expectNone fails the test unless the response is 404.
func expectNone(t *testing.T, v *apitest.Server, r apitest.Request) {
	t.Helper()
	if response := v.Do(t, r); response.Status != http.StatusNotFound || response.Problem(t).Code != problem.CodeNotFound {
		t.Errorf("%s %s: %d %s, want 404", r.Method, r.Path, response.Status, response.Body)
	}
}

func notificationRoutes(t *testing.T, v *apitest.Server) {
	t.Helper()
	v.Deliver(t)
	found := call[page[portfolio.Notification]](t, v, get("/notifications", ana))
	if len(found.Items) == 0 || found.Items[0].Read {
		t.Fatalf("notifications %+v, want some that are not read", found.Items)
	}
	id := found.Items[0].NotificationID
	patch := func(sub, id string, body any) apitest.Request {
		return request(http.MethodPatch, "/notifications/"+id, sub, body)
	}
	is := func(read bool) func(testing.TB, *apitest.Response) {
		return func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			want := found.Items[0]
			want.Read = read
			var n portfolio.Notification
			if r.JSON(tb, &n); n != want {
				tb.Errorf("got %+v, want %+v", n, want)
			}
			if now := call[page[portfolio.Notification]](tb, v, get("/notifications?limit=1", ana)); now.Items[0] != want {
				tb.Errorf("found %+v, want %+v", now.Items[0], want)
			}
		}
	}
	yes, no := map[string]any{"read": true}, map[string]any{"read": false}
	v.Run(t, []apitest.Case{
		done("read", patch(ana, id, yes), http.StatusOK, is(true)),
		done("read again", patch(ana, id, yes), http.StatusOK, is(true)),
		refused("somebody else's", patch(bruno, id, no), http.StatusNotFound, problem.CodeNotFound),
		done("not read", patch(ana, id, no), http.StatusOK, is(false)),
		refused("nobody's", patch(ana, nowhere, yes), http.StatusNotFound, problem.CodeNotFound),
		invalid("no ULID", patch(ana, "notif-1", yes), "path.id"),
		invalid("no body", patch(ana, id, nil), ""),
		invalid("nothing", patch(ana, id, map[string]any{}), "body"),
		invalid("another type", patch(ana, id, map[string]any{"read": "yes"}), "body.read"),
		invalid("another field", patch(ana, id, map[string]any{"read": true, "message": "no"}), "body.message"),
	})
}
