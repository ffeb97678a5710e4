package portfolio_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/portfolio"
	"github.com/monotable/monotable/systems/portfolio/site"
)

// moderationCases moderate comments on ana's post, and move a category that has a post.
func moderationCases(t *testing.T, v *apitest.Server) []apitest.Case {
	t.Helper()
	p := published(t, v, ana, "moderated")
	kind, rude := comment(t, v, bruno, p.PostID, "kind-words", "Thank you"), comment(t, v, carla, p.PostID, "buy-now", "Buy now!")
	hidden := func(method, sub, commentID string, groups ...string) apitest.Request {
		r := request(method, "/posts/"+p.PostID+"/comments/"+commentID+"/hidden", sub)
		r.Groups = groups
		return r
	}
	all := get("/comments", admin)
	all.Groups = []string{adminGroup}
	used := request(http.MethodDelete, "/categories/cat-123", admin)
	used.Groups = []string{adminGroup}
	acts := func(day string, groups ...string) apitest.Request {
		r := get("/acts?day="+day, admin)
		r.Groups = groups
		return r
	}
	seen := func(name string, want ...string) []apitest.Case {
		return []apitest.Case{
			done(name+": the list", get("/posts/"+p.PostID+"/comments", ""), http.StatusOK, bodyMatches(func(l page[portfolio.Comment]) bool { return same(l.Items, want) })),
			done(name+": the post", get("/posts/"+p.PostID, ana), http.StatusOK, bodyMatches(func(f portfolio.PostPage) bool {
				return len(f.Comments) == len(want) && f.CommentCount == int64(len(want))
			})),
		}
	}
	both, one := seen("both", kind.CommentID, rude.CommentID), seen("one", kind.CommentID)
	cases := []apitest.Case{
		done("received", get("/me/posts/comments", ana), http.StatusOK, bodyMatches(func(l page[portfolio.ModeratedComment]) bool {
			a, b := moderatedOne(l, rude.CommentID), moderatedOne(l, kind.CommentID)
			return a.UserName == carla && a.PostTitle == "moderated" && a.HiddenAt == nil && b.UserName == "Bruno"
		})),
		done("none received", get("/me/posts/comments", carla), http.StatusOK, bodyMatches(func(l page[portfolio.ModeratedComment]) bool { return l.Items != nil && len(l.Items) == 0 })),
		refused("all, not for all", get("/comments", ana), http.StatusForbidden, problem.CodeForbidden),
		done("what administrators have done", acts("2026-01-31", adminGroup), http.StatusOK),
		refused("not for all", acts("2026-01-31"), http.StatusForbidden, problem.CodeForbidden),
		invalid("on no day", acts("today", adminGroup), "query.day"),
		refused("hidden by who has made it", hidden(http.MethodPut, carla, rude.CommentID), http.StatusForbidden, problem.CodeForbidden),
		refused("hidden by an administrator of nothing", hidden(http.MethodPut, admin, rude.CommentID), http.StatusForbidden, problem.CodeForbidden),
		refused("nothing hidden", hidden(http.MethodPut, ana, nowhere), http.StatusNotFound, problem.CodeNotFound),
		refused("nothing shown", hidden(http.MethodDelete, ana, nowhere), http.StatusNotFound, problem.CodeNotFound),
		invalid("hidden, no ULID", hidden(http.MethodPut, ana, "comment-1"), "path.commentId"),
		invalid("shown, no ULID", hidden(http.MethodDelete, ana, "comment-1"), "path.commentId"),
	}
	cases = append(cases, both...)
	cases = append(
		cases,
		done("hidden", hidden(http.MethodPut, ana, rude.CommentID), http.StatusNoContent),
		done("hidden again", hidden(http.MethodPut, ana, rude.CommentID), http.StatusNoContent),
		done("not among the user's", get("/users/"+carla+"/comments", ""), http.StatusOK, bodyMatches(func(l page[portfolio.Comment]) bool {
			return !strings.Contains(fmt.Sprint(l.Items), "Buy now!")
		})),
		done("all, hidden ones too", all, http.StatusOK, bodyMatches(func(l page[portfolio.ModeratedComment]) bool {
			return moderatedOne(l, rude.CommentID).HiddenAt != nil && moderatedOne(l, kind.CommentID).HiddenAt == nil
		})),
		refused("shown by who has made it", hidden(http.MethodDelete, carla, rude.CommentID), http.StatusForbidden, problem.CodeForbidden),
	)
	cases = append(cases, one...)
	cases = append(
		cases,
		done("shown by an administrator", hidden(http.MethodDelete, admin, rude.CommentID, adminGroup), http.StatusNoContent),
		done("shown again", hidden(http.MethodDelete, ana, rude.CommentID), http.StatusNoContent),
	)
	cases = append(cases, both...)
	cases = append(
		cases,
		done("hidden by an administrator", hidden(http.MethodPut, admin, rude.CommentID, adminGroup), http.StatusNoContent),
		done("and deleted while it is hidden", request(http.MethodDelete, "/posts/"+p.PostID+"/comments/"+rude.CommentID, carla), http.StatusNoContent),
	)
	return append(append(cases, one...), refused("a category with posts", used, http.StatusConflict, portfolio.CodeCategoryUsed))
}

// moderatedOne finds a comment in a list by id.
func moderatedOne(l page[portfolio.ModeratedComment], id string) portfolio.ModeratedComment {
	for _, c := range l.Items {
		if c.CommentID == id {
			return c
		}
	}
	return portfolio.ModeratedComment{}
}

// same compares comments with ids in any order, because comments of the same millisecond are unordered.
func same(list []portfolio.Comment, ids []string) bool {
	for _, c := range list {
		if !slices.Contains(ids, c.CommentID) {
			return false
		}
	}
	return len(list) == len(ids)
}

// TestAdministratorActsAreRecorded: administrators' requests are recorded, and administrators can see them. Authors' moderation of their own posts is not
// recorded.
func TestAdministratorActsAreRecorded(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "post") // an administrator creates its category
	c := comment(t, v, bruno, p.PostID, "comment", "Hello")
	hide := request(http.MethodPut, "/posts/"+p.PostID+"/comments/"+c.CommentID+"/hidden", ana)
	call[struct{}](t, v, hide)
	hide.As, hide.Groups = admin, []string{adminGroup}
	call[struct{}](t, v, hide)
	list := get("/acts?day="+v.Clock.Now().UTC().Format(time.DateOnly), admin)
	if response := v.Do(t, list); response.Status != http.StatusForbidden {
		t.Errorf("another user: %d", response.Status)
	}
	list.Groups = []string{adminGroup}
	operations := map[string]int{}
	for _, act := range call[page[api.ShownAct]](t, v, list).Items {
		operations[act.Operation]++
		if act.ActorID != admin || act.Status == nil {
			t.Errorf("%+v", act)
		}
	}
	if !maps.Equal(operations, map[string]int{"putCategory": 1, "hideComment": 1}) {
		t.Errorf("the acts are %v", operations)
	}
}

// TestOlderComments: a reader without scripts finds each visible comment once, the newest ones on the post's page.
func TestOlderComments(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "post")
	const all = 45
	for i := range all {
		c := comment(t, v, bruno, p.PostID, fmt.Sprint("c-", i), fmt.Sprintf("number %d.", i))
		if i%10 == 3 {
			call[struct{}](t, v, request(http.MethodPut, "/posts/"+p.PostID+"/comments/"+c.CommentID+"/hidden", ana))
		}
	}
	at := "/p/" + site.Address("post", p.PostID)
	var pages []string
	for next := at; next != ""; {
		_, text := visit(t, v, next, "en")
		pages = append(pages, text)
		_, link, more := strings.Cut(text, `rel="nofollow" href="`)
		if next = ""; more {
			link, _, _ = strings.Cut(link, "#")
			next = at + strings.ReplaceAll(link, "&amp;", "&")
		}
	}
	text := strings.Join(pages, "")
	if len(pages) != 3 || !strings.Contains(pages[1], "Older comments") || !strings.Contains(pages[1], "noindex") {
		t.Errorf("%d pages: %s", len(pages), text)
	}
	for i := range all {
		if n, want := strings.Count(text, fmt.Sprintf(">number %d.<", i)), map[bool]int{true: 0, false: 1}[i%10 == 3]; n != want {
			t.Errorf("comment %d is listed %d times, want %d", i, n, want)
		}
	}
	for _, query := range []string{"?until=x", "?until=", "?until=" + nowhere + "&after=damaged"} {
		if response, _ := visit(t, v, at+query, "en"); response.Code != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", query, response.Code)
		}
	}
}

// TestHiddenCommentsTakeNoPlace: a post has its newest twenty visible comments, on its page and in the API, however many newer ones are hidden.
func TestHiddenCommentsTakeNoPlace(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "post")
	const kept, spam, most = 25, 30, 20
	for i := range kept + spam {
		v.Clock.Advance(time.Millisecond)
		c := comment(t, v, bruno, p.PostID, fmt.Sprint("c-", i), fmt.Sprintf("number %d.", i))
		if i >= kept {
			call[struct{}](t, v, request(http.MethodPut, "/posts/"+p.PostID+"/comments/"+c.CommentID+"/hidden", ana))
		}
	}
	got := call[portfolio.PostPage](t, v, get("/posts/"+p.PostID, "")).Comments
	_, text := visit(t, v, "/p/"+site.Address("post", p.PostID), "en")
	if len(got) != most || strings.Count(text, ">number ") != most || !strings.Contains(text, `rel="nofollow" href="`) {
		t.Errorf("the post has %d comments, its page %d, want %d and a link to older ones", len(got), strings.Count(text, ">number "), most)
	}
	for i, c := range got {
		if want := fmt.Sprintf("number %d.", kept-1-i); c.Body != want {
			t.Errorf("comment %d is %q, want %q", i, c.Body, want)
		}
	}
}
