package payments

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

//go:embed page
var page embed.FS

var pageTemplate = template.Must(template.ParseFS(page, "page/index.html")) //nolint:gochecknoglobals // parsed once, never changed

// pagePolicy lets the page load its own files and call the webhook.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const (
	// PagePath is the path of Test's page in the shop.
	PagePath = "/test-payments/"
	// formMax is the maximum size of a form.
	formMax = 1 << 10
)

// Test is a provider without real money. Its page lets the payer decide, then gets a signed event and sends it to the shop, so
// the shop works as with any other provider.
type Test struct {
	secret []byte
	now    func() time.Time

	mu       sync.Mutex
	refunded map[string]bool
}

// NewTest returns a test provider that signs with a secret.
func NewTest(secret string, now func() time.Time) (*Test, error) {
	if len(secret) < secretMin {
		return nil, fmt.Errorf("payments: the secret has %d bytes, want %d or more", len(secret), secretMin)
	}
	return &Test{secret: []byte(secret), now: now, refunded: map[string]bool{}}, nil
}

// NewTestOnce returns a test provider with a random secret. Its signatures are valid until the process ends.
func NewTestOnce() *Test {
	return &Test{secret: []byte(rand.Text()), now: time.Now, refunded: map[string]bool{}}
}

// link is a payment in a page's address. It is signed, so that customers cannot change the amount.
type link struct{ Payment, Order, Amount, Signature string }

func (t *Test) signature(l link) string {
	return base64.RawURLEncoding.EncodeToString(mac(t.secret, "link", l.Payment, l.Order, l.Amount))
}

func (t *Test) read(v url.Values) (link, bool) {
	l := link{v.Get("payment"), v.Get("order"), v.Get("amount"), v.Get("signature")}
	return l, hmac.Equal([]byte(l.Signature), []byte(t.signature(l)))
}

// Begin returns an address relative to the shop's.
func (t *Test) Begin(_ context.Context, p Payment) (string, error) {
	l := link{Payment: "pay_" + rand.Text(), Order: p.OrderID, Amount: strconv.FormatInt(p.Amount, 10)}
	query := url.Values{"payment": {l.Payment}, "order": {l.Order}, "amount": {l.Amount}, "signature": {t.signature(l)}}
	return PagePath[1:] + "?" + query.Encode(), nil
}

// Event reads a request made by Send.
func (t *Test) Event(header http.Header, body []byte) (Event, error) {
	if !verify(t.secret, header, t.now(), body) {
		return Event{}, ErrSignature
	}
	var e Event
	if err := json.Unmarshal(body, &e); err != nil || e.ID != header.Get(headerID) {
		return Event{}, ErrEvent
	}
	return e, nil
}

// Send builds the request that delivers an event.
func (t *Test) Send(e Event) (http.Header, []byte) {
	body, _ := json.Marshal(e) // never fails
	return signed(t.secret, e.ID, t.now(), body), body
}

// Refund records a refund.
func (t *Test) Refund(_ context.Context, paymentID string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refunded[paymentID] = true
	return nil
}

// Refunded reports whether a payment was refunded.
func (t *Test) Refunded(paymentID string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refunded[paymentID]
}

// Pages returns the page and its files, by pattern.
func (t *Test) Pages() map[string]http.Handler {
	var origin http.CrossOriginProtection
	list := map[string]http.Handler{
		"GET " + PagePath + "{$}":    guarded(t.show),
		"POST " + PagePath + "event": origin.Handler(guarded(t.event)),
	}
	for _, file := range []string{"pay.js", "pay.css"} {
		list["GET "+PagePath+file] = guarded(func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, page, "page/"+file) })
	}
	return list
}

func guarded(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", pagePolicy)
		w.Header().Set("Cache-Control", "no-store")
		next(w, r)
	})
}

// show serves the page at which a customer pays.
func (t *Test) show(w http.ResponseWriter, r *http.Request) {
	l, ok := t.read(r.URL.Query())
	cents, err := strconv.ParseInt(l.Amount, 10, 64)
	if !ok || err != nil {
		http.Error(w, "The link was changed: get a new one from the shop.", http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = pageTemplate.Execute(w, struct {
		link
		Total string
	}{l, fmt.Sprintf("%d.%02d", cents/100, cents%100)})
}

// event signs the customer's decision for the page to send.
func (t *Test) event(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, formMax)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "The form is invalid.", http.StatusBadRequest)
		return
	}
	l, ok := t.read(r.PostForm)
	kind := Kind(r.PostForm.Get("type"))
	amount, err := strconv.ParseInt(l.Amount, 10, 64)
	if !ok || err != nil || kind != Succeeded && kind != Cancelled {
		http.Error(w, "The link was changed: get a new one from the shop.", http.StatusForbidden)
		return
	}
	header, body := t.Send(Event{ID: "evt_" + string(kind) + "_" + l.Payment, Kind: kind, PaymentID: l.Payment, OrderID: l.Order, Amount: amount})
	flat := map[string]string{}
	for name := range header {
		flat[name] = header.Get(name)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"headers": flat, "body": string(body)})
}
