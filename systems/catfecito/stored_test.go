package catfecito_test

import (
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/apitest"
)

// stored is the table's entire content.
type stored struct {
	users         map[string]catfecitodb.User    // by id
	markers       map[string]string              // user ids by address, in lower case
	credentials   map[string]table.Secret        // by user
	products      map[string]catfecitodb.Product // by id
	categories    int
	carts         []catfecitodb.CartItem
	truth, copies map[string]catfecitodb.Order       // by id
	lines         map[string][]catfecitodb.OrderItem // by order
	checkouts     map[string]int                     // by order
	requests      int
	tries         map[string]int64 // by address, in lower case
	trail         []catfecitodb.AuditEntry
	indexed       map[string]int                        // entries by index
	payments      map[string]catfecitodb.PaymentOutcome // by payment
}

// scan reads the whole table and its indexes.
func scan(tb testing.TB, v *apitest.Server) *stored {
	tb.Helper()
	s := &stored{
		users: map[string]catfecitodb.User{}, markers: map[string]string{}, credentials: map[string]table.Secret{},
		products: map[string]catfecitodb.Product{}, truth: map[string]catfecitodb.Order{}, copies: map[string]catfecitodb.Order{},
		lines: map[string][]catfecitodb.OrderItem{}, checkouts: map[string]int{}, indexed: map[string]int{}, tries: map[string]int64{},
		payments: map[string]catfecitodb.PaymentOutcome{},
	}
	base := map[string]table.Item{}
	for it := range items(tb, v, "") {
		base[key(it)] = it
		x, place, err := catfecitodb.Decode(it)
		if err != nil {
			tb.Fatal(err)
		}
		s.keep(tb, x, place, it)
		if _, of := x.(catfecitodb.Credential); !of && it["password_hash"] != nil {
			tb.Errorf("a hash of a password is in %v", it)
		}
	}
	for _, index := range []string{"GSI1", "GSI2"} {
		for it := range items(tb, v, index) {
			s.indexed[index]++
			for name, value := range it {
				if strings.Contains(name, "password") || name == "email" {
					tb.Errorf("an entry of %s reveals %s", index, name)
				}
				if !reflect.DeepEqual(value, base[key(it)][name]) {
					tb.Errorf("an entry of %s says otherwise of %s than its item %v", index, name, base[key(it)])
				}
			}
		}
	}
	return s
}

// key returns an item's key as a text.
func key(it table.Item) string {
	return it["PK"].(*types.AttributeValueMemberS).Value + " / " + it["SK"].(*types.AttributeValueMemberS).Value
}

func (s *stored) keep(tb testing.TB, x any, place table.Place, it table.Item) {
	tb.Helper()
	switch x := x.(type) {
	case catfecitodb.User:
		if place.Kind == table.MarkerPlace {
			s.markers[strings.TrimPrefix(it["PK"].(*types.AttributeValueMemberS).Value, "EMAIL#")] = x.UserID
		} else {
			s.users[x.UserID] = x
		}
	case catfecitodb.Credential:
		s.credentials[x.UserID] = x.PasswordHash
	case catfecitodb.Product:
		s.products[x.ProductID] = x
	case catfecitodb.Category:
		s.categories++
	case catfecitodb.CartItem:
		s.carts = append(s.carts, x)
	case catfecitodb.Order:
		if place.Kind == table.CopyPlace {
			s.copies[x.OrderID] = x
		} else {
			s.truth[x.OrderID] = x
		}
	case catfecitodb.OrderItem:
		s.lines[x.OrderID] = append(s.lines[x.OrderID], x)
	case catfecitodb.Checkout:
		s.checkouts[x.OrderID]++
	case catfecitodb.Request, catfecitodb.SignUp:
		s.requests++
	case catfecitodb.Payment:
		s.payments[x.PaymentID] = x.Outcome
	case catfecitodb.LogInTries:
		s.tries[strings.ToLower(x.Email)] += x.Tries
	case catfecitodb.Session, catfecitodb.Code, catfecitodb.CodesSent, catfecitodb.FailedRefund, catfecitodb.ProductEntry, catfecitodb.Act:
	case catfecitodb.AuditEntry:
		s.trail = append(s.trail, x)
	default:
		tb.Errorf("an item of no entity: %v", it)
	}
}

// items returns a scan's items.
func items(tb testing.TB, v *apitest.Server, index string) iter.Seq[table.Item] {
	tb.Helper()
	return v.Database.Items(tb, "catfecito-serverless-"+v.Stage(), index)
}

// sound fails the test unless the stored data is consistent: each user has one marker and one password, each order has one equal
// copy and costs what its lines cost, no stock is negative, and indexes only contain products on sale.
func (s *stored) sound(tb testing.TB) {
	tb.Helper()
	if len(s.markers) != len(s.users) {
		tb.Errorf("%d users and %d markers of addresses", len(s.users), len(s.markers))
	}
	for address, id := range s.markers {
		if strings.ToLower(s.users[id].Email) != address {
			tb.Errorf("%s is the address of %+v", address, s.users[id])
		}
	}
	for id := range s.users {
		if s.credentials[id] == "" {
			tb.Errorf("%+v has no password", s.users[id])
		}
	}
	if len(s.copies) != len(s.truth) || len(s.lines) != len(s.truth) {
		tb.Errorf("%d orders, %d copies, lines of %d", len(s.truth), len(s.copies), len(s.lines))
	}
	for id, o := range s.truth {
		copied := catfecitodb.Order{OrderID: o.OrderID, UserID: o.UserID, Total: o.Total, Status: o.Status, CreatedAt: o.CreatedAt, Summary: o.Summary}
		if !reflect.DeepEqual(s.copies[id], copied) {
			tb.Errorf("the copy of %+v is %+v", o, s.copies[id])
		}
		var total int64
		for _, l := range s.lines[id] {
			total += l.Subtotal
			if l.Subtotal != l.Price*l.Quantity {
				tb.Errorf("%+v does not cost what its pieces cost", l)
			}
		}
		if total != o.Total {
			tb.Errorf("%+v costs %d by its lines", o, total)
		}
	}
	active := 0
	for _, p := range s.products {
		if p.Stock < 0 {
			tb.Errorf("%+v was sold too often", p)
		}
		if p.IsActive {
			active++
		}
	}
	open, paid := 0, 0
	for _, o := range s.truth {
		if o.Status != catfecitodb.OrderStatusDelivered && o.Status != catfecitodb.OrderStatusCancelled {
			open++
		}
		if o.PaidAt != nil {
			paid++
		}
	}
	if s.indexed["GSI2"] != active+paid || s.indexed["GSI1"] != active+s.categories+len(s.carts)+open {
		tb.Errorf("%v entries in the indexes of %d products that are sold, %d categories, %d lines of carts, %d open orders and %d paid ones",
			s.indexed, active, s.categories, len(s.carts), open, paid)
	}
}

// held counts a product's pieces in orders that were not cancelled.
func (s *stored) held(productID string) int64 {
	var pieces int64
	for id, o := range s.truth {
		for _, l := range s.lines[id] {
			if l.ProductID == productID && o.Status != catfecitodb.OrderStatusCancelled {
				pieces += l.Quantity
			}
		}
	}
	return pieces
}
