package portfolio_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/portfolio"
	"github.com/monotable/monotable/systems/portfolio/site"
	"github.com/monotable/monotable/web/webtest"
)

// studio opens a view of the studio as a user.
func studio(t *testing.T, address, token, at string, with ...webtest.Option) *webtest.Page {
	t.Helper()
	p := webtest.Open(t, address+"/assets-none", append(with, webtest.Expect("404"))...)
	p.Eval(fmt.Sprintf(`localStorage.setItem("access-token /portfolio/", %q)`, token))
	p.Go(address + "/studio/#" + at)
	return p
}

// TestStudioKeepsText: what an author types is neither lost to a link of the navigation or the browser's back button, nor to a save
// that takes a while. Two clicks on Save save once.
func TestStudioKeepsText(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	category(t, v, "cat-1", "go")
	address, release := webtest.Slow(t, v.Address(t), http.MethodPost, "/posts")
	p := studio(t, address, v.Token(t, ana), "/")
	p.Button("Write a post")
	p.Type("[name=title]", "Draft")
	p.Type("[name=body]", "One.")
	kept := `document.querySelectorAll("dialog[open]").length === 0 && location.hash === "#/write" && document.querySelector("[name=body]").value === "One."`
	for _, leave := range []string{"location.hash = '/comments'", "history.back()"} {
		p.Eval(leave)
		p.UntilText("Discard what you have typed?")
		p.Accessible()
		p.Shot("portfolio-leave")
		p.Click("dialog[open] .float-foot .button:not(.danger)")
		p.Until(kept)
	}
	p.Button("Comments")
	p.Button("Discard")
	p.Until(`location.hash === "#/comments" && document.querySelector(".editor") === null`)

	p.Eval("location.hash = '/write'")
	p.Wait("[name=title]")
	p.Type("[name=title]", "Draft")
	p.Type("[name=body]", "One.")
	p.Eval(`document.querySelector(".editor-bar [type=submit]").click()`)
	p.Type("[name=body]", " Two.")
	release()
	p.UntilText("Saved")
	p.Until(`location.hash.startsWith("#/posts/") && document.querySelector("[name=body]").value === "One. Two." && document.activeElement.name === "body"`)
	p.Eval(`(() => { const save = document.querySelector(".editor-bar [type=submit]"); for (const _ of [1, 2]) save.click(); })()`)
	p.Until(`document.querySelector(".editor-bar [role=status]").textContent === "All is saved" && document.querySelector(".notice") === null`)
	p.Button("My posts")
	p.Wait(".studio-post")
	if all := walk[portfolio.PostSummary](t, v, "/me/posts", ana, 10, "status", "draft"); len(all) != 1 {
		t.Errorf("%d drafts, want 1", len(all))
	}
}

// TestNewCategoriesReplaceNone: a category that is created under the first slug of a renamed one leaves that one alone, and a slug
// that is in use is refused at its field.
func TestNewCategoriesReplaceNone(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	category(t, v, "cafes", "coffee")
	p := studio(t, v.Address(t), v.Token(t, admin, adminGroup), "/categories", webtest.Expect("status of 409"))
	p.UntilText("/c/coffee")
	p.Button("New category")
	p.Type("[name=name]", "Cafés")
	p.Click("dialog[open] .float-foot .primary")
	p.UntilText("/c/cafes")
	p.UntilText("/c/coffee")
	p.Button("New category")
	p.Type("[name=name]", "CAFES!")
	p.Click("dialog[open] .float-foot .primary")
	p.Wait("dialog[open] .field-error")
	if all := walk[portfolio.Category](t, v, "/categories", admin, 10); len(all) != 2 {
		t.Errorf("%d categories, want 2", len(all))
	}
}

// TestCategoriesByKeyboard: who deletes and moves categories with the keyboard stays among them, and is told when the last is gone.
func TestCategoriesByKeyboard(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	for _, slug := range []string{"a", "b", "c", "d"} {
		category(t, v, "cat-"+slug, slug)
	}
	p := studio(t, v.Address(t), v.Token(t, admin, adminGroup), "/categories")
	focused := func(label string) { p.Until(fmt.Sprintf(`document.activeElement.ariaLabel === %q`, label)) }
	remove := func(name string) {
		p.Click(`[aria-label="Delete ` + name + `"]`)
		p.Click("dialog[open] .danger")
		p.Until(`document.querySelector('[aria-label="Delete ` + name + `"], dialog[open]') === null`)
	}
	p.Click(`[aria-label="Move Category b up"]`)
	focused("Move Category b down")
	remove("Category a")
	focused("Delete Category c")
	remove("Category d")
	focused("Delete Category c")
	remove("Category b")
	focused("Delete Category c")
	remove("Category c")
	p.Until(`document.activeElement.matches(".empty h2")`)
}

// TestCommentsByKeyboard: who removes comments with the keyboard stays among them, and reads why one cannot be removed, also on the
// page of older comments, which has no form.
func TestCommentsByKeyboard(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	post := published(t, v, ana, "removed")
	for i := range 3 {
		comment(t, v, bruno, post.PostID, fmt.Sprint("c-", i), fmt.Sprint("Comment ", i))
		v.Clock.Advance(time.Millisecond)
	}
	last := comment(t, v, bruno, post.PostID, "c-last", "Comment 3")
	p := studio(t, v.Address(t), v.Token(t, ana), "/", webtest.Expect("status of 404"))
	at := v.Address(t) + "/p/" + site.Address("removed", post.PostID)
	remove := func(left int, focused string) {
		p.Eval(`window.confirm = () => true`)
		p.Click(".comment .button:last-child")
		p.Until(fmt.Sprintf(`document.querySelectorAll(".comment-list > .comment").length === %d && document.activeElement.matches(%q)`, left, focused))
	}
	p.Go(at)
	p.Wait(".comment .button")
	remove(3, ".comment button")
	p.Go(at + "?until=" + last.CommentID)
	p.Wait(".comment .button")
	third := call[page[portfolio.Comment]](t, v, get("/posts/"+post.PostID+"/comments", "")).Items[2]
	call[struct{}](t, v, request(http.MethodDelete, "/posts/"+post.PostID+"/comments/"+third.CommentID, ana))
	p.Eval(`window.confirm = () => true`)
	p.Click(".comment .button:last-child")
	p.Until(`document.querySelector("[role=status]").textContent !== ""`)
	p.Accessible()
	p.Go(at)
	p.Wait(".comment .button")
	remove(1, ".comment button")
	remove(0, "#comments-title")
}
