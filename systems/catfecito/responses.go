package catfecito

import (
	"time"

	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/byname"
)

// Response types. Fields are filled from the stored fields of the same name, so a type lists everything that callers can see.

// User is a registered user.
type User struct {
	UserID     string           `json:"userId" doc:"The sub of the user's access tokens"`
	Email      string           `json:"email" format:"email" doc:"The user's address for logging in"`
	Name       string           `json:"name" doc:"The user's name"`
	Role       catfecitodb.Role `json:"role" enum:"customer,admin" doc:"The user's role"`
	CreatedAt  time.Time        `json:"createdAt" doc:"When the user signed up"`
	VerifiedAt *time.Time       `json:"verifiedAt,omitempty" doc:"When the address was verified; absent if it was not"`
}

// Session is the result of a log-in.
type Session struct {
	AccessToken  string `json:"accessToken" doc:"Goes with requests: Authorization: Bearer TOKEN"`
	TokenType    string `json:"tokenType" enum:"Bearer" doc:"Always Bearer"`
	ExpiresIn    int    `json:"expiresIn" doc:"Its lifetime in seconds, unless the session ends earlier"`
	RefreshToken string `json:"refreshToken" doc:"Can be exchanged once for new tokens"`
	User         User   `json:"user" doc:"The user"`
}

// Device is a device on which a user is logged in.
type Device struct {
	SessionID string    `json:"sessionId" doc:"The session's id, a ULID"`
	Device    string    `json:"device" doc:"The browser's user agent"`
	CreatedAt time.Time `json:"createdAt" doc:"When the user logged in"`
	UsedAt    time.Time `json:"usedAt" doc:"When tokens were last exchanged"`
}

// Category is a category of products.
type Category struct {
	CategoryID  string `json:"categoryId" doc:"The category's slug"`
	Name        string `json:"name" doc:"Its name"`
	Description string `json:"description" doc:"Its contents"`
}

// Offer is a product in a list.
type Offer struct {
	ProductID   string  `json:"productId" format:"uuid" doc:"The product's id"`
	CategoryID  string  `json:"categoryId" doc:"The slug of its category"`
	Name        string  `json:"name" doc:"Its name"`
	Description *string `json:"description,omitempty" from:",optional" doc:"Its description; in lists of a category"`
	Price       Money   `json:"price" doc:"The price of one"`
	ImageURL    *string `json:"imageUrl,omitempty" doc:"The address of its picture"`
}

// Product is a product, on sale or not.
type Product struct {
	ProductID   string    `json:"productId" format:"uuid" doc:"The product's id"`
	CategoryID  string    `json:"categoryId" doc:"The slug of its category"`
	Name        string    `json:"name" doc:"Its name"`
	Description string    `json:"description" doc:"What it is"`
	Price       Money     `json:"price" doc:"The price of one"`
	Stock       int64     `json:"stock" doc:"The number in stock"`
	ImageURL    *string   `json:"imageUrl,omitempty" doc:"The address of its picture"`
	IsActive    bool      `json:"isActive" doc:"Whether it is on sale"`
	CreatedAt   time.Time `json:"createdAt" doc:"When it was created"`

	ChangedAt *time.Time `json:"changedAt,omitempty" doc:"When staff last changed it with PUT; absent if never"`
}

// Version implements api.Versioned. It ignores the fields that sales change.
func (p Product) Version() time.Time {
	if p.ChangedAt != nil {
		return *p.ChangedAt
	}
	return p.CreatedAt
}

// Pieces is a quantity of a product.
type Pieces struct {
	ProductID string `json:"productId" format:"uuid" doc:"The product's id"`
	Quantity  int64  `json:"quantity" doc:"How many"`
}

// Holder is a user with a product in the cart.
type Holder struct {
	UserID   string `json:"userId" doc:"Who"`
	Quantity int64  `json:"quantity" doc:"How many"`
}

// Cart is a user's cart.
type Cart struct {
	Items     []CartLine `json:"items" nullable:"false" doc:"A line for each product"`
	Total     Money      `json:"total" doc:"The current total of all lines, which a checkout must state"`
	Orderable bool       `json:"orderable" doc:"Whether it is not empty and everything in it is available"`
}

// CartLine is a line of a cart with the product's current data.
type CartLine struct {
	ProductID string  `json:"productId" format:"uuid" doc:"The product's id"`
	Name      string  `json:"name" doc:"Its name"`
	Price     Money   `json:"price" doc:"The current price of one"`
	Quantity  int64   `json:"quantity" doc:"The quantity in the cart"`
	Subtotal  Money   `json:"subtotal" doc:"Their current price"`
	Stock     int64   `json:"stock" doc:"The number in stock"`
	Available bool    `json:"available" doc:"Whether it is on sale and in stock"`
	ImageURL  *string `json:"imageUrl,omitempty" doc:"The address of its picture"`
}

func cartOf(lines []line) Cart {
	c := Cart{Items: make([]CartLine, len(lines)), Orderable: len(lines) > 0 && len(lines) <= cartLines}
	for i, l := range lines {
		p := valueOf(l.product)
		c.Items[i] = CartLine{
			ProductID: l.ProductID, Name: p.Name, Price: Money(p.Price), Quantity: l.Quantity, Subtotal: Money(l.subtotal()),
			Stock: p.Stock, Available: l.available(), ImageURL: p.ImageURL,
		}
		c.Total += c.Items[i].Subtotal
		c.Orderable = c.Orderable && l.available()
	}
	return c
}

// Order is an order without its lines.
type Order struct {
	OrderID   string                  `json:"orderId" format:"uuid" doc:"The order's id"`
	Status    catfecitodb.OrderStatus `json:"status" enum:"pending,paid,shipped,delivered,cancelled" doc:"Its status"`
	Total     Money                   `json:"total" doc:"Its price"`
	CreatedAt time.Time               `json:"createdAt" doc:"When it was created"`
	Summary   string                  `json:"summary,omitempty" doc:"A summary of its lines"`
}

// WholeOrder is an order with its lines.
type WholeOrder struct {
	Order
	UserID   string                     `json:"userId" doc:"Its owner"`
	Delivery *Delivery                  `json:"delivery,omitempty" doc:"The delivery address and contact"`
	PaidAt   *time.Time                 `json:"paidAt,omitempty" doc:"When it was paid"`
	PaidWith *catfecitodb.PaymentMethod `json:"paidWith,omitempty" enum:"online,cash" doc:"How it was paid"`
	Items    []OrderLine                `json:"items" from:"Lines" nullable:"false" doc:"A line for each product"`
}

// OpenOrder is an order in the staff's lists.
type OpenOrder struct {
	Order
	UserID   string    `json:"userId" doc:"Its owner"`
	Delivery *Delivery `json:"delivery,omitempty" doc:"The delivery address and contact"`
}

// openOrderOf converts an order for a list.
func openOrderOf(o catfecitodb.Order) OpenOrder { return showOpenOrder(o) }

var showOpenOrder = byname.Copy[catfecitodb.Order, OpenOrder]() //nolint:gochecknoglobals // made once, never changed

// Takings are the payments in a period.
type Takings struct {
	From     time.Time `json:"from" doc:"The first moment"`
	To       time.Time `json:"to" doc:"The end, exclusive"`
	Orders   int       `json:"orders" doc:"The number of paid orders, without refunded ones"`
	Total    Money     `json:"total" doc:"Their total"`
	Cash     Money     `json:"cash" doc:"The cash part"`
	Online   Money     `json:"online" doc:"The part paid through the payment provider"`
	Refunds  int       `json:"refunds" doc:"The number of paid orders that were refunded later"`
	Refunded Money     `json:"refunded" doc:"Their total"`
	Hours    []Money   `json:"hours" nullable:"false" doc:"The total by hour"`
}

// FailedRefund is a refund that the payment provider has not made.
type FailedRefund struct {
	OrderID   string    `json:"orderId" format:"uuid" doc:"The cancelled order"`
	PaymentID string    `json:"paymentId" doc:"The provider's payment"`
	Amount    Money     `json:"amount" doc:"The amount to refund"`
	Tries     int64     `json:"tries" doc:"How often it was tried"`
	FailedAt  time.Time `json:"failedAt" doc:"When it failed last"`
}

// OrderLine is a line of an order with the product as it was sold.
type OrderLine struct {
	ProductID string `json:"productId" format:"uuid" doc:"The product's id"`
	Name      string `json:"name" from:"ProductName" doc:"Its name at that time"`
	Price     Money  `json:"price" doc:"The price of one at that time"`
	Quantity  int64  `json:"quantity" doc:"How many"`
	Subtotal  Money  `json:"subtotal" doc:"Their price"`
}

// PaymentPage is the page at which to pay.
type PaymentPage struct {
	URL string `json:"url" format:"uri-reference" doc:"The payment page; absolute, or relative to the API's address"`
}

// PaymentResult is the effect of a payment event.
type PaymentResult struct {
	Outcome string `json:"outcome" enum:"applied,refunded,ignored" doc:"Whether the order was paid, the payment refunded, or nothing done"`
}

// Entry is a recorded change of a user, product, category or order.
type Entry struct {
	At     time.Time          `json:"at" doc:"When, to the second"`
	Change catfecitodb.Change `json:"change" enum:"INSERT,MODIFY,REMOVE" doc:"What happened to the item"`
	Item   string             `json:"item" doc:"The item's kind: Order, OrderItem, …"`
	Fields []Difference       `json:"fields" nullable:"false" doc:"What has changed"`
}

// Difference is a field before and after a change.
type Difference struct {
	Field  string  `json:"field" doc:"The field"`
	Before *string `json:"before,omitempty" doc:"The old value; absent if there was none"`
	After  *string `json:"after,omitempty" doc:"The new value; absent if there is none"`
}
