package portfolio_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/portfolio"
	"github.com/monotable/monotable/systems/portfolio/site"
)

// TestRoutes calls every operation with valid and invalid input over each transport.
func TestRoutes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, portfolio.System(), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		routes(t, v)
		scan(t, v).sound(t)
	})
}

// routes calls every operation with valid and invalid input.
func routes(t *testing.T, v *apitest.Server) {
	t.Helper()
	t.Run("profile", func(t *testing.T) { v.Run(t, profileCases()) })
	t.Run("users", func(t *testing.T) { v.Run(t, userCases()) })
	t.Run("categories", func(t *testing.T) { v.Run(t, categoryCases()) })
	t.Run("writing", func(t *testing.T) { v.Run(t, writeCases()) })
	t.Run("posts", func(t *testing.T) { v.Run(t, postCases(t, v)) })
	t.Run("comments", func(t *testing.T) { v.Run(t, commentCases(t, v)) })
	t.Run("images", func(t *testing.T) { v.Run(t, imageCases(t, v)) })
	t.Run("moderation", func(t *testing.T) { v.Run(t, moderationCases(t, v)) })
	t.Run("likes", func(t *testing.T) { v.Run(t, likeCases(t, v)) })
	t.Run("bookmarks", func(t *testing.T) { v.Run(t, bookmarkCases(t, v)) })
	t.Run("pages", func(t *testing.T) { pageRoutes(t, v) })
	t.Run("notifications", func(t *testing.T) { notificationRoutes(t, v) })
	t.Run("lists", func(t *testing.T) { v.Run(t, listCases()) })
	t.Run("data", func(t *testing.T) {
		v.Person(t, apitest.Person{As: ana, Design: "portfolio.design.yaml", Entities: []string{"User", "Post", "PostContent", "Image", "Album"}})
	})
	v.Covered(t)
}

// pageRoutes visits the pages, whose function may only read what they show.
func pageRoutes(t *testing.T, v *apitest.Server) {
	t.Helper()
	p := published(t, v, ana, "visited")
	at := "/p/" + site.Address("visited", p.PostID)
	for _, path := range []string{"/", "/c/go", at, at + "?until=" + nowhere, "/feed.atom", "/feed.json", "/sitemap.xml", "/robots.txt", "/site.js", "/studio/"} {
		if response := v.Do(t, get(path, "")); response.Status != http.StatusOK {
			t.Errorf("%s: %d %s", path, response.Status, response.Body)
		}
	}
}

// TestUnauthenticatedRequestsAreRejected: without a valid token only public operations are accessible.
func TestUnauthenticatedRequestsAreRejected(t *testing.T) {
	t.Parallel()
	apitest.Each(t, portfolio.System(), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		v.RejectsUnauthenticated(t)
	})
}

// TestPublic: reading published content needs no token, everything else does.
func TestPublic(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "public")
	public := map[string]bool{
		"/posts": true, "/posts/" + p.PostID: true, "/posts/" + p.PostID + "/comments": true, "/posts/" + p.PostID + "/likes": true,
		"/categories": true, "/categories/cat-123": true, "/categories/cat-123/posts": true, "/slugs/go": true, "/users/" + ana + "/comments": true,
		"/me": false, "/me/posts": false, "/me/likes": false, "/posts/" + p.PostID + "/like": false, "/bookmarks": false, "/notifications": false,
		"/users?email=ana@example.com": false, "/me/posts/comments": false, "/comments": false,
	}
	for path, open := range public {
		want := map[bool]int{true: http.StatusOK, false: http.StatusUnauthorized}[open]
		if response := v.Do(t, get(path, "")); response.Status != want {
			t.Errorf("%s without a token: %d, want %d: %s", path, response.Status, want, response.Body)
		}
	}
}

// refused is a case that must be rejected.
func refused(name string, r apitest.Request, status int, code string) apitest.Case {
	return apitest.Case{Name: name, Request: r, Status: status, Code: code}
}

// invalid is a case with an invalid field or parameter.
func invalid(name string, r apitest.Request, field string) apitest.Case {
	code := problem.CodeInvalidParameter
	if strings.HasPrefix(field, "body") || field == "" {
		code = problem.CodeInvalidBody
	}
	return apitest.Case{Name: name, Request: r, Status: http.StatusBadRequest, Code: code, Field: field}
}

// done is a case that must succeed.
func done(name string, r apitest.Request, status int, check ...func(testing.TB, *apitest.Response)) apitest.Case {
	c := apitest.Case{Name: name, Request: r, Status: status}
	if len(check) > 0 {
		c.Check = check[0]
	}
	return c
}

// bodyMatches checks a condition on the response's JSON.
func bodyMatches[T any](holds func(T) bool) func(testing.TB, *apitest.Response) {
	return func(tb testing.TB, r *apitest.Response) {
		tb.Helper()
		var got T
		if r.JSON(tb, &got); !holds(got) {
			tb.Errorf("got %s", r.Body)
		}
	}
}

func profileCases() []apitest.Case {
	put := func(sub string, body any) apitest.Request { return request(http.MethodPut, "/me", sub, body) }
	is := func(email, name, bio string) func(testing.TB, *apitest.Response) {
		return bodyMatches(func(p portfolio.Profile) bool {
			return p.UserID == ana && p.Email == email && p.Name == name && p.Bio == bio && !p.CreatedAt.IsZero() && !p.UpdatedAt.IsZero()
		})
	}
	body := func(email, name string) map[string]any { return map[string]any{"email": email, "name": name} }
	return []apitest.Case{
		refused("none yet", get("/me", ana), http.StatusNotFound, problem.CodeNotFound),
		done("made", put(ana, map[string]any{"email": "Ana@mail.com", "name": "Ana", "bio": "Go"}), http.StatusOK, is("Ana@mail.com", "Ana", "Go")),
		done("read", get("/me", ana), http.StatusOK, is("Ana@mail.com", "Ana", "Go")),
		done("changed, without a bio", put(ana, body("ana@mail.com", "Ana Souza")), http.StatusOK, is("ana@mail.com", "Ana Souza", "")),
		done("read again", get("/me", ana), http.StatusOK, is("ana@mail.com", "Ana Souza", "")),
		refused("another's address", put(bruno, body("ANA@mail.com", "Bruno")), http.StatusConflict, portfolio.CodeEmailTaken),
		refused("so there is no other", get("/me", bruno), http.StatusNotFound, problem.CodeNotFound),
		done("another address", put(ana, body("ana.souza@mail.com", "Ana Souza")), http.StatusOK),
		done("the address is free", put(bruno, body("ana@mail.com", "Bruno")), http.StatusOK),
		refused("and taken again", put(ana, body("ana@mail.com", "Ana Souza")), http.StatusConflict, portfolio.CodeEmailTaken),
		invalid("no JSON", put(ana, "{"), ""),
		invalid("no body", request(http.MethodPut, "/me", ana), ""),
		invalid("no address", put(ana, map[string]any{"name": "Ana"}), "body"),
		invalid("no address but a text", put(ana, body("ana", "Ana")), "body.email"),
		invalid("an address with a name", put(ana, body("Ana <ana@mail.com>", "Ana")), "body.email"),
		invalid("an address with a space", put(ana, body("ana@mail.com ", "Ana")), "body.email"),
		invalid("a quoted address", put(ana, body(`"ana"@mail.com`, "Ana")), "body.email"),
		invalid("other letters", put(ana, body("aña@mail.com", "Ana")), "body.email"),
		invalid("long address", put(ana, body(strings.Repeat("a", 250)+"@mail.com", "Ana")), "body.email"),
		invalid("empty name", put(ana, body("ana@mail.com", "")), "body.name"),
		invalid("name of spaces", put(ana, body("ana@mail.com", " \n")), "body.name"),
		invalid("long name", put(ana, body("ana@mail.com", strings.Repeat("ñ", 101))), "body.name"),
		invalid("name of another type", put(ana, map[string]any{"email": "ana@mail.com", "name": 1}), "body.name"),
		invalid("long bio", put(ana, map[string]any{"email": "ana@mail.com", "name": "Ana", "bio": strings.Repeat("b", 1001)}), "body.bio"),
		invalid("unknown field", put(ana, map[string]any{"email": "ana@mail.com", "name": "Ana", "userId": bruno}), "body.userId"),
	}
}

// userCases run after profileCases: ana's address is ana.souza@mail.com.
func userCases() []apitest.Case {
	find := func(query string, groups ...string) apitest.Request {
		r := get("/users"+query, admin)
		r.Groups = groups
		return r
	}
	isAna := bodyMatches(func(p portfolio.Profile) bool { return p.UserID == ana && p.Email == "ana.souza@mail.com" })
	return []apitest.Case{
		done("found", find("?email=ana.souza@mail.com", adminGroup), http.StatusOK, isAna),
		done("in whatever case", find("?email=ANA.Souza@MAIL.com", adminGroup), http.StatusOK, isAna),
		refused("nobody's", find("?email=nobody@mail.com", adminGroup), http.StatusNotFound, problem.CodeNotFound),
		refused("not for all", find("?email=ana.souza@mail.com"), http.StatusForbidden, problem.CodeForbidden),
		invalid("no address", find("", adminGroup), "query.email"),
		invalid("no address but a text", find("?email=ana", adminGroup), "query.email"),
		invalid("an address with a name", find("?email=Ana+<ana@mail.com>", adminGroup), "query.email"),
		done("seen by anybody", get("/users/"+ana, ""), http.StatusOK, func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var u portfolio.User
			if r.JSON(tb, &u); u.UserID != ana || u.Name != "Ana Souza" || strings.Contains(string(r.Body), "mail.com") {
				tb.Errorf("others see %s", r.Body)
			}
		}),
		refused("nobody", get("/users/u-999", ""), http.StatusNotFound, problem.CodeNotFound),
		invalid("no id", get("/users/u*", ""), "path.id"),
		invalid("long id", get("/users/"+strings.Repeat("u", 129), ""), "path.id"),
	}
}

func categoryCases() []apitest.Case {
	put := func(id string, body any, groups ...string) apitest.Request {
		r := request(http.MethodPut, "/categories/"+id, admin, body)
		r.Groups = groups
		return r
	}
	as := func(id string, body any) apitest.Request { return put(id, body, adminGroup) }
	body := func(slug, name string) map[string]any { return map[string]any{"slug": slug, "name": name} }
	is := func(id, slug, name string) func(testing.TB, *apitest.Response) {
		return bodyMatches(func(c portfolio.Category) bool {
			return c.CategoryID == id && c.Slug == slug && c.Name == name && !c.CreatedAt.IsZero() && !c.UpdatedAt.IsZero()
		})
	}
	place := func(id string, position any, groups ...string) apitest.Request {
		r := request(http.MethodPatch, "/categories/"+id, admin, map[string]any{"position": position})
		r.Groups = groups
		return r
	}
	remove := func(id string, groups ...string) apitest.Request {
		r := request(http.MethodDelete, "/categories/"+id, admin)
		r.Groups = groups
		return r
	}
	return []apitest.Case{
		done("none yet", get("/categories", ""), http.StatusOK, bodyMatches(func(p page[portfolio.Category]) bool { return p.Items != nil && len(p.Items) == 0 })),
		refused("not for all", put("cat-123", body("go", "Go")), http.StatusForbidden, problem.CodeForbidden),
		done("made", as("cat-123", body("golang", "Go")), http.StatusOK, is("cat-123", "golang", "Go")),
		done("changed", as("cat-123", body("go", "Go!")), http.StatusOK, is("cat-123", "go", "Go!")),
		done("by its id", get("/categories/cat-123", ""), http.StatusOK, is("cat-123", "go", "Go!")),
		done("by its slug", get("/slugs/go", ""), http.StatusOK, is("cat-123", "go", "Go!")),
		refused("by the slug that it had", get("/slugs/golang", ""), http.StatusNotFound, problem.CodeNotFound),
		refused("another's slug", as("cat-456", body("go", "Go too")), http.StatusConflict, portfolio.CodeSlugTaken),
		refused("so there is no other", get("/categories/cat-456", ""), http.StatusNotFound, problem.CodeNotFound),
		done("a slug that is free again", as("cat-456", body("golang", "Go too")), http.StatusOK),
		done("all by id before they are placed", get("/categories", ""), http.StatusOK, bodyMatches(func(p page[portfolio.Category]) bool {
			return len(p.Items) == 2 && p.Items[0].Slug == "go" && p.Items[1].Slug == "golang" && p.Items[1].Name == "Go too"
		})),
		refused("placed, not for all", place("cat-456", 1), http.StatusForbidden, problem.CodeForbidden),
		refused("nothing placed", place("cat-999", 1, adminGroup), http.StatusNotFound, problem.CodeNotFound),
		invalid("placed below the first", place("cat-456", -1, adminGroup), "body.position"),
		invalid("placed behind the last", place("cat-456", 10000, adminGroup), "body.position"),
		done("placed", place("cat-456", 1, adminGroup), http.StatusOK, is("cat-456", "golang", "Go too")),
		done("a name does not move it", as("cat-456", body("golang", "Go as well")), http.StatusOK),
		done("all in their order", get("/categories", ""), http.StatusOK, bodyMatches(func(p page[portfolio.Category]) bool {
			return len(p.Items) == 2 && p.Items[0].CategoryID == "cat-456" && p.Items[0].Position == 1 && p.Items[1].CategoryID == "cat-123"
		})),
		done("one that is not needed", as("cat-789", body("spare", "Spare")), http.StatusOK),
		refused("deleted, not for all", remove("cat-789"), http.StatusForbidden, problem.CodeForbidden),
		done("deleted", remove("cat-789", adminGroup), http.StatusNoContent),
		refused("deleted again", remove("cat-789", adminGroup), http.StatusNotFound, problem.CodeNotFound),
		done("its slug is free", as("cat-456", body("spare", "Go too")), http.StatusOK),
		done("and free again", as("cat-456", body("golang", "Go too")), http.StatusOK),
		invalid("no id", as("cat*", body("go", "Go")), "path.id"),
		invalid("long id", get("/categories/"+strings.Repeat("c", 65), ""), "path.id"),
		invalid("no body", as("cat-1", nil), ""),
		invalid("no slug", as("cat-1", map[string]any{"name": "Go"}), "body"),
		invalid("large letters", as("cat-1", body("Go", "Go")), "body.slug"),
		invalid("empty slug", as("cat-1", body("", "Go")), "body.slug"),
		invalid("long slug", as("cat-1", body(strings.Repeat("g", 81), "Go")), "body.slug"),
		invalid("slug of another type", as("cat-1", map[string]any{"slug": 1, "name": "Go"}), "body.slug"),
		invalid("empty name", as("cat-1", body("go", "")), "body.name"),
		invalid("name of spaces", as("cat-1", body("go", " ")), "body.name"),
		invalid("long name", as("cat-1", body("go", strings.Repeat("g", 101))), "body.name"),
		invalid("unknown field", as("cat-1", map[string]any{"slug": "x", "name": "X", "categoryId": "cat-2"}), "body.categoryId"),
		invalid("asked for no slug", get("/slugs/Go", ""), "path.slug"),
		invalid("asked for a long one", get("/slugs/"+strings.Repeat("g", 81), ""), "path.slug"),
	}
}

// listCases apply to all lists, which take a limit and a cursor.
func listCases() []apitest.Case {
	var cases []apitest.Case
	for _, path := range []string{
		"/posts", "/me/posts", "/categories/cat-123/posts", "/posts/" + nowhere + "/comments", "/users/" + ana + "/comments",
		"/posts/" + nowhere + "/likes", "/me/likes", "/categories", "/bookmarks", "/notifications", "/me/posts/comments", "/images",
	} {
		cases = append(
			cases,
			invalid(path+": no limit", get(path+"?limit=0", ana), "query.limit"),
			invalid(path+": high limit", get(path+"?limit=101", ana), "query.limit"),
			invalid(path+": limit of another type", get(path+"?limit=ten", ana), "query.limit"),
			invalid(path+": long cursor", get(path+"?cursor="+strings.Repeat("A", 5000), ana), "query.cursor"),
			refused(path+": made-up cursor", get(path+"?cursor=AQ", ana), http.StatusBadRequest, problem.CodeInvalidCursor),
		)
	}
	return append(
		cases,
		refused("no comments of no post", get("/posts/"+nowhere+"/comments", ""), http.StatusNotFound, problem.CodeNotFound),
		refused("no likes of no post", get("/posts/"+nowhere+"/likes", ""), http.StatusNotFound, problem.CodeNotFound),
		done("no posts of no category", get("/categories/cat-999/posts", ""), http.StatusOK),
		done("no comments of nobody", get("/users/u-999/comments", ""), http.StatusOK),
		refused("another method", request(http.MethodDelete, "/posts", ana), http.StatusMethodNotAllowed, problem.CodeMethodNotAllowed),
		refused("another path", get("/post", ana), http.StatusNotFound, problem.CodeNotFound),
	)
}
