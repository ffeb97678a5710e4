package catfecito_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/web/webtest"
)

// signedIn opens a page as a user.
func signedIn(t *testing.T, address, token, at string, with ...webtest.Option) *webtest.Page {
	t.Helper()
	p := webtest.Open(t, address+"/assets-none", append(with, webtest.Expect("404"))...)
	p.Eval(fmt.Sprintf(`localStorage.setItem("access-token /catfecito/", %q)`, token))
	p.Go(address + at)
	return p
}

// TestNewCategoriesReplaceNone: a new category whose name has the slug of another is refused at its field, and names without Latin
// letters get slugs of their own.
func TestNewCategoriesReplaceNone(t *testing.T) {
	t.Parallel()
	v := open(t)
	must[catfecito.Category](t, v, staff(request("", http.MethodPut, "/categories/cafes", object{"name": "Cafés", "description": "Granos"})), http.StatusOK)
	p := signedIn(t, v.Address(t), v.Token(t, boss, catfecito.AdminGroup), "/#/desk/categories", webtest.Expect("status of 409"))
	p.UntilText("Cafés")
	p.Button("New category")
	p.Type("[name=category-name]", "CAFES!")
	p.Click("dialog[open] .float-foot .primary")
	p.Until(`document.querySelector("dialog[open] .field-error").textContent.includes("already exists")`)
	p.Button("Cancel")
	for _, name := range []string{"茶", "コーヒー", "ガラス", "カラス"} {
		p.Button("New category")
		p.Type("[name=category-name]", name)
		p.Click("dialog[open] .float-foot .primary")
		p.Until(`document.querySelector("dialog[open]") === null && document.querySelector(".table").textContent.includes("` + name + `")`)
	}
	var got []string
	for _, c := range walk[catfecito.Category](t, v, request("", http.MethodGet, "/categories", nil), 10) {
		got = append(got, c.Name)
	}
	slices.Sort(got)
	same(t, "categories", got, []string{"Cafés", "カラス", "ガラス", "コーヒー", "茶"})
}

// TestCartCountsQuickClicks: each of two quick clicks adds one, and the amounts follow, even if the first request is slow.
func TestCartCountsQuickClicks(t *testing.T) {
	t.Parallel()
	v := open(t)
	cup := stock(t, v, "Taza", "20.00", 9)
	put(t, v, ana, cup.ProductID, 1)
	address, release := webtest.Slow(t, v.Address(t), http.MethodPut, "/cart/items/")
	p := signedIn(t, address, v.Token(t, ana), "/#/")
	p.Click(".cart-button button")
	p.Wait(".drawer .line")
	p.Until(`document.getAnimations().length === 0`)
	p.Click(".drawer .counter button:last-child")
	p.Until(`document.querySelector(".cart-count").textContent === "2"`)
	p.Click(".drawer .counter button:last-child")
	shown := `document.querySelector(".cart-count").textContent === "3" && ["strong.money", ".total"].every((amount) => document.querySelector(".drawer " + amount).textContent.includes("60.00"))`
	p.Until(shown)
	release()
	p.Until(`performance.getEntriesByType("resource").filter((r) => r.name.includes("/cart/items/")).length === 2`) // both are answered
	if n := cart(t, v, ana).Items[0].Quantity; n != 3 {
		t.Errorf("the cart has %d, want 3", n)
	}
	p.Button("Close")
	p.Click(".cart-button button") // reads the cart again
	p.Until(shown)
}

// TestSearchFollowsAddress: a link to the menu ends a search, and going back shows it again.
func TestSearchFollowsAddress(t *testing.T) {
	t.Parallel()
	v := open(t)
	stock(t, v, "Taza", "20.00", 9)
	p := webtest.Open(t, v.Address(t)+"/")
	p.Type("input[type=search]", "taz")
	p.Until(`location.hash === "#/?q=taz" && document.querySelector("h1").textContent.includes("taz")`)
	p.Click(".shell-brand")
	p.Until(`document.querySelector("input[type=search]").value === "" && document.querySelector(".hero") !== null && location.hash === "#/"`)
	p.Eval(`history.back()`)
	p.Until(`document.querySelector("input[type=search]").value === "taz" && document.querySelector("h1").textContent.includes("taz")`)
}

// TestLongDescriptionFitsPhone: a description without a space is broken to the width of a phone.
func TestLongDescriptionFitsPhone(t *testing.T) {
	t.Parallel()
	v := open(t)
	stock(t, v, "Taza", "20.00", 9)
	long := must[catfecito.Product](t, v, staff(keyed("", "/products", "long", object{
		"categoryId": "cafes", "name": strings.Repeat("n", 100), "description": strings.Repeat("d", 1000), "price": "1.00", "stock": 1,
	})), http.StatusCreated)
	p := webtest.Open(t, v.Address(t)+"/#/p/"+long.ProductID, webtest.Phone)
	p.Wait(".sheet .description")
	p.Width()
	p.Shot("shop-long")
}

// TestFailedRefundAtDesk: staff see a refund that the provider has not made, try it again, and read what came of it.
func TestFailedRefundAtDesk(t *testing.T) {
	t.Parallel()
	v, provider, _ := failingRefund(t, math.MaxInt)
	v.Deliver(t)
	p := signedIn(t, v.Address(t), v.Token(t, boss, catfecito.AdminGroup), "/#/desk/board", webtest.Expect("status of 409"), webtest.Phone)
	p.UntilText("has not made these refunds")
	p.Width()
	p.Shot("desk-refunds")
	p.Button("Try again")
	p.UntilText("try again later, or make it at the provider")
	p.Until(`document.querySelector("[aria-busy]") === null`) // the list has been read again
	provider.mend()
	p.Button("Try again")
	p.Until(`!document.body.textContent.includes("has not made these refunds")`)
	if !provider.Refunded("pay-9") {
		t.Error("the payment is not refunded")
	}
}

// TestOrdersBeforeEvents: the desk and a customer's orders show what happened after their lists were read and before the events
// started, as after a restart of the server.
func TestOrdersBeforeEvents(t *testing.T) {
	t.Parallel()
	v := open(t)
	cup := stock(t, v, "Taza", "20.00", 9)
	first := buy(t, v, ana, "first", cup.ProductID, 1)
	address, begin := webtest.Slow(t, v.Address(t), http.MethodGet, "/orders/events")
	desk := signedIn(t, address, v.Token(t, boss, catfecito.AdminGroup), "/#/desk")
	desk.Until(`document.querySelectorAll(".column-pending .ticket").length === 1 && document.querySelectorAll(".column-empty").length === 2`)
	second := buy(t, v, bruno, "second", cup.ProductID, 1)
	begin()
	desk.UntilText(strings.ToUpper(second.OrderID[:6]))

	address, begin = webtest.Slow(t, v.Address(t), http.MethodGet, "/orders/events")
	own := signedIn(t, address, v.Token(t, ana), "/#/orders")
	own.UntilText("Waiting for payment")
	must[catfecito.Order](t, v, staff(keyed("", "/orders/"+first.OrderID+"/pay", "pay", nil)), http.StatusOK)
	begin()
	own.UntilText("Being prepared")
}
