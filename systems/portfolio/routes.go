package portfolio

import (
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// caller is the field of access patterns that is set to the caller's id.
const caller = "UserID"

// routes registers the API. Routes named after an access pattern of the design call it directly; the others call domain
// functions.
func (s *service) routes(a huma.API) {
	admin := api.Groups(AdminGroup)

	users := api.Tag(a, "Users")
	api.Get[Profile](users, "/me", "getProfile", "Your profile", api.Call[api.None](s.db.UserByID, caller), api.NotFound)
	api.Put[Profile](users, "/me", "putProfile", "Create or change your profile", s.saveProfile, api.Refuses(portfoliodb.ErrUserEmailTaken, errNoSuchImage))
	api.Get[Profile](users, "/users", "findUser", "A user by e-mail address", api.Call[userQuery](s.db.UserByEmail), admin, api.NotFound)
	api.Get[User](users, "/users/{id}", "getUser", "A user's public profile", api.Call[UserPath](s.db.UserByID), api.Public, api.NotFound)

	categories := api.Tag(a, "Categories")
	api.List[Category](categories, "/categories", "listCategories", "All categories, in order", api.Pages[api.PageQuery](api.All(s.db.Categories)), api.Public)
	api.Get[Category](categories, "/categories/{id}", "getCategory", "A category by its id", api.Call[CategoryPath](s.db.CategoryByID), api.Public, api.NotFound)
	api.Get[Category](categories, "/slugs/{slug}", "findCategory", "A category by its slug", api.Call[slugPath](s.db.CategoryBySlug), api.Public, api.NotFound)
	api.Put[Category](categories, "/categories/{id}", "putCategory", "Create or change a category", api.Call[categoryInput](s.db.SaveCategory), admin,
		api.Refuses(portfoliodb.ErrCategorySlugTaken),
		api.About("A new category comes last."))
	api.Patch[Category](categories, "/categories/{id}", "placeCategory", "Move a category", api.Call[placeInput](s.db.PlaceCategory), admin, api.NotFound)
	api.Delete(categories, "/categories/{id}", "deleteCategory", "Delete an empty category", api.Do[CategoryPath](s.db.DeleteCategory), admin,
		api.Refuses(portfoliodb.ErrNoSuchCategory, portfoliodb.ErrCategoryUsed))

	posts := api.Tag(a, "Posts")
	api.List[PostSummary](posts, "/posts", "listPosts", "Published or archived posts, newest first", api.Pages[publicPosts](s.db.PostsByStatus), api.Public)
	api.List[PostSummary](posts, "/categories/{id}/posts", "listCategoryPosts", "A category's published posts, newest first", api.Pages[categoryPage](s.db.PostsByCategory), api.Public)
	api.List[PostSummary](posts, "/me/posts", "listOwnPosts", "Your posts of a status, newest first", api.Pages[ownPosts](s.db.PostsByAuthor, caller))
	api.Create[Post](posts, "/posts", "writePost", "Write a post", s.write, api.At("posts/{postId}"),
		api.Refuses(errNoSuchCategory, errNoSuchImage),
		api.About("It is a draft, visible only to you, until you publish it."))
	api.Get[PostPage](posts, "/posts/{id}", "getPost", "A post with its newest comments", s.post, api.Public, api.NotFound,
		api.About("A draft is visible only to its author."))
	api.Put[Post](posts, "/posts/{id}", "editPost", "Change a post of yours", s.edit, api.NotFound, api.Refuses(portfoliodb.ErrNotTheAuthor, errNoSuchCategory, errNoSuchImage))
	api.Put[PostState](posts, "/posts/{id}/status", "putPostStatus", "Publish or archive your post", s.setStatus,
		api.NotFound, api.Refuses(portfoliodb.ErrNotTheAuthor, portfoliodb.ErrNotDraft, portfoliodb.ErrNotPublished))

	api.Post[Preview](posts, "/preview", "previewPost", "Preview a text as on the site", s.preview,
		api.About("Nothing is stored. The HTML is sanitised and can be embedded in a page."))
	api.Get[Mine](posts, "/posts/{id}/mine", "getMine", "Whether you like a post and have bookmarked it", s.mine)

	s.imageRoutes(a)

	comments := api.Tag(a, "Comments")
	api.List[Comment](comments, "/posts/{id}/comments", "listComments", "A post's comments, oldest first",
		ofPost(s, api.Pages[postPage](s.db.CommentsOfPost)), api.Public, api.Refuses(portfoliodb.ErrNoSuchPost))
	api.Create[Comment](comments, "/posts/{id}/comments", "addComment", "Comment on a published post", s.comment, api.Refuses(portfoliodb.ErrNoSuchPost, portfoliodb.ErrPostArchived))
	api.Delete(comments, "/posts/{id}/comments/{commentId}", "deleteComment", "Delete a comment", s.deleteComment, api.Acted, api.NotFound,
		api.Refuses(portfoliodb.ErrNotTheCommenter),
		api.About("Your own, or one on your post; administrators can delete any."))
	api.Effect(comments, http.MethodPut, "/posts/{id}/comments/{commentId}/hidden", "hideComment", "Hide a comment from readers", http.StatusNoContent, s.hideComment,
		api.Acted, api.NotFound, api.Refuses(portfoliodb.ErrNotTheModerator), api.About("One on your post; administrators can hide any. Hidden comments are not counted."))
	api.Delete(comments, "/posts/{id}/comments/{commentId}/hidden", "showComment", "Restore a hidden comment", s.showComment, api.Acted, api.NotFound,
		api.Refuses(portfoliodb.ErrNotTheModerator))
	api.List[ModeratedComment](comments, "/me/posts/comments", "listReceivedComments", "The comments on your posts, newest first, including hidden ones", s.received)
	api.List[ModeratedComment](comments, "/comments", "listAllComments", "All comments, newest first, including hidden ones", s.allComments, admin)
	api.List[Comment](comments, "/users/{id}/comments", "listUserComments", "A user's comments, newest first", api.Pages[userPage](s.db.CommentsOfUser), api.Public)

	api.ListActs(api.Tag(a, "Acts"), s.db.ActsOfDay, admin)

	likes := api.Tag(a, "Likes")
	api.Get[Like](likes, "/posts/{id}/like", "getLike", "Whether you like a post", api.Call[PostPath](s.db.LikeOfUser, caller), api.NotFound)
	api.Put[Like](likes, "/posts/{id}/like", "putLike", "Like a published post", s.like, api.Refuses(portfoliodb.ErrNoSuchPost, portfoliodb.ErrPostArchived))
	api.Delete(likes, "/posts/{id}/like", "deleteLike", "Unlike a post", api.Do[PostPath](s.db.UnlikePost, caller))
	api.List[Like](likes, "/posts/{id}/likes", "listLikes", "Who likes a post", ofPost(s, api.Pages[postPage](s.db.LikesOfPost)), api.Public, api.NotFound)
	api.List[Like](likes, "/me/likes", "listOwnLikes", "Your likes, newest first", api.Pages[api.PageQuery](s.db.LikesOfUser, caller))

	bookmarks := api.Tag(a, "Bookmarks")
	api.List[Bookmark](bookmarks, "/bookmarks", "listBookmarks", "Your bookmarks, newest first", api.Pages[api.PageQuery](s.db.Bookmarks, caller))
	api.Get[Bookmark](bookmarks, "/bookmarks/{id}", "getBookmark", "Your bookmark of a post", api.Call[PostPath](s.db.BookmarkOfPost, caller), api.NotFound)
	api.Put[Bookmark](bookmarks, "/bookmarks/{id}", "putBookmark", "Bookmark a post", s.addBookmark, api.Refuses(portfoliodb.ErrNoSuchPost))
	api.Delete(bookmarks, "/bookmarks/{id}", "deleteBookmark", "Remove a bookmark", api.Do[PostPath](s.db.RemoveBookmark, caller))

	notifications := api.Tag(a, "Notifications")
	api.List[NotificationEntry](notifications, "/notifications", "listNotifications", "Your notifications, newest first", s.notifications)
	api.Patch[Notification](notifications, "/notifications/{id}", "patchNotification", "Mark a notification as read or unread",
		api.Call[notificationInput](s.db.MarkNotification, caller), api.NotFound, api.Refuses(portfoliodb.ErrNotificationOver))
}

func (s *service) imageRoutes(a huma.API) {
	images := api.Tag(a, "Images")
	api.List[Image](images, "/images", "listOwnImages", "Your images, newest first", api.Pages[api.PageQuery](s.db.ImagesOfUser, caller))
	api.Post[ImageTicket](images, "/images", "uploadImage", "Upload an image", s.awaitImage, api.Refuses(portfoliodb.ErrTooManyImages),
		api.About(fmt.Sprintf("The response says where and how to send its bytes. After that, call PUT /images/{id}. An image that no post or profile uses is removed after a few days. The maximum is %d images.", mostOwned)))
	api.Put[Image](images, "/images/{id}", "keepImage", "Confirm an image upload", s.keepImage, api.NotFound,
		api.Refuses(errNotUploaded, errImageTooLarge, errNotAnImage),
		api.About("Its bytes must be a JPEG, PNG, GIF or WebP of at most 25 million pixels. It is stored re-encoded, without metadata such as place and time, and at most 1600 pixels wide. GET /images/{id} is public."))
}

// PostPath identifies a post. Path types are exported because huma ignores other embedded structs.
type PostPath struct {
	PostID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"The post's postId"`
}

// UserPath identifies a user.
type UserPath struct {
	UserID string `path:"id" pattern:"^[A-Za-z0-9._:@-]{1,128}$" patternDescription:"letters, digits and . _ : @ -" doc:"The user's userId"`
}

// CategoryPath identifies a category.
type CategoryPath struct {
	CategoryID string `path:"id" pattern:"^[A-Za-z0-9._-]{1,64}$" patternDescription:"letters, digits and . _ -" doc:"The category's categoryId"`
}

type slugPath struct {
	Slug string `path:"slug" maxLength:"80" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" patternDescription:"small letters and digits, with - between" doc:"The category's slug"`
}

type commentPath struct {
	PostPath
	CommentID string `path:"commentId" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"The comment's commentId"`
}

type imagePath struct {
	ImageID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"The image's imageId"`
}

// ImageInput describes an image before its upload.
type ImageInput struct {
	Size int64 `json:"size" minimum:"1" maximum:"10485760" doc:"Its size in bytes; the upload must have exactly this size"`
}

type userQuery struct {
	Email string `query:"email" required:"true" format:"email" maxLength:"254" pattern:"^[A-Za-z0-9!#$%&'*+/=?^_{|}~.-]+@[A-Za-z0-9.-]+$" patternDescription:"an e-mail address" doc:"The address, in upper or lower case"`
}

type postPage struct {
	PostPath
	api.PageQuery
}

type userPage struct {
	UserPath
	api.PageQuery
}

type categoryPage struct {
	CategoryPath
	api.PageQuery
}

type publicPosts struct {
	api.PageQuery
	Status portfoliodb.PostStatus `query:"status" enum:"published,archived" default:"published" doc:"Which ones"`
}

type ownPosts struct {
	api.PageQuery
	Status portfoliodb.PostStatus `query:"status" enum:"draft,published,archived" default:"draft" doc:"Which ones"`
}

// ProfileInput is a user's profile.
type ProfileInput struct {
	Email    string  `json:"email" format:"email" maxLength:"254" pattern:"^[A-Za-z0-9!#$%&'*+/=?^_{|}~.-]+@[A-Za-z0-9.-]+$" patternDescription:"an e-mail address" doc:"Your address; it must be unique"`
	Name     string  `json:"name" minLength:"1" maxLength:"100" pattern:"[^\\s\\p{Z}\\p{C}]" patternDescription:"a text that can be seen" doc:"Your name"`
	Bio      string  `json:"bio,omitempty" maxLength:"1000" doc:"Your bio"`
	AvatarID *string `json:"avatarId,omitempty" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"One of your images; omit it for none"`
}

type categoryInput struct {
	CategoryPath
	Body CategoryInput
}

// CategoryInput is a category.
type CategoryInput struct {
	Slug string `json:"slug" maxLength:"80" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" patternDescription:"small letters and digits, with - between" doc:"Its unique name in addresses"`
	Name string `json:"name" minLength:"1" maxLength:"100" pattern:"[^\\s\\p{Z}\\p{C}]" patternDescription:"a text that can be seen" doc:"Its name"`
}

type placeInput struct {
	CategoryPath
	Body PlaceInput
}

// PlaceInput is a category's position in the list.
type PlaceInput struct {
	Position int64 `json:"position" minimum:"0" maximum:"9999" doc:"The first one has the smallest number; those with the same are sorted by their ids"`
}

type changedPost struct {
	PostPath
	api.Seen
	Body PostInput
}

// PostInput is a post's content. Ninety thousand characters of any kind fit into an item, which can have 400 KB.
type PostInput struct {
	Title      string  `json:"title" minLength:"1" maxLength:"150" pattern:"[^\\s\\p{Z}\\p{C}]" patternDescription:"a text that can be seen" doc:"Its title"`
	Excerpt    string  `json:"excerpt" maxLength:"300" doc:"An excerpt, for lists"`
	Body       string  `json:"body" minLength:"1" maxLength:"90000" pattern:"[^\\s\\p{Z}\\p{C}]" patternDescription:"a text that can be seen" doc:"Its text"`
	CategoryID string  `json:"categoryId" maxLength:"64" pattern:"^[A-Za-z0-9._-]+$" patternDescription:"a categoryId" doc:"Its category"`
	CoverID    *string `json:"coverId,omitempty" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"One of your images, above the post and in lists; omit it for none"`
}

// PreviewInput is the text of a post being written.
type PreviewInput struct {
	Body string `json:"body" maxLength:"90000" doc:"The text, in Markdown"`
}

type changedStatus struct {
	PostPath
	Body PostStatusInput
}

// PostStatusInput is a post's new status.
type PostStatusInput struct {
	Status portfoliodb.PostStatus `json:"status" enum:"published,archived" doc:"The new value"`
}

type newComment struct {
	api.Keyed
	PostPath
	Body CommentInput
}

// CommentInput is a comment.
type CommentInput struct {
	Body string `json:"body" minLength:"1" maxLength:"4000" pattern:"[^\\s\\p{Z}\\p{C}]" patternDescription:"a text that can be seen" doc:"Your comment"`
}

type notificationInput struct {
	NotificationID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"The notification's notificationId"`
	Body           NotificationInput
}

// NotificationInput changes a notification.
type NotificationInput struct {
	Read bool `json:"read" doc:"Whether it has been read"`
}
