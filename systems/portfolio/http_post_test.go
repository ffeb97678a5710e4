package portfolio_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/portfolio"
)

// but returns a body with one field changed.
func but(body map[string]any, field string, value any) map[string]any {
	out := maps.Clone(body)
	if out[field] = value; value == nil {
		delete(out, field)
	}
	return out
}

// badContents are cases with invalid contents of a post.
func badContents(r func(body any) apitest.Request) []apitest.Case {
	good := content("bad", "cat-123")
	return []apitest.Case{
		invalid("no JSON", r(`{"title":`), ""),
		invalid("no body", r(nil), ""),
		invalid("no title", r(but(good, "title", nil)), "body"),
		invalid("empty title", r(but(good, "title", "")), "body.title"),
		invalid("title of spaces", r(but(good, "title", " \u00a0\u3000")), "body.title"),
		invalid("title that cannot be seen", r(but(good, "title", "\u200b\u202e\x00\ufeff")), "body.title"),
		invalid("text of empty lines", r(but(good, "body", "\n\r\n\t")), "body.body"),
		invalid("long title", r(but(good, "title", strings.Repeat("é", 151))), "body.title"),
		invalid("title of another type", r(but(good, "title", []string{"a"})), "body.title"),
		invalid("no excerpt", r(but(good, "excerpt", nil)), "body"),
		invalid("long excerpt", r(but(good, "excerpt", strings.Repeat("e", 301))), "body.excerpt"),
		invalid("empty text", r(but(good, "body", "")), "body.body"),
		invalid("long text", r(but(good, "body", strings.Repeat("b", 90001))), "body.body"),
		invalid("no category", r(but(good, "categoryId", nil)), "body"),
		invalid("category of other characters", r(but(good, "categoryId", "cat#1")), "body.categoryId"),
		invalid("somebody else's name", r(but(good, "authorId", bruno)), "body.authorId"),
		invalid("a status", r(but(good, "status", "published")), "body.status"),
		invalid("two titles", r(`{"title":"a","title":"b","excerpt":"","body":"B","categoryId":"cat-123"}`), ""),
		invalid("a name in other letters", r(but(good, "Title", "b")), "body.Title"),
		invalid("a text under two names", r(but(good, "BODY", strings.Repeat("b", 500000))), "body.BODY"),
		refused("a category that is not there", r(but(good, "categoryId", "cat-999")), http.StatusBadRequest, portfolio.CodeNoSuchCategory),
		refused("too large", r(`{"title":"`+strings.Repeat("A", 2<<20)+`"}`), http.StatusRequestEntityTooLarge, problem.CodeBodyTooLarge),
	}
}

// writeCases run after categoryCases: cat-123 exists.
func writeCases() []apitest.Case {
	post := func(sub, key string, body any) apitest.Request {
		r := request(http.MethodPost, "/posts", sub, body)
		r.Key = key
		return r
	}
	good := content("first", "cat-123")
	badKey := func(name, key string) apitest.Case {
		return invalid(name, post(ana, key, good), "header.Idempotency-Key")
	}
	var first []byte
	cases := []apitest.Case{
		done("written", post(ana, "k-1", good), http.StatusCreated, func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var p portfolio.Post
			first = r.Body
			if r.JSON(tb, &p); p.AuthorID != ana || p.Title != "first" || p.Excerpt != "About first" || p.Body != "All of first" ||
				p.CategoryID != "cat-123" || p.Status != "draft" || p.LikeCount != 0 || p.CommentCount != 0 || !p.CreatedAt.Equal(p.UpdatedAt) {
				tb.Errorf("written: %s", r.Body)
			}
			if at := r.Header.Get("Location"); at != "posts/"+p.PostID {
				tb.Errorf("Location is %q", at)
			}
		}),
		done("replayed", post(ana, "k-1", good), http.StatusOK, func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			if string(r.Body) != string(first) {
				tb.Errorf("the second response is %s, the first was %s", r.Body, first)
			}
		}),
		refused("key of another request", post(ana, "k-1", but(good, "title", "second")), http.StatusUnprocessableEntity, problem.CodeKeyReused),
		done("key of another user", post(bruno, "k-1", good), http.StatusCreated, bodyMatches(func(p portfolio.Post) bool {
			return p.AuthorID == bruno && !strings.Contains(string(first), p.PostID)
		})),
		done("no excerpt but an empty one", post(ana, "k-2", but(good, "excerpt", "")), http.StatusCreated),
		done("the longest text", post(ana, "k-3", but(good, "body", strings.Repeat("😀", 90000))), http.StatusCreated),
		badKey("no key", ""),
		badKey("long key", strings.Repeat("k", 201)),
		badKey("key with other characters", "k#1"),
	}
	return append(cases, badContents(func(body any) apitest.Request { return post(ana, "bad", body) })...)
}

// postCases take one of ana's posts through its states.
func postCases(t *testing.T, v *apitest.Server) []apitest.Case {
	t.Helper()
	p := write(t, v, ana, "post", "cat-123")
	at := "/posts/" + p.PostID
	edit := func(sub string, body any) apitest.Request { return request(http.MethodPut, at, sub, body) }
	set := func(sub, status string) apitest.Request {
		return request(http.MethodPut, at+"/status", sub, map[string]any{"status": status})
	}
	is := func(status, title string) func(testing.TB, *apitest.Response) {
		return bodyMatches(func(p portfolio.PostPage) bool {
			return string(p.Status) == status && p.Title == title && p.Body == "All of "+title && p.Comments != nil && len(p.Comments) == 0
		})
	}
	missing := "/posts/" + nowhere
	cases := []apitest.Case{
		done("own draft", get(at, ana), http.StatusOK, is("draft", "post")),
		refused("somebody else's draft", get(at, bruno), http.StatusNotFound, problem.CodeNotFound),
		refused("a draft for nobody in particular", get(at, ""), http.StatusNotFound, problem.CodeNotFound),
		refused("nobody's", get(missing, ana), http.StatusNotFound, problem.CodeNotFound),
		invalid("no ULID", get("/posts/post-1", ana), "path.id"),
		invalid("small letters", get("/posts/"+strings.ToLower(p.PostID), ana), "path.id"),
		done("edited", edit(ana, content("edited", "cat-456")), http.StatusOK, bodyMatches(func(p portfolio.Post) bool {
			return p.Title == "edited" && p.Body == "All of edited" && p.CategoryID == "cat-456" && p.Status == "draft"
		})),
		refused("a draft, edited by somebody else", edit(bruno, content("mine", "cat-123")), http.StatusNotFound, problem.CodeNotFound),
		refused("edited, and not there", request(http.MethodPut, missing, ana, content("x", "cat-123")), http.StatusNotFound, problem.CodeNotFound),
		refused("archived as a draft", set(ana, "archived"), http.StatusConflict, portfolio.CodeNotPublished),
		refused("a draft, published by somebody else", set(bruno, "published"), http.StatusNotFound, problem.CodeNotFound),
		refused("a draft, archived by somebody else", set(bruno, "archived"), http.StatusNotFound, problem.CodeNotFound),
		done("published", set(ana, "published"), http.StatusOK),
		done("published again", set(ana, "published"), http.StatusOK),
		refused("edited by somebody else", edit(bruno, content("mine", "cat-123")), http.StatusForbidden, problem.CodeForbidden),
		refused("published again by somebody else", set(bruno, "published"), http.StatusForbidden, problem.CodeForbidden),
		done("read by anybody", get(at, ""), http.StatusOK, is("published", "edited")),
		done("read by somebody", get(at, bruno), http.StatusOK, is("published", "edited")),
		refused("archived by somebody else", set(bruno, "archived"), http.StatusForbidden, problem.CodeForbidden),
		done("archived", set(ana, "archived"), http.StatusOK),
		done("archived again", set(ana, "archived"), http.StatusOK),
		refused("published out of the archive", set(ana, "published"), http.StatusConflict, portfolio.CodeNotDraft),
		done("read in the archive", get(at, ""), http.StatusOK, is("archived", "edited")),
		invalid("made a draft again", set(ana, "draft"), "body.status"),
		invalid("a status of another type", request(http.MethodPut, at+"/status", ana, map[string]any{"status": true}), "body.status"),
		invalid("no status", request(http.MethodPut, at+"/status", ana, map[string]any{}), "body"),
		refused("the status of none", request(http.MethodPut, missing+"/status", ana, map[string]any{"status": "published"}), http.StatusNotFound, problem.CodeNotFound),
		done("all drafts", get("/me/posts?status=draft", ana), http.StatusOK),
		done("all archived", get("/posts?status=archived", ""), http.StatusOK),
		invalid("drafts are not for all", get("/posts?status=draft", ana), "query.status"),
		invalid("another status", get("/me/posts?status=new", ana), "query.status"),
	}
	return append(cases, badContents(func(body any) apitest.Request { return edit(ana, body) })...)
}

func commentCases(t *testing.T, v *apitest.Server) []apitest.Case {
	t.Helper()
	p := published(t, v, ana, "commented")
	draft := write(t, v, ana, "commented-draft", "cat-123")
	other := published(t, v, ana, "commented-other")
	archived := published(t, v, ana, "commented-archived")
	setStatus(t, v, ana, archived.PostID, "archived")
	post := func(sub, postID, key string, body any) apitest.Request {
		r := request(http.MethodPost, "/posts/"+postID+"/comments", sub, body)
		r.Key = key
		return r
	}
	says := func(body any) map[string]any { return map[string]any{"body": body} }
	theirs := comment(t, v, carla, p.PostID, "theirs", "Hello")
	harsh, rude := comment(t, v, carla, p.PostID, "unkind", "Bah"), comment(t, v, carla, p.PostID, "rude", "Boo")
	asAdmin := func(r apitest.Request) apitest.Request {
		r.Groups = []string{adminGroup}
		return r
	}
	remove := func(sub, id string) apitest.Request {
		return request(http.MethodDelete, "/posts/"+p.PostID+"/comments/"+id, sub)
	}
	var first []byte
	return []apitest.Case{
		done("previewed", request(http.MethodPost, "/preview", ana, says("# One <b onclick=x>")), http.StatusOK, bodyMatches(func(p portfolio.Preview) bool {
			return p.HTML == "<h2>One </h2>\n" && p.Minutes == 1
		})),
		invalid("a long preview", request(http.MethodPost, "/preview", ana, says(strings.Repeat("x", 90001))), "body.body"),
		done("made", post(bruno, p.PostID, "c-1", says("Good!")), http.StatusCreated, func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var c portfolio.Comment
			first = r.Body
			if r.JSON(tb, &c); c.UserID != bruno || c.PostID != p.PostID || c.Body != "Good!" || c.CommentID == "" || c.CreatedAt.IsZero() {
				tb.Errorf("created %s", r.Body)
			}
		}),
		done("replayed", post(bruno, p.PostID, "c-1", says("Good!")), http.StatusOK, func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			if string(r.Body) != string(first) {
				tb.Errorf("the second response is %s, the first was %s", r.Body, first)
			}
		}),
		refused("key of another request", post(bruno, p.PostID, "c-1", says("Bad!")), http.StatusUnprocessableEntity, problem.CodeKeyReused),
		refused("key of the same on another post", post(bruno, other.PostID, "c-1", says("Good!")), http.StatusUnprocessableEntity, problem.CodeKeyReused),
		refused("key of a post", post(ana, p.PostID, "k-1", says("Good!")), http.StatusUnprocessableEntity, problem.CodeKeyReused),
		done("key of another user", post(carla, p.PostID, "c-1", says("Good!")), http.StatusCreated),
		refused("on nothing", post(bruno, nowhere, "c-2", says("Good!")), http.StatusNotFound, problem.CodeNotFound),
		refused("on a draft", post(bruno, draft.PostID, "c-3", says("Good!")), http.StatusNotFound, problem.CodeNotFound),
		refused("on one's own draft", post(ana, draft.PostID, "c-4", says("Good!")), http.StatusNotFound, problem.CodeNotFound),
		refused("in the archive", post(bruno, archived.PostID, "c-5", says("Good!")), http.StatusConflict, portfolio.CodePostArchived),
		invalid("no key", post(bruno, p.PostID, "", says("Good!")), "header.Idempotency-Key"),
		invalid("no ULID", post(bruno, "post-1", "c-6", says("Good!")), "path.id"),
		invalid("no text", post(bruno, p.PostID, "c-7", map[string]any{}), "body"),
		invalid("empty text", post(bruno, p.PostID, "c-8", says("")), "body.body"),
		invalid("text of spaces", post(bruno, p.PostID, "c-8", says(" ")), "body.body"),
		invalid("long text", post(bruno, p.PostID, "c-9", says(strings.Repeat("x", 4001))), "body.body"),
		invalid("text of another type", post(bruno, p.PostID, "c-9", says(1)), "body.body"),
		invalid("another's name", post(bruno, p.PostID, "c-9", map[string]any{"body": "x", "userId": ana}), "body.userId"),
		done("listed", get("/posts/"+p.PostID+"/comments", ""), http.StatusOK, bodyMatches(func(l page[portfolio.Comment]) bool { return len(l.Items) == 5 })),
		done("none of a post without", get("/posts/"+archived.PostID+"/comments", ""), http.StatusOK),
		refused("none of a draft", get("/posts/"+draft.PostID+"/comments", ana), http.StatusNotFound, problem.CodeNotFound),
		done("a user's", get("/users/"+bruno+"/comments", ""), http.StatusOK, bodyMatches(func(l page[portfolio.Comment]) bool {
			return len(l.Items) == 1 && l.Items[0].Body == "Good!" && l.Items[0].PostID == p.PostID
		})),
		refused("taken back by somebody else", remove(bruno, theirs.CommentID), http.StatusForbidden, problem.CodeForbidden),
		done("taken back by the post's author", remove(ana, harsh.CommentID), http.StatusNoContent),
		refused("by an administrator of nothing", remove(admin, rude.CommentID), http.StatusForbidden, problem.CodeForbidden),
		done("taken back by an administrator", asAdmin(remove(admin, rude.CommentID)), http.StatusNoContent),
		done("taken back", remove(carla, theirs.CommentID), http.StatusNoContent),
		refused("taken back again", remove(carla, theirs.CommentID), http.StatusNotFound, problem.CodeNotFound),
		invalid("taken back, no ULID", remove(carla, "comment-1"), "path.commentId"),
		done("made again by its key", post(carla, p.PostID, "theirs", says("Hello")), http.StatusOK, func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var c portfolio.Comment
			if r.JSON(tb, &c); c != theirs {
				tb.Errorf("the first response was %+v, now it is %+v", theirs, c)
			}
		}),
		done("counted", get("/posts/"+p.PostID, ""), http.StatusOK, bodyMatches(func(p portfolio.PostPage) bool { return p.CommentCount == 2 && len(p.Comments) == 2 })),
	}
}
