package portfolio

import (
	"time"

	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// Response types. Fields are filled from the stored fields of the same name, so a type lists everything that callers can see.

// Profile is a user's own profile.
type Profile struct {
	UserID    string    `json:"userId" doc:"The sub of the access token"`
	Email     string    `json:"email" format:"email" doc:"The address, which is unique"`
	Name      string    `json:"name" doc:"The user's name"`
	Bio       string    `json:"bio" doc:"The user's bio"`
	AvatarID  string    `json:"avatarId,omitempty" doc:"The user's picture, at images/{avatarId}"`
	CreatedAt time.Time `json:"createdAt" doc:"When the profile was created"`
	UpdatedAt time.Time `json:"updatedAt" doc:"When it was last changed"`
}

// User is a user's public profile.
type User struct {
	UserID    string    `json:"userId" doc:"The user's id"`
	Name      string    `json:"name" doc:"The user's name"`
	Bio       string    `json:"bio" doc:"The user's bio"`
	AvatarID  string    `json:"avatarId,omitempty" doc:"The user's picture, at images/{avatarId}"`
	CreatedAt time.Time `json:"createdAt" doc:"When the profile was created"`
}

// PostSummary is a post in a list.
type PostSummary struct {
	PostID     string                 `json:"postId" doc:"The post's id, a ULID"`
	AuthorID   string                 `json:"authorId" from:"UserID" doc:"Its author"`
	Title      string                 `json:"title" doc:"Its title"`
	Excerpt    string                 `json:"excerpt" doc:"What it is about"`
	CategoryID string                 `json:"categoryId" doc:"Its category"`
	CoverID    string                 `json:"coverId,omitempty" doc:"The picture above it and in lists, at images/{coverId}; a small one is at images/{coverId}/small"`
	Status     portfoliodb.PostStatus `json:"status" enum:"draft,published,archived" doc:"Its status"`
	CreatedAt  time.Time              `json:"createdAt" doc:"When it was written; once it is published, when that was"`
	UpdatedAt  time.Time              `json:"updatedAt" doc:"When it was last changed"`
}

// Post is a post.
type Post struct {
	PostSummary
	Body         string `json:"body" doc:"Its text"`
	LikeCount    int64  `json:"likeCount" doc:"The number of likes"`
	CommentCount int64  `json:"commentCount" doc:"The number of comments"`
}

// Version implements api.Versioned. It ignores likes and comments, which are not edits.
func (p Post) Version() time.Time { return p.UpdatedAt }

// PostState is a post's status.
type PostState struct {
	PostID string                 `json:"postId" doc:"The post's id"`
	Status portfoliodb.PostStatus `json:"status" enum:"published,archived" doc:"Its current value"`
}

// PostPage is a post with its newest comments.
type PostPage struct {
	Post
	Comments []Comment `json:"comments" nullable:"false" doc:"Its newest twenty comments, newest first"`
}

// Preview is a text rendered as on the site.
type Preview struct {
	HTML    string `json:"html" doc:"The text as sanitised HTML"`
	Minutes int    `json:"minutes" doc:"The reading time in minutes"`
}

// Mine is the caller's relation to a post.
type Mine struct {
	Liked      bool `json:"liked" doc:"Whether you like it"`
	Bookmarked bool `json:"bookmarked" doc:"Whether you have bookmarked it"`
	// Name is the caller's name on comments.
	Name string `json:"name" doc:"Your name; empty if not set"`
}

// ImageTicket is an image to be uploaded, with instructions for the upload.
type ImageTicket struct {
	ImageID string            `json:"imageId" doc:"The image's id, a ULID"`
	Method  string            `json:"method" doc:"The method of the request with its bytes"`
	URL     string            `json:"url" doc:"The upload address: absolute, or relative to the API's root. It is signed, so it needs no token"`
	Headers map[string]string `json:"headers" from:"Header" nullable:"false" doc:"Headers that must be sent unchanged"`
	Until   time.Time         `json:"until" doc:"When the address expires"`
}

// Image is an uploaded image.
type Image struct {
	ImageID   string    `json:"imageId" doc:"The image's id: in a post's text it is ![what it shows](../images/{imageId})"`
	Size      int64     `json:"size" doc:"Its size in bytes"`
	Width     int64     `json:"width" doc:"Its width"`
	Height    int64     `json:"height" doc:"Its height"`
	CreatedAt time.Time `json:"createdAt" doc:"When its upload was requested"`
}

// Comment is a user's comment on a post.
type Comment struct {
	PostID    string    `json:"postId" doc:"The post that it is about"`
	CommentID string    `json:"commentId" doc:"The comment's id, a ULID"`
	UserID    string    `json:"userId" doc:"Its author"`
	Body      string    `json:"body" doc:"Its text"`
	CreatedAt time.Time `json:"createdAt" doc:"When it was created"`
}

// ModeratedComment is a comment as the post's author and administrators see it.
type ModeratedComment struct {
	Comment
	UserName  string     `json:"userName" doc:"The author's name, or their id if they have not set one"`
	PostTitle string     `json:"postTitle" doc:"The title of the post"`
	HiddenAt  *time.Time `json:"hiddenAt,omitempty" doc:"When it was hidden"`
}

// Like is a user's like of a post.
type Like struct {
	PostID    string    `json:"postId" doc:"The post"`
	UserID    string    `json:"userId" doc:"Who likes it"`
	CreatedAt time.Time `json:"createdAt" doc:"Since when"`
}

// Category is a category.
type Category struct {
	CategoryID string    `json:"categoryId" doc:"The category's id"`
	Slug       string    `json:"slug" doc:"Its unique name in addresses"`
	Name       string    `json:"name" doc:"Its name"`
	Position   int64     `json:"position" doc:"Its position"`
	CreatedAt  time.Time `json:"createdAt" doc:"When it was created"`
	UpdatedAt  time.Time `json:"updatedAt" doc:"When it was last changed"`
}

// Notification is a user's own notification.
type Notification struct {
	NotificationID string                       `json:"notificationId" doc:"The notification's id, a ULID"`
	Kind           portfoliodb.NotificationKind `json:"kind" enum:"comment,like" doc:"Its subject"`
	PostID         string                       `json:"postId" doc:"The post concerned"`
	ActorID        string                       `json:"actorId" doc:"Who did it"`
	Message        string                       `json:"message" doc:"What has happened"`
	Read           bool                         `json:"read" doc:"Whether it has been read"`
	CreatedAt      time.Time                    `json:"createdAt" doc:"When it happened"`
}

// NotificationEntry is a notification in a list, with current names of people and posts.
type NotificationEntry struct {
	Notification
	ActorName string `json:"actorName" doc:"The person's name, or their id if they have not set one"`
	PostTitle string `json:"postTitle" doc:"Your post's title; empty if it is no longer public"`
}

// Bookmark is a user's own bookmark.
type Bookmark struct {
	PostID    string    `json:"postId" doc:"The post"`
	PostTitle string    `json:"postTitle" doc:"Its title when it was bookmarked"`
	CreatedAt time.Time `json:"createdAt" doc:"When the bookmark was made"`
}
