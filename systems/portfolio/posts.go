package portfolio

import (
	"context"
	"errors"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// everyone is who a post is visible to that is no draft. No user has this id: ids have other characters.
const everyone = "*"

// newestComments are how many a post's page has.
const newestComments = 20

// draft is what an author says of a post.
type draft struct{ title, excerpt, body, categoryID string }

// post is a post with its newest comments, as a reader sees it: viewer is who asks, "" for anybody.
func (s *service) post(ctx context.Context, viewer, postID string) (portfoliodb.PostPageResult, error) {
	page := table.PageOptions{Limit: newestComments + 2} // the post and its content
	found, err := s.db.PostPage(ctx, portfoliodb.PostPageInput{PostID: postID, VisibleTo: everyone}, page)
	if errors.Is(err, table.ErrNotFound) && viewer != "" {
		return s.db.PostPage(ctx, portfoliodb.PostPageInput{PostID: postID, VisibleTo: viewer}, page)
	}
	return found, err
}

// metadata is a post that is visible to everyone, without its text.
func (s *service) metadata(ctx context.Context, postID string) (portfoliodb.Post, error) {
	return s.db.PostMetadata(ctx, portfoliodb.PostMetadataInput{PostID: postID, VisibleTo: everyone})
}

// postsByStatus are a page of the published or archived posts, newest first. Drafts are never among them.
func (s *service) postsByStatus(ctx context.Context, status portfoliodb.PostStatus, page table.PageOptions) (table.Page[portfoliodb.PostsByStatusItem], error) {
	return s.db.PostsByStatus(ctx, portfoliodb.PostsByStatusInput{Status: status}, page)
}

// postsByCategory are a page of a category's published posts, newest first.
func (s *service) postsByCategory(ctx context.Context, categoryID string, page table.PageOptions) (table.Page[portfoliodb.PostsByCategoryItem], error) {
	return s.db.PostsByCategory(ctx, portfoliodb.PostsByCategoryInput{CategoryID: categoryID}, page)
}

// ownPosts are a page of an author's own posts of a status, newest first.
func (s *service) ownPosts(ctx context.Context, userID string, status portfoliodb.PostStatus, page table.PageOptions) (table.Page[portfoliodb.PostsByAuthorItem], error) {
	return s.db.PostsByAuthor(ctx, portfoliodb.PostsByAuthorInput{UserID: userID, Status: status}, page)
}

// write makes a draft. A request that was made before is answered as it was then, and replayed is set.
func (s *service) write(ctx context.Context, userID, requestKey string, d draft) (p portfoliodb.Post, replayed bool, err error) {
	result, err := s.db.WritePost(ctx, portfoliodb.WritePostInput{
		RequestKey: requestKey, PostID: s.newID(), UserID: userID,
		Title: d.title, Excerpt: d.excerpt, Body: d.body, CategoryID: d.categoryID,
	})
	if err != nil {
		return portfoliodb.Post{}, false, ofCategory(err)
	}
	// The record of a repetition has the post's id and time; all else it has in common with the first request.
	return portfoliodb.Post{
		PostID: result.Post.PostID, UserID: userID, Title: d.title, Excerpt: d.excerpt, CategoryID: d.categoryID,
		Status: portfoliodb.PostStatusDraft, CreatedAt: result.Post.CreatedAt, UpdatedAt: result.Post.CreatedAt,
	}, result.Replayed, nil
}

// edit changes an author's own post.
func (s *service) edit(ctx context.Context, userID, postID string, d draft) (portfoliodb.Post, error) {
	result, err := s.db.EditPost(ctx, portfoliodb.EditPostInput{
		PostID: postID, UserID: userID, Title: d.title, Excerpt: d.excerpt, Body: d.body, CategoryID: d.categoryID,
	})
	if err != nil {
		return portfoliodb.Post{}, ofCategory(err)
	}
	return *result.Post, nil // it was read, for the keys of its copies
}

// setStatus publishes or archives an author's own post. One that is already so stays as it is.
func (s *service) setStatus(ctx context.Context, userID, postID string, status portfoliodb.PostStatus) (portfoliodb.Post, error) {
	var changed *portfoliodb.Post
	var err error
	if status == portfoliodb.PostStatusPublished {
		var result portfoliodb.PublishPostResult
		result, err = s.db.PublishPost(ctx, portfoliodb.PublishPostInput{PostID: postID, UserID: userID})
		changed = result.Post
	} else {
		var result portfoliodb.ArchivePostResult
		result, err = s.db.ArchivePost(ctx, portfoliodb.ArchivePostInput{PostID: postID, UserID: userID})
		changed = result.Post
	}
	if errors.Is(err, portfoliodb.ErrNotDraft) || errors.Is(err, portfoliodb.ErrNotPublished) {
		if is, ok := found[portfoliodb.Post](err); ok && is.Status == status {
			return is, nil
		}
	}
	if err != nil {
		return portfoliodb.Post{}, err
	}
	return *changed, nil // it was read, for the keys of its copies
}

// found is what a write has found, and was refused for.
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

// ofCategory tells that it is the category that is not there.
func ofCategory(err error) error {
	if errors.Is(err, portfoliodb.ErrNoSuchCategory) {
		return problem.BadRequest(CodeNoSuchCategory, "there is no such category", problem.Field{Field: "body.categoryId", Message: "is no category's"})
	}
	return err
}
