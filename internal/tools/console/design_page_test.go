package console_test

import (
	"net/url"
	"testing"

	"github.com/monotable/monotable/web/webtest"
)

// TestDesignViews: the additions of a design appear in each window size and theme: items by entity, keys split into their parts,
// the patterns, a pattern that is run, and the map.
func TestDesignViews(t *testing.T) {
	t.Parallel()
	_, address := designedShop(t, 3)
	for name, with := range map[string][]webtest.Option{
		"desk": {}, "dark": {webtest.Dark}, "phone": {webtest.Phone, webtest.Language("es-MX")}, "night": {webtest.Phone, webtest.Dark, webtest.Language("pt-BR")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := webtest.Open(t, address+"/_console/#/tables/shop?view=entities", with...)
			p.Until(`document.querySelectorAll(".entity-group").length === 4`)
			look(p, "console-entities")
			p.Eval(`location.hash += "&item=" + encodeURIComponent(JSON.stringify({PK: {S: "USER#u-01"}, SK: {S: "LINE#o-1#cup"}}))`)
			p.Wait(".key-explained")
			look(p, "console-meaning")
			p.Eval(`location.hash = "#/tables/shop/patterns"`)
			p.Until(`document.querySelectorAll(".table caption").length >= 2`) // the patterns and the measurements
			look(p, "console-patterns")
			p.Eval(`location.hash = "#/tables/shop/patterns/OrdersOf?" + new URLSearchParams({with: '{"userId":"u-01"}', run: "1"})`)
			p.Until(`document.querySelectorAll(".pattern-result .entity-group tbody tr").length === 2`)
			look(p, "console-pattern")
			p.Eval(`location.hash = "#/tables/shop/patterns/Place"`)
			p.Wait(".line-form")
			look(p, "console-pattern-write")
			p.Eval(`location.hash = "#/tables/shop/map"`)
			p.Until(`document.querySelectorAll(".map-samples a").length > 3`)
			p.Until(`document.querySelector(".map > .card .empty") !== null`) // keys are not counted
			look(p, "console-map")
		})
	}
}

// TestRunByKeyboard: a pattern can be run by keyboard alone. Its exact request is shown, and missing arguments are reported at
// their fields.
func TestRunByKeyboard(t *testing.T) {
	t.Parallel()
	_, address := designedShop(t, 1)
	p := webtest.Open(t, address+"/_console/#/tables/shop/patterns/Place")
	p.Type("input[name=userId]", "u-00")
	p.Type("input[name=orderId]", "o-9\r")
	p.UntilText("Give a value.")
	p.Type("input[name=total]", "12345678901234567")
	p.Type(`input[name="lines.0.sku"]`, "bean")
	p.Type(`input[name="lines.0.quantity"]`, "2")
	p.Type(`input[name="lines.0.price"]`, "900")
	p.Button("Show the request")
	p.UntilText("Not sent.")
	p.UntilText("TransactWriteItems")
	p.UntilText("12345678901234567")
	p.Type(`input[name="lines.0.price"]`, "\r")
	p.UntilText("Done")
	p.UntilText("WCU")
	look(p, "console-ran")
	p.Eval(`location.hash = "#/tables/shop/patterns/Pay?" + new URLSearchParams({with: '{"userId":"u-00","orderId":"o-7"}', run: "1"})`)
	p.Wait("input[name=orderId]")
	p.Type("input[name=orderId]", "\r") // opening a link does not run a write
	p.UntilText("It failed")
	look(p, "console-failed")
	p.Eval(`location.hash = "#/tables/shop/patterns/Place?" + new URLSearchParams({with: '{"total":12345678901234567}'})`)
	p.Until(`document.querySelector("input[name=total]").value === "12345678901234567"`)
}

// TestItemLinksToRelatedItems: an item links to the items it references, and to the patterns that find related items.
func TestItemLinksToRelatedItems(t *testing.T) {
	t.Parallel()
	_, address := designedShop(t, 1)
	p := webtest.Open(t, address+"/_console/#/tables/shop?"+url.Values{"view": {"entities"}, "item": {`{"PK":{"S":"USER#u-00"},"SK":{"S":"LINE#o-1#cup"}}`}}.Encode())
	p.Wait(".leads")
	p.Until(`(() => { const a = [...document.querySelectorAll(".lead")].find((a) => a.textContent.includes("ORDER#o-1")); if (!a) return false; a.click(); return true; })()`)
	p.UntilText("bring a bag")
	p.Until(`(() => { const a = [...document.querySelectorAll(".lead")].find((a) => a.textContent.includes("UserWithOrders")); if (!a) return false; a.click(); return true; })()`)
	p.UntilText("as the design expects")
	p.Until(`document.querySelectorAll(".pattern-result .entity-group").length === 3`)
}

// TestMeaningRefused: if the back end does not interpret the items, because a page of them is too large, the view says so.
func TestMeaningRefused(t *testing.T) {
	t.Parallel()
	_, address := designedShop(t, 1)
	p := webtest.Open(t, address+"/_console/#/tables/shop")
	p.Wait(".data-grid tbody tr")
	p.Eval(`window.fetch = ((real) => (at, o) => String(at).includes("/design/items") ? Promise.resolve(new Response('{"__type":"RequestTooLarge"}', { status: 413 })) : real(at, o))(fetch)`)
	for _, view := range []string{"Entities", "Collection"} {
		p.Button(view)
		p.UntilText("An item may have 400 KB, and a request of the console 4 MB.")
	}
}
