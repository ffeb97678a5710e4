package demo

import (
	"testing"

	"github.com/monotable/monotable/web/webtest"
)

// TestFace: the page with which the demo begins is accessible and whole in each window, theme and language, and its
// systems' pages open from it with somebody signed in.
func TestFace(t *testing.T) {
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
