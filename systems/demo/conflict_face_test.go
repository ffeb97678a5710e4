package demo

import (
	"fmt"
	"net/http"
	"path"
	"testing"
	"time"

	"github.com/monotable/monotable/web/webtest"
)

// form is a form that a user fills in while another user saves a change to the same item.
type form struct {
	p *webtest.Page
	// field and save are selectors: of the field to type into, and of the button.
	field, save string
	// theirs saves a name as the other user, and stored returns the stored name.
	theirs func(name string)
	stored func() string
	// reopen opens the form again if saving has closed it.
	reopen func(name string)
	// changed, keep and load are the page's texts about a conflict, in its language.
	changed, keep, load string
}

// TestConflictingEditsAreReported: users who save a form that another user has changed in the meantime are warned in their language, keep
// what they have typed, and decide whether to save it or load the stored version: in Portfolio's studio, at CatFecito's desk, and
// on TransporteApp's board.
func TestConflictingEditsAreReported(t *testing.T) {
	t.Parallel()
	r := serveAll(t, registered(), "--memory", "--sample", "1k")
	refused := webtest.Expect("status of 412")

	t.Run("portfolio", func(t *testing.T) {
		t.Parallel()
		c := newClient(t, r.web, "portfolio", "u-123", false)
		category := firstID(c, "/categories", "categoryId")
		post := func(title string) map[string]any {
			return map[string]any{"title": title, "excerpt": "", "body": "text", "categoryId": category}
		}
		at := "/posts/" + c.do(http.MethodPost, "/posts", post("first"), "postId")
		p := openAs(t, c.base+"/", c.token, refused)
		p.Go(c.base + "/studio/#/posts/" + path.Base(at))
		form{
			p: p, field: "[name=title]", save: ".editor-bar [type=submit]", reopen: func(string) {},
			theirs:  func(name string) { c.do(http.MethodPut, at, post(name), "title") },
			stored:  func() string { return c.do(http.MethodGet, at, nil, "title") },
			changed: "Somebody else has changed this since you opened it", keep: "Keep mine", load: "Load the current version",
		}.contested(t)
	})

	t.Run("catfecito", func(t *testing.T) {
		t.Parallel()
		c := newClient(t, r.web, "catfecito", "u-staff", true)
		category := firstID(c, "/categories", "categoryId")
		product := func(name string) map[string]any {
			return map[string]any{"name": name, "categoryId": category, "price": "35.00", "description": "", "stock": 5}
		}
		edited := func(name string) map[string]any {
			body := product(name)
			delete(body, "stock")
			return body
		}
		at := "/products/" + c.do(http.MethodPost, "/products", product("first"), "productId")
		p := openAs(t, c.base+"/", c.token, webtest.Language("pt-BR"), refused)
		p.Go(c.base + "/#/desk/products")
		open := func(name string) {
			typed := "input[type=search]"
			typeOver(p, typed, name)
			p.Button("Editar " + name)
		}
		open("first")
		form{
			p: p, field: "dialog[open] [name=name]", save: "dialog[open] .float-foot .primary", reopen: open,
			theirs:  func(name string) { c.do(http.MethodPut, at, edited(name), "name") },
			stored:  func() string { return c.do(http.MethodGet, at, nil, "name") },
			changed: "Outra pessoa alterou isto depois de ser aberto", keep: "Manter a minha", load: "Carregar a versão atual",
		}.contested(t)
	})

	t.Run("transporteapp", func(t *testing.T) {
		t.Parallel()
		const changed, keep, load = "Otra persona modificó esto después de que se abrió", "Conservar la mía", "Cargar la versión actual"
		c := newCarrier(t, r.web, "u-flota")
		c.do(http.MethodPut, "/perfil", map[string]any{"fullName": "Fletes del Norte", "email": "f@example.com", "timezone": "America/Monterrey"}, "fullName")
		now, valid := time.Now(), time.Now().AddDate(10, 0, 0)
		first, second, unit := c.driver("first", valid), c.driver("Pedro López", valid), c.vehicle("ABC-123")
		c.driver("Luis Núñez", valid)
		trip := c.trip("first", now.Add(2*time.Hour), 3*time.Hour, "", "")
		p := openAs(t, c.base+"/", c.token, webtest.Language("es-MX"), refused)

		p.Go(c.base + "/#/fleet")
		open := func(name string) {
			p.Button("Acciones de " + name)
			p.Button("Editar")
		}
		open("first")
		form{
			p: p, field: "dialog[open] [name=nombre]", save: "dialog[open] .float-foot .primary", reopen: open,
			theirs:  func(name string) { c.do(http.MethodPut, "/conductores/"+first, driverNamed(name, valid), "nombre") },
			stored:  func() string { return c.do(http.MethodGet, "/conductores/"+first, nil, "nombre") },
			changed: changed, keep: keep, load: load,
		}.contested(t)

		p.Go(c.base + "/docs")
		p.Go(c.base + "/#/?trip=" + trip)
		p.Button("Editar")
		form{
			p: p, field: "dialog[open] [name=nombre]", save: "dialog[open] .float-foot .primary",
			reopen: func(name string) {
				p.Until(fmt.Sprintf(`document.querySelector("dialog[open] h2").textContent === %q`, name)) // it has been reloaded
				p.Button("Editar")
			},
			theirs: func(name string) {
				c.do(http.MethodPut, "/viajes/"+trip, tripNamed(name, now.Add(2*time.Hour), 3*time.Hour), "nombre")
			},
			stored:  func() string { return c.do(http.MethodGet, "/viajes/"+trip, nil, "nombre") },
			changed: changed, keep: keep, load: load,
		}.contested(t)

		p.Go(c.base + "/docs")
		p.Go(c.base + "/#/company")
		company := func(name string) map[string]any {
			return map[string]any{"fullName": name, "email": "f@example.com", "timezone": "America/Monterrey"}
		}
		form{
			p: p, field: "[name=fullName]", save: "form.narrow [type=submit]", reopen: func(string) {},
			theirs:  func(name string) { c.do(http.MethodPut, "/perfil", company(name), "fullName") },
			stored:  func() string { return c.do(http.MethodGet, "/perfil", nil, "fullName") },
			changed: changed, keep: keep, load: load,
		}.contested(t)

		// Two dispatchers assign the same trip.
		p.Go(c.base + "/docs")
		p.Go(c.base + "/#/?trip=" + trip)
		p.Button("Asignar")
		p.Click(`input[name=driver][value="Luis Núñez"]`)
		p.Click(`input[name=vehicle][value="ABC-123"]`)
		c.do(http.MethodPut, "/viajes/"+trip+"/recursos", map[string]any{"conductorId": second, "vehiculoId": unit}, "viajeId")
		p.Click("dialog[open] .float-foot .primary")
		p.UntilText(changed)
		p.Accessible()
		p.Shot("conflict-assign")
		p.Button(load)
		p.Until(`document.querySelector('input[name=driver]:checked').value === "Pedro López"`)
		p.Click(`input[name=driver][value="Luis Núñez"]`)
		p.Click("dialog[open] .float-foot .primary")
		p.UntilText("Asignado a Luis Núñez")
	})
}

// contested twice saves a form that another user has changed. The first time the user keeps what they typed, the second time they
// load the stored version.
func (f form) contested(t *testing.T) {
	t.Helper()
	holds := func(name string) { f.p.Until(fmt.Sprintf("document.querySelector(%q).value === %q", f.field, name)) }
	stored := func(want string) {
		t.Helper()
		if got := f.stored(); got != want {
			t.Fatalf("%q is stored, want %q", got, want)
		}
	}
	overtaken := func(theirs, mine string) {
		t.Helper()
		f.p.Wait(f.field)
		f.theirs(theirs)
		typeOver(f.p, f.field, mine)
		f.p.Click(f.save)
		f.p.UntilText(f.changed)
		stored(theirs)
		holds(mine)
	}
	overtaken("theirs 1", "mine 1")
	f.p.Accessible()
	f.p.Width()
	f.p.Shot("conflict-" + path.Base(t.Name()))
	f.p.Button(f.keep)
	f.p.Until(fmt.Sprintf("!document.body.innerText.includes(%q)", f.changed))
	holds("mine 1")
	f.p.Click(f.save)
	f.p.Until(`document.querySelector(".toast.success") !== null`)
	stored("mine 1")

	f.reopen("mine 1")
	holds("mine 1")
	overtaken("theirs 2", "mine 2")
	f.p.Button(f.load)
	holds("theirs 2")
	stored("theirs 2")
}

// typeOver replaces the content of a field by typing.
func typeOver(p *webtest.Page, selector, text string) {
	p.Wait(selector)
	p.Eval(fmt.Sprintf("document.querySelector(%q).select()", selector))
	p.Type(selector, text)
}

// firstID returns the id of the first item of a list.
func firstID(c *client, list, field string) string {
	c.t.Helper()
	items, _ := c.response(http.MethodGet, list, nil)["items"].([]any)
	if len(items) == 0 {
		c.t.Fatal("there is nothing at ", list)
	}
	item, _ := items[0].(map[string]any)
	text, _ := item[field].(string)
	return text
}
