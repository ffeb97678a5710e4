package catfecito

import (
	"time"

	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/byname"
)

// Response types. Each field is filled from the stored field of the same name, so a type lists everything that others can see.

// User is who has signed up.
type User struct {
	UserID     string           `json:"userId" doc:"The sub of the user's access tokens"`
	Email      string           `json:"email" format:"email" doc:"The address that the user logs in with"`
	Name       string           `json:"name" doc:"What the user is called"`
	Role       catfecitodb.Role `json:"role" enum:"customer,admin" doc:"What the user may do"`
	CreatedAt  time.Time        `json:"createdAt" doc:"When the user signed up"`
	VerifiedAt *time.Time       `json:"verifiedAt,omitempty" doc:"When mail to the address is known to have reached the user; absent where it never did"`
}

// Session is what a log-in gives.
type Session struct {
	AccessToken  string `json:"accessToken" doc:"Goes with requests: Authorization: Bearer TOKEN"`
	TokenType    string `json:"tokenType" enum:"Bearer" doc:"Always Bearer"`
	ExpiresIn    int    `json:"expiresIn" doc:"For how many seconds it is accepted, if the session does not end before"`
	RefreshToken string `json:"refreshToken" doc:"Is exchanged for the next tokens, once"`
	User         User   `json:"user" doc:"Who has logged in"`
}

// Device is where a user is logged in.
type Device struct {
	SessionID string    `json:"sessionId" doc:"The session's id, a ULID"`
	Device    string    `json:"device" doc:"What the browser says of itself"`
	CreatedAt time.Time `json:"createdAt" doc:"When the user logged in"`
	UsedAt    time.Time `json:"usedAt" doc:"When tokens were exchanged last"`
}

// Category is a kind of products.
type Category struct {
	CategoryID  string `json:"categoryId" doc:"The category's slug"`
	Name        string `json:"name" doc:"What it is called"`
	Description string `json:"description" doc:"What is in it"`
}

// Offer is a product in a list.
type Offer struct {
	ProductID   string  `json:"productId" format:"uuid" doc:"The product's id"`
	CategoryID  string  `json:"categoryId" doc:"The slug of its category"`
	Name        string  `json:"name" doc:"What it is called"`
	Description *string `json:"description,omitempty" from:",optional" doc:"What it is; in lists of a category"`
	Price       Money   `json:"price" doc:"What one costs"`
	ImageURL    *string `json:"imageUrl,omitempty" doc:"Where a picture of it is"`
}

// Product is what is sold, or was.
type Product struct {
	ProductID   string    `json:"productId" format:"uuid" doc:"The product's id"`
	CategoryID  string    `json:"categoryId" doc:"The slug of its category"`
	Name        string    `json:"name" doc:"What it is called"`
	Description string    `json:"description" doc:"What it is"`
	Price       Money     `json:"price" doc:"What one costs"`
	Stock       int64     `json:"stock" doc:"How many there are"`
	ImageURL    *string   `json:"imageUrl,omitempty" doc:"Where a picture of it is"`
	IsActive    bool      `json:"isActive" doc:"Whether it is sold"`
	CreatedAt   time.Time `json:"createdAt" doc:"When it was made"`

	ChangedAt *time.Time `json:"changedAt,omitempty" doc:"When staff changed last what PUT changes; absent where nobody has yet"`
}

// Version implements api.Versioned. What sales change is not what staff edits.
func (p Product) Version() time.Time {
	if p.ChangedAt != nil {
		return *p.ChangedAt
	}
	return p.CreatedAt
}

// Pieces are so many of a product.
type Pieces struct {
	ProductID string `json:"productId" format:"uuid" doc:"The product's id"`
	Quantity  int64  `json:"quantity" doc:"How many"`
}

// Holder is a user with a product in his cart.
type Holder struct {
	UserID   string `json:"userId" doc:"Who"`
	Quantity int64  `json:"quantity" doc:"How many"`
}

// Cart is what somebody may be about to order.
type Cart struct {
	Items     []CartLine `json:"items" nullable:"false" doc:"A line for each product"`
	Total     Money      `json:"total" doc:"What all lines cost now; what a checkout has to agree to"`
	Orderable bool       `json:"orderable" doc:"Whether there is something in it, and all of it is available"`
}

// CartLine is a product in a cart as it is now.
type CartLine struct {
	ProductID string  `json:"productId" format:"uuid" doc:"The product's id"`
	Name      string  `json:"name" doc:"What it is called"`
	Price     Money   `json:"price" doc:"What one costs now"`
	Quantity  int64   `json:"quantity" doc:"How many are in the cart"`
	Subtotal  Money   `json:"subtotal" doc:"What they cost now"`
	Stock     int64   `json:"stock" doc:"How many there are"`
	Available bool    `json:"available" doc:"Whether it is sold, and there are so many"`
	ImageURL  *string `json:"imageUrl,omitempty" doc:"Where a picture of it is"`
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
	Status    catfecitodb.OrderStatus `json:"status" enum:"pending,paid,shipped,delivered,cancelled" doc:"How far it is"`
	Total     Money                   `json:"total" doc:"What it costs"`
	CreatedAt time.Time               `json:"createdAt" doc:"When it was made"`
	Summary   string                  `json:"summary,omitempty" doc:"Its lines in a few words"`
}

// WholeOrder is an order with its lines.
type WholeOrder struct {
	Order
	UserID   string                     `json:"userId" doc:"Whose it is"`
	Delivery *Delivery                  `json:"delivery,omitempty" doc:"Where it goes, and whom to ask for"`
	PaidAt   *time.Time                 `json:"paidAt,omitempty" doc:"When it was paid"`
	PaidWith *catfecitodb.PaymentMethod `json:"paidWith,omitempty" enum:"online,cash" doc:"How it was paid"`
	Items    []OrderLine                `json:"items" from:"Lines" nullable:"false" doc:"A line for each product"`
}

// OpenOrder is an order as staff see it among others.
type OpenOrder struct {
	Order
	UserID   string    `json:"userId" doc:"Whose it is"`
	Delivery *Delivery `json:"delivery,omitempty" doc:"Where it goes, and whom to ask for"`
}

// openOrderOf is what is told of an order.
func openOrderOf(o catfecitodb.Order) OpenOrder { return showOpenOrder(o) }

var showOpenOrder = byname.Copy[catfecitodb.Order, OpenOrder]() //nolint:gochecknoglobals // made once, never changed

// Takings are what was paid in a time.
type Takings struct {
	From     time.Time `json:"from" doc:"The first moment"`
	To       time.Time `json:"to" doc:"The moment after the last one"`
	Orders   int       `json:"orders" doc:"How many orders were paid, without those that were refunded"`
	Total    Money     `json:"total" doc:"What they came to"`
	Cash     Money     `json:"cash" doc:"What of it was cash"`
	Online   Money     `json:"online" doc:"What of it came from the provider of payments"`
	Refunds  int       `json:"refunds" doc:"How many orders were paid then and refunded later"`
	Refunded Money     `json:"refunded" doc:"What they came to"`
	Hours    []Money   `json:"hours" nullable:"false" doc:"The total by hours from the first moment on"`
}

// OrderLine is a product as it was sold.
type OrderLine struct {
	ProductID string `json:"productId" format:"uuid" doc:"The product's id"`
	Name      string `json:"name" from:"ProductName" doc:"What it was called"`
	Price     Money  `json:"price" doc:"What one cost"`
	Quantity  int64  `json:"quantity" doc:"How many"`
	Subtotal  Money  `json:"subtotal" doc:"What they cost"`
}

// PaymentPage is where to pay.
type PaymentPage struct {
	URL string `json:"url" format:"uri-reference" doc:"The page at which you pay; relative to the API's address, or absolute"`
}

// PaymentResult is what an event of a payment has done.
type PaymentResult struct {
	Outcome string `json:"outcome" enum:"applied,refunded,ignored" doc:"Whether the order is paid, the payment is given back, or nothing was to be done"`
}

// Entry is a change of a user, product, category or order.
type Entry struct {
	At     time.Time          `json:"at" doc:"When, to the second"`
	Change catfecitodb.Change `json:"change" enum:"INSERT,MODIFY,REMOVE" doc:"What became of the item"`
	Item   string             `json:"item" doc:"The item's kind: Order, OrderItem, …"`
	Fields []Difference       `json:"fields" nullable:"false" doc:"What is not as it was"`
}

// Difference is a field before and after a change.
type Difference struct {
	Field  string  `json:"field" doc:"The field"`
	Before *string `json:"before,omitempty" doc:"What it was; absent where there was nothing"`
	After  *string `json:"after,omitempty" doc:"What it is; absent where there is nothing any more"`
}
