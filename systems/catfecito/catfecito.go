// Package catfecito is CatFecito, a coffee shop: customers sign up, fill a cart and order; orders are paid, shipped and
// delivered; staff manage the products; and every change is recorded.
//
// # Model
//
//	users ──── cart ── checkout ──▶ Order (pending), its copy and lines; the cart is emptied, the stock reduced
//	products ────┘                     │ pay ─▶ paid ─ ship ─▶ shipped ─ deliver ─▶ delivered
//	                                   └ cancel (pending, paid), or 30 minutes without payment ─▶ cancelled; the stock is restored
//	beginPayment ──▶ payments.Provider's page ── signed event ──▶ paymentEvent: paid, or the payment is refunded
//	the table's stream ─▶ audit ─▶ AuditEntry
//	                   ├▶ lists ─▶ ProductEntry: products by the words of their names, and all of them, for staff
//	                   ├▶ refunds ─▶ the provider, for orders that are cancelled after they were paid
//	                   ╰▶ each process: hub ─▶ GET /orders/events
//
// catfecito.design.yaml declares what is stored and how it is accessed. Package catfecitodb is generated from it and is the only
// code that accesses the data. The API is the table in routes.go, with its request types; responses.go has the response types.
// Domain functions (users.go, login.go, catalogue.go, cart.go, checkout.go, orders.go, expiry.go, payment.go, refunds.go, audit.go) take the
// caller and a request as values, and do not depend on HTTP.
//
// # Invariants
//
//	C1  No user sees another user's data, except staff.
//	C2  Customers can only buy what is in stock and in their cart, at the price that they have seen.
//	C3  A request key has one effect, however often and concurrently it is sent.
//	C4  An order and its copy are equal, and an order's status only moves forward.
//	C5  A password exists only as its hash, and the hash only in its item.
//	C6  Few wrong passwords and codes can be tried for an e-mail address, from any source, concurrently or not.
//	C7  Expired items count as deleted, whether or not DynamoDB has deleted them.
//	C8  An order is paid by a provider's signed event, or by staff; a payment pays one order, or is refunded.
//	C9  Unpaid orders return their stock, once.
//	C10 A refund that the provider has not made is stored until it is made, and holds back no other record of the stream.
//
// The package is safe for concurrent use.
package catfecito

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"time"

	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/catfecito/payments"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/live"
	"github.com/monotable/monotable/systems/internal/mail"
	"github.com/monotable/monotable/systems/internal/personal"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/seed"
	"github.com/monotable/monotable/systems/internal/system"
	"github.com/monotable/monotable/systems/internal/words"
)

//go:generate go run ../../cmd/monotable generate catfecito.design.yaml -o catfecitodb
//go:generate go test -run TestTemplate -update .

// Name is the system's name.
const Name = "catfecito"

//go:embed words
var wordsFiles embed.FS

// Options are the replaceable parts of a deployment.
type Options struct {
	// Hashing is the cost of a password hash; the zero value means DefaultCost.
	Hashing Cost
	// Mail sends e-mail; nil means the server at CATFECITO_MAIL_URL, or no e-mail if that is not set.
	Mail mail.Sender
	// Breached is the URL of a list of breached passwords; "" means CATFECITO_BREACHED_PASSWORDS_URL.
	Breached string
	// Payments is the payment provider; nil means payments.Test if CATFECITO_TEST_PAYMENT_SECRET is set, otherwise none.
	Payments payments.Provider
}

// The environment variables for e-mail: the server's URL, such as smtps://USER:PASSWORD@mail.example.com, and the sender, such as
// CatFecito <shop@example.com>. Without them no e-mail is sent.
const (
	MailURL  = "CATFECITO_MAIL_URL"
	MailFrom = "CATFECITO_MAIL_FROM"
)

// service is the running system.
type service struct {
	db     *catfecitodb.DB
	now    func() time.Time
	logger *slog.Logger
	// issuer signs tokens; nil if a user pool signs them.
	issuer    *auth.Issuer
	passwords *passwords
	bounds    bounds
	// provider handles payments; nil if there is none.
	provider payments.Provider
	// mail sends e-mail; nil if there is no server.
	mail mail.Sender
	// words translate e-mail.
	words *words.Catalogue
	// hub notifies this process's connections of orders.
	hub *live.Hub[string]
	// breached is the URL of the list of breached passwords; "" for none.
	breached string
}

// System is CatFecito.
func System(o Options) system.System {
	return system.System{
		Name: Name, Title: "CatFecito", Version: "1.0.0", AdminGroup: AdminGroup,
		About:  "A coffee shop: products, carts, orders that never oversell, and an audit trail of changes.",
		Tables: tables,
		Rules:  rules(),
		Words:  words.Must(wordsFiles),
		Open:   func(_ context.Context, d system.Deps) (*system.Service, error) { return open(o, d) },
		Examples: []system.Example{
			{Title: "What is sold", Method: http.MethodGet, Path: "/products?limit=5"},
			{Title: "Search, with or without accents", Method: http.MethodGet, Path: "/products?name=CAFE&limit=5"},
			{
				Title: "Make a category", Method: http.MethodPut, Path: "/categories/cafes", Groups: []string{AdminGroup},
				Body: `{"name":"Cafés","description":"Granos y molidos"}`,
			},
			{
				Title: "Create a product", Method: http.MethodPost, Path: "/products", Groups: []string{AdminGroup},
				Header: map[string]string{"Idempotency-Key": "first"},
				Body:   `{"categoryId":"cafes","name":"Café Premium","description":"Tueste medio","price":"35.00","stock":10}`,
			},
			{
				Title: "Sign up", Method: http.MethodPost, Path: "/users", Header: map[string]string{"Idempotency-Key": "first"},
				Body: `{"email":"juan@mail.com","name":"Juan","password":"un café con leche"}`,
			},
			{Title: "Log in", Method: http.MethodPost, Path: "/login", Body: `{"email":"juan@mail.com","password":"un café con leche"}`},
			{Title: "Your cart", Method: http.MethodGet, Path: "/cart"},
			{Title: "Your orders, newest first", Method: http.MethodGet, Path: "/orders?limit=5"},
		},
		Load: loadPlan(),
	}
}

func config(stage string) catfecitodb.Config {
	return catfecitodb.Config{Table: "catfecito-serverless-" + stage}
}

func tables(stage string) []system.Table {
	c := config(stage)
	return system.Tables(catfecitodb.CreateTables(c), catfecitodb.TimeToLive(c), catfecitodb.Decode)
}

func open(o Options, d system.Deps) (*system.Service, error) {
	c := config(d.Stage)
	c.CursorKey, c.Caller, c.Clock, c.Observe = d.CursorKey, auth.CursorOwner, d.Clock, d.Observe
	db, err := catfecitodb.New(d.DynamoDB, c)
	if err != nil {
		return nil, err
	}
	if o.Hashing == (Cost{}) {
		o.Hashing = DefaultCost()
	}
	s := &service{
		db: db, now: d.Clock, logger: d.Logger, issuer: d.Issuer, passwords: newPasswords(o.Hashing), bounds: newBounds(d.Clock),
		provider: o.Payments, mail: o.Mail, words: words.Must(wordsFiles), hub: live.New[string](d.Logger), breached: cmp.Or(o.Breached, d.Getenv(BreachedPasswords)),
	}
	service := &system.Service{
		Register: s.routes,
		Personal: &personal.Data{DB: db, Kept: catfecitodb.PersonKept(), Refuse: personal.Check{Of: s.openOrders, Errors: []error{errOpenOrders}}},
		Admit:    s.admit,
		Acts:     api.KeepActs(db.Op.KeepAct, db.Tx),
		Pages:    map[string]http.Handler{},
		Streams: []system.Stream{
			{Name: "changes", Table: c.Table, Handle: s.follow},
			{Name: "publish-orders", Table: c.Table, EveryProcess: true, Begun: s.hub.Begun, Handle: s.hub.WhileFollowed(s.publishOrders)},
		},
		Schedules: []system.Schedule{
			{Name: "expiry", Every: expiryEvery, Run: s.expireOrders},
			{Name: "lists", Every: shelfEvery, Run: s.fillLists},
			{Name: "refunds", Every: refundEvery, Run: s.retryRefunds},
		},
		Sample: seed.Sample{Records: sample, Load: db.Load},
	}
	if secret := d.Getenv(PaymentSecret); s.provider == nil && secret != "" {
		test, err := payments.NewTest(secret, d.Clock)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", PaymentSecret, err)
		}
		s.provider = test
	}
	if test, ok := s.provider.(*payments.Test); ok {
		maps.Copy(service.Pages, test.Pages())
	}
	if outbox, ok := s.mail.(*mail.Outbox); ok {
		service.Pages["GET /test-mail"] = outbox
	}
	if address := d.Getenv(MailURL); s.mail == nil && address != "" {
		server, err := mail.FromURL(address, d.Getenv(MailFrom))
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", MailURL, MailFrom, err)
		}
		s.mail = server
	}
	return service, nil
}

// rules map the design's and the package's errors to responses.
func rules() problem.Rules {
	return problem.Rules{
		{Err: errWrongLogIn, Status: http.StatusUnauthorized, Code: "wrong_credentials"},
		{Err: errLogInElsewhere, Status: http.StatusNotFound, Code: "login_elsewhere"},
		{Err: errOwnRole, Code: "own_role"},
		{Err: errCartFull, Code: "cart_full"},
		{Err: errCartEmpty, Code: "cart_empty"},
		{Err: errAnothersOrder, Status: http.StatusForbidden, Code: problem.CodeForbidden},
		{Err: payments.ErrSignature, Status: http.StatusUnauthorized, Code: "invalid_signature"},
		{Err: payments.ErrEvent, Status: http.StatusBadRequest, Code: problem.CodeInvalidBody},
		{Err: catfecitodb.ErrAnothersOrder, Status: http.StatusForbidden, Code: problem.CodeForbidden, Detail: errAnothersOrder.Error()},
		{Err: catfecitodb.ErrUserEmailTaken, Code: "email_taken", Detail: "an account with this address already exists: log in"},
		problem.ChangedSince(catfecitodb.ErrProductEdited),
		{Err: catfecitodb.ErrCategoryExists, Code: problem.CodeExists, Detail: "a category with this name already exists"},
		{Err: catfecitodb.ErrNoSuchCategory, Code: "no_such_category", Detail: "the category does not exist: create it first"},
		{Err: catfecitodb.ErrNoSuchProduct, Status: http.StatusNotFound, Code: problem.CodeNotFound, Detail: "the product does not exist"},
		{Err: catfecitodb.ErrProductUnavailable, Code: codeUnavailable, Detail: "the product is no longer on sale"},
		{Err: catfecitodb.ErrCartLineFull, Code: "cart_line_full", Detail: "the maximum quantity of a product in a cart is 99"},
		{Err: catfecitodb.ErrCartChanged, Code: "cart_changed", Detail: "the cart has changed in the meantime: review it"},
		{Err: catfecitodb.ErrOutOfStock, Code: codeOutOfStock, Detail: "not enough are left in stock"},
		{Err: catfecitodb.ErrProductChanged, Code: "product_changed", Detail: "a product has changed in the meantime: review the cart"},
		{Err: catfecitodb.ErrOrderNotPending, Code: "order_not_pending", Detail: "only a pending order can be paid"},
		{Err: catfecitodb.ErrOrderNotPaid, Code: "order_not_paid", Detail: "only a paid order can be shipped"},
		{Err: catfecitodb.ErrOrderNotShipped, Code: "order_not_shipped", Detail: "only a shipped order can be delivered"},
		{Err: catfecitodb.ErrOrderNotCancellable, Code: "order_not_cancellable", Detail: "an order can be cancelled only until it is shipped"},
	}
}

// Codes shared by several errors.
const (
	codeOutOfStock  = "out_of_stock"
	codeUnavailable = "product_unavailable"
)
