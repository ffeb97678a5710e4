package catfecito

import (
	"context"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
)

// categories are a page of all, by name.
func (s *service) categories(ctx context.Context, page table.PageOptions) (table.Page[catfecitodb.Category], error) {
	return s.db.Categories(ctx, page)
}

// category is one by its slug.
func (s *service) category(ctx context.Context, categoryID string) (catfecitodb.Category, error) {
	return s.db.CategoryByID(ctx, catfecitodb.CategoryByIDInput{CategoryID: categoryID})
}

// saveCategory makes a category, or changes it.
func (s *service) saveCategory(ctx context.Context, c catfecitodb.Category) (catfecitodb.Category, error) {
	result, err := s.db.SaveCategory(ctx, catfecitodb.SaveCategoryInput(c))
	return result.Category, err
}

// products are a page of what is sold whose name begins so, in any case, with or without accents, by name.
func (s *service) products(ctx context.Context, name string, page table.PageOptions) (table.Page[Offer], error) {
	if name == "" {
		found, err := s.db.ActiveProducts(ctx, page)
		return offers(found, func(p catfecitodb.ActiveProductsItem) Offer {
			return Offer{ProductID: p.ProductID, CategoryID: p.CategoryID, Name: p.Name, Price: Money(p.Price), ImageURL: p.ImageURL}
		}), err
	}
	found, err := s.db.SearchProducts(ctx, catfecitodb.SearchProductsInput{NamePrefix: name}, page)
	return offers(found, func(p catfecitodb.SearchProductsItem) Offer {
		return Offer{ProductID: p.ProductID, CategoryID: p.CategoryID, Name: p.Name, Price: Money(p.Price), ImageURL: p.ImageURL}
	}), err
}

// productsOf are a page of what is sold of a category, by name.
func (s *service) productsOf(ctx context.Context, categoryID string, page table.PageOptions) (table.Page[Offer], error) {
	found, err := s.db.ProductsByCategory(ctx, catfecitodb.ProductsByCategoryInput{CategoryID: categoryID}, page)
	return offers(found, func(p catfecitodb.ProductsByCategoryItem) Offer {
		return Offer{
			ProductID: p.ProductID, CategoryID: p.CategoryID, Name: p.Name, Description: &p.Description, Price: Money(p.Price), ImageURL: p.ImageURL,
		}
	}), err
}

func offers[T any](page table.Page[T], offer func(T) Offer) table.Page[Offer] {
	out := table.Page[Offer]{Next: page.Next}
	for _, item := range page.Items {
		out.Items = append(out.Items, offer(item))
	}
	return out
}

// product is one by id, sold still or not.
func (s *service) product(ctx context.Context, productID string) (catfecitodb.Product, error) {
	return s.db.ProductByID(ctx, catfecitodb.ProductByIDInput{ProductID: productID})
}

// createProduct makes a product. A request that was made before is answered as it was then, and replayed is set.
func (s *service) createProduct(ctx context.Context, by, requestKey string, p catfecitodb.Product) (made catfecitodb.Product, replayed bool, err error) {
	result, err := s.db.CreateProduct(ctx, catfecitodb.CreateProductInput{
		RequestKey: requestKey, Operation: catfecitodb.OperationCreateProduct, UserID: by, CategoryID: p.CategoryID, Name: p.Name,
		Description: p.Description, Price: p.Price, Stock: p.Stock, ImageURL: p.ImageURL,
	})
	if err != nil {
		return catfecitodb.Product{}, false, err
	}
	// What the request said is what the first one said: the product may have changed since.
	p.ProductID, p.CreatedAt, p.IsActive = result.Product.ProductID, result.Product.CreatedAt, true
	return p, result.Replayed, nil
}

// changeProduct changes all of a product but its stock and whether it is sold.
func (s *service) changeProduct(ctx context.Context, p catfecitodb.Product) (catfecitodb.Product, error) {
	result, err := s.db.ChangeProduct(ctx, catfecitodb.ChangeProductInput{
		ProductID: p.ProductID, CategoryID: p.CategoryID, Name: p.Name, Description: p.Description, Price: p.Price, ImageURL: p.ImageURL,
	})
	if err != nil || result.Product != nil {
		return valueOf(result.Product), err
	}
	return s.product(ctx, p.ProductID)
}

// setActive sells a product, or does not any more.
func (s *service) setActive(ctx context.Context, productID string, active bool) (catfecitodb.Product, error) {
	result, err := s.db.SetProductActive(ctx, catfecitodb.SetProductActiveInput{ProductID: productID, IsActive: active})
	return result.Product, err
}

// restock adds to what there is of a product, once for each request key.
func (s *service) restock(ctx context.Context, by, requestKey, productID string, quantity int64) (replayed bool, err error) {
	result, err := s.db.Restock(ctx, catfecitodb.RestockInput{
		RequestKey: requestKey, Operation: catfecitodb.OperationRestock, UserID: by, ProductID: productID, Quantity: quantity,
	})
	return result.Replayed, err
}

// cartsWith are a page of the lines of all carts that have a product.
func (s *service) cartsWith(ctx context.Context, productID string, page table.PageOptions) (table.Page[catfecitodb.CartsWithProductItem], error) {
	return s.db.CartsWithProduct(ctx, catfecitodb.CartsWithProductInput{ProductID: productID}, page)
}

// valueOf is what a pointer leads to; nothing for none.
func valueOf[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}
