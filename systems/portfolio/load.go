package portfolio

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/monotable/monotable/systems/internal/load"
)

const (
	// loadItems is the length of each of a connection's lists, enough for a full page.
	loadItems = 20
	// loadAuthor is a connection's own user. loadReader is another one, because users are not notified of their own actions.
	// loadNobody has no token.
	loadAuthor, loadReader, loadNobody = "", "reader", "-"
)

// loadPlan measures every operation. A connection is an author with their own category, whose posts their own reader likes,
// bookmarks and comments on, so connections do not contend with each other.
func loadPlan() load.Plan {
	category := load.Call{
		Method: http.MethodPut, Path: "/categories/{user}", Body: `{"slug":"{user}","name":"Load {n}"}`, As: "admin",
		Groups: []string{AdminGroup}, Keep: map[string]string{"category": "categoryId"},
	}
	spare := category
	spare.Path, spare.Body, spare.Keep = category.Path+"-spare", `{"slug":"{user}-spare","name":"Spare"}`, nil
	moderate := func(method string) load.Call {
		return load.Call{Method: method, Path: "/posts/{post}/comments/{comment}/hidden"}
	}
	like, bookmark := loadPut("/posts/{post}/like"), loadPut("/bookmarks/{post}")
	get := func(path, as string) load.Route {
		return load.Route{Call: load.Call{Method: http.MethodGet, Path: path, As: as}}
	}
	return load.Plan{
		Setup: loadSetup(category),
		Without: map[string]string{
			"uploadImage":   "a connection would have as many images as a user may have in seconds",
			"keepImage":     "the bytes of an image go past the API, and drawing them is what it costs",
			"listOwnImages": "it shows those that are kept, of which there are none",
		},
		Routes: []load.Route{
			get("/me", loadAuthor),
			{Call: loadProfile()},
			get("/users/{author}", loadNobody),
			{Call: load.Call{Method: http.MethodGet, Path: "/users?email={author}@example.com", As: "admin", Groups: []string{AdminGroup}}},
			{Call: category},
			{Call: load.Call{Method: http.MethodPatch, Path: "/categories/{category}", Body: `{"position":1}`, As: "admin", Groups: []string{AdminGroup}}},
			{
				Call:   load.Call{Method: http.MethodDelete, Path: "/categories/{user}-spare", As: "admin", Groups: []string{AdminGroup}},
				Before: []load.Call{spare},
			},
			get("/categories", loadNobody), get("/categories/{category}", loadNobody), get("/slugs/{category}", loadNobody),
			get("/posts", loadNobody), get("/categories/{category}/posts", loadNobody), get("/me/posts?status=published", loadAuthor),
			{Call: loadWrite("")},
			get("/posts/{draft}", loadAuthor), get("/posts/{post}", loadNobody),
			{Call: loadEdit()},
			{Call: loadStatus("next", "published"), Before: []load.Call{loadWrite("next")}},
			{Call: load.Call{Method: http.MethodPost, Path: "/preview", Body: `{"body":"# All of {n}"}`}},
			get("/posts/{post}/mine", loadReader),
			get("/posts/{post}/comments", loadNobody), get("/users/{reader}/comments", loadNobody),
			{Call: loadComment("")},
			{Call: load.Call{Method: http.MethodDelete, Path: "/posts/{post}/comments/{comment}", As: loadReader}, Before: []load.Call{loadComment("comment")}},
			{Call: moderate(http.MethodPut), Before: []load.Call{loadComment("comment")}},
			{Call: moderate(http.MethodDelete), Before: []load.Call{moderate(http.MethodPut)}},
			get("/me/posts/comments", loadAuthor),
			{Call: load.Call{Method: http.MethodGet, Path: "/acts?day=2026-11-23", As: "admin", Groups: []string{AdminGroup}}},
			{Call: load.Call{Method: http.MethodGet, Path: "/comments", As: "admin", Groups: []string{AdminGroup}}},
			get("/posts/{post}/like", loadReader), get("/posts/{post}/likes", loadNobody), get("/me/likes", loadReader),
			{Call: like, Before: []load.Call{loadDelete(like)}},
			{Call: loadDelete(like), Before: []load.Call{like}},
			get("/bookmarks", loadReader), get("/bookmarks/{post}", loadReader),
			{Call: bookmark, Before: []load.Call{loadDelete(bookmark)}},
			{Call: loadDelete(bookmark), Before: []load.Call{bookmark}},
			get("/notifications", loadAuthor),
			{Call: load.Call{Method: http.MethodPatch, Path: "/notifications/{notification}", Body: `{"read":true}`}},
		},
	}
}

// loadSetup creates what a connection reads, and finally waits for what the worker derives from it.
func loadSetup(category load.Call) []load.Call {
	readerProfile := loadProfile()
	readerProfile.As, readerProfile.Keep = loadReader, map[string]string{"reader": "userId"}
	setup := []load.Call{category, loadProfile(), readerProfile, loadWrite("draft")}
	for range loadItems {
		setup = append(
			setup, loadWrite("post"), loadStatus("post", "published"), loadPut("/posts/{post}/like"), loadPut("/bookmarks/{post}"),
		)
	}
	// Now {post} is the last one, of which there are pages too.
	for n := range loadItems {
		other := loadPut("/posts/{post}/like")
		other.As = loadReader + strconv.Itoa(n)
		setup = append(setup, loadComment(""), other)
	}
	return append(setup, load.Call{
		Method: http.MethodGet, Path: "/notifications?limit=100", Await: true,
		Keep: map[string]string{"notification": fmt.Sprintf("items/%d/notificationId", loadItems-1)},
	})
}

func loadProfile() load.Call {
	return load.Call{
		Method: http.MethodPut, Path: "/me", Body: `{"email":"{user}@example.com","name":"Load","bio":"{n}"}`,
		Keep: map[string]string{"author": "userId"},
	}
}

// loadWrite writes a post, and stores its id under a name if one is given.
func loadWrite(name string) load.Call {
	c := load.Call{
		Method: http.MethodPost, Path: "/posts", Header: map[string]string{"Idempotency-Key": "load-{n}"},
		Body: `{"title":"Post {n}","excerpt":"About {n}","body":"All of {n}","categoryId":"{category}"}`,
	}
	if name != "" {
		c.Keep = map[string]string{name: "postId"}
	}
	return c
}

// loadEdit changes {post}.
func loadEdit() load.Call {
	return load.Call{
		Method: http.MethodPut, Path: "/posts/{post}",
		Body: `{"title":"Edited {n}","excerpt":"About {n}","body":"All of {n}","categoryId":"{category}"}`,
	}
}

// loadStatus publishes or archives the post stored under a name.
func loadStatus(name, status string) load.Call {
	return load.Call{Method: http.MethodPut, Path: "/posts/{" + name + "}/status", Body: `{"status":"` + status + `"}`}
}

// loadComment comments on {post}, and stores the comment's id under a name if one is given.
func loadComment(name string) load.Call {
	c := load.Call{
		Method: http.MethodPost, Path: "/posts/{post}/comments", Header: map[string]string{"Idempotency-Key": "load-{n}"},
		Body: `{"body":"Number {n}"}`, As: loadReader,
	}
	if name != "" {
		c.Keep = map[string]string{name: "commentId"}
	}
	return c
}

// loadPut is a reader's PUT without a body.
func loadPut(path string) load.Call {
	return load.Call{Method: http.MethodPut, Path: path, As: loadReader}
}

// loadDelete undoes a PUT.
func loadDelete(put load.Call) load.Call {
	put.Method = http.MethodDelete
	return put
}
