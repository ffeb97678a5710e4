package portfolio

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

func (s *service) registerBookmarks(a huma.API) {
	huma.Register(a, huma.Operation{
		OperationID: "listBookmarks", Method: http.MethodGet, Path: "/bookmarks", Tags: []string{tagBookmarks},
		Summary: "Your bookmarks, newest first",
	}, s.listBookmarks)
	huma.Register(a, huma.Operation{
		OperationID: "getBookmark", Method: http.MethodGet, Path: "/bookmarks/{id}", Tags: []string{tagBookmarks},
		Summary: "Your bookmark of a post", Errors: []int{http.StatusNotFound},
	}, s.getBookmark)
	huma.Register(a, huma.Operation{
		OperationID: "putBookmark", Method: http.MethodPut, Path: "/bookmarks/{id}", Tags: []string{tagBookmarks},
		Summary: "Keep a post", Errors: []int{http.StatusNotFound},
	}, s.putBookmark)
	huma.Register(a, huma.Operation{
		OperationID: "deleteBookmark", Method: http.MethodDelete, Path: "/bookmarks/{id}", Tags: []string{tagBookmarks},
		Summary: "Forget a post", DefaultStatus: http.StatusNoContent,
	}, s.deleteBookmark)
}

func (s *service) listBookmarks(ctx context.Context, in *struct{ api.PageQuery }) (*api.PageOutput[Bookmark], error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	page, err := s.bookmarks(ctx, who.Sub, in.Options())
	return api.PageOf(page, bookmarkOf), err
}

type bookmarkOutput struct{ Body Bookmark }

func (s *service) getBookmark(ctx context.Context, in *PostPath) (*bookmarkOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	b, err := s.bookmark(ctx, who.Sub, in.ID)
	return &bookmarkOutput{bookmarkOf(b)}, err
}

func (s *service) putBookmark(ctx context.Context, in *PostPath) (*bookmarkOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	b, err := s.addBookmark(ctx, who.Sub, in.ID)
	return &bookmarkOutput{bookmarkOf(b)}, err
}

func (s *service) deleteBookmark(ctx context.Context, in *PostPath) (*struct{}, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	return nil, s.removeBookmark(ctx, who.Sub, in.ID)
}
