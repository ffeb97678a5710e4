package catfecito_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/test/generated/catfecito"
)

// begin is the time in the tests.
var begin = time.Date(2024, 1, 15, 10, 0, 0, 0, time.UTC)

// shop is the package over a database of the test's own.
type shop struct {
	*catfecito.DB
	client *dynamodb.Client
	now    time.Time
}

func open(t *testing.T) *shop {
	t.Helper()
	server := monotabletest.NewWith(t, &monotable.Options{Now: func() time.Time { return begin }}) // so that nothing expires
	s := &shop{client: server.Client(), now: begin}
	config := catfecito.Config{
		Table: "catfecito-test", CursorKey: []byte(strings.Repeat("k", 32)), Clock: func() time.Time { return s.now },
	}
	for _, in := range catfecito.CreateTables(config) {
		if _, err := s.client.CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	for _, in := range catfecito.TimeToLive(config) {
		if _, err := s.client.UpdateTimeToLive(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if s.DB, err = catfecito.New(s.client, config); err != nil {
		t.Fatal(err)
	}
	return s
}

// uuid is one that tells its number.
func uuid(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

const user = 1 // of most tests

// products are loaded: their numbers are 101, 102 and so on.
func (s *shop) load(t *testing.T, names ...string) []catfecito.Product {
	t.Helper()
	var products []catfecito.Product
	var records []table.Record
	for i, name := range names {
		products = append(products, catfecito.Product{
			ProductID: uuid(101 + i), CategoryID: "beans", Name: strings.TrimPrefix(name, "-"), Description: "of " + name, Price: int64(100 * (i + 1)),
			Stock: 5, ImageURL: aws.String("https://img/" + name), IsActive: !strings.HasPrefix(name, "-"), CreatedAt: begin,
		})
		records = append(records, products[i].Record())
	}
	if err := s.Load(t.Context(), slices.Values(records), nil); err != nil {
		t.Fatal(err)
	}
	return products
}

func (s *shop) fill(t *testing.T, product, quantity int) {
	t.Helper()
	if _, err := s.AddToCart(t.Context(), catfecito.AddToCartInput{UserID: uuid(user), ProductID: uuid(product), Quantity: int64(quantity)}); err != nil {
		t.Fatal(err)
	}
}

// order is a request for so many of each product, as they are.
func order(key string, id int, products []catfecito.Product, quantities ...int64) catfecito.PlaceOrderInput {
	in := catfecito.PlaceOrderInput{RequestKey: key, OrderID: uuid(id), UserID: uuid(user)}
	for i, p := range products {
		in.Lines = append(in.Lines, catfecito.PlaceOrderLine{
			ProductID: p.ProductID, ProductName: p.Name, Price: p.Price, Quantity: quantities[i], Subtotal: p.Price * quantities[i],
		})
	}
	return in
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func fails(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// stored are the items of the table as their entities, by place.
func (s *shop) stored(t *testing.T) map[string]int {
	t.Helper()
	out := map[string]int{}
	pages := dynamodb.NewScanPaginator(s.client, &dynamodb.ScanInput{TableName: aws.String("catfecito-test")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			x, place, err := catfecito.Decode(item)
			if err != nil {
				t.Fatal(err)
			}
			out[strings.TrimPrefix(fmt.Sprintf("%T", x), "catfecito.")+place.Copy+place.Marker]++
		}
	}
	return out
}

// TestRegisterUser: an address is taken once, however it is written, and leads to its user; the password hash is not shown.
func TestRegisterUser(t *testing.T) {
	s := open(t)
	in := catfecito.RegisterUserInput{
		UserID: uuid(1), Email: "Ana@Mail.com", Name: "Ana", Role: catfecito.RoleCustomer, CreatedAt: begin, PasswordHash: "hash", UpdatedAt: begin,
	}
	out, err := s.RegisterUser(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	want := catfecito.User{UserID: uuid(1), Email: "Ana@Mail.com", Name: "Ana", Role: catfecito.RoleCustomer, CreatedAt: begin}
	same(t, "the user", out.User, want)
	if text := fmt.Sprintf("%v %+v", out, in); strings.Contains(text, "hash") {
		t.Errorf("the hash is shown: %s", text)
	}
	got, err := s.UserByEmail(t.Context(), catfecito.UserByEmailInput{Email: "ana@mail.COM"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the user of the address", got, want)
	credential, err := s.CredentialOf(t.Context(), catfecito.CredentialOfInput{UserID: uuid(1)})
	if err != nil || credential.PasswordHash.Reveal() != "hash" {
		t.Errorf("the credential is %v, %v", credential, err)
	}

	in.UserID, in.Email = uuid(2), "ana@mail.com"
	_, err = s.RegisterUser(t.Context(), in)
	fails(t, "a taken address", err, catfecito.ErrUserEmailTaken)
	in.Email = "bea@mail.com"
	in.UserID = uuid(1)
	_, err = s.RegisterUser(t.Context(), in)
	fails(t, "a user that is there", err, catfecito.ErrUserExists)
	_, err = s.UserByEmail(t.Context(), catfecito.UserByEmailInput{Email: "bea@mail.com"})
	fails(t, "an address of nobody", err, table.ErrNotFound)
	same(t, "what is stored", s.stored(t), map[string]int{"User": 1, "UserEmail": 1, "Credential": 1})
}

// TestProducts: the catalogue is sorted and searched by folded names, and has active products only.
func TestProducts(t *testing.T) {
	s := open(t)
	products := s.load(t, "Étoile", "espresso", "-Estonia", "Esmeralda", "Brasil")
	item := func(i int) catfecito.SearchProductsItem {
		p := products[i]
		return catfecito.SearchProductsItem{CategoryID: p.CategoryID, Name: p.Name, Price: p.Price, ImageURL: p.ImageURL}
	}
	for _, c := range []struct {
		prefix string
		want   []catfecito.SearchProductsItem
	}{
		{"", []catfecito.SearchProductsItem{item(4), item(3), item(1), item(0)}},
		{"ES", []catfecito.SearchProductsItem{item(3), item(1)}},
		{"éT", []catfecito.SearchProductsItem{item(0)}},
		{"x", []catfecito.SearchProductsItem{}},
	} {
		page, err := s.SearchProducts(t.Context(), catfecito.SearchProductsInput{NamePrefix: c.prefix}, table.PageOptions{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "products of "+c.prefix, page.Items, c.want)
	}
	var names []string
	for x, err := range s.ProductsByCategoryAll(t.Context(), catfecito.ProductsByCategoryInput{CategoryID: "beans"}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, x.Name)
	}
	same(t, "products of the category", names, []string{"Brasil", "Esmeralda", "espresso", "Étoile"})
	page, err := s.ActiveProducts(t.Context(), table.PageOptions{Limit: 1})
	if err != nil || len(page.Items) != 1 || page.Items[0].Name != "Brasil" || page.Next == "" {
		t.Errorf("the first product is %+v, %v", page, err)
	}
}

// TestPlaceOrder: a cart becomes an order as a whole, once.
func TestPlaceOrder(t *testing.T) {
	s := open(t)
	products := s.load(t, "a", "b")
	s.fill(t, 101, 1)
	s.fill(t, 101, 1) // adds to what is there
	s.fill(t, 102, 3)
	in := order("k-1", 7, products, 2, 3)
	first, err := s.PlaceOrder(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	want := catfecito.PlaceOrderResult{
		Order: catfecito.Order{OrderID: uuid(7), UserID: uuid(user), Total: 2*100 + 3*200, Status: catfecito.OrderStatusPending, CreatedAt: begin},
		OrderItem: []catfecito.OrderItem{
			{OrderID: uuid(7), ProductID: uuid(101), ProductName: "a", Price: 100, Quantity: 2, Subtotal: 200},
			{OrderID: uuid(7), ProductID: uuid(102), ProductName: "b", Price: 200, Quantity: 3, Subtotal: 600},
		},
	}
	same(t, "the order", first, want)
	// The documented table keeps no product's stock in an index, so the items themselves tell it.
	same(t, "what is stored", s.stored(t), map[string]int{"Product": 2, "Order": 1, "OrderbyUser": 1, "OrderItem": 2, "Checkout": 1})
	same(t, "the stock", s.stock(t), map[string]int64{"a": 3, "b": 2})

	s.now = begin.Add(time.Hour)
	again, err := s.PlaceOrder(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(again.OrderItem, func(a, b catfecito.OrderItem) int { return strings.Compare(a.ProductID, b.ProductID) })
	want.Replayed = true
	same(t, "the repetition", again, want)
	same(t, "the stock after it", s.stock(t), map[string]int64{"a": 3, "b": 2})

	in.Lines[0].Quantity = 1
	_, err = s.PlaceOrder(t.Context(), in)
	fails(t, "other lines of that key", err, catfecito.ErrCheckoutReused)

	found, err := s.OrderWithItems(t.Context(), catfecito.OrderWithItemsInput{OrderID: uuid(7), UserID: uuid(user)})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the order that is found", found.Order, want.Order)
	_, err = s.OrderWithItems(t.Context(), catfecito.OrderWithItemsInput{OrderID: uuid(7), UserID: uuid(2)})
	fails(t, "another's order", err, table.ErrNotFound)
}

// stock are the products' stocks by their names.
func (s *shop) stock(t *testing.T) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	scan, err := s.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("catfecito-test")})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range scan.Items {
		x, _, err := catfecito.Decode(item)
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := x.(catfecito.Product); ok {
			out[p.Name] = p.Stock
		}
	}
	return out
}

// TestRefusedOrders: each refusal is the declared error with its line, and changes nothing.
func TestRefusedOrders(t *testing.T) {
	s := open(t)
	products := s.load(t, "a", "b", "-c")
	s.fill(t, 101, 2)
	s.fill(t, 102, 9)
	s.fill(t, 103, 1)
	before := s.stored(t)
	dearer := slices.Clone(products[:1])
	dearer[0].Price++
	missing := slices.Clone(products[:1])
	missing[0].ProductID = uuid(999)
	for _, c := range []struct {
		name string
		in   catfecito.PlaceOrderInput
		want error
		line int
	}{
		{"more than there is", order("k", 1, products[:2], 2, 9), catfecito.ErrOutOfStock, 1},
		{"more than in the cart", order("k", 1, products[:1], 3), catfecito.ErrCartChanged, 0},
		{"another price", order("k", 1, dearer, 2), catfecito.ErrProductChanged, 0},
		{"not active", order("k", 1, products[2:], 1), catfecito.ErrProductChanged, 0},
	} {
		_, err := s.PlaceOrder(t.Context(), c.in)
		fails(t, c.name, err, c.want)
		refusal, ok := errors.AsType[*table.Refusal](err)
		if !ok || refusal.Line != c.line || refusal.Pattern != "PlaceOrder" {
			t.Errorf("%s: the refusal is %+v, want one of line %d", c.name, refusal, c.line)
		}
	}
	_, err := s.PlaceOrder(t.Context(), order("k", 1, missing, 1))
	if !errors.Is(err, catfecito.ErrCartChanged) && !errors.Is(err, catfecito.ErrCartItemNotFound) {
		t.Errorf("what is not in the cart: %v", err)
	}
	_, err = s.PlaceOrder(t.Context(), order("k", 1, nil))
	fails(t, "no lines", err, table.ErrLines)
	_, err = s.PlaceOrder(t.Context(), order("k", 1, slices.Repeat(products[:1], 2), 1, 1))
	fails(t, "a product twice", err, table.ErrLines)
	_, err = s.PlaceOrder(t.Context(), order("k", 1, slices.Repeat(products[:1], 33), make([]int64, 33)...))
	fails(t, "too many lines", err, table.ErrLines)
	same(t, "what is stored", s.stored(t), before)
}

// TestSetOrderStatus: the copy follows, and a change that somebody else made is noticed.
func TestSetOrderStatus(t *testing.T) {
	s := open(t)
	products := s.load(t, "a")
	for n := 1; n <= 3; n++ {
		s.now = begin.Add(time.Duration(n) * time.Minute)
		s.fill(t, 101, 1)
		if _, err := s.PlaceOrder(t.Context(), order(fmt.Sprint("k-", n), n, products, 1)); err != nil {
			t.Fatal(err)
		}
	}
	in := catfecito.SetOrderStatusInput{From: catfecito.OrderStatusPending, To: catfecito.OrderStatusPaid, OrderID: uuid(2)}
	out, err := s.SetOrderStatus(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if out.Order == nil || out.Order.Status != catfecito.OrderStatusPaid {
		t.Errorf("the order, which the write must read to find its copy, is %+v", out.Order)
	}
	_, err = s.SetOrderStatus(t.Context(), in)
	fails(t, "a second time", err, catfecito.ErrOrderStatusChanged)
	in.OrderID = uuid(9)
	_, err = s.SetOrderStatus(t.Context(), in)
	fails(t, "none", err, catfecito.ErrOrderNotFound)

	page, err := s.UserOrders(t.Context(), catfecito.UserOrdersInput{UserID: uuid(user)}, table.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range page.Items {
		got = append(got, o.OrderID[len(o.OrderID)-1:]+" "+string(o.Status))
	}
	same(t, "the user's orders", got, []string{"3 pending", "2 paid", "1 pending"})

	var cart []catfecito.CartItem
	for x, err := range s.CartAll(t.Context(), catfecito.CartInput{UserID: uuid(user)}) {
		if err != nil {
			t.Fatal(err)
		}
		cart = append(cart, x)
	}
	if len(cart) > 0 {
		t.Errorf("the cart has %v", cart)
	}
}

// TestCanceled: a method ends with its context.
func TestCanceled(t *testing.T) {
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.UserByID(ctx, catfecito.UserByIDInput{UserID: uuid(1)})
	fails(t, "a read", err, context.Canceled)
	err = s.RemoveFromCart(ctx, catfecito.RemoveFromCartInput{UserID: uuid(1), ProductID: uuid(2)})
	fails(t, "a write", err, context.Canceled)
	if err := s.RemoveFromCart(t.Context(), catfecito.RemoveFromCartInput{UserID: uuid(1), ProductID: uuid(2)}); err != nil {
		t.Errorf("what is not there can be removed: %v", err)
	}
}
