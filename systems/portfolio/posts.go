package portfolio

import (
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
	"github.com/monotable/monotable/systems/portfolio/site"
)

// everyone is the value of visibleTo for posts that are not drafts. It cannot be a user id, because ids cannot contain it.
const everyone = site.Everyone

// newestComments is the number of comments on a post's page.
const newestComments = 20

// text is a post with its body.
type text struct {
	portfoliodb.Post
	Body string
}

// page is a post with its body and its newest comments.
type page struct {
	text
	Comments []portfoliodb.Comment
}

// post returns a post as a reader sees it.
func (s *service) post(ctx context.Context, who auth.Principal, in PostPath) (page, error) {
	most := table.PageOptions{Limit: newestComments + 2} // the post and its content
	found, err := s.db.PostPage(ctx, portfoliodb.PostPageInput{PostID: in.PostID, VisibleTo: everyone}, most)
	if errors.Is(err, table.ErrNotFound) && who.Sub != "" {
		found, err = s.db.PostPage(ctx, portfoliodb.PostPageInput{PostID: in.PostID, VisibleTo: who.Sub}, most)
	}
	if err != nil {
		return page{}, err
	}
	body := ""
	for _, c := range found.PostContent {
		body = c.Body
	}
	comments, err := site.Newest(ctx, s.db, found, newestComments)
	return page{text{*found.Post, body}, comments}, err
}

// metadata returns a post that is visible to everyone, without its text.
func (s *service) metadata(ctx context.Context, postID string) (portfoliodb.Post, error) {
	return s.db.PostMetadata(ctx, portfoliodb.PostMetadataInput{PostID: postID, VisibleTo: everyone})
}

// ofPost returns one of a post's lists. It returns table.ErrNotFound if the list is empty because the post does not exist.
func ofPost[T any](s *service, list func(context.Context, auth.Principal, postPage) (table.Page[T], error)) func(context.Context, auth.Principal, postPage) (table.Page[T], error) {
	return func(ctx context.Context, who auth.Principal, in postPage) (table.Page[T], error) {
		found, err := list(ctx, who, in)
		if err == nil && len(found.Items) == 0 {
			_, err = s.metadata(ctx, in.PostID)
		}
		return found, err
	}
}

// write creates a draft. For a retry it returns the first response and sets replayed.
func (s *service) write(ctx context.Context, who auth.Principal, in api.KeyedBody[PostInput]) (p text, replayed bool, err error) {
	d := in.Body
	images, err := s.shown(ctx, who.Sub, d)
	if err != nil {
		return text{}, false, err
	}
	result, err := s.db.WritePost(ctx, portfoliodb.WritePostInput{
		RequestKey: in.RequestKey, PostID: s.newID(), UserID: who.Sub,
		Title: d.Title, Excerpt: d.Excerpt, Body: d.Body, CategoryID: d.CategoryID, CoverID: d.CoverID, Images: images,
	})
	if err != nil {
		return text{}, false, ofCategory(err)
	}
	// The idempotency record contains the post's id and time; the request contains everything else.
	return text{portfoliodb.Post{
		PostID: result.Post.PostID, UserID: who.Sub, Title: d.Title, Excerpt: d.Excerpt, CategoryID: d.CategoryID, CoverID: d.CoverID,
		Status: portfoliodb.PostStatusDraft, CreatedAt: result.Post.CreatedAt, UpdatedAt: result.Post.CreatedAt,
	}, d.Body}, result.Replayed, nil
}

// edit changes one of an author's own posts.
func (s *service) edit(ctx context.Context, who auth.Principal, in changedPost) (text, error) {
	d := in.Body
	images, err := s.shown(ctx, who.Sub, d)
	if err != nil {
		return text{}, err
	}
	var result portfoliodb.EditPostResult
	err = in.Write(s.clock(), storedVersion, func() (err error) {
		result, err = s.db.EditPost(ctx, portfoliodb.EditPostInput{
			From: in.From, To: in.To, At: in.At, PostID: in.PostID, UserID: who.Sub, Title: d.Title, Excerpt: d.Excerpt, Body: d.Body,
			CategoryID: d.CategoryID, CoverID: d.CoverID, Images: images,
		})
		return err
	})
	if err != nil {
		return text{}, ofDraft(ofCategory(err))
	}
	return text{*result.Post, d.Body}, nil // read anyway for the keys of its copies
}

// setStatus publishes or archives one of an author's own posts. It is idempotent.
func (s *service) setStatus(ctx context.Context, who auth.Principal, in changedStatus) (portfoliodb.Post, error) {
	var changed *portfoliodb.Post
	var err error
	if in.Body.Status == portfoliodb.PostStatusPublished {
		var result portfoliodb.PublishPostResult
		result, err = s.db.PublishPost(ctx, portfoliodb.PublishPostInput{PostID: in.PostID, UserID: who.Sub})
		changed = result.Post
	} else {
		var result portfoliodb.ArchivePostResult
		result, err = s.db.ArchivePost(ctx, portfoliodb.ArchivePostInput{PostID: in.PostID, UserID: who.Sub})
		changed = result.Post
	}
	if errors.Is(err, portfoliodb.ErrNotDraft) || errors.Is(err, portfoliodb.ErrNotPublished) {
		if is, ok := found[portfoliodb.Post](err); ok && is.Status == in.Body.Status {
			return is, nil
		}
	}
	if err != nil {
		return portfoliodb.Post{}, ofDraft(err)
	}
	return *changed, nil // read anyway for the keys of its copies
}

// found returns the item that a rejected write has found.
func found[T any](err error) (T, bool) {
	var none T
	refusal, ok := errors.AsType[*table.Refusal](err)
	if !ok {
		return none, false
	}
	item, _, err := portfoliodb.Decode(refusal.Old)
	if err != nil {
		return none, false
	}
	is, ok := item.(T)
	return is, ok
}

// storedVersion returns the version of the post that a rejected write has found.
func storedVersion(err error) time.Time {
	is, _ := found[portfoliodb.Post](err)
	return is.UpdatedAt
}

var errNoSuchCategory = problem.BadRequest(CodeNoSuchCategory, "the category does not exist", problem.Field{Field: "body.categoryId", Message: "is not the slug of a category"})

// ofCategory marks an error as referring to a missing category.
func ofCategory(err error) error {
	if errors.Is(err, portfoliodb.ErrNoSuchCategory) {
		return errNoSuchCategory
	}
	return err
}

// ofDraft hides from others that a draft exists: to them it is missing.
func ofDraft(err error) error {
	if is, ok := found[portfoliodb.Post](err); ok && errors.Is(err, portfoliodb.ErrNotTheAuthor) && is.VisibleTo != everyone {
		return table.ErrNotFound
	}
	return err
}

// preview renders a text as the site shows it.
func (*service) preview(_ context.Context, _ auth.Principal, in api.Body[PreviewInput]) (Preview, error) {
	return Preview{HTML: string(site.Markdown(in.Body.Body)), Minutes: site.Minutes(in.Body.Body)}, nil
}

// mine returns the caller's relation to a post, which is empty for a missing post.
func (s *service) mine(ctx context.Context, who auth.Principal, in PostPath) (Mine, error) {
	_, liked := s.db.LikeOfUser(ctx, portfoliodb.LikeOfUserInput{PostID: in.PostID, UserID: who.Sub})
	_, kept := s.db.BookmarkOfPost(ctx, portfoliodb.BookmarkOfPostInput{PostID: in.PostID, UserID: who.Sub})
	profile, named := s.db.UserByID(ctx, portfoliodb.UserByIDInput{UserID: who.Sub})
	for _, err := range []error{liked, kept, named} {
		if err != nil && !errors.Is(err, table.ErrNotFound) {
			return Mine{}, err
		}
	}
	return Mine{Liked: liked == nil, Bookmarked: kept == nil, Name: profile.Name}, nil
}
