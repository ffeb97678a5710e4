package catfecito

import (
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
)

// User is who has signed up.
type User struct {
	UserID    string           `json:"userId" doc:"The sub of the user's access tokens"`
	Email     string           `json:"email" format:"email" doc:"The address that the user logs in with"`
	Name      string           `json:"name" doc:"What the user is called"`
	Role      catfecitodb.Role `json:"role" enum:"customer,admin" doc:"What the user may do"`
	CreatedAt time.Time        `json:"createdAt" doc:"When the user signed up"`
	Verified  bool             `json:"verified" doc:"Whether mail to the address is known to reach the user"`
}

func userOf(u catfecitodb.User) User {
	return User{UserID: u.UserID, Email: u.Email, Name: u.Name, Role: u.Role, CreatedAt: u.CreatedAt, Verified: u.VerifiedAt != nil}
}

// Category is a kind of products.
type Category struct {
	CategoryID  string `json:"categoryId" doc:"The category's slug"`
	Name        string `json:"name" doc:"What it is called"`
	Description string `json:"description" doc:"What is in it"`
}

func categoryOf(c catfecitodb.Category) Category {
	return Category{CategoryID: c.CategoryID, Name: c.Name, Description: c.Description}
}

// Offer is a product in a list.
type Offer struct {
	ProductID   string  `json:"productId" format:"uuid" doc:"The product's id"`
	CategoryID  string  `json:"categoryId" doc:"The slug of its category"`
	Name        string  `json:"name" doc:"What it is called"`
	Description *string `json:"description,omitempty" doc:"What it is; in lists of a category"`
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
}

func productOf(p catfecitodb.Product) Product {
	return Product{
		ProductID: p.ProductID, CategoryID: p.CategoryID, Name: p.Name, Description: p.Description, Price: Money(p.Price),
		Stock: p.Stock, ImageURL: p.ImageURL, IsActive: p.IsActive, CreatedAt: p.CreatedAt,
	}
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

func holderOf(c catfecitodb.CartsWithProductItem) Holder {
	return Holder{UserID: c.UserID, Quantity: c.Quantity}
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
}

func orderOf(o catfecitodb.Order) Order {
	return Order{OrderID: o.OrderID, Status: o.Status, Total: Money(o.Total), CreatedAt: o.CreatedAt}
}

// WholeOrder is an order with its lines.
type WholeOrder struct {
	Order
	UserID string      `json:"userId" doc:"Whose it is"`
	Items  []OrderLine `json:"items" nullable:"false" doc:"A line for each product"`
}

// OrderLine is a product as it was sold.
type OrderLine struct {
	ProductID string `json:"productId" format:"uuid" doc:"The product's id"`
	Name      string `json:"name" doc:"What it was called"`
	Price     Money  `json:"price" doc:"What one cost"`
	Quantity  int64  `json:"quantity" doc:"How many"`
	Subtotal  Money  `json:"subtotal" doc:"What they cost"`
}

func wholeOrderOf(o order) WholeOrder {
	whole := WholeOrder{Order: orderOf(o.Order), UserID: o.UserID, Items: make([]OrderLine, len(o.lines))}
	for i, l := range o.lines {
		whole.Items[i] = OrderLine{
			ProductID: l.ProductID, Name: l.ProductName, Price: Money(l.Price), Quantity: l.Quantity, Subtotal: Money(l.Subtotal),
		}
	}
	// As they are stored: those of an order that has just been made come in the cart's order.
	slices.SortFunc(whole.Items, func(a, b OrderLine) int { return strings.Compare(a.ProductID, b.ProductID) })
	return whole
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

func entryOf(e catfecitodb.AuditEntry) Entry {
	out := Entry{At: e.At, Change: e.Change, Item: e.Item, Fields: make([]Difference, len(e.Fields))}
	for i, f := range e.Fields {
		out.Fields[i] = Difference{Field: f.Field, Before: f.Before, After: f.After}
	}
	return out
}
