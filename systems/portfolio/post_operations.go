package portfolio

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

func (s *service) registerPosts(a huma.API) {
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "listPosts", Method: http.MethodGet, Path: "/posts", Tags: []string{tagPosts},
		Summary: "Published or archived posts, newest first",
	}, api.Public), s.listPosts)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "listCategoryPosts", Method: http.MethodGet, Path: "/categories/{id}/posts", Tags: []string{tagPosts},
		Summary: "A category's published posts, newest first",
	}, api.Public), s.listCategoryPosts)
	huma.Register(a, huma.Operation{
		OperationID: "listOwnPosts", Method: http.MethodGet, Path: "/me/posts", Tags: []string{tagPosts},
		Summary: "Your posts of a status, newest first",
	}, s.listOwnPosts)
	huma.Register(a, huma.Operation{
		OperationID: "writePost", Method: http.MethodPost, Path: "/posts", Tags: []string{tagPosts},
		Summary: "Write a post", Description: "It is a draft, which nobody else sees, until you publish it.",
		DefaultStatus: http.StatusCreated,
	}, s.writePost)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "getPost", Method: http.MethodGet, Path: "/posts/{id}", Tags: []string{tagPosts},
		Summary: "A post with its newest comments", Description: "A draft is there for its author alone.",
		Errors: []int{http.StatusNotFound},
	}, api.Public), s.getPost)
	huma.Register(a, huma.Operation{
		OperationID: "editPost", Method: http.MethodPut, Path: "/posts/{id}", Tags: []string{tagPosts},
		Summary: "Change a post of yours", Errors: []int{http.StatusForbidden, http.StatusNotFound},
	}, s.editPost)
	huma.Register(a, huma.Operation{
		OperationID: "putPostStatus", Method: http.MethodPut, Path: "/posts/{id}/status", Tags: []string{tagPosts},
		Summary: "Publish a draft of yours, or archive what you have published",
		Errors:  []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict},
	}, s.putPostStatus)
}

type listPostsInput struct {
	api.PageQuery
	Status portfoliodb.PostStatus `query:"status" enum:"published,archived" default:"published" doc:"Which ones"`
}

func (s *service) listPosts(ctx context.Context, in *listPostsInput) (*api.PageOutput[PostSummary], error) {
	page, err := s.postsByStatus(ctx, in.Status, in.Options())
	return api.PageOf(page, summaryOf), err
}

type listCategoryPostsInput struct {
	CategoryPath
	api.PageQuery
}

func (s *service) listCategoryPosts(ctx context.Context, in *listCategoryPostsInput) (*api.PageOutput[PostSummary], error) {
	page, err := s.postsByCategory(ctx, in.ID, in.Options())
	return api.PageOf(page, categorySummaryOf), err
}

type listOwnPostsInput struct {
	api.PageQuery
	Status portfoliodb.PostStatus `query:"status" enum:"draft,published,archived" default:"draft" doc:"Which ones"`
}

func (s *service) listOwnPosts(ctx context.Context, in *listOwnPostsInput) (*api.PageOutput[PostSummary], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	page, err := s.ownPosts(ctx, who.Sub, in.Status, in.Options())
	return api.PageOf(page, ownSummaryOf), err
}

// postBody is what an author says of a post. Ninety thousand characters fit into an item of 400 kB, whatever they are.
type postBody struct {
	Title      string `json:"title" minLength:"1" maxLength:"150" pattern:"[^\\s\\p{Z}\\p{C}]" patternDescription:"a text that can be seen" doc:"Its title"`
	Excerpt    string `json:"excerpt" maxLength:"300" doc:"What it is about, for lists"`
	Body       string `json:"body" minLength:"1" maxLength:"90000" pattern:"[^\\s\\p{Z}\\p{C}]" patternDescription:"a text that can be seen" doc:"Its text"`
	CategoryID string `json:"categoryId" maxLength:"64" pattern:"^[A-Za-z0-9._-]+$" patternDescription:"a categoryId" doc:"The category that it is in"`
}

func (b postBody) draft() draft {
	return draft{title: b.Title, excerpt: b.Excerpt, body: b.Body, categoryID: b.CategoryID}
}

type writePostInput struct {
	api.IdempotencyKey
	Body postBody
}

type writePostOutput struct {
	Status   int
	Location string `header:"Location" doc:"Where the post is"`
	Body     Post
}

func (s *service) writePost(ctx context.Context, in *writePostInput) (*writePostOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	p, replayed, err := s.write(ctx, who.Sub, in.IdempotencyKey.IdempotencyKey, in.Body.draft())
	if err != nil {
		return nil, err
	}
	return &writePostOutput{Status: api.CreatedStatus(replayed), Location: "posts/" + p.PostID, Body: postOf(p, in.Body.Body)}, nil
}

type postPageOutput struct{ Body PostPage }

func (s *service) getPost(ctx context.Context, in *PostPath) (*postPageOutput, error) {
	found, err := s.post(ctx, viewer(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	body := ""
	for _, c := range found.PostContent {
		body = c.Body
	}
	out := &postPageOutput{PostPage{Post: postOf(*found.Post, body), Comments: make([]Comment, len(found.Comment))}}
	for i, c := range found.Comment {
		out.Body.Comments[i] = commentOf(c)
	}
	return out, nil
}

type editPostInput struct {
	PostPath
	Body postBody
}

type postOutput struct{ Body Post }

func (s *service) editPost(ctx context.Context, in *editPostInput) (*postOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	p, err := s.edit(ctx, who.Sub, in.ID, in.Body.draft())
	return &postOutput{postOf(p, in.Body.Body)}, err
}

type putPostStatusInput struct {
	PostPath
	Body struct {
		Status portfoliodb.PostStatus `json:"status" enum:"published,archived" doc:"What it is to be"`
	}
}

type postStatusOutput struct {
	Body struct {
		PostID string                 `json:"postId" doc:"The post's id"`
		Status portfoliodb.PostStatus `json:"status" enum:"published,archived" doc:"What it is now"`
	}
}

func (s *service) putPostStatus(ctx context.Context, in *putPostStatusInput) (*postStatusOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	p, err := s.setStatus(ctx, who.Sub, in.ID, in.Body.Status)
	if err != nil {
		return nil, err
	}
	out := &postStatusOutput{}
	out.Body.PostID, out.Body.Status = p.PostID, p.Status
	return out, nil
}
