package portfolio

import (
	"fmt"
	"strconv"

	"github.com/monotable/monotable/systems/internal/load"
)

const (
	// loadItems is the length of each of a connection's lists, which fills a page.
	loadItems = 20
	// loadReader is a connection's second user, because users are not notified of their own actions. loadNobody has no token.
	loadReader, loadNobody = "reader", "-"

	loadText = `"excerpt":"About {n}","body":"All of {n}","categoryId":"{category}"`
)

// loadPlan measures every operation. A connection is an author with a category of their own, whose posts the connection's reader
// likes, bookmarks and comments on, so connections do not contend with each other.
func loadPlan() load.Plan {
	category := loadAdmin(load.Put("/categories/{user}", `{"slug":"{user}","name":"Load {n}"}`)).Keeping("category", "categoryId")
	spare := loadAdmin(load.Put("/categories/{user}-spare", `{"slug":"{user}-spare","name":"Spare"}`))
	hide, show := load.Put("/posts/{post}/comments/{comment}/hidden", ""), load.Delete("/posts/{post}/comments/{comment}/hidden")
	like, unlike := load.Put("/posts/{post}/like", "").By(loadReader), load.Delete("/posts/{post}/like").By(loadReader)
	bookmark, unmark := load.Put("/bookmarks/{post}", "").By(loadReader), load.Delete("/bookmarks/{post}").By(loadReader)
	public := func(path string) load.Call { return load.Get(path).By(loadNobody) }
	return load.Plan{
		Setup: loadSetup(category, like, bookmark),
		Without: map[string]string{
			"uploadImage":   "a connection would have as many images as a user may have in seconds",
			"keepImage":     "the bytes of an image go past the API, and drawing them is what it costs",
			"listOwnImages": "it shows those that are kept, of which there are none",
		},
		Routes: []load.Call{
			load.Get("/me"), loadProfile(), public("/users/{author}"),
			loadAdmin(load.Get("/users?email={author}@example.com")),
			category,
			loadAdmin(load.Patch("/categories/{category}", `{"position":1}`)),
			loadAdmin(load.Delete("/categories/{user}-spare")).After(spare),
			public("/categories"), public("/categories/{category}"), public("/slugs/{category}"),
			public("/posts"), public("/categories/{category}/posts"), load.Get("/me/posts?status=published"),
			loadWrite(""),
			load.Get("/posts/{draft}"), public("/posts/{post}"),
			load.Put("/posts/{post}", `{"title":"Edited {n}",`+loadText+`}`),
			loadPublish("next").After(loadWrite("next")),
			load.Post("/preview", `{"body":"# All of {n}"}`),
			load.Get("/posts/{post}/mine").By(loadReader),
			public("/posts/{post}/comments"), public("/users/{reader}/comments"),
			loadComment(""),
			load.Delete("/posts/{post}/comments/{comment}").By(loadReader).After(loadComment("comment")),
			hide.After(loadComment("comment")), show.After(hide),
			load.Get("/me/posts/comments"),
			loadAdmin(load.Get("/acts?day=2026-11-23")), loadAdmin(load.Get("/comments")),
			load.Get("/posts/{post}/like").By(loadReader), public("/posts/{post}/likes"), load.Get("/me/likes").By(loadReader),
			like.After(unlike), unlike.After(like),
			load.Get("/bookmarks").By(loadReader), load.Get("/bookmarks/{post}").By(loadReader),
			bookmark.After(unmark), unmark.After(bookmark),
			load.Get("/notifications"), load.Patch("/notifications/{notification}", `{"read":true}`),
		},
	}
}

// loadAdmin makes a call on behalf of an administrator.
func loadAdmin(c load.Call) load.Call { return c.By("admin").In(AdminGroup) }

// loadSetup creates what a connection reads. Its last call waits for the worker's results.
func loadSetup(category, like, bookmark load.Call) []load.Call {
	reader := loadProfile().By(loadReader)
	reader.Keep = map[string]string{"reader": "userId"}
	setup := []load.Call{category, loadProfile(), reader, loadWrite("draft")}
	for range loadItems {
		setup = append(setup, loadWrite("post"), loadPublish("post"), like, bookmark)
	}
	// {post} is now the last one; it also has lists with several pages.
	for n := range loadItems {
		setup = append(setup, loadComment(""), like.By(loadReader+strconv.Itoa(n)))
	}
	notifications := load.Get("/notifications?limit=100").Keeping("notification", fmt.Sprintf("items/%d/notificationId", loadItems-1))
	notifications.Await = true
	return append(setup, notifications)
}

func loadProfile() load.Call {
	return load.Put("/me", `{"email":"{user}@example.com","name":"Load","bio":"{n}"}`).Keeping("author", "userId")
}

// loadWrite writes a post, and stores its id under a name if one is given.
func loadWrite(name string) load.Call {
	return load.Create("/posts", `{"title":"Post {n}",`+loadText+`}`).Keeping(name, "postId")
}

// loadPublish publishes the post stored under a name.
func loadPublish(name string) load.Call {
	return load.Put("/posts/{"+name+"}/status", `{"status":"published"}`)
}

// loadComment comments on {post}, and stores the comment's id under a name if one is given.
func loadComment(name string) load.Call {
	return load.Create("/posts/{post}/comments", `{"body":"Number {n}"}`).By(loadReader).Keeping(name, "commentId")
}
