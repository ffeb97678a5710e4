package catfecito

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/seed"
)

const (
	// SamplePassword is the password of all sample users, sampleHash its hash at DefaultCost.
	SamplePassword = "catfecito"
	sampleHash     = table.Secret("$argon2id$v=19$m=19456,t=2,p=1$VeRi7b+gJLDZqx+eyr2Llg$R4PUiu1mMJQ16oSolxomtGgH2qoqYboqtB5S83vhtyM")

	// sampleShelf is the number of catalogue records, at the start of a sample: twenty per category.
	sampleShelf    = 200
	sampleCategory = 20
	// sampleBlock is the number of records of a user: a password, three cart lines and seven orders of four lines.
	sampleBlock = 40
	sampleCart  = 3
	sampleLines = 4
	// sampleFirstUser makes the first user the one whose token the demo's page shows.
	sampleFirstUser = 123
	// sampleStock is each product's stock.
	sampleStock = 1000
)

// sample generates a part of the sample data.
func sample(p seed.Part) iter.Seq[table.Record] {
	return func(yield func(table.Record) bool) {
		m := sampleMaker{Chance: p.Chance}
		for i := range p.Items {
			n := p.First + i
			// A user who would not fit into the sample is omitted.
			left := p.Items - i + (n-sampleShelf)%sampleBlock
			var r table.Record
			switch {
			case n < sampleShelf:
				r = shelf(n)
			case left < sampleBlock:
				r = outOfSale(n).Record()
			default:
				r = m.record(n, (n-sampleShelf)%sampleBlock)
			}
			if !yield(r) {
				return
			}
		}
	}
}

// sampleTime gives each record a second of its own, so that times do not depend on the sample's size.
func sampleTime(n int) time.Time {
	return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Second)
}

// shelf returns a record of the catalogue, which is the same in all parts: a category, or a product of the preceding category.
func shelf(n int) table.Record {
	if n%sampleCategory != 0 {
		return shelved(n).Record()
	}
	return sampleShelves()[n/sampleCategory].category.Record()
}

// shelved returns the n-th product. Every tenth is no longer on sale.
func shelved(n int) catfecitodb.Product {
	of := sampleShelves()[n/sampleCategory]
	p := of.products[n%sampleCategory-1]
	p.ProductID, p.CategoryID = productID(n), of.category.CategoryID
	p.Stock, p.IsActive, p.CreatedAt = sampleStock, n%10 != 9, sampleTime(n)
	switch n % sampleCategory { // no sample user has these in the cart
	case 11:
		p.Stock = 4
	case 14:
		p.Stock = 0
	}
	return p
}

// outOfSale returns a sold-out product. Such products fill up a sample that has no room for another user.
func outOfSale(n int) catfecitodb.Product {
	p := shelved(n%sampleShelf | 1) // categories have even numbers
	p.ProductID, p.CreatedAt = productID(n), sampleTime(n)
	p.Stock, p.IsActive = 0, false
	return p
}

func productID(n int) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, fmt.Append(nil, "catfecito product ", n)).String()
}

// sampleMaker generates the records of a part sequentially.
type sampleMaker struct {
	seed.Chance
	order catfecitodb.Order
	lines []catfecitodb.OrderItem
}

// record generates the n-th record, at a position in its block.
func (m *sampleMaker) record(n, place int) table.Record {
	userID := fmt.Sprintf("u-%d", sampleFirstUser+(n-sampleShelf)/sampleBlock)
	at := sampleTime(n)
	ordered := place - 2 - sampleCart
	switch {
	case place == 0:
		return m.user(userID, at).Record()
	case place == 1:
		return catfecitodb.Credential{UserID: userID, PasswordHash: sampleHash, UpdatedAt: at}.Record()
	case ordered < 0:
		return catfecitodb.CartItem{
			UserID: userID, ProductID: m.product(place).ProductID, Quantity: 1 + m.Int64N(3), CreatedAt: at,
			// Later than any use of the sample.
			ExpiresAt: time.Date(2100, time.January, 1, 0, 0, 0, 0, time.UTC),
		}.Record()
	case ordered%(1+sampleLines) == 0:
		last := place+1+sampleLines == sampleBlock
		m.newOrder(userID, at, last)
		return m.order.Record()
	default:
		return m.lines[ordered%(1+sampleLines)-1].Record()
	}
}

// product picks a product on sale. Four consecutive places never get the same product, because each place has its own categories.
func (m *sampleMaker) product(place int) catfecitodb.Product {
	category := place%sampleLines + sampleLines*m.IntN(2)
	return shelved(category*sampleCategory + 1 + m.IntN(8))
}

func (m *sampleMaker) user(userID string, at time.Time) catfecitodb.User {
	return catfecitodb.User{
		UserID: userID, Email: strings.ReplaceAll(userID, "-", ".") + "@example.com", Role: catfecitodb.RoleCustomer, CreatedAt: at,
		Name: m.Name(),
	}
}

// newOrder generates an order with its lines.
func (m *sampleMaker) newOrder(userID string, at time.Time, pending bool) {
	// A sample's orders are months old: none of them waits for staff, and unpaid ones are cancelled when a shop opens.
	m.order = catfecitodb.Order{OrderID: m.UUID(), UserID: userID, Status: catfecitodb.OrderStatusDelivered, CreatedAt: at}
	if m.IntN(10) == 0 {
		m.order.Status = catfecitodb.OrderStatusCancelled
	}
	way, address := catfecitodb.DeliveryWayPickup, (*string)(nil)
	if m.IntN(3) == 0 {
		way, address = catfecitodb.DeliveryWayDelivery, new(fmt.Sprintf("Calle Orizaba %d, Roma Norte", 1+m.IntN(200)))
	}
	m.order.Delivery = &catfecitodb.Delivery{Way: way, Name: m.Name(), Phone: fmt.Sprintf("55 %04d %04d", m.IntN(10_000), m.IntN(10_000)), Address: address}
	switch {
	case pending:
		m.order.Status = catfecitodb.OrderStatusPending
	case m.order.Status != catfecitodb.OrderStatusCancelled:
		m.order.PaidAt, m.order.PaidWith = new(at.Add(time.Minute)), new(catfecitodb.PaymentMethodCash)
	}
	m.lines = m.lines[:0]
	for i := range sampleLines {
		p := m.product(i)
		l := catfecitodb.OrderItem{OrderID: m.order.OrderID, ProductID: p.ProductID, ProductName: p.Name, Price: p.Price, Quantity: 1 + m.Int64N(3)}
		l.Subtotal = l.Price * l.Quantity
		m.order.Total += l.Subtotal
		m.lines = append(m.lines, l)
	}
	sold := make([]catfecitodb.PlaceOrderLine, len(m.lines))
	for i, l := range m.lines {
		sold[i] = catfecitodb.PlaceOrderLine{ProductName: l.ProductName, Quantity: l.Quantity}
	}
	m.order.Summary = summaryOf(sold)
}
