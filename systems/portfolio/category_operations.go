package portfolio

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
)

func (s *service) registerCategories(a huma.API) {
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "listCategories", Method: http.MethodGet, Path: "/categories", Tags: []string{tagCategories},
		Summary: "All categories, by slug",
	}, api.Public), s.listCategories)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "getCategory", Method: http.MethodGet, Path: "/categories/{id}", Tags: []string{tagCategories},
		Summary: "A category by its id", Errors: []int{http.StatusNotFound},
	}, api.Public), s.getCategory)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "findCategory", Method: http.MethodGet, Path: "/slugs/{slug}", Tags: []string{tagCategories},
		Summary: "A category by its slug", Errors: []int{http.StatusNotFound},
	}, api.Public), s.findCategory)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "putCategory", Method: http.MethodPut, Path: "/categories/{id}", Tags: []string{tagCategories},
		Summary: "Make or change a category", Errors: []int{http.StatusConflict},
	}, api.Groups(AdminGroup)), s.putCategory)
}

func (s *service) listCategories(ctx context.Context, in *struct{ api.PageQuery }) (*api.PageOutput[Category], error) {
	page, err := s.categories(ctx, in.Options())
	return api.PageOf(page, categoryOf), err
}

type categoryOutput struct{ Body Category }

func (s *service) getCategory(ctx context.Context, in *CategoryPath) (*categoryOutput, error) {
	c, err := s.category(ctx, in.ID)
	return &categoryOutput{categoryOf(c)}, err
}

type findCategoryInput struct {
	Slug string `path:"slug" maxLength:"80" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" patternDescription:"small letters and digits, with - between" doc:"The category's slug"`
}

func (s *service) findCategory(ctx context.Context, in *findCategoryInput) (*categoryOutput, error) {
	c, err := s.categoryBySlug(ctx, in.Slug)
	return &categoryOutput{categoryOf(c)}, err
}

type putCategoryInput struct {
	CategoryPath
	Body struct {
		Slug string `json:"slug" maxLength:"80" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" patternDescription:"small letters and digits, with - between" doc:"Its name in addresses, which no other category may have"`
		Name string `json:"name" minLength:"1" maxLength:"100" pattern:"[^\\s\\p{Z}\\p{C}]" patternDescription:"a text that can be seen" doc:"Its name"`
	}
}

func (s *service) putCategory(ctx context.Context, in *putCategoryInput) (*categoryOutput, error) {
	c, err := s.saveCategory(ctx, in.ID, in.Body.Slug, in.Body.Name)
	return &categoryOutput{categoryOf(c)}, err
}
