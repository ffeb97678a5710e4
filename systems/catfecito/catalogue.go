package catfecito

import (
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/byname"
)

// saveCategory creates or changes a category. With If-None-Match it leaves an existing one alone.
func (s *service) saveCategory(ctx context.Context, _ auth.Principal, in changedCategory) (catfecitodb.Category, error) {
	if in.IfNoneMatch != "" {
		result, err := s.db.CreateCategory(ctx, catfecitodb.CreateCategoryInput{CategoryID: in.CategoryID, Name: in.Body.Name, Description: in.Body.Description})
		return result.Category, err
	}
	result, err := s.db.SaveCategory(ctx, catfecitodb.SaveCategoryInput{CategoryID: in.CategoryID, Name: in.Body.Name, Description: in.Body.Description})
	return result.Category, err
}

// createProduct creates a product. For a retry it returns the first response and sets replayed.
func (s *service) createProduct(ctx context.Context, who auth.Principal, in api.KeyedBody[NewProductInput]) (p catfecitodb.Product, replayed bool, err error) {
	p = catfecitodb.Product{
		CategoryID: in.Body.CategoryID, Name: in.Body.Name, Description: in.Body.Description, Price: int64(in.Body.Price),
		Stock: in.Body.Stock, ImageURL: in.Body.ImageURL, IsActive: true,
	}
	result, err := s.db.CreateProduct(ctx, catfecitodb.CreateProductInput{
		RequestKey: in.RequestKey, Operation: catfecitodb.OperationCreateProduct, UserID: who.Sub, CategoryID: p.CategoryID, Name: p.Name,
		Description: p.Description, Price: p.Price, Stock: p.Stock, ImageURL: p.ImageURL,
	})
	// The response repeats the input of the first request, because the product may have changed since.
	p.ProductID, p.CreatedAt = result.Product.ProductID, result.Product.CreatedAt
	return p, result.Replayed, err
}

var changeProduct = byname.Copy[changedProduct, catfecitodb.ChangeProductInput]() //nolint:gochecknoglobals // made once, never changed

// changeProduct changes a product except for its stock and whether it is on sale.
func (s *service) changeProduct(ctx context.Context, _ auth.Principal, in changedProduct) (catfecitodb.Product, error) {
	var result catfecitodb.ChangeProductResult
	err := in.Write(s.now(), storedVersion, func() (err error) {
		result, err = s.db.ChangeProduct(ctx, changeProduct(in))
		return err
	})
	if err != nil || result.Product != nil {
		return valueOf(result.Product), err
	}
	return s.db.ProductByID(ctx, catfecitodb.ProductByIDInput{ProductID: in.ProductID})
}

// storedVersion returns the version of the product that a rejected write has found.
func storedVersion(err error) time.Time {
	refusal, ok := errors.AsType[*table.Refusal](err)
	if !ok {
		return time.Time{}
	}
	item, _, _ := catfecitodb.Decode(refusal.Old)
	is, _ := item.(catfecitodb.Product)
	if is.ChangedAt != nil {
		return *is.ChangedAt
	}
	return is.CreatedAt
}

// restock adds to a product's stock, once per request key.
func (s *service) restock(ctx context.Context, who auth.Principal, in newRestock) (added Pieces, replayed bool, err error) {
	result, err := s.db.Restock(ctx, catfecitodb.RestockInput{
		RequestKey: in.RequestKey, Operation: catfecitodb.OperationRestock, UserID: who.Sub, ProductID: in.ProductID, Quantity: in.Body.Quantity,
	})
	return Pieces{in.ProductID, in.Body.Quantity}, result.Replayed, err
}

// valueOf dereferences a pointer; nil becomes the zero value.
func valueOf[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}
