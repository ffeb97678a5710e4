package portfolio

import (
	"context"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/portfolio/portfoliodb"
)

// saveCategory makes a category, or changes it; when it was made stays.
func (s *service) saveCategory(ctx context.Context, categoryID, slug, name string) (portfoliodb.Category, error) {
	result, err := s.db.SaveCategory(ctx, portfoliodb.SaveCategoryInput{CategoryID: categoryID, Slug: slug, Name: name})
	if err != nil {
		return portfoliodb.Category{}, err
	}
	return *result.Category, nil // it was read, for its slug
}

// category is a category by its id.
func (s *service) category(ctx context.Context, categoryID string) (portfoliodb.Category, error) {
	return s.db.CategoryByID(ctx, portfoliodb.CategoryByIDInput{CategoryID: categoryID})
}

// categoryBySlug is a category by its slug.
func (s *service) categoryBySlug(ctx context.Context, slug string) (portfoliodb.Category, error) {
	return s.db.CategoryBySlug(ctx, portfoliodb.CategoryBySlugInput{Slug: slug})
}

// categories are a page of all categories, by slug.
func (s *service) categories(ctx context.Context, page table.PageOptions) (table.Page[portfoliodb.Category], error) {
	return s.db.Categories(ctx, page)
}
