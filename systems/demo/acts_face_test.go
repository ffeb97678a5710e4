package demo

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/internal/systemtest"
	"github.com/monotable/monotable/web/webtest"
)

// recordedRequest is a request by a member of staff, or by a user beforehand.
type recordedRequest struct {
	sub, method, path, body string
	status                  int
}

// TestActs: staff of each system see who has done what and what was rejected, page by page and day by day, on phones and
// desktops, in each language and theme. Operations appear in words, not as ids.
func TestActs(t *testing.T) {
	t.Parallel()
	const staff = "u-staff"
	r := serveAll(t, registered(), "--memory")
	var shelf []recordedRequest // more than one page
	for n := range 51 {
		shelf = append(shelf, recordedRequest{staff, http.MethodPut, fmt.Sprint("/categories/c-", n), `{"name":"Cafés","description":""}`, http.StatusOK})
	}
	for _, of := range []struct {
		system, address string
		does            []recordedRequest
		looks           [][]webtest.Option
		says            []string // the operation's name in the languages of the looks
		acts            int
	}{
		{
			"catfecito", "#/desk/acts",
			append(shelf, recordedRequest{staff, http.MethodPut, "/products/11111111-8a2b-4c3d-9e4f-0a1b2c3d4e5f/active", `{"isActive":true}`, http.StatusNotFound}),
			[][]webtest.Option{{webtest.Desk, webtest.Language("es-MX")}, {webtest.Phone, webtest.Dark, webtest.Language("pt-BR")}},
			[]string{"Guardó una categoría", "Salvou uma categoria"},
			len(shelf) + 1,
		},
		{
			"portfolio", "studio/#/acts",
			[]recordedRequest{
				{staff, http.MethodPut, "/categories/notas", `{"slug":"notas","name":"Notas"}`, http.StatusOK},
				{staff, http.MethodDelete, "/categories/nunca", "", http.StatusNotFound},
			},
			[][]webtest.Option{{webtest.Desk, webtest.Dark}, {webtest.Phone, webtest.Language("es-MX")}},
			[]string{"Saved a category", "Guardó una categoría"},
			2,
		},
		{
			"appcore", "#/operate",
			[]recordedRequest{{staff, http.MethodPost, "/queue/transactions/01KDZ2CN80000000000000001M/replay", "", http.StatusNotFound}},
			[][]webtest.Option{{webtest.Tablet, webtest.Language("pt-BR")}, {webtest.Phone, webtest.Dark}},
			[]string{"Liquidou uma transação de novo", "Settled a transaction again"},
			1,
		},
		{
			"transporteapp", "#/acts",
			[]recordedRequest{
				{"u-flota", http.MethodPut, "/perfil", `{"fullName":"Fletes del Norte","email":"f@example.com","timezone":"America/Monterrey"}`, http.StatusOK},
				{staff, http.MethodPost, "/empresas/u-flota/creditos", `{"creditos":5}`, http.StatusCreated},
				{staff, http.MethodPost, "/empresas/nadie/creditos", `{"creditos":5}`, http.StatusNotFound},
			},
			[][]webtest.Option{{webtest.Desk, webtest.Language("es-MX"), webtest.TimeZone("America/Mexico_City")}, {webtest.Phone, webtest.Dark, webtest.TimeZone("Asia/Tokyo")}},
			[]string{"Abonó créditos a una empresa", "Gave a company credits"},
			2,
		},
	} {
		t.Run(of.system, func(t *testing.T) {
			t.Parallel()
			base := r.web + "/" + of.system
			tokens := map[string]string{}
			for n, d := range of.does {
				if tokens[d.sub] == "" {
					form := url.Values{"system": {of.system}, "sub": {d.sub}, "admin": {fmt.Sprint(d.sub == staff)}}
					tokens[d.sub] = strings.TrimSpace(systemtest.Call(t, http.MethodPost, r.web+"/token", form.Encode(), "Content-Type", "application/x-www-form-urlencoded").Body)
				}
				got := systemtest.Call(t, d.method, base+d.path, d.body, "Authorization", "Bearer "+tokens[d.sub], "Content-Type", "application/json", "Idempotency-Key", fmt.Sprint("deed-", n))
				if got.Status != d.status {
					t.Fatalf("%s %s: %d, want %d: %s", d.method, d.path, got.Status, d.status, got.Body)
				}
			}
			for n, look := range of.looks {
				checkActs(t, base+"/", of.address, tokens[staff], of.says[n], of.acts, look)
			}
		})
	}
}

// checkActs checks the list of all acts of today, and of a day without any.
func checkActs(t *testing.T, base, address, token, done string, acts int, look []webtest.Option) {
	t.Helper()
	system := path.Base(base)
	p := openAs(t, base, token, look...)
	p.Go(base + address)
	if strings.HasSuffix(address, "operate") {
		p.Wait("[role=tab]:last-child")
		p.Click("[role=tab]:last-child")
	}
	p.Wait(".day-picker")
	p.Until(`document.querySelector(".table tbody tr .badge") !== null`)
	p.UntilText(done)
	p.UntilText("404")
	p.Until(`[...document.querySelectorAll("[aria-current=page]")].every((at) => at.getBoundingClientRect().right <= innerWidth)`) // link rows scroll to the current one
	p.Accessible()
	p.Width()
	p.Shot("acts-" + system)
	const rows = `document.querySelectorAll(".table tbody tr").length`
	if acts > 50 {
		p.Until(rows + ` === 50`)
		p.Click(".table-foot button")
	}
	p.Until(fmt.Sprintf(`%s === %d`, rows, acts))
	p.Click(".day-picker button:first-child")
	p.Wait(".empty")
	p.Accessible()
	p.Shot("acts-none-" + system)
	p.Click(".day-picker button:nth-of-type(2)")
	p.Until(fmt.Sprintf(`%s === %d`, rows, min(acts, 50)))
}

// openAs opens a browser that has signed in at a system's API page.
func openAs(t *testing.T, base, token string, look ...webtest.Option) *webtest.Page {
	t.Helper()
	p := webtest.Open(t, base+"docs", look...)
	p.Wait(".overview")
	p.Eval(fmt.Sprintf(`localStorage.setItem("access-token /%s/", %q)`, path.Base(base), token))
	return p
}
