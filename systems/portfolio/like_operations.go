package portfolio

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

func (s *service) registerLikes(a huma.API) {
	huma.Register(a, huma.Operation{
		OperationID: "getLike", Method: http.MethodGet, Path: "/posts/{id}/like", Tags: []string{tagLikes},
		Summary: "Whether you like a post", Errors: []int{http.StatusNotFound},
	}, s.getLike)
	huma.Register(a, huma.Operation{
		OperationID: "putLike", Method: http.MethodPut, Path: "/posts/{id}/like", Tags: []string{tagLikes},
		Summary: "Like a published post", Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, s.putLike)
	huma.Register(a, huma.Operation{
		OperationID: "deleteLike", Method: http.MethodDelete, Path: "/posts/{id}/like", Tags: []string{tagLikes},
		Summary: "Like a post no more", DefaultStatus: http.StatusNoContent, Errors: []int{http.StatusConflict},
	}, s.deleteLike)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "listLikes", Method: http.MethodGet, Path: "/posts/{id}/likes", Tags: []string{tagLikes},
		Summary: "Who likes a post", Errors: []int{http.StatusNotFound},
	}, api.Public), s.listLikes)
	huma.Register(a, huma.Operation{
		OperationID: "listOwnLikes", Method: http.MethodGet, Path: "/me/likes", Tags: []string{tagLikes},
		Summary: "What you like, newest first",
	}, s.listOwnLikes)
}

type likeOutput struct{ Body Like }

func (s *service) getLike(ctx context.Context, in *PostPath) (*likeOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	l, err := s.ownLike(ctx, who.Sub, in.ID)
	return &likeOutput{likeOf(l)}, err
}

func (s *service) putLike(ctx context.Context, in *PostPath) (*likeOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	l, err := s.like(ctx, who.Sub, in.ID)
	return &likeOutput{likeOf(l)}, err
}

func (s *service) deleteLike(ctx context.Context, in *PostPath) (*struct{}, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	return nil, s.unlike(ctx, who.Sub, in.ID)
}

func (s *service) listLikes(ctx context.Context, in *listOfPostInput) (*api.PageOutput[Like], error) {
	page, err := s.likes(ctx, in.ID, in.Options())
	return api.PageOf(page, likeOf), err
}

func (s *service) listOwnLikes(ctx context.Context, in *struct{ api.PageQuery }) (*api.PageOutput[Like], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	page, err := s.ownLikes(ctx, who.Sub, in.Options())
	return api.PageOf(page, likeOf), err
}
