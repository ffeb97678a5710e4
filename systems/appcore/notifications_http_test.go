package appcore_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

// notifications returns all of a user's notifications, page by page.
func notifications(tb testing.TB, v *apitest.Server, sub string) []appcore.Notification {
	tb.Helper()
	var all []appcore.Notification
	for next := ""; ; {
		response := v.Do(tb, apitest.Request{Method: http.MethodGet, Path: apitest.Query("/notifications", "limit", "3", "cursor", next), As: sub})
		if response.Status != http.StatusOK {
			tb.Fatalf("notifications: %d %s", response.Status, response.Body)
		}
		var p struct {
			Items []appcore.Notification
			Next  string
		}
		response.JSON(tb, &p)
		all = append(all, p.Items...)
		if next = p.Next; next == "" {
			return all
		}
	}
}

// TestNotifications: users list their own notifications, newest first and in pages, each about a different transaction.
func TestNotifications(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	about := map[string]bool{}
	for i := range 7 {
		about[create(t, v, ana, fmt.Sprint(i), 500).TxID] = true
		create(t, v, bruno, fmt.Sprint(i), 500)
		v.Clock.Advance(time.Second)
		v.Deliver(t)
	}
	walked := notifications(t, v, ana)
	if len(walked) != len(about) {
		t.Fatalf("%d notifications, want %d", len(walked), len(about))
	}
	for i, n := range walked {
		if !about[n.TxID] {
			t.Errorf("%+v is about none of %s's transactions, or is listed twice", n, ana)
		}
		delete(about, n.TxID)
		if i > 0 && !n.CreatedAt.Before(walked[i-1].CreatedAt) {
			t.Errorf("%+v is listed after %+v", n, walked[i-1])
		}
	}
}

// TestNotificationExpires: after 90 days a notification is gone, whether or not DynamoDB has deleted it. Newer ones, which are
// listed after it, are still found.
func TestNotificationExpires(t *testing.T) {
	t.Parallel()
	const life = 90 * 24 * time.Hour
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	for i := range 5 {
		create(t, v, ana, fmt.Sprint(i), 500)
	}
	v.Deliver(t)
	old := notifications(t, v, ana)
	v.Clock.Advance(time.Hour)
	create(t, v, ana, "young", 500)
	v.Deliver(t)
	patch := func(name string, n appcore.Notification, status int, code string) apitest.Case {
		return apitest.Case{Name: name, Status: status, Code: code, Request: apitest.Request{
			Method: http.MethodPatch, Path: "/notifications/" + n.NotifID, As: ana, Body: map[string]any{"read": true},
		}}
	}
	v.Clock.Advance(life - time.Hour)
	if now := notifications(t, v, ana); len(now) != 6 {
		t.Errorf("in their last second %d notifications, want 6", len(now))
	}
	v.Run(t, []apitest.Case{patch("in its last second", old[0], http.StatusOK, "")})
	v.Clock.Advance(time.Second)
	left := notifications(t, v, ana)
	if len(left) != 1 || left[0].CreatedAt.Equal(old[0].CreatedAt) {
		t.Fatalf("after 90 days %+v, want the young one", left)
	}
	v.Run(t, []apitest.Case{
		patch("over", old[0], http.StatusNotFound, problem.CodeNotFound),
		patch("over and never read", old[1], http.StatusNotFound, problem.CodeNotFound),
		patch("young", left[0], http.StatusOK, ""),
	})
}
