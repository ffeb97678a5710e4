package catfecito_test

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/mail"
	"github.com/monotable/monotable/systems/internal/seed"
	"github.com/monotable/monotable/web/webtest"
)

// TestOrderFromSignUpToDelivery: a customer finds a coffee by a word inside its name, signs up, gives a delivery address and pays. Staff see
// the order arrive, ship it and deliver it, and the customer sees each step. Another order is cancelled and refunded.
func TestOrderFromSignUpToDelivery(t *testing.T) {
	t.Parallel()
	v := openShop(t)
	must[catfecito.User](t, v, keyed("-", "/users", "staff", object{"email": "staff@example.com", "name": "Marta Ruiz", "password": "molino de cafe azul"}), http.StatusCreated)
	worker := must[catfecito.User](t, v, staff(request("", http.MethodGet, "/desk/users?email=staff@example.com", nil)), http.StatusOK)
	must[catfecito.User](t, v, staff(request("", http.MethodPut, "/users/"+worker.UserID+"/role", object{"role": "admin"})), http.StatusOK)

	desk := webtest.Open(t, v.Address(t)+"/#/desk", webtest.Desk, webtest.Language("en"))
	desk.UntilText("The desk is for staff")
	desk.Button("Log in")
	desk.Type(`dialog input[name=email]`, "staff@example.com")
	desk.Type(`dialog input[name=password]`, "molino de cafe azul")
	desk.Click(`dialog button[type=submit]`)
	desk.Wait(".board")
	desk.Until(`document.querySelector(".live.open") !== null`)

	p := webtest.Open(t, v.Address(t)+"/", webtest.Phone, webtest.Language("es-MX"))
	p.Wait(".product")
	p.Accessible()
	p.Width()
	p.Shot("shop-menu")
	p.Type("input[type=search]", "oaxa")
	p.Until(`document.querySelectorAll(".product").length > 0 && [...document.querySelectorAll(".product-name")].every((x) => x.textContent.includes("Oaxaca"))`)
	p.Shot("shop-search")
	p.Click(".product-link")
	p.Wait(".sheet .counter")
	p.Accessible()
	p.Shot("shop-product")
	p.Click(".sheet .button.primary")
	p.Button("Crear una cuenta")
	p.Type(`dialog input[name=name]`, "María José Núñez")
	p.Type(`dialog input[name=email]`, "maria@example.com")
	p.Type(`dialog input[name=password]`, "tres tazas por la tarde")
	p.Accessible()
	p.Shot("shop-sign-up")
	p.Click(`dialog button[type=submit]`)
	p.Until(`document.querySelector(".cart-count")?.textContent === "1"`)
	p.Click(".cart-button button")
	p.Wait(".drawer .line")
	p.Until(`document.getAnimations().length === 0`) // moving elements cannot be clicked
	p.Click(`.drawer .counter button:last-child`)
	p.Until(`document.querySelector(".cart-count")?.textContent === "2"`)
	p.Accessible()
	p.Shot("shop-cart")
	p.Button("Continuar")
	p.Wait(".checkout")
	p.Click(`.option:nth-child(2) input[name=way]`)
	p.Type(`input[name=phone]`, "55 1234 5678")
	p.Type(`input[name=address]`, "Orizaba 12, Roma Norte")
	p.Accessible()
	p.Width()
	p.Shot("shop-checkout")
	p.Button("Pedir y pagar")
	p.Click(`button[value="payment.succeeded"]`)
	p.Click("#back a")
	p.Wait(".timeline")
	p.UntilText("En preparación")
	p.Accessible()
	p.Shot("shop-order")

	p.Do(chromedp.Navigate(v.Address(t) + "/#/account"))
	p.Wait(".devices li")
	p.Accessible()
	p.Width()
	p.Shot("shop-account")
	p.Do(chromedp.Navigate(v.Address(t) + "/#/orders"))
	p.Wait(".order-row")
	p.Accessible()
	p.Click(".order-row")
	p.Wait(".timeline")

	desk.UntilText("Orizaba 12")
	desk.Accessible()
	desk.Shot("desk-board")
	step := func(column, said string) {
		desk.Until(`document.querySelector(".column-` + column + ` .ticket-foot button") !== null`)
		desk.Eval(`[...document.querySelectorAll(".column-` + column + ` .ticket")].find((x) => x.textContent.includes("María José")).querySelector(".ticket-foot button").click()`)
		p.Until(`document.querySelector(".timeline")?.querySelectorAll(".done").length === ` + said)
	}
	step("paid", "3")
	step("shipped", "4")
	p.UntilText("Entregado")

	other := must[catfecito.Cart](t, v, request(bruno, http.MethodGet, "/cart", nil), http.StatusOK)
	if len(other.Items) != 0 {
		t.Fatal("another user already has a cart")
	}
	offer := must[page[catfecito.Offer]](t, v, request("", http.MethodGet, "/products?limit=1", nil), http.StatusOK).Items[0]
	created := buy(t, v, bruno, "refund", offer.ProductID, 1)
	must[catfecito.PaymentResult](t, v, paid("browser", created.Order), http.StatusOK)
	id := created.OrderID[:6]
	desk.Until(fmt.Sprintf(`[...document.querySelectorAll(".column-paid .ticket-id")].some((x) => x.textContent === %q.toUpperCase())`, id))
	desk.Eval(fmt.Sprintf(`[...document.querySelectorAll(".column-paid .ticket")].find((x) => x.querySelector(".ticket-id").textContent === %q.toUpperCase()).querySelector(".ticket-head .button").click()`, id))
	desk.Button("Cancel order")
	desk.Wait("dialog[open] .button.danger")
	desk.Shot("desk-cancel")
	desk.Click("dialog[open] .button.danger")
	desk.UntilText("1 refund")

	desk.Button("Products")
	desk.Wait(".table .shelf-name")
	desk.Accessible()
	desk.Shot("desk-products")
	desk.Button("Users")
	desk.Type("input[type=email]", "maria@example.com")
	desk.Button("Find")
	desk.UntilText("María José Núñez")
	desk.Accessible()
	desk.Shot("desk-users")
}

// TestBackFromPayment: the browser's back button leads from the payment page to the order, which can still be paid, and not to an
// empty checkout.
func TestBackFromPayment(t *testing.T) {
	t.Parallel()
	v := open(t)
	put(t, v, ana, stock(t, v, "Taza", "20.00", 9).ProductID, 1)
	p := signedIn(t, v.Address(t), v.Token(t, ana), "/#/checkout")
	p.Type("input[name=name]", "Ana")
	p.Type("input[name=phone]", "55 1234 5678")
	p.Button("Place order and pay")
	p.Wait(`button[value="payment.succeeded"]`)
	p.Until(`navigation.entries()[navigation.currentEntry.index - 1].url.includes("#/orders/")`)
}

// TestCartByKeyboard: who empties the cart with the keyboard stays in it.
func TestCartByKeyboard(t *testing.T) {
	t.Parallel()
	v := open(t)
	for _, name := range []string{"Taza", "Jarra", "Filtro"} {
		put(t, v, ana, stock(t, v, name, "20.00", 9).ProductID, 2)
	}
	p := signedIn(t, v.Address(t), v.Token(t, ana), "/#/")
	p.Until(`document.querySelector(".cart-count") !== null`)
	p.Click(".cart-button button")
	less := ".drawer .line:last-child .counter button:first-child"
	p.Click(less)
	p.Until(`document.querySelector("` + less + `").disabled && document.activeElement.matches(".drawer .line:last-child .counter button:last-child")`)
	for left := 2; left > 0; left-- {
		p.Click(".drawer .line:last-child .line-tools > .button")
		p.Until(fmt.Sprintf(`document.querySelectorAll(".drawer .line").length === %d && document.activeElement.matches(".drawer .line:last-child .line-tools > .button")`, left))
	}
	p.Click(".drawer .line-tools > .button")
	p.Until(`document.activeElement.matches(".drawer .empty h2")`)
}

// openShop opens a shop with sample data and running workers.
func openShop(t *testing.T) *apitest.Server {
	t.Helper()
	o := catFecito()
	o.Mail = new(mail.Outbox)
	v := apitest.Open(t, catfecito.System(o))
	if _, err := seed.Run(t.Context(), v.Host.Service(catfecito.Name).Sample, seed.Options{Items: 1000, Seed: 7}); err != nil {
		t.Fatal(err)
	}
	v.Work(t)
	apitest.Eventually(t, "the words of names are found", func() bool {
		return len(must[page[catfecito.Offer]](t, v, request("", http.MethodGet, "/products?q=oaxaca", nil), http.StatusOK).Items) == 3
	})
	return v
}

// TestShots takes screenshots of the shop for review, at each size, light and dark.
func TestShots(t *testing.T) {
	if os.Getenv("SCREENSHOTS") == "" {
		t.Skip("SCREENSHOTS names no directory")
	}
	v := openShop(t)
	offers := must[page[catfecito.Offer]](t, v, request("", http.MethodGet, "/products?limit=24", nil), http.StatusOK).Items
	for n, o := range offers[:8] {
		who := fmt.Sprint("u-90", n)
		put(t, v, who, offers[23-n].ProductID, 1)
		put(t, v, who, o.ProductID, 1+n%3)
		to := at()
		if n%2 == 0 {
			to = object{"way": "pickup", "name": "Bruno Díaz de la Vega y Montalvo", "phone": "55 8765 4321"}
		}
		created := must[catfecito.WholeOrder](t, v, keyed(who, "/orders", "k", object{"total": cart(t, v, who).Total, "delivery": to}), http.StatusCreated)
		if n > 1 {
			must[catfecito.PaymentResult](t, v, paid(fmt.Sprint("shot", n), created.Order), http.StatusOK)
		}
		if n > 5 {
			must[catfecito.Order](t, v, staff(request("", http.MethodPost, "/orders/"+created.OrderID+"/ship", nil)), http.StatusOK)
		}
	}
	put(t, v, bruno, offers[0].ProductID, 2)
	put(t, v, bruno, offers[3].ProductID, 1)
	own := must[page[catfecito.Order]](t, v, request(ana, http.MethodGet, "/orders", nil), http.StatusOK).Items[1]
	signIn := func(p *webtest.Page, token, at string) {
		p.Do(chromedp.Navigate(v.Address(t) + "/assets-none")) // leave the page, so that the next one starts fresh
		p.Eval(fmt.Sprintf(`localStorage.setItem("access-token /catfecito/", %q)`, token))
		p.Do(chromedp.Navigate(v.Address(t) + "/" + at))
	}
	for size, of := range map[string]webtest.Option{"phone": webtest.Phone, "tablet": webtest.Tablet, "desk": webtest.Desk} {
		for _, dark := range []bool{false, true} {
			with := []webtest.Option{of, webtest.Language("es-MX"), webtest.Expect("404")}
			if dark {
				with = append(with, webtest.Dark)
			}
			t.Run(fmt.Sprint(size, dark), func(t *testing.T) {
				p := webtest.Open(t, v.Address(t)+"/", with...)
				p.Wait(".product")
				p.Shot("shop-menu")
				signIn(p, v.Token(t, bruno), "#/p/"+offers[2].ProductID)
				p.Wait(".sheet .counter")
				p.Shot("shop-product")
				p.Click(".cart-button button")
				p.Wait(".drawer .line")
				p.Shot("shop-cart")
				p.Button("Continuar")
				p.Wait(".checkout")
				p.Width()
				p.Shot("shop-checkout")
				signIn(p, v.Token(t, ana), "#/orders/"+own.OrderID)
				p.Wait(".timeline")
				p.Shot("shop-order")
				signIn(p, v.Token(t, boss, catfecito.AdminGroup), "#/desk")
				p.Wait(".ticket")
				p.Until(`document.querySelector(".live.open") !== null`)
				p.Width()
				p.Shot("desk-board")
				p.Do(chromedp.Navigate(v.Address(t) + "/#/desk/products"))
				p.Wait(".table .shelf-name")
				p.Width()
				p.Shot("desk-products")
			})
		}
	}
}
