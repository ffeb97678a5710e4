package portfolio

import (
	"context"
	"errors"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// comment comments on a published post. A request that was made before is answered as it was then, and replayed is set.
func (s *service) comment(ctx context.Context, who auth.Principal, in newComment) (c portfoliodb.Comment, replayed bool, err error) {
	result, err := s.db.AddComment(ctx, portfoliodb.AddCommentInput{RequestKey: in.RequestKey, PostID: in.PostID, UserID: who.Sub, Body: in.Body.Body})
	c = result.Comment
	c.Body = in.Body.Body // which the record of a repetition does not have
	return c, result.Replayed, err
}

// deleteComment takes a comment back: one's own, one on a post of one's own, or any for administrators. Who has written a
// comment, and the post, never changes, so it can be told before.
func (s *service) deleteComment(ctx context.Context, who auth.Principal, in commentPath) error {
	remove := portfoliodb.DeleteCommentInput{PostID: in.PostID, CommentID: in.CommentID, UserID: who.Sub}
	err := s.db.DeleteComment(ctx, remove)
	is, known := found[portfoliodb.Comment](err)
	if !errors.Is(err, portfoliodb.ErrNotTheCommenter) || !known {
		return err
	}
	if !who.In(AdminGroup) {
		post, missing := s.metadata(ctx, in.PostID)
		if missing != nil || post.UserID != who.Sub {
			return err
		}
	}
	remove.UserID = is.UserID
	return s.db.DeleteComment(ctx, remove)
}
