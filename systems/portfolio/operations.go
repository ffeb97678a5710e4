package portfolio

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/auth"
)

// register adds the operations to the API.
func (s *service) register(a huma.API) {
	s.registerUsers(a)
	s.registerCategories(a)
	s.registerPosts(a)
	s.registerComments(a)
	s.registerLikes(a)
	s.registerBookmarks(a)
	s.registerNotifications(a)
}

const (
	tagUsers         = "Users"
	tagCategories    = "Categories"
	tagPosts         = "Posts"
	tagComments      = "Comments"
	tagLikes         = "Likes"
	tagBookmarks     = "Bookmarks"
	tagNotifications = "Notifications"
)

// PostPath is for inputs of operations on a post; embed it. It has a capital because huma passes others over.
type PostPath struct {
	ID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"The post's postId"`
}

// UserPath is for inputs of operations on a user; embed it. It has a capital because huma passes others over.
type UserPath struct {
	ID string `path:"id" pattern:"^[A-Za-z0-9._:@-]{1,128}$" patternDescription:"letters, digits and . _ : @ -" doc:"The user's userId"`
}

// CategoryPath is for inputs of operations on a category; embed it. It has a capital because huma passes others over.
type CategoryPath struct {
	ID string `path:"id" pattern:"^[A-Za-z0-9._-]{1,64}$" patternDescription:"letters, digits and . _ -" doc:"The category's categoryId"`
}

// viewer is who asks, "" where that is not known.
func viewer(ctx context.Context) string {
	who, _ := auth.Optional(ctx)
	return who.Sub
}
