package portfolio_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/portfolio"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// TestNotifications: the author is told of each comment and like of others, once however often the records come, newest first;
// nobody is told of his own deeds, and nobody else is told anything.
func TestNotifications(t *testing.T) {
	apitest.Each(t, portfolio.System(), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		p := published(t, v, ana, "told")
		began := v.Clock.Now()
		comment(t, v, bruno, p.PostID, "c-1", "Hello")
		v.Clock.Advance(time.Second)
		comment(t, v, ana, p.PostID, "c-2", "Hello yourself")
		like(t, v, ana, p.PostID)
		v.Clock.Advance(time.Second)
		like(t, v, carla, p.PostID)
		v.Clock.Advance(time.Minute)
		for range 3 {
			v.Deliver(t)
			v.Clock.Advance(time.Minute)
		}
		var got []portfolio.Notification
		for _, n := range walk[portfolio.Notification](t, v, "/notifications", ana, 1) {
			n.NotificationID = ""
			got = append(got, n)
		}
		want := []portfolio.Notification{
			{Kind: "like", PostID: p.PostID, ActorID: carla, Message: "Nova curtida em “told”.", CreatedAt: began.Add(2 * time.Second)},
			{Kind: "comment", PostID: p.PostID, ActorID: bruno, Message: "Novo comentário em “told”.", CreatedAt: began},
		}
		if !slices.Equal(got, want) {
			t.Errorf("told\n%+v, want\n%+v", got, want)
		}
		s := scan(t, v)
		s.sound(t)
		if len(s.notifications) != 2 {
			t.Errorf("%d notifications, want 2", len(s.notifications))
		}
		for _, n := range s.notifications { // made a minute after the deeds, and gone 90 days later
			if want := began.Add(2*time.Second + time.Minute + 90*24*time.Hour); !n.ExpiresAt.Equal(want) {
				t.Errorf("a notification goes at %v, want %v", n.ExpiresAt, want)
			}
		}
	})
}

// TestNotifiedByMany delivers all records to many workers at once, again and again, while what they have told is read.
func TestNotifiedByMany(t *testing.T) {
	const workers, users, rounds = 8, 12, 2
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "told")
	for i := range users {
		comment(t, v, fmt.Sprint("u-", i), p.PostID, "c", "Hello")
		like(t, v, fmt.Sprint("u-", i), p.PostID)
		v.Clock.Advance(time.Millisecond)
	}
	v.Deliver(t)
	first := call[page[portfolio.Notification]](t, v, get("/notifications?limit=1", ana)).Items[0]
	read := request(http.MethodPatch, "/notifications/"+first.NotificationID, ana, map[string]any{"read": true})
	for range rounds {
		var all sync.WaitGroup
		for range workers {
			all.Go(func() { v.Deliver(t) })
		}
		all.Go(func() { call[portfolio.Notification](t, v, read) })
		all.Wait()
	}
	s := scan(t, v)
	s.sound(t)
	if len(s.notifications) != 2*users {
		t.Errorf("%d notifications, want %d", len(s.notifications), 2*users)
	}
	if !s.notifications[first.NotificationID].Read {
		t.Error("what was read is not any more")
	}
}

// TestLikedAgain: who takes a like back and likes again has done so twice.
func TestLikedAgain(t *testing.T) {
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "told")
	for range 2 {
		like(t, v, bruno, p.PostID)
		v.Clock.Advance(time.Second)
		call[struct{}](t, v, request(http.MethodDelete, "/posts/"+p.PostID+"/like", bruno))
		v.Deliver(t)
	}
	if s := scan(t, v); len(s.notifications) != 2 || s.posts[p.PostID].LikeCount != 0 {
		t.Errorf("%d notifications and %d likes, want 2 and 0", len(s.notifications), s.posts[p.PostID].LikeCount)
	}
}

// TestNotificationWorker follows the stream as a process does, and goes on where it was stopped.
func TestNotificationWorker(t *testing.T) {
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "told")
	told := func() int { return len(call[page[portfolio.Notification]](t, v, get("/notifications", ana)).Items) }
	for run := range 2 {
		stop := v.Work(t)
		for i := range 2 {
			comment(t, v, bruno, p.PostID, fmt.Sprint("c-", run, "-", i), "Hello")
			apitest.Eventually(t, "tell of a comment", func() bool { return told() == 2*run+i+1 })
			v.Clock.Advance(time.Millisecond)
		}
		stop()
	}
	scan(t, v).sound(t)
}

// TestDeletedPost: records of a post that is not there any more do not stop the stream.
func TestDeletedPost(t *testing.T) {
	v := apitest.Open(t, portfolio.System())
	gone, stays := published(t, v, ana, "gone"), published(t, v, ana, "stays")
	like(t, v, bruno, gone.PostID)
	like(t, v, bruno, stays.PostID)
	for it := range items(t, v, "") {
		x, place, err := portfoliodb.Decode(it)
		if p, ok := x.(portfoliodb.Post); err != nil || !ok || p.PostID != gone.PostID || place.Kind != table.KeyPlace {
			continue
		}
		_, err = v.Database.DynamoDB.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
			TableName: aws.String(tableName), Key: table.Item{"PK": it["PK"], "SK": it["SK"]},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	v.Deliver(t)
	if found := call[page[portfolio.Notification]](t, v, get("/notifications", ana)); len(found.Items) != 1 || found.Items[0].PostID != stays.PostID {
		t.Errorf("told %+v, want of the one that stays", found.Items)
	}
}
