package portfolio

import (
	"context"
	"errors"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// addBookmark bookmarks a post for a user, with its current title. An existing bookmark does not change.
func (s *service) addBookmark(ctx context.Context, who auth.Principal, in PostPath) (portfoliodb.Bookmark, error) {
	post, err := s.metadata(ctx, in.PostID) // a public post stays public
	if err != nil {
		return portfoliodb.Bookmark{}, err
	}
	result, err := s.db.AddBookmark(ctx, portfoliodb.AddBookmarkInput{UserID: who.Sub, PostID: in.PostID, PostTitle: post.Title})
	if errors.Is(err, portfoliodb.ErrBookmarkExists) {
		if is, ok := found[portfoliodb.Bookmark](err); ok {
			return is, nil
		}
	}
	return result.Bookmark, err
}
