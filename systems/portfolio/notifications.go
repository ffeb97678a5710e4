package portfolio

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/oklog/ulid/v2"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// activity is an action on a post about which its author is notified.
type activity struct {
	kind            portfoliodb.NotificationKind
	postID, actorID string
	// id is the comment's id, or "" for a like.
	id string
	at time.Time
}

func activityOfComment(c portfoliodb.Comment) activity {
	return activity{kind: portfoliodb.NotificationKindComment, postID: c.PostID, actorID: c.UserID, id: c.CommentID, at: c.CreatedAt}
}

func activityOfLike(l portfoliodb.Like) activity {
	return activity{kind: portfoliodb.NotificationKindLike, postID: l.PostID, actorID: l.UserID, at: l.CreatedAt}
}

// notifyBatch notifies authors of the actions in a batch of the table's stream. Batches may be redelivered. A record that cannot
// be processed does not block later ones.
func (s *service) notifyBatch(ctx context.Context, b consumer.Batch) error {
	for _, r := range b.Records {
		d, ok := s.done(ctx, r)
		if !ok {
			continue
		}
		err := s.notify(ctx, d)
		if malformed(err) {
			s.logger.ErrorContext(ctx, "no notification for an item of the stream", "kind", d.kind, "postId", d.postID, "error", err)
			continue
		}
		if err != nil {
			return fmt.Errorf("notify of a %s on %s: %w", d.kind, d.postID, err)
		}
	}
	return nil
}

// malformed reports whether stored data is invalid, which only manual edits can cause: a retry would not help.
func malformed(err error) bool {
	_, value := errors.AsType[*table.ValueError](err)
	_, stored := errors.AsType[*table.DecodeError](err)
	return value || stored
}

// done returns a record's action: a new comment or like.
func (s *service) done(ctx context.Context, r streams.Record) (activity, bool) {
	if r.EventName != streams.OperationTypeInsert {
		return activity{}, false
	}
	item, _, err := portfoliodb.Decode(table.FromStream(r.Dynamodb.NewImage))
	if err != nil { // a retry would not help
		s.logger.ErrorContext(ctx, "an item of the stream cannot be read", "error", err)
		return activity{}, false
	}
	switch item := item.(type) {
	case portfoliodb.Comment:
		return activityOfComment(item), true
	case portfoliodb.Like:
		return activityOfLike(item), true
	default:
		return activity{}, false
	}
}

// notify notifies a post's author of an action, unless it is their own or they have already been notified.
func (s *service) notify(ctx context.Context, d activity) error {
	post, err := s.metadata(ctx, d.postID)
	if errors.Is(err, table.ErrNotFound) {
		// It has been deleted manually, so there is no author to notify.
		s.logger.WarnContext(ctx, "a post of the stream is not in the table", "postId", d.postID)
		return nil
	}
	if err != nil || post.UserID == d.actorID {
		return err
	}
	_, err = s.db.Notify(ctx, portfoliodb.NotifyInput{
		NotificationID: d.notificationID(), UserID: post.UserID, Kind: d.kind, PostID: d.postID, ActorID: d.actorID,
		Message: d.message(post.Title), At: d.at,
	})
	if errors.Is(err, portfoliodb.ErrNotificationExists) {
		return nil
	}
	return err
}

// message is a notification's text.
func (d activity) message(title string) string {
	what := "Nova curtida"
	if d.kind == portfoliodb.NotificationKindComment {
		what = "Novo comentário"
	}
	return fmt.Sprintf("%s em “%s”.", what, title)
}

// notificationID derives the id from the action: a ULID with the action's time, always the same.
func (d activity) notificationID() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s of %q on %q by %q at %d", d.kind, d.id, d.postID, d.actorID, d.at.UnixMilli()))
	id := ulid.ULID(sum[:len(ulid.ULID{})])
	_ = id.SetTime(ulid.Timestamp(d.at)) // a stored time fits
	return id.String()
}

// shownNotification is a notification with the names of people and posts.
type shownNotification struct {
	portfoliodb.Notification

	ActorName, PostTitle string
}

// notifications returns the caller's notifications, newest first.
func (s *service) notifications(ctx context.Context, who auth.Principal, in api.PageQuery) (table.Page[shownNotification], error) {
	found, err := s.db.Notifications(ctx, portfoliodb.NotificationsInput{UserID: who.Sub}, in.Options())
	return withNames(ctx, s, found, err,
		func(n portfoliodb.Notification) (userID, postID string) { return n.ActorID, n.PostID },
		func(n portfoliodb.Notification, actor, post string) shownNotification {
			return shownNotification{Notification: n, ActorName: actor, PostTitle: post}
		})
}
