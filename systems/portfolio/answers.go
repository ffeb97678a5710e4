package portfolio

import (
	"time"

	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// Response types. Each field is filled from the stored field of the same name, so a type lists everything that others can see.

// Profile is a user's own profile.
type Profile struct {
	UserID    string    `json:"userId" doc:"The sub of the access token"`
	Email     string    `json:"email" format:"email" doc:"The address, which no other user has"`
	Name      string    `json:"name" doc:"What the user is called"`
	Bio       string    `json:"bio" doc:"What the user says of himself"`
	AvatarID  string    `json:"avatarId,omitempty" doc:"The user's picture, at images/{avatarId}"`
	CreatedAt time.Time `json:"createdAt" doc:"When the profile was made"`
	UpdatedAt time.Time `json:"updatedAt" doc:"When it was changed last"`
}

// User is a user's public profile.
type User struct {
	UserID    string    `json:"userId" doc:"The user's id"`
	Name      string    `json:"name" doc:"What the user is called"`
	Bio       string    `json:"bio" doc:"What the user says of himself"`
	AvatarID  string    `json:"avatarId,omitempty" doc:"The user's picture, at images/{avatarId}"`
	CreatedAt time.Time `json:"createdAt" doc:"When the profile was made"`
}

// PostSummary is a post in a list.
type PostSummary struct {
	PostID     string                 `json:"postId" doc:"The post's id, a ULID"`
	AuthorID   string                 `json:"authorId" from:"UserID" doc:"Who has written it"`
	Title      string                 `json:"title" doc:"Its title"`
	Excerpt    string                 `json:"excerpt" doc:"What it is about"`
	CategoryID string                 `json:"categoryId" doc:"The category that it is in"`
	CoverID    string                 `json:"coverId,omitempty" doc:"The picture above it and in lists, at images/{coverId}; a small one is at images/{coverId}/small"`
	Status     portfoliodb.PostStatus `json:"status" enum:"draft,published,archived" doc:"How far it is"`
	CreatedAt  time.Time              `json:"createdAt" doc:"When it was written"`
	UpdatedAt  time.Time              `json:"updatedAt" doc:"When it was changed last"`
}

// Post is a post.
type Post struct {
	PostSummary
	Body         string `json:"body" doc:"Its text"`
	LikeCount    int64  `json:"likeCount" doc:"How many users like it"`
	CommentCount int64  `json:"commentCount" doc:"How many comments it has"`
}

// Version implements api.Versioned. Likes and comments are not edits.
func (p Post) Version() time.Time { return p.UpdatedAt }

// PostState is a post's status.
type PostState struct {
	PostID string                 `json:"postId" doc:"The post's id"`
	Status portfoliodb.PostStatus `json:"status" enum:"published,archived" doc:"What it is now"`
}

// PostPage is a post with its newest comments.
type PostPage struct {
	Post
	Comments []Comment `json:"comments" nullable:"false" doc:"Its newest comments, at most twenty, the newest first"`
}

// Preview is a text rendered as on the site.
type Preview struct {
	HTML    string `json:"html" doc:"The text as sanitised HTML"`
	Minutes int    `json:"minutes" doc:"How long it takes to read"`
}

// Mine is the caller's relation to a post.
type Mine struct {
	Liked      bool `json:"liked" doc:"Whether you like it"`
	Bookmarked bool `json:"bookmarked" doc:"Whether you keep it"`
	// Name is the caller's name on comments.
	Name string `json:"name" doc:"What you are called; empty where you have not said"`
}

// ImageTicket is an image to be uploaded, and how to upload it.
type ImageTicket struct {
	ImageID string            `json:"imageId" doc:"The image's id, a ULID"`
	Method  string            `json:"method" doc:"The method of the request with its bytes"`
	URL     string            `json:"url" doc:"Where they are to be sent: absolute, or relative to the API's root. The address is signed, so it needs no token"`
	Headers map[string]string `json:"headers" from:"Header" nullable:"false" doc:"Headers that must be sent as they are"`
	Until   time.Time         `json:"until" doc:"Until when the address is valid"`
}

// Image is an uploaded image.
type Image struct {
	ImageID   string    `json:"imageId" doc:"The image's id: in a post's text it is ![what it shows](../images/{imageId})"`
	Size      int64     `json:"size" doc:"How many bytes it has"`
	Width     int64     `json:"width" doc:"How wide it is"`
	Height    int64     `json:"height" doc:"How high it is"`
	CreatedAt time.Time `json:"createdAt" doc:"When its upload was asked for"`
}

// Comment is a user's comment on a post.
type Comment struct {
	PostID    string    `json:"postId" doc:"The post that it is about"`
	CommentID string    `json:"commentId" doc:"The comment's id, a ULID"`
	UserID    string    `json:"userId" doc:"Who has made it"`
	Body      string    `json:"body" doc:"What it says"`
	CreatedAt time.Time `json:"createdAt" doc:"When it was made"`
}

// ModeratedComment is a comment as the post's author and administrators see it.
type ModeratedComment struct {
	Comment
	UserName  string     `json:"userName" doc:"What who has made it is called; the id where that user has not said"`
	PostTitle string     `json:"postTitle" doc:"The title of the post"`
	HiddenAt  *time.Time `json:"hiddenAt,omitempty" doc:"Since when readers do not see it"`
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
	Slug       string    `json:"slug" doc:"Its name in addresses, which no other category has"`
	Name       string    `json:"name" doc:"Its name"`
	Position   int64     `json:"position" doc:"Where it is among the others"`
	CreatedAt  time.Time `json:"createdAt" doc:"When it was made"`
	UpdatedAt  time.Time `json:"updatedAt" doc:"When it was changed last"`
}

// Notification is a user's own.
type Notification struct {
	NotificationID string                       `json:"notificationId" doc:"The notification's id, a ULID"`
	Kind           portfoliodb.NotificationKind `json:"kind" enum:"comment,like" doc:"What it tells of"`
	PostID         string                       `json:"postId" doc:"Your post that it is about"`
	ActorID        string                       `json:"actorId" doc:"Who has done it"`
	Message        string                       `json:"message" doc:"What has happened"`
	Read           bool                         `json:"read" doc:"Whether you have read it"`
	CreatedAt      time.Time                    `json:"createdAt" doc:"When it happened"`
}

// NotificationEntry is a notification in a list, with current names of people and posts.
type NotificationEntry struct {
	Notification
	ActorName string `json:"actorName" doc:"What who has done it is called; the id where that user has not said"`
	PostTitle string `json:"postTitle" doc:"The title of your post; empty where it is nobody's to read any more"`
}

// Bookmark is a user's own.
type Bookmark struct {
	PostID    string    `json:"postId" doc:"The post"`
	PostTitle string    `json:"postTitle" doc:"Its title as it was when the bookmark was made"`
	CreatedAt time.Time `json:"createdAt" doc:"When the bookmark was made"`
}
