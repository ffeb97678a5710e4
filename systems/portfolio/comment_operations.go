package portfolio

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

func (s *service) registerComments(a huma.API) {
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "listComments", Method: http.MethodGet, Path: "/posts/{id}/comments", Tags: []string{tagComments},
		Summary: "A post's comments, in the order in which they were made", Errors: []int{http.StatusNotFound},
	}, api.Public), s.listComments)
	huma.Register(a, huma.Operation{
		OperationID: "addComment", Method: http.MethodPost, Path: "/posts/{id}/comments", Tags: []string{tagComments},
		Summary: "Comment on a published post", DefaultStatus: http.StatusCreated, Errors: []int{http.StatusNotFound},
	}, s.addComment)
	huma.Register(a, huma.Operation{
		OperationID: "deleteComment", Method: http.MethodDelete, Path: "/posts/{id}/comments/{commentId}", Tags: []string{tagComments},
		Summary: "Take a comment of yours back", DefaultStatus: http.StatusNoContent,
		Errors: []int{http.StatusForbidden, http.StatusNotFound},
	}, s.deleteComment)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "listUserComments", Method: http.MethodGet, Path: "/users/{id}/comments", Tags: []string{tagComments},
		Summary: "What a user has said, newest first",
	}, api.Public), s.listUserComments)
}

// listOfPostInput is for lists of what a post has.
type listOfPostInput struct {
	PostPath
	api.PageQuery
}

func (s *service) listComments(ctx context.Context, in *listOfPostInput) (*api.PageOutput[Comment], error) {
	page, err := s.comments(ctx, in.ID, in.Options())
	return api.PageOf(page, commentOf), err
}

type addCommentInput struct {
	api.IdempotencyKey
	PostPath
	Body struct {
		Body string `json:"body" minLength:"1" maxLength:"4000" pattern:"[^\\s\\p{Z}\\p{C}]" patternDescription:"a text that can be seen" doc:"What you say"`
	}
}

type addCommentOutput struct {
	Status int
	Body   Comment
}

func (s *service) addComment(ctx context.Context, in *addCommentInput) (*addCommentOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	c, replayed, err := s.comment(ctx, who.Sub, in.IdempotencyKey.IdempotencyKey, in.ID, in.Body.Body)
	return &addCommentOutput{Status: api.CreatedStatus(replayed), Body: commentOf(c)}, err
}

type deleteCommentInput struct {
	PostPath
	CommentID string `path:"commentId" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"The comment's commentId"`
}

func (s *service) deleteComment(ctx context.Context, in *deleteCommentInput) (*struct{}, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	return nil, s.uncomment(ctx, who.Sub, in.ID, in.CommentID)
}

type listOfUserInput struct {
	UserPath
	api.PageQuery
}

func (s *service) listUserComments(ctx context.Context, in *listOfUserInput) (*api.PageOutput[Comment], error) {
	page, err := s.userComments(ctx, in.ID, in.Options())
	return api.PageOf(page, commentOf), err
}
