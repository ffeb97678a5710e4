package portfolio

import (
	"context"
	"errors"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// like likes a published post. Who likes it already goes on doing so.
func (s *service) like(ctx context.Context, userID, postID string) (portfoliodb.Like, error) {
	result, err := s.db.LikePost(ctx, portfoliodb.LikePostInput{PostID: postID, UserID: userID})
	if errors.Is(err, portfoliodb.ErrLikeExists) {
		if is, ok := found[portfoliodb.Like](err); ok {
			return is, nil
		}
	}
	return result.Like, err
}

// unlike takes a like back, if there is one.
func (s *service) unlike(ctx context.Context, userID, postID string) error {
	return s.db.UnlikePost(ctx, portfoliodb.UnlikePostInput{PostID: postID, UserID: userID})
}

// ownLike is that a user likes a post, if he does.
func (s *service) ownLike(ctx context.Context, userID, postID string) (portfoliodb.Like, error) {
	return s.db.LikeOfUser(ctx, portfoliodb.LikeOfUserInput{PostID: postID, UserID: userID})
}

// likes are a page of who likes a post.
func (s *service) likes(ctx context.Context, postID string, page table.PageOptions) (table.Page[portfoliodb.Like], error) {
	found, err := s.db.LikesOfPost(ctx, portfoliodb.LikesOfPostInput{PostID: postID}, page)
	if err == nil && len(found.Items) == 0 {
		_, err = s.metadata(ctx, postID) // none, or none of a post that is not there
	}
	return found, err
}

// ownLikes are a page of what a user likes, newest first.
func (s *service) ownLikes(ctx context.Context, userID string, page table.PageOptions) (table.Page[portfoliodb.Like], error) {
	return s.db.LikesOfUser(ctx, portfoliodb.LikesOfUserInput{UserID: userID}, page)
}
