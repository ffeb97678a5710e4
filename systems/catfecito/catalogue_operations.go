package catfecito

import (
	"context"

	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

// CategoryPath leads to a category.
type CategoryPath struct {
	CategoryID string `path:"categoryId" maxLength:"60" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" patternDescription:"a slug: small letters and digits, with - between" doc:"The category's slug"`
}

// ProductPath leads to a product.
type ProductPath struct {
	ProductID string `path:"productId" pattern:"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" patternDescription:"a uuid in small letters" doc:"The product's id"`
}

type categoryOutput struct{ Body Category }

type productOutput struct{ Body Product }

func (s *service) listCategories(ctx context.Context, in *struct{ api.PageQuery }) (*api.PageOutput[Category], error) {
	page, err := s.categories(ctx, in.Options())
	return api.PageOf(page, categoryOf), err
}

func (s *service) getCategory(ctx context.Context, in *CategoryPath) (*categoryOutput, error) {
	c, err := s.category(ctx, in.CategoryID)
	return &categoryOutput{categoryOf(c)}, err
}

type putCategoryInput struct {
	CategoryPath
	Body struct {
		Name        string `json:"name" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]+$" patternDescription:"without control characters" doc:"What it is called"`
		Description string `json:"description" maxLength:"2000" doc:"What is in it"`
	}
}

func (s *service) putCategory(ctx context.Context, in *putCategoryInput) (*categoryOutput, error) {
	c, err := s.saveCategory(ctx, catfecitodb.Category{CategoryID: in.CategoryID, Name: in.Body.Name, Description: in.Body.Description})
	return &categoryOutput{categoryOf(c)}, err
}

type listCategoryProductsInput struct {
	api.PageQuery
	CategoryPath
}

// sameOffer is an offer as it is: lists make them themselves.
func sameOffer(o Offer) Offer { return o }

func (s *service) listCategoryProducts(ctx context.Context, in *listCategoryProductsInput) (*api.PageOutput[Offer], error) {
	page, err := s.productsOf(ctx, in.CategoryID, in.Options())
	return api.PageOf(page, sameOffer), err
}

type listProductsInput struct {
	api.PageQuery
	Name string `query:"name" maxLength:"100" doc:"What the name begins with, in any case, with or without accents"`
}

func (s *service) listProducts(ctx context.Context, in *listProductsInput) (*api.PageOutput[Offer], error) {
	page, err := s.products(ctx, in.Name, in.Options())
	return api.PageOf(page, sameOffer), err
}

func (s *service) getProduct(ctx context.Context, in *ProductPath) (*productOutput, error) {
	p, err := s.product(ctx, in.ProductID)
	return &productOutput{productOf(p)}, err
}

// ProductBody is what staff say of a product.
type ProductBody struct {
	CategoryID  string  `json:"categoryId" maxLength:"60" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" patternDescription:"a slug: small letters and digits, with - between" doc:"The slug of its category"`
	Name        string  `json:"name" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]+$" patternDescription:"without control characters" doc:"What it is called"`
	Description string  `json:"description" maxLength:"2000" doc:"What it is"`
	Price       Money   `json:"price" pattern:"^(0|[1-9][0-9]{0,8})\\.[0-9]{2}$" patternDescription:"an amount such as 35.00, of 999999999.99 at most" doc:"What one costs"`
	ImageURL    *string `json:"imageUrl,omitempty" maxLength:"500" pattern:"^https?://[^\\s\"'<>]+$" patternDescription:"a URL of http or https" doc:"Where a picture of it is"`
}

func (d ProductBody) product() catfecitodb.Product {
	return catfecitodb.Product{
		CategoryID: d.CategoryID, Name: d.Name, Description: d.Description, Price: int64(d.Price), ImageURL: d.ImageURL,
	}
}

type postProductInput struct {
	api.IdempotencyKey
	Body struct {
		ProductBody
		Stock int64 `json:"stock" minimum:"0" maximum:"1000000" doc:"How many there are"`
	}
}

type postProductOutput struct {
	Status   int
	Location string `header:"Location" doc:"Where the product is"`
	Body     Product
}

func (s *service) postProduct(ctx context.Context, in *postProductInput) (*postProductOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	wanted := in.Body.product()
	wanted.Stock = in.Body.Stock
	p, replayed, err := s.createProduct(ctx, who.Sub, in.IdempotencyKey.IdempotencyKey, wanted)
	if err != nil {
		return nil, err
	}
	return &postProductOutput{Status: api.CreatedStatus(replayed), Location: "products/" + p.ProductID, Body: productOf(p)}, nil
}

type putProductInput struct {
	ProductPath
	Body ProductBody
}

func (s *service) putProduct(ctx context.Context, in *putProductInput) (*productOutput, error) {
	wanted := in.Body.product()
	wanted.ProductID = in.ProductID
	p, err := s.changeProduct(ctx, wanted)
	return &productOutput{productOf(p)}, err
}

type putProductActiveInput struct {
	ProductPath
	Body struct {
		IsActive bool `json:"isActive" doc:"Whether it is sold"`
	}
}

func (s *service) putProductActive(ctx context.Context, in *putProductActiveInput) (*productOutput, error) {
	p, err := s.setActive(ctx, in.ProductID, in.Body.IsActive)
	return &productOutput{productOf(p)}, err
}

type postRestockInput struct {
	api.IdempotencyKey
	ProductPath
	Body struct {
		Quantity int64 `json:"quantity" minimum:"1" maximum:"1000000" doc:"How many are added"`
	}
}

type piecesOutput struct {
	Status int
	Body   Pieces
}

func (s *service) postRestock(ctx context.Context, in *postRestockInput) (*piecesOutput, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	replayed, err := s.restock(ctx, who.Sub, in.IdempotencyKey.IdempotencyKey, in.ProductID, in.Body.Quantity)
	if err != nil {
		return nil, err
	}
	return &piecesOutput{Status: api.CreatedStatus(replayed), Body: Pieces{in.ProductID, in.Body.Quantity}}, nil
}

type listProductCartsInput struct {
	api.PageQuery
	ProductPath
}

func (s *service) listProductCarts(ctx context.Context, in *listProductCartsInput) (*api.PageOutput[Holder], error) {
	page, err := s.cartsWith(ctx, in.ProductID, in.Options())
	return api.PageOf(page, holderOf), err
}
