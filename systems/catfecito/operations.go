package catfecito

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
)

// The groups of operations in the document.
const (
	tagAccounts  = "Accounts"
	tagSessions  = "Sessions"
	tagCatalogue = "Catalogue"
	tagCart      = "Cart"
	tagOrders    = "Orders"
	tagAudit     = "Audit"
)

// The statuses that operations add to those of all.
const (
	missing  = http.StatusNotFound
	conflict = http.StatusConflict
)

// register adds the operations to the API.
func (s *service) register(a huma.API) {
	s.registerAccounts(a)
	s.registerSessions(a)
	s.registerCatalogue(a)
	s.registerStock(a)
	s.registerCart(a)
	s.registerOrders(a)
	staff := api.Groups(AdminGroup)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "auditTrail", Method: http.MethodGet, Path: "/audit/{subject}/{id}", Tags: []string{tagAudit},
		Summary: "What has changed of a user, product, category or order, newest first",
	}, staff), s.auditTrail)
}

func (s *service) registerAccounts(a huma.API) {
	staff := api.Groups(AdminGroup)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "registerUser", Method: http.MethodPost, Path: "/users", Tags: []string{tagAccounts},
		Summary:       "Sign up",
		Description:   "The address must be nobody's yet, in small letters or capitals. Sent again with the same key, body and password, it is answered as the first time.",
		DefaultStatus: http.StatusCreated, Errors: []int{missing},
	}, api.Tokenless), s.registerUser)
	huma.Register(a, huma.Operation{
		OperationID: "getOwnUser", Method: http.MethodGet, Path: "/me", Tags: []string{tagAccounts},
		Summary: "Who you are",
		Errors:  []int{missing},
	}, s.getOwnUser)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "getUser", Method: http.MethodGet, Path: "/users/{userId}", Tags: []string{tagAccounts},
		Summary: "A user",
		Errors:  []int{missing},
	}, staff), s.getUser)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "putRole", Method: http.MethodPut, Path: "/users/{userId}/role", Tags: []string{tagAccounts},
		Summary:     "Change what a user may do",
		Description: "It takes effect at once. Users cannot change their own role.",
		Errors:      []int{missing, conflict},
	}, staff), s.putRole)
}

func (s *service) registerCatalogue(a huma.API) {
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "listCategories", Method: http.MethodGet, Path: "/categories", Tags: []string{tagCatalogue},
		Summary: "All categories, by name",
	}, api.Public), s.listCategories)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "getCategory", Method: http.MethodGet, Path: "/categories/{categoryId}", Tags: []string{tagCatalogue},
		Summary: "A category",
		Errors:  []int{missing},
	}, api.Public), s.getCategory)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "listCategoryProducts", Method: http.MethodGet, Path: "/categories/{categoryId}/products", Tags: []string{tagCatalogue},
		Summary: "What is sold of a category, by name",
	}, api.Public), s.listCategoryProducts)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "listProducts", Method: http.MethodGet, Path: "/products", Tags: []string{tagCatalogue},
		Summary:     "What is sold, by name",
		Description: "With name, what is sold whose name begins so: in any case, with or without accents.",
	}, api.Public), s.listProducts)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "getProduct", Method: http.MethodGet, Path: "/products/{productId}", Tags: []string{tagCatalogue},
		Summary: "A product, sold still or not",
		Errors:  []int{missing},
	}, api.Public), s.getProduct)
}

func (s *service) registerStock(a huma.API) {
	staff := api.Groups(AdminGroup)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "putCategory", Method: http.MethodPut, Path: "/categories/{categoryId}", Tags: []string{tagCatalogue},
		Summary: "Make or change a category",
	}, staff), s.putCategory)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "createProduct", Method: http.MethodPost, Path: "/products", Tags: []string{tagCatalogue},
		Summary:       "Make a product",
		Description:   "It is sold from now on.",
		DefaultStatus: http.StatusCreated,
	}, staff), s.postProduct)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "putProduct", Method: http.MethodPut, Path: "/products/{productId}", Tags: []string{tagCatalogue},
		Summary: "Change all of a product but its stock and whether it is sold",
		Errors:  []int{missing, conflict},
	}, staff), s.putProduct)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "putProductActive", Method: http.MethodPut, Path: "/products/{productId}/active", Tags: []string{tagCatalogue},
		Summary: "Sell a product, or do not any more",
		Errors:  []int{missing},
	}, staff), s.putProductActive)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "restockProduct", Method: http.MethodPost, Path: "/products/{productId}/restocks", Tags: []string{tagCatalogue},
		Summary:       "Add to what there is of a product",
		DefaultStatus: http.StatusCreated, Errors: []int{missing},
	}, staff), s.postRestock)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "listProductCarts", Method: http.MethodGet, Path: "/products/{productId}/carts", Tags: []string{tagCatalogue},
		Summary: "Who has a product in the cart",
	}, staff), s.listProductCarts)
}

func (s *service) registerCart(a huma.API) {
	huma.Register(a, huma.Operation{
		OperationID: "getCart", Method: http.MethodGet, Path: "/cart", Tags: []string{tagCart},
		Summary: "Your cart, with prices and stock as they are now",
	}, s.getCart)
	huma.Register(a, huma.Operation{
		OperationID: "addToCart", Method: http.MethodPost, Path: "/cart/items", Tags: []string{tagCart},
		Summary:       "Put so many more into your cart",
		DefaultStatus: http.StatusCreated, Errors: []int{missing},
	}, s.postCartItem)
	huma.Register(a, huma.Operation{
		OperationID: "setCartItem", Method: http.MethodPut, Path: "/cart/items/{productId}", Tags: []string{tagCart},
		Summary: "Have so many in your cart",
		Errors:  []int{missing, conflict},
	}, s.putCartItem)
	huma.Register(a, huma.Operation{
		OperationID: "removeFromCart", Method: http.MethodDelete, Path: "/cart/items/{productId}", Tags: []string{tagCart},
		Summary:       "Take a product out of your cart",
		DefaultStatus: http.StatusNoContent,
	}, s.deleteCartItem)
}

func (s *service) registerOrders(a huma.API) {
	staff := api.Groups(AdminGroup)
	huma.Register(a, huma.Operation{
		OperationID: "checkout", Method: http.MethodPost, Path: "/orders", Tags: []string{tagOrders},
		Summary:       "Order what is in your cart",
		Description:   "The cart's total must be the one that you agree to. The order, its lines, the cart and the stock change together or not at all.",
		DefaultStatus: http.StatusCreated,
	}, s.postOrder)
	huma.Register(a, huma.Operation{
		OperationID: "listOrders", Method: http.MethodGet, Path: "/orders", Tags: []string{tagOrders},
		Summary: "Your orders, newest first",
	}, s.listOrders)
	huma.Register(a, huma.Operation{
		OperationID: "getOrder", Method: http.MethodGet, Path: "/orders/{orderId}", Tags: []string{tagOrders},
		Summary: "One of your orders with its lines; any, for staff",
		Errors:  []int{http.StatusForbidden, missing},
	}, s.getOrder)
	huma.Register(a, huma.Operation{
		OperationID: "beginPayment", Method: http.MethodPost, Path: "/orders/{orderId}/payments", Tags: []string{tagOrders},
		Summary:     "Begin to pay one of your orders",
		Description: "The answer has the address of the page at which you pay. An order that is not paid within 30 minutes is cancelled.",
		Errors:      []int{http.StatusForbidden, missing, conflict},
	}, s.postPayment)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "paymentEvent", Method: http.MethodPost, Path: "/payments/events", Tags: []string{tagOrders}, SkipValidateBody: true,
		Summary:     "What became of a payment, told by its provider",
		Description: "The request is signed by the provider, and is done once however often it comes. A payment that pays no order any more is refunded.",
		Errors:      []int{http.StatusUnauthorized, missing},
	}, api.Tokenless), s.postPaymentEvent)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "payOrder", Method: http.MethodPost, Path: "/orders/{orderId}/pay", Tags: []string{tagOrders},
		Summary: "Mark an order as paid in cash",
		Errors:  []int{missing},
	}, staff), s.payOrder)
	huma.Register(a, huma.Operation{
		OperationID: "cancelOrder", Method: http.MethodPost, Path: "/orders/{orderId}/cancel", Tags: []string{tagOrders},
		Summary:     "Cancel one of your orders; any, for staff",
		Description: "Until it is sent. Its goods go back into the stock.",
		Errors:      []int{http.StatusForbidden, missing},
	}, s.cancelOrder)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "shipOrder", Method: http.MethodPost, Path: "/orders/{orderId}/ship", Tags: []string{tagOrders},
		Summary: "Send an order that is paid",
		Errors:  []int{missing, conflict},
	}, staff), s.shipOrder)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "deliverOrder", Method: http.MethodPost, Path: "/orders/{orderId}/deliver", Tags: []string{tagOrders},
		Summary: "Hand over an order that was sent",
		Errors:  []int{missing, conflict},
	}, staff), s.deliverOrder)
}
