package portfolio

import (
	"context"
	"errors"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// comment comments on a published post. For a retry it returns the first response and sets replayed.
func (s *service) comment(ctx context.Context, who auth.Principal, in newComment) (c portfoliodb.Comment, replayed bool, err error) {
	post, err := s.metadata(ctx, in.PostID)
	if err != nil {
		return portfoliodb.Comment{}, false, err
	}
	result, err := s.db.AddComment(ctx, portfoliodb.AddCommentInput{
		RequestKey: in.RequestKey, PostID: in.PostID, UserID: who.Sub, AuthorID: post.UserID, Body: in.Body.Body,
	})
	c = result.Comment
	c.Body = in.Body.Body // the idempotency record does not contain it
	return c, result.Replayed, err
}

// deleteComment deletes a comment. Users can delete their own comments and those on their posts, administrators all. A comment's
// author and post never change, so they can be checked beforehand.
func (s *service) deleteComment(ctx context.Context, who auth.Principal, in commentPath) error {
	remove := portfoliodb.DeleteCommentInput{PostID: in.PostID, CommentID: in.CommentID, UserID: who.Sub}
	err := s.db.DeleteComment(ctx, remove)
	is, known := found[portfoliodb.Comment](err)
	if !errors.Is(err, portfoliodb.ErrNotTheCommenter) || !known || is.AuthorID != who.Sub && !who.In(AdminGroup) {
		return err
	}
	remove.UserID = is.UserID
	return s.db.DeleteComment(ctx, remove)
}

// hideComment hides a comment from everyone except its moderators. It is idempotent.
func (s *service) hideComment(ctx context.Context, who auth.Principal, in commentPath) error {
	return moderated(who, portfoliodb.ErrCommentHidden, func(moderator string) error {
		_, err := s.db.HideComment(ctx, portfoliodb.HideCommentInput{PostID: in.PostID, CommentID: in.CommentID, ModeratorID: moderator})
		return err
	})
}

// showComment restores a hidden comment.
func (s *service) showComment(ctx context.Context, who auth.Principal, in commentPath) error {
	return moderated(who, portfoliodb.ErrCommentShown, func(moderator string) error {
		_, err := s.db.ShowComment(ctx, portfoliodb.ShowCommentInput{PostID: in.PostID, CommentID: in.CommentID, ModeratorID: moderator})
		return err
	})
}

// moderated changes a comment on behalf of its post's author or an administrator. The error already means that it has been done
// before.
func moderated(who auth.Principal, already error, do func(moderator string) error) error {
	err := do(who.Sub)
	if is, ok := found[portfoliodb.Comment](err); ok && errors.Is(err, portfoliodb.ErrNotTheModerator) && who.In(AdminGroup) {
		err = do(is.AuthorID)
	}
	if errors.Is(err, already) {
		return nil
	}
	return err
}

// remark is a comment with the names of its author and its post.
type remark struct {
	portfoliodb.Comment

	UserName, PostTitle string
}

// received returns the comments on the caller's posts, newest first.
func (s *service) received(ctx context.Context, who auth.Principal, in api.PageQuery) (table.Page[remark], error) {
	found, err := s.db.CommentsOfAuthor(ctx, portfoliodb.CommentsOfAuthorInput{AuthorID: who.Sub}, in.Options())
	return withNames(ctx, s, found, err, userAndPost, remarkOf)
}

// allComments returns all comments, newest first.
func (s *service) allComments(ctx context.Context, _ auth.Principal, in api.PageQuery) (table.Page[remark], error) {
	found, err := s.db.AllComments(ctx, in.Options())
	return withNames(ctx, s, found, err, userAndPost, remarkOf)
}

func userAndPost(c portfoliodb.Comment) (userID, postID string) { return c.UserID, c.PostID }

func remarkOf(c portfoliodb.Comment, user, post string) remark {
	return remark{Comment: c, UserName: user, PostTitle: post}
}

// withNames adds to the items of a page the names of the user and the post of each.
func withNames[T, Shown any](ctx context.Context, s *service, found table.Page[T], err error, about func(T) (userID, postID string), show func(x T, user, post string) Shown) (table.Page[Shown], error) {
	page := table.Page[Shown]{Items: []Shown{}, Next: found.Next}
	if err != nil {
		return page, err
	}
	users, posts := make([]string, len(found.Items)), make([]string, len(found.Items))
	for i, x := range found.Items {
		users[i], posts[i] = about(x)
	}
	called, err := s.called(ctx, users, posts)
	if err != nil {
		return page, err
	}
	for i, x := range found.Items {
		page.Items = append(page.Items, show(x, called.users[i], called.posts[i]))
	}
	return page, nil
}

// names holds the names of users and posts, by position.
type names struct{ users, posts []string }

// called looks up names. A user without a name is shown by id; a post that is no longer public has no name.
func (s *service) called(ctx context.Context, userIDs, postIDs []string) (names, error) {
	n := names{users: make([]string, len(userIDs)), posts: make([]string, len(postIDs))}
	if len(userIDs) == 0 {
		return n, nil
	}
	users := make([]portfoliodb.UserByIDInput, len(userIDs))
	for i, id := range userIDs {
		users[i] = portfoliodb.UserByIDInput{UserID: id}
	}
	posts := make([]portfoliodb.PostMetadataInput, len(postIDs))
	for i, id := range postIDs {
		posts[i] = portfoliodb.PostMetadataInput{PostID: id, VisibleTo: everyone}
	}
	whom, err := s.db.UserByIDBatch(ctx, users)
	if err != nil {
		return n, err
	}
	what, err := s.db.PostMetadataBatch(ctx, posts)
	if err != nil {
		return n, err
	}
	for i, id := range userIDs {
		n.users[i] = id
		if whom[i] != nil {
			n.users[i] = whom[i].Name
		}
	}
	for i := range postIDs {
		if what[i] != nil {
			n.posts[i] = what[i].Title
		}
	}
	return n, nil
}
