package appcore

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

// notification is a user's own notification with its id in the API.
type notification struct {
	appcoredb.Notification
	Ref string
}

func withRef(n appcoredb.Notification) notification {
	return notification{n, notificationRef{at: n.NotifiedAt, id: n.NotifID}.String()}
}

// notifications returns a page of a user's notifications, newest first, without expired ones.
func (s *service) notifications(ctx context.Context, who auth.Principal, in api.PageQuery) (table.Page[notification], error) {
	found, err := s.db.UserNotifications(ctx, appcoredb.UserNotificationsInput{UserID: who.Sub}, in.Options())
	page := table.Page[notification]{Next: found.Next}
	for _, n := range found.Items {
		page.Items = append(page.Items, withRef(n))
	}
	return page, err
}

// mark marks a user's own notification as read or unread.
func (s *service) mark(ctx context.Context, who auth.Principal, in notificationInput) (notification, error) {
	ref, err := parseNotificationRef(in.ID)
	if err != nil {
		return notification{}, problem.NotFound("", noNotification)
	}
	result, err := s.db.MarkNotification(ctx, appcoredb.MarkNotificationInput{
		UserID: who.Sub, NotifID: ref.id, NotifiedAt: ref.at, Read: in.Body.Read,
	})
	return withRef(result.Notification), err
}

// noNotification is the detail of a 404.
const noNotification = "the notification does not exist"

// notificationRef identifies one of a user's notifications: the fields of its sort key.
type notificationRef struct {
	at time.Time
	id string // a ULID
}

const (
	lastYear     = 9999
	refTimeBytes = 8
	refBytes     = refTimeBytes + len(ulid.ULID{})
)

// String returns the notification's id in the API: the time in milliseconds and the ULID, in base64url.
func (r notificationRef) String() string {
	id, err := ulid.ParseStrict(r.id)
	if err != nil {
		return "" // the data access layer only returns ULIDs
	}
	b := binary.BigEndian.AppendUint64(nil, uint64(r.at.UnixMilli())) //nolint:gosec // the same bits
	return base64.RawURLEncoding.EncodeToString(append(b, id[:]...))
}

// parseNotificationRef parses the result of String.
func parseNotificationRef(text string) (notificationRef, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != refBytes {
		return notificationRef{}, fmt.Errorf("%q is not a notification id", text)
	}
	at := time.UnixMilli(int64(binary.BigEndian.Uint64(b))).UTC() //nolint:gosec // the same bits
	if at.Year() < 0 || at.Year() > lastYear {
		return notificationRef{}, fmt.Errorf("%q is not a notification id of a valid time", text)
	}
	return notificationRef{at: at, id: ulid.ULID(b[refTimeBytes:]).String()}, nil
}
