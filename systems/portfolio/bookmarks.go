package portfolio

import (
	"context"
	"errors"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// addBookmark keeps a post for a user, with its title as it is now. A bookmark that is there stays as it is.
func (s *service) addBookmark(ctx context.Context, userID, postID string) (portfoliodb.Bookmark, error) {
	post, err := s.metadata(ctx, postID) // it stays visible from then on
	if err != nil {
		return portfoliodb.Bookmark{}, err
	}
	result, err := s.db.AddBookmark(ctx, portfoliodb.AddBookmarkInput{UserID: userID, PostID: postID, PostTitle: post.Title})
	if errors.Is(err, portfoliodb.ErrBookmarkExists) {
		if is, ok := found[portfoliodb.Bookmark](err); ok {
			return is, nil
		}
	}
	return result.Bookmark, err
}

// removeBookmark forgets a bookmark, if there is one.
func (s *service) removeBookmark(ctx context.Context, userID, postID string) error {
	return s.db.RemoveBookmark(ctx, portfoliodb.RemoveBookmarkInput{UserID: userID, PostID: postID})
}

// bookmark is a user's own of a post, if there is one.
func (s *service) bookmark(ctx context.Context, userID, postID string) (portfoliodb.Bookmark, error) {
	return s.db.BookmarkOfPost(ctx, portfoliodb.BookmarkOfPostInput{UserID: userID, PostID: postID})
}

// bookmarks are a page of a user's own, newest first.
func (s *service) bookmarks(ctx context.Context, userID string, page table.PageOptions) (table.Page[portfoliodb.Bookmark], error) {
	return s.db.Bookmarks(ctx, portfoliodb.BookmarksInput{UserID: userID}, page)
}
