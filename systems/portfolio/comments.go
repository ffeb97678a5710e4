package portfolio

import (
	"context"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// comment comments on a published post. A request that was made before is answered as it was then, and replayed is set.
func (s *service) comment(ctx context.Context, userID, requestKey, postID, body string) (c portfoliodb.Comment, replayed bool, err error) {
	result, err := s.db.AddComment(ctx, portfoliodb.AddCommentInput{RequestKey: requestKey, PostID: postID, UserID: userID, Body: body})
	if err != nil {
		return portfoliodb.Comment{}, false, err
	}
	c = result.Comment
	c.Body = body // which the record of a repetition does not have
	return c, result.Replayed, nil
}

// uncomment takes a user's own comment back.
func (s *service) uncomment(ctx context.Context, userID, postID, commentID string) error {
	return s.db.DeleteComment(ctx, portfoliodb.DeleteCommentInput{PostID: postID, CommentID: commentID, UserID: userID})
}

// comments are a page of a post's comments, in the order in which they were made.
func (s *service) comments(ctx context.Context, postID string, page table.PageOptions) (table.Page[portfoliodb.Comment], error) {
	found, err := s.db.CommentsOfPost(ctx, portfoliodb.CommentsOfPostInput{PostID: postID}, page)
	if err == nil && len(found.Items) == 0 {
		_, err = s.metadata(ctx, postID) // none, or none of a post that is not there
	}
	return found, err
}

// userComments are a page of what a user has said, newest first.
func (s *service) userComments(ctx context.Context, userID string, page table.PageOptions) (table.Page[portfoliodb.Comment], error) {
	return s.db.CommentsOfUser(ctx, portfoliodb.CommentsOfUserInput{UserID: userID}, page)
}
