package demo

import (
	"net/url"
	"testing"

	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/web/webtest"
)

// TestFirstPage: the demo's first page is accessible and complete in each window, theme and language, and opens the systems' pages
// signed in.
func TestFirstPage(t *testing.T) {
	t.Parallel()
	r := serveAll(t, registered(), "--memory")
	for _, look := range []struct {
		options []webtest.Option
		says    string
	}{
		{[]webtest.Option{webtest.Desk}, "The systems"},
		{[]webtest.Option{webtest.Tablet, webtest.Dark, webtest.Language("pt-BR")}, "Os sistemas"},
		{[]webtest.Option{webtest.Phone, webtest.Language("es-MX")}, "Los sistemas"},
		{[]webtest.Option{webtest.Desk, webtest.Dark}, "Five systems."},
		{[]webtest.Option{webtest.Phone, webtest.Dark}, "Five systems."},
	} {
		p := webtest.Open(t, r.web+"/", look.options...)
		p.UntilText(look.says)
		p.Until(`document.querySelectorAll(".stat-value .skeleton").length === 0`)
		p.Accessible()
		p.Width()
		p.Shot("demo")
	}
	p := webtest.Open(t, r.web+"/", webtest.Phone)
	p.Wait(".system")
	for _, name := range []string{"appcore", "catfecito", "portfolio", "transporteapp", "trinity"} {
		p.Go(r.web + "/" + name + "/")
		p.Until(`document.documentElement.dataset.product === "` + name + `" && document.querySelector("h1") !== null`)
		p.Accessible()
		p.Width()
	}
	p.Until(`document.querySelector("button[aria-label=Account]") !== null`)
}

// TestTablesOfSystems: each system's card links to all its tables in the console, which shows them according to the system's
// design.
func TestTablesOfSystems(t *testing.T) {
	t.Parallel()
	systems := registered()
	r := serveAll(t, systems, "--memory")
	p := webtest.Open(t, r.web+"/")
	for _, s := range systems {
		for _, described := range s.Tables(run.DefaultStage) {
			address := r.database + "/_console/#/tables/" + url.PathEscape(*described.Create.TableName) + "?view=entities"
			p.Until(`document.querySelector('.system[data-product="` + s.Name + `"] a[href="` + address + `"]') !== null`)
			console := webtest.Open(t, address)
			console.Until(`document.documentElement.dataset.product === "console" && document.querySelector(".design-source") !== null`)
		}
	}
}
