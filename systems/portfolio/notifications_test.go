package portfolio_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/portfolio"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// TestNotifications: authors are notified of other users' comments and likes, newest first, and once each even if records are
// redelivered. They are not notified of their own actions, and other users are not notified.
func TestNotifications(t *testing.T) {
	t.Parallel()
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
			t.Errorf("got\n%+v, want\n%+v", got, want)
		}
		s := scan(t, v)
		s.sound(t)
		if len(s.notifications) != 2 {
			t.Errorf("%d notifications, want 2", len(s.notifications))
		}
		for _, n := range s.notifications { // created a minute after the actions, and gone 90 days later
			if want := began.Add(2*time.Second + time.Minute + 90*24*time.Hour); !n.ExpiresAt.Equal(want) {
				t.Errorf("a notification expires at %v, want %v", n.ExpiresAt, want)
			}
		}
	})
}

// TestConcurrentNotifications delivers all records to many workers concurrently, repeatedly and in both directions, while notifications
// are being marked as read.
func TestConcurrentNotifications(t *testing.T) {
	t.Parallel()
	const workers, users, rounds = 4, 12, 2
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
			all.Go(func() { deliverBackwards(t, v) })
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
		t.Error("a notification that was read is unread again")
	}
}

// deliverBackwards passes all records to the worker in reverse order.
func deliverBackwards(t *testing.T, v *apitest.Server) {
	t.Helper()
	for _, batch := range v.Batches(t, tableName) {
		slices.Reverse(batch.Records)
		if err := v.Host.Service(portfolio.Name).Streams[0].Handle(t.Context(), batch); err != nil {
			t.Error(err)
		}
	}
}

// TestNotificationsGo: an expired notification is gone even if DynamoDB has not yet deleted it.
func TestNotificationsGo(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "told")
	like(t, v, bruno, p.PostID)
	v.Deliver(t)
	v.Clock.Advance(24 * time.Hour)
	for i := range 5 {
		like(t, v, fmt.Sprint("u-", i), p.PostID)
	}
	v.Deliver(t)
	all := walk[portfolio.Notification](t, v, "/notifications", ana, 2)
	if len(all) != 6 {
		t.Fatalf("got %+v, want notifications of six likes", all)
	}
	mark := request(http.MethodPatch, "/notifications/"+all[5].NotificationID, ana, map[string]any{"read": true})
	v.Clock.Advance(89 * 24 * time.Hour)
	call[portfolio.Notification](t, v, mark)
	if now := walk[portfolio.Notification](t, v, "/notifications", ana, 2); len(now) != 6 {
		t.Errorf("after 90 days there are %d, want 6: the last second counts", len(now))
	}
	v.Clock.Advance(time.Second)
	if now := walk[portfolio.Notification](t, v, "/notifications", ana, 2); !slices.Equal(now, all[:5]) {
		t.Errorf("a second later there are\n%+v, want\n%+v", now, all[:5])
	}
	if response := v.Do(t, mark); response.Status != http.StatusNotFound {
		t.Errorf("an expired notification is read: %d %s", response.Status, response.Body)
	}
	v.Clock.Advance(24 * time.Hour)
	if now := call[page[portfolio.Notification]](t, v, get("/notifications", ana)); len(now.Items) != 0 || now.Next != "" {
		t.Errorf("after all have expired there are %+v", now)
	}
}

// TestUnreadableItemsDoNotBlock: manually edited items that cannot be processed do not block later records.
func TestUnreadableItemsDoNotBlock(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	p, damaged := published(t, v, ana, "told"), published(t, v, ana, "damaged")
	comment(t, v, bruno, damaged.PostID, "c", "Hello")
	like(t, v, bruno, damaged.PostID)
	put := func(it map[string]string) {
		t.Helper()
		in := &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: table.Item{}}
		for name, value := range it {
			if value != "" {
				in.Item[name] = &types.AttributeValueMemberS{Value: value}
			}
		}
		if _, err := v.Database.DynamoDB.PutItem(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	for i, change := range []map[string]string{
		{"userId": "a#b"},
		{"userId": ""},
		{"userId": strings.Repeat("u", 3000)},
		{"postId": nowhere},
		{"postId": ""},
		{"body": ""},
		{"createdAt": "yesterday"},
		{"createdAt": ""},
		{"createdAt": "0001-01-01T00:00:00.000Z"},
		{"createdAt": "9999-12-31T23:59:59.999Z"},
		{"entityType": "NOTHING"},
		{"entityType": ""},
		{"entityType": "LIKE", "PK": "POST#" + p.PostID + "#LIKES", "SK": "LIKE#a b", "userId": "a b"},
	} {
		id := fmt.Sprintf("%s%02d", nowhere[:24], i)
		it := map[string]string{
			"PK": "POST#" + p.PostID, "SK": "COMMENT#" + id, "entityType": "COMMENT", "postId": p.PostID, "commentId": id, "userId": bruno,
			"body": "x", "createdAt": "2026-01-01T00:00:00.000Z",
		}
		maps.Copy(it, change)
		put(it)
	}
	put(map[string]string{"PK": "POST#" + damaged.PostID, "SK": "METADATA", "entityType": "POST", "postId": damaged.PostID, "visibleTo": "*"})
	last := comment(t, v, carla, p.PostID, "c", "Hello")
	v.Deliver(t)
	v.Deliver(t)
	found := call[page[portfolio.Notification]](t, v, get("/notifications?limit=100", ana)).Items
	if !slices.ContainsFunc(found, func(n portfolio.Notification) bool { return n.ActorID == carla && n.CreatedAt.Equal(last.CreatedAt) }) {
		t.Errorf("got %+v, without the last comment", found)
	}
}

// TestLikeAfterUnlikeIsNew: unliking and liking again counts as a new like.
func TestLikeAfterUnlikeIsNew(t *testing.T) {
	t.Parallel()
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

// TestNotificationWorker consumes the stream as a process does, and resumes where it stopped.
func TestNotificationWorker(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	p := published(t, v, ana, "told")
	count := func() int { return len(call[page[portfolio.Notification]](t, v, get("/notifications", ana)).Items) }
	for run := range 2 {
		stop := v.Work(t)
		for i := range 2 {
			comment(t, v, bruno, p.PostID, fmt.Sprint("c-", run, "-", i), "Hello")
			apitest.Eventually(t, "tell of a comment", func() bool { return count() == 2*run+i+1 })
			v.Clock.Advance(time.Millisecond)
		}
		stop()
	}
	scan(t, v).sound(t)
}

// TestDeletedPost: records about a deleted post do not stop the stream.
func TestDeletedPost(t *testing.T) {
	t.Parallel()
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
		t.Errorf("got %+v, want the remaining one", found.Items)
	}
}
