package portfolio

import (
	"context"

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
