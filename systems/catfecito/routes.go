package catfecito

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/catfecito/payments"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/live"
)

// caller is the field of access patterns that is set to the caller's id.
const caller = "UserID"

// routes registers the API. Routes named after an access pattern of the design call it directly; the others call domain
// functions.
func (s *service) routes(a huma.API) {
	s.accountRoutes(a)
	s.shopRoutes(a)
}

func (s *service) accountRoutes(a huma.API) {
	staff := api.Groups(AdminGroup)

	accounts := api.Tag(a, "Accounts")
	api.Create[User](accounts, "/users", "registerUser", "Sign up", s.signUp, api.Tokenless,
		api.Refuses(errLogInElsewhere, catfecitodb.ErrUserEmailTaken, errWeakPassword, errBreachedPassword),
		api.About("The address must not be in use, regardless of case. A retry with the same key, body and password gets the same response."))
	api.Get[User](accounts, "/me", "getOwnUser", "Your user", s.ownUser, api.NotFound)
	api.Get[User](accounts, "/users/{userId}", "getUser", "A user", api.Call[UserPath](s.db.UserByID), staff, api.NotFound)
	api.Put[User](accounts, "/users/{userId}/role", "putRole", "Change a user's role", s.setRole, staff, api.NotFound,
		api.Refuses(errOwnRole),
		api.About("It takes effect at once. Users cannot change their own role."))

	sessions := api.Tag(a, "Sessions")
	api.Post[Session](sessions, "/login", "logIn", "Log in", s.logIn, api.Tokenless, api.Cache("no-store"),
		api.Refuses(errLogInElsewhere, errWrongLogIn),
		api.About("Send the access token with each request; it is valid for a few minutes. Exchange the refresh token, once, for new tokens."))
	api.Post[Session](sessions, "/sessions/refresh", "refreshSession", "Exchange a refresh token", s.refresh, api.Tokenless, api.Cache("no-store"),
		api.Refuses(errLogInElsewhere, errSessionEnded(nil)),
		api.About("Each refresh token can be used once, and again within ten seconds in case the response was lost. A later reuse ends the session."))
	api.List[Device](sessions, "/me/sessions", "listSessions", "Your sessions, newest first", api.Pages[api.PageQuery](s.db.SessionsOfUser, caller))
	api.Delete(sessions, "/me/sessions/{sessionId}", "logOut", "Log out", s.logOut,
		api.Refuses(errLogInElsewhere),
		api.About("current is the session of the token. Its tokens are rejected from then on."))
	api.Put[Session](sessions, "/me/password", "changePassword", "Change your password", s.changePassword, api.NotFound, api.Cache("no-store"),
		api.Refuses(errLogInElsewhere, errWrongPassword, errWeakPassword, errBreachedPassword),
		api.About("All your sessions end; the response has a new one."))
	api.Effect(sessions, http.MethodPost, "/me/verification", "sendVerification", "Send a code to your address", http.StatusAccepted, s.askToVerify, api.NotFound,
		api.Refuses(errNoMail, errVerified))
	api.Put[User](sessions, "/me/verification", "verifyEmail", "Verify your address with the code", s.verify, api.NotFound,
		api.Refuses(errNoMail, errCode))
	api.Effect(sessions, http.MethodPost, "/password-resets", "sendPasswordReset", "Send a code for a new password", http.StatusAccepted, s.askToReset, api.Tokenless,
		api.Refuses(errLogInElsewhere, errNoMail),
		api.About("The response does not reveal whether the address is registered."))
	api.Effect(sessions, http.MethodPut, "/password-resets", "resetPassword", "Set a new password with the code", http.StatusNoContent, s.resetPassword, api.Tokenless,
		api.Refuses(errLogInElsewhere, errNoMail, errCode, errWeakPassword, errBreachedPassword),
		api.About("All sessions of the user end."))
}

func (s *service) shopRoutes(a huma.API) {
	staff := api.Groups(AdminGroup)

	catalogue := api.Tag(a, "Catalogue")
	api.List[Category](catalogue, "/categories", "listCategories", "All categories, by name", api.Pages[api.PageQuery](api.All(s.db.Categories)), api.Public)
	api.Get[Category](catalogue, "/categories/{categoryId}", "getCategory", "A category", api.Call[CategoryPath](s.db.CategoryByID), api.Public, api.NotFound)
	api.List[Offer](catalogue, "/categories/{categoryId}/products", "listCategoryProducts", "Products on sale in a category, by name",
		api.Pages[categoryPage](s.db.ProductsByCategory), api.Public)
	api.List[Offer](catalogue, "/products", "listProducts", "Products on sale, by name",
		s.offers, api.Public,
		api.About("With name, products whose name starts with it; with q, products with words that start with its words. Case and accents are ignored."))
	api.Get[Product](catalogue, "/products/{productId}", "getProduct", "A product, on sale or not", api.Call[ProductPath](s.db.ProductByID), api.Public, api.NotFound)
	api.Put[Category](catalogue, "/categories/{categoryId}", "putCategory", "Create or change a category", s.saveCategory, staff,
		api.Refuses(catfecitodb.ErrCategoryExists))
	api.Create[Product](catalogue, "/products", "createProduct", "Create a product", s.createProduct, staff, api.At("products/{productId}"),
		api.Refuses(catfecitodb.ErrNoSuchCategory),
		api.About("It is on sale at once."))
	api.Put[Product](catalogue, "/products/{productId}", "putProduct", "Change a product, except for its stock and whether it is on sale", s.changeProduct, staff,
		api.NotFound, api.Refuses(catfecitodb.ErrNoSuchCategory))
	api.Put[Product](catalogue, "/products/{productId}/active", "putProductActive", "Put a product on or off sale",
		api.Call[changedActive](s.db.SetProductActive), staff, api.NotFound)
	api.Create[Pieces](catalogue, "/products/{productId}/restocks", "restockProduct", "Add stock", s.restock, staff, api.NotFound)
	api.List[Holder](catalogue, "/products/{productId}/carts", "listProductCarts", "Users with a product in their cart", api.Pages[productPage](s.db.CartsWithProduct), staff)

	cart := api.Tag(a, "Cart")
	api.Get[Cart](cart, "/cart", "getCart", "Your cart with current prices and stock", s.ownCart)
	api.Create[Pieces](cart, "/cart/items", "addToCart", "Add a product to your cart", s.add, api.NotFound, api.Refuses(errCartFull, catfecitodb.ErrCartLineFull, catfecitodb.ErrProductUnavailable))
	api.Put[Pieces](cart, "/cart/items/{productId}", "setCartItem", "Set the quantity of a product in your cart", s.set, api.NotFound,
		api.Refuses(errCartFull, catfecitodb.ErrProductUnavailable))
	api.Delete(cart, "/cart/items/{productId}", "removeFromCart", "Remove a product from your cart", api.Do[ProductPath](s.db.RemoveFromCart, caller))

	orders := api.Tag(a, "Orders")
	api.Create[WholeOrder](orders, "/orders", "checkout", "Order your cart", s.checkout, api.At("orders/{orderId}"),
		api.Refuses(errCartFull, errCartEmpty, errAddressMissing, errTotalChanged, catfecitodb.ErrCartChanged, catfecitodb.ErrProductUnavailable, catfecitodb.ErrOutOfStock, catfecitodb.ErrProductChanged),
		api.About("The request states the total that you agree to; it must be the cart's current total. The order, its lines, the cart and the stock change in one transaction."))
	api.List[Order](orders, "/orders", "listOrders", "Your orders, newest first", api.Pages[api.PageQuery](s.db.UserOrders, caller))
	api.Get[WholeOrder](orders, "/orders/{orderId}", "getOrder", "One of your orders with its lines; for staff, any order", s.order, api.NotFound,
		api.Refuses(errAnothersOrder))
	api.Post[PaymentPage](orders, "/orders/{orderId}/payments", "beginPayment", "Start the payment of one of your orders", s.beginPayment, api.NotFound,
		api.Refuses(errNoProvider, errAnothersOrder, catfecitodb.ErrOrderNotPending),
		api.About("The response has the address of the payment page. An order that is not paid within 30 minutes is cancelled."))
	api.Post[PaymentResult](orders, "/payments/events", "paymentEvent", "The outcome of a payment, sent by its provider", s.paymentEvent,
		api.Tokenless, unvalidated,
		api.Refuses(errNoProvider, payments.ErrSignature, payments.ErrEvent),
		api.About("The request is signed by the provider and takes effect once, however often it is sent. A payment for an order that can no longer be paid is refunded."))
	api.Post[Order](orders, "/orders/{orderId}/pay", "payOrder", "Mark an order as paid in cash", s.payCash, staff, api.NotFound,
		api.Refuses(catfecitodb.ErrOrderNotPending))
	api.Post[Order](orders, "/orders/{orderId}/cancel", "cancelOrder", "Cancel one of your orders; for staff, any order", s.cancel, api.Acted, api.NotFound,
		api.Refuses(errAnothersOrder, catfecitodb.ErrOrderNotCancellable),
		api.About("Possible until it is shipped. The stock is restored."))
	api.Post[Order](orders, "/orders/{orderId}/ship", "shipOrder", "Ship a paid order", api.Call[OrderPath](s.db.ShipOrder), staff, api.NotFound,
		api.Refuses(catfecitodb.ErrOrderNotPaid))
	api.Post[Order](orders, "/orders/{orderId}/deliver", "deliverOrder", "Mark a shipped order as delivered", api.Call[OrderPath](s.db.DeliverOrder), staff, api.NotFound,
		api.Refuses(catfecitodb.ErrOrderNotShipped))

	op, events := orderEvents()
	live.Register(a, s.hub, op, events, s.watchOrders)

	desk := api.Tag(a, "Desk")
	api.List[OpenOrder](desk, "/desk/orders", "listOpenOrders", "Pending, paid or shipped orders, oldest first", api.Pages[openQuery](s.db.OpenOrders), staff)
	api.List[Product](desk, "/desk/products", "listShelf", "All products by name, on sale or not", s.shelf, staff)
	api.Get[Takings](desk, "/desk/takings", "getTakings", "Payments between two moments", s.takings, staff)
	api.Get[User](desk, "/desk/users", "findUser", "A user by e-mail address", s.userByEmail, staff, api.NotFound)

	api.List[FailedRefund](desk, "/desk/refunds", "listFailedRefunds", "Refunds that the payment provider has not made", api.Pages[api.PageQuery](api.All(s.db.FailedRefunds)), staff,
		api.About("Each is tried again every hour, ten times in all."))
	api.Effect(desk, http.MethodPost, "/desk/refunds/{orderId}", "retryRefund", "Try a failed refund again", http.StatusNoContent, s.retryRefund, staff, api.NotFound,
		api.Refuses(errRefundFailed))

	audit := api.Tag(a, "Audit")
	api.List[Entry](audit, "/audit/{subject}/{id}", "auditTrail", "Changes to a user, product, category or order, newest first",
		api.Pages[trailPage](s.db.AuditTrail), staff)
	api.ListActs(audit, s.db.ActsOfDay, staff)
}

// unvalidated is for bodies that are signed by their sender.
func unvalidated(op *huma.Operation) { op.SkipValidateBody = true }

// UserPath identifies a user. Path types are exported because huma ignores other embedded structs.
type UserPath struct {
	UserID string `path:"userId" maxLength:"128" pattern:"^[A-Za-z0-9._:@-]+$" patternDescription:"letters, digits and . _ : @ -" doc:"The user's id"`
}

// CategoryPath identifies a category.
type CategoryPath struct {
	CategoryID string `path:"categoryId" maxLength:"60" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" patternDescription:"a slug: small letters and digits, with - between" doc:"The category's slug"`
}

// ProductPath identifies a product.
type ProductPath struct {
	ProductID string `path:"productId" pattern:"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" patternDescription:"a uuid in small letters" doc:"The product's id"`
}

// OrderPath identifies an order.
type OrderPath struct {
	OrderID string `path:"orderId" pattern:"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" patternDescription:"a uuid in small letters" doc:"The order's id"`
}

type categoryPage struct {
	CategoryPath
	api.PageQuery
}

type productPage struct {
	ProductPath
	api.PageQuery
}

type productQuery struct {
	api.PageQuery
	NamePrefix string `query:"name" maxLength:"100" doc:"A prefix of the name, ignoring case and accents"`
	Words      string `query:"q" maxLength:"100" doc:"Word prefixes of the name, ignoring case and accents"`
}

type pageOnly struct{ api.PageQuery }

type openQuery struct {
	api.PageQuery
	Status catfecitodb.OrderStatus `query:"status" required:"true" enum:"pending,paid,shipped" doc:"Their progress"`
}

type takingsQuery struct {
	From time.Time `query:"from" required:"true" doc:"The first moment"`
	To   time.Time `query:"to" required:"true" doc:"The end, exclusive; at most 25 hours later"`
}

type emailQuery struct {
	Email string `query:"email" required:"true" format:"email" maxLength:"254" doc:"The address"`
}

type trailPage struct {
	api.PageQuery
	Subject   catfecitodb.Subject `path:"subject" enum:"USER,PRODUCT,CATEGORY,ORDER" doc:"What it is about"`
	SubjectID string              `path:"id" maxLength:"128" pattern:"^[A-Za-z0-9._:@-]+$" patternDescription:"letters, digits and . _ : @ -" doc:"The id of the user, product or order, the slug of the category"`
}

// UserInput is a sign-up.
type UserInput struct {
	Email    string `json:"email" format:"email" maxLength:"254" doc:"The address for logging in"`
	Name     string `json:"name" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]+$" patternDescription:"without control characters" doc:"Your name"`
	Password string `json:"password" minLength:"8" maxLength:"128" doc:"Your password, at least eight characters"`
}

type logInRequest struct {
	UserAgent string `header:"User-Agent" doc:"The browser's user agent"`
	Body      LogInInput
}

// LogInInput is a log-in.
type LogInInput struct {
	Email    string `json:"email" format:"email" maxLength:"254" doc:"The address that you signed up with"`
	Password string `json:"password" minLength:"1" maxLength:"128" doc:"The password"`
}

// RefreshInput is a refresh token.
type RefreshInput struct {
	RefreshToken string `json:"refreshToken" minLength:"1" maxLength:"300" doc:"The last one received"`
}

// SessionPath identifies a session.
type SessionPath struct {
	SessionID string `path:"sessionId" pattern:"^([0-7][0-9A-HJKMNP-TV-Z]{25}|current)$" patternDescription:"a ULID, or current" doc:"The session's id, or current"`
}

type passwordRequest struct {
	UserAgent string `header:"User-Agent" doc:"The browser's user agent"`
	Body      PasswordInput
}

// PasswordInput changes a password.
type PasswordInput struct {
	OldPassword string `json:"oldPassword" minLength:"1" maxLength:"128" doc:"The current password"`
	Password    string `json:"password" minLength:"8" maxLength:"128" doc:"The new one"`
}

// VerificationInput verifies an address.
type VerificationInput struct {
	Code string `json:"code" pattern:"^[0-9]{6}$" patternDescription:"six digits" doc:"The code that was sent"`
}

// AddressInput is the e-mail address to which a code is sent.
type AddressInput struct {
	Email string `json:"email" format:"email" maxLength:"254" doc:"The address that you signed up with"`
}

// ResetInput sets a new password.
type ResetInput struct {
	Email    string `json:"email" format:"email" maxLength:"254" doc:"The address that you signed up with"`
	Code     string `json:"code" pattern:"^[0-9]{6}$" patternDescription:"six digits" doc:"The code that was sent"`
	Password string `json:"password" minLength:"8" maxLength:"128" doc:"The new password"`
}

type changedRole struct {
	UserPath
	Body RoleInput
}

// RoleInput is a user's new role.
type RoleInput struct {
	Role catfecitodb.Role `json:"role" enum:"customer,admin" doc:"The user's role"`
}

type changedCategory struct {
	CategoryPath
	IfNoneMatch string `header:"If-None-Match" enum:"*" doc:"With *, the category is created only if it does not exist; without it, an existing one is changed."`
	Body        CategoryInput
}

// CategoryInput is a category.
type CategoryInput struct {
	Name        string `json:"name" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]+$" patternDescription:"without control characters" doc:"Its name"`
	Description string `json:"description" maxLength:"2000" doc:"Its contents"`
}

// NewProductInput is a new product with its stock.
type NewProductInput struct {
	ProductInput
	Stock int64 `json:"stock" minimum:"0" maximum:"1000000" doc:"The number in stock"`
}

// ProductInput is a product.
type ProductInput struct {
	CategoryID  string  `json:"categoryId" maxLength:"60" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" patternDescription:"a slug: small letters and digits, with - between" doc:"The slug of its category"`
	Name        string  `json:"name" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]+$" patternDescription:"without control characters" doc:"Its name"`
	Description string  `json:"description" maxLength:"2000" doc:"What it is"`
	Price       Money   `json:"price" pattern:"^(0|[1-9][0-9]{0,8})\\.[0-9]{2}$" patternDescription:"an amount such as 35.00, of 999999999.99 at most" doc:"The price of one"`
	ImageURL    *string `json:"imageUrl,omitempty" maxLength:"500" pattern:"^https?://[^\\s\"'<>]+$" patternDescription:"a URL of http or https" doc:"The address of its picture"`
}

type changedProduct struct {
	ProductPath
	api.Seen
	Body ProductInput
}

type changedActive struct {
	ProductPath
	Body ActiveInput
}

// ActiveInput puts a product on or off sale.
type ActiveInput struct {
	IsActive bool `json:"isActive" doc:"Whether it is on sale"`
}

type newRestock struct {
	api.Keyed
	ProductPath
	Body RestockInput
}

// RestockInput is a quantity to add to the stock.
type RestockInput struct {
	Quantity int64 `json:"quantity" minimum:"1" maximum:"1000000" doc:"The quantity to add"`
}

// CartItemInput is a quantity to add to a cart line.
type CartItemInput struct {
	ProductID string `json:"productId" pattern:"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" patternDescription:"a uuid in small letters" doc:"The product's id"`
	Quantity  int64  `json:"quantity" minimum:"1" maximum:"99" doc:"The quantity to add"`
}

type setItem struct {
	ProductPath
	Body QuantityInput
}

// QuantityInput sets the quantity of a cart line.
type QuantityInput struct {
	Quantity int64 `json:"quantity" minimum:"1" maximum:"99" doc:"How many"`
}

// OrderInput is what a customer has agreed to.
type OrderInput struct {
	Total    Money     `json:"total" doc:"The cart's total that you agree to"`
	Delivery *Delivery `json:"delivery,omitempty" doc:"The delivery address and contact"`
}

// Delivery is an order's delivery address.
type Delivery struct {
	Way     catfecitodb.DeliveryWay `json:"way" enum:"pickup,delivery" doc:"Pickup or delivery"`
	Name    string                  `json:"name" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]+$" patternDescription:"without control characters" doc:"The contact"`
	Phone   string                  `json:"phone" minLength:"5" maxLength:"30" pattern:"^[0-9+(). -]+$" patternDescription:"digits, spaces and + ( ) . -" doc:"Where to call"`
	Address *string                 `json:"address,omitempty" maxLength:"300" doc:"The delivery address"`
	Note    *string                 `json:"note,omitempty" maxLength:"300" doc:"Notes"`
}

type keyedOrder struct {
	api.Keyed
	OrderPath
}

// signedEvent is the raw request of a webhook: the signature covers its bytes.
type signedEvent struct {
	RawBody []byte `contentType:"application/json"`
	header  http.Header
}

// Resolve keeps the headers, because only the provider knows which of them are signed.
func (in *signedEvent) Resolve(ctx huma.Context) []error {
	in.header = http.Header{}
	ctx.EachHeader(in.header.Add)
	return nil
}
