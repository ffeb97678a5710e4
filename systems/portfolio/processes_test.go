package portfolio_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/portfolio"
)

// TestTwoProcesses: readers like and comment on a post, each twice, at two processes concurrently. Everything is counted once,
// including comments that the author hides and restores. A slug claimed at both processes belongs to one category. An image is
// uploaded at one process and used at the other. When the process that consumes the stream is killed, the other takes over: the
// author gets each notification once, and the file of an erased user is deleted.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	const readers, hidden = 12, 2
	peers := apitest.Processes(t, portfolio.System(), "PORTFOLIO_BUCKET="+t.TempDir())
	first, second := peers[0].Server, peers[1].Server
	oneSlug(t, first, second)

	post := published(t, first, ana, "popular").PostID
	counts := func(v *apitest.Server, likes, comments int64) {
		t.Helper()
		if is := call[portfolio.PostPage](t, v, get("/posts/"+post, "")); is.LikeCount != likes || is.CommentCount != comments {
			t.Errorf("the post counts %d likes and %d comments, want %d and %d", is.LikeCount, is.CommentCount, likes, comments)
		}
	}
	comments := react(t, post, 0, readers, first, second)
	counts(first, readers, readers)
	counts(second, readers, readers)
	moderate(t, post, http.MethodPut, comments, first, second)
	counts(first, readers, 0)
	moderate(t, post, http.MethodDelete, comments[hidden:], first, second)
	counts(second, readers, readers-hidden)

	avatar := avatarOf(t, carla, first, second)
	peers[0].Kill()
	react(t, post, readers, 2*readers, second, second)
	counts(second, 2*readers, 2*readers-hidden)
	erase := request(http.MethodDelete, "/me", carla)
	erase.Header = map[string]string{"Confirm": "erase"}
	call[struct{}](t, second, erase)
	apitest.Eventually(t, "delete the file of who has left", func() bool { return !served(t, second, avatar) })
	var s stored
	apitest.Eventually(t, "tell the author of each deed", func() bool {
		s = scan(t, second)
		return len(s.notifications) >= 4*readers
	})
	s.sound(t)
	notified := map[string]int{}
	for _, n := range s.notifications {
		notified[fmt.Sprint(n.Kind, " of ", n.ActorID)]++
	}
	for n := range 2 * readers {
		for _, kind := range []string{"like", "comment"} {
			if activity := fmt.Sprint(kind, " of ", reader(n)); notified[activity] != 1 {
				t.Errorf("%s is notified %d times", activity, notified[activity])
			}
		}
	}
}

// oneSlug creates categories with the same slug at both processes concurrently.
func oneSlug(t *testing.T, peers ...*apitest.Server) {
	t.Helper()
	const rivals = 8
	created := 0
	for _, response := range apitest.Together(rivals, func(n int) *apitest.Response {
		r := request(http.MethodPut, fmt.Sprint("/categories/rival-", n), admin, map[string]any{"slug": "contended", "name": "Contended"})
		r.Groups = []string{adminGroup}
		return peers[n%len(peers)].Insist(t, r)
	}) {
		if response.Status == http.StatusOK {
			created++
		} else if code := response.Problem(t).Code; code != portfolio.CodeSlugTaken {
			t.Errorf("a slug: %d %s", response.Status, response.Body)
		}
	}
	if created != 1 {
		t.Errorf("%d categories have one slug", created)
	}
}

func reader(n int) string { return fmt.Sprint("reader-", n) }

// react lets readers like and comment on a post at both processes concurrently, and returns their comments.
func react(t *testing.T, post string, from, to int, peers ...*apitest.Server) (comments []string) {
	t.Helper()
	created := apitest.Together(2*(to-from), func(n int) *apitest.Response {
		who, v := reader(from+n/2), peers[n%2]
		if response := v.Insist(t, request(http.MethodPut, "/posts/"+post+"/like", who)); response.Status != http.StatusOK {
			t.Errorf("%s likes: %d %s", who, response.Status, response.Body)
		}
		r := request(http.MethodPost, "/posts/"+post+"/comments", who, map[string]any{"body": "by " + who})
		r.Key = "once"
		return v.Insist(t, r)
	})
	for n := 0; n < len(created); n += 2 {
		var one, other portfolio.Comment
		created[n].JSON(t, &one)
		created[n+1].JSON(t, &other)
		if comments = append(comments, one.CommentID); one.CommentID == "" || one.CommentID != other.CommentID {
			t.Errorf("one request created %s and %s", created[n].Body, created[n+1].Body)
		}
	}
	return comments
}

// moderate hides or restores comments on ana's post, each of them at both processes concurrently.
func moderate(t *testing.T, post, method string, comments []string, peers ...*apitest.Server) {
	t.Helper()
	for n, response := range apitest.Together(2*len(comments), func(n int) *apitest.Response {
		return peers[n%2].Insist(t, request(method, "/posts/"+post+"/comments/"+comments[n/2]+"/hidden", ana))
	}) {
		if response.Status != http.StatusNoContent {
			t.Errorf("%s of comment %d: %d %s", method, n/2, response.Status, response.Body)
		}
	}
}

// avatarOf requests an upload address at one process, uploads an image at the other, processes it at both concurrently, and makes
// it a user's picture.
func avatarOf(t *testing.T, sub string, first, second *apitest.Server) (imageID string) {
	t.Helper()
	file := drawing(t)
	ticket := await(t, first, sub, len(file))
	if response := raw(t, second, ticket.Method, ticket.URL, file); response.Status != http.StatusOK {
		t.Fatalf("the upload: %d %s", response.Status, response.Body)
	}
	for _, response := range apitest.Together(24, func(n int) *apitest.Response {
		return []*apitest.Server{first, second}[n%2].Do(t, request(http.MethodPut, "/images/"+ticket.ImageID, sub))
	}) {
		if response.Status != http.StatusOK {
			t.Errorf("an image is kept: %d %s", response.Status, response.Body)
		}
	}
	call[portfolio.Profile](t, second, request(http.MethodPut, "/me", sub, map[string]any{"email": sub + "@example.com", "name": sub, "avatarId": ticket.ImageID}))
	if !served(t, first, ticket.ImageID) || !served(t, second, ticket.ImageID) {
		t.Error("an image is not served by both processes")
	}
	return ticket.ImageID
}

func served(t *testing.T, v *apitest.Server, imageID string) bool {
	t.Helper()
	return raw(t, v, http.MethodGet, "images/"+imageID, nil).Status == http.StatusOK
}
