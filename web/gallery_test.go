package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/monotable/monotable/web"
	"github.com/monotable/monotable/web/webtest"
)

// gallery serves the components below a prefix.
func gallery(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/prefix/", http.StripPrefix("/prefix", web.App("gallery", web.Page{})))
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL + "/prefix/"
}

// TestGallery: every component, in each product's colours, light and dark, is accessible and fits its window.
func TestGallery(t *testing.T) {
	t.Parallel()
	address := gallery(t)
	for name, with := range map[string][]webtest.Option{
		"monotable": {}, "catfecito": {webtest.Phone}, "transporteapp": {webtest.Tablet}, "portfolio": {}, "appcore": {webtest.Phone, webtest.Language("pt-BR")}, "trinity": {webtest.Language("es-AR")},
	} {
		for _, dark := range []bool{false, true} {
			how := with
			if dark {
				how = append([]webtest.Option{webtest.Dark}, with...)
			}
			p := webtest.Open(t, address+"?product="+name, how...)
			p.Wait(".timeline")
			p.Accessible()
			p.Width()
			p.Shot("gallery-" + name)
		}
	}
}

// TestFloating: dialogs, drawers and menus open, are accessible, and give the focus back.
func TestFloating(t *testing.T) {
	t.Parallel()
	p := webtest.Open(t, gallery(t), webtest.Phone)
	for _, what := range []string{"dialog", "drawer", "confirm"} {
		p.Click("#open-" + what)
		p.Wait("dialog[open]")
		p.Accessible()
		p.Shot("floating-" + what)
		p.Press("\u001b")
		p.Until(`document.querySelector("dialog[open]") === null && document.activeElement.id === "open-` + what + `"`)
	}
	p.Button("Menu")
	p.Until(`document.activeElement.role === "menuitem"`)
	p.Shot("floating-menu")
	p.Press("d")
	p.Until(`document.activeElement.textContent === "Delete"`)
	p.Press("\u001b")
	p.Button("Problem")
	p.Wait(".toast")
	p.Accessible()
	p.Shot("floating-toast")
}

// TestForms: a form in a dialog is submitted once however often it is asked to, is not lost to a click next to the dialog, and asks
// before Escape discards it. The focus returns to what opened the dialog, also if the dialog is removed.
func TestForms(t *testing.T) {
	t.Parallel()
	p := webtest.Open(t, gallery(t))
	const open, escape = `document.querySelectorAll("dialog[open]").length`, "\u001b"
	outside := `document.querySelector("dialog[open]").dispatchEvent(new MouseEvent("mousedown", { bubbles: true }))`
	closed := open + ` === 0 && document.activeElement.id === "open-form"`

	p.Click("#open-form")
	p.Wait("[name=product]")
	p.Press(escape)
	p.Until(closed)
	p.Click("#open-form")
	p.Wait("[name=product]")
	p.Eval(outside)
	p.Until(closed)

	p.Click("#open-form")
	p.Type("[name=product]", "Cup")
	p.Eval(outside)
	for range 2 { // the second Escape in a row is one that a page cannot prevent
		p.Press(escape)
		p.Until(open + ` === 2`)
		p.Accessible()
		p.Button("Cancel")
		p.Until(open + ` === 1 && document.querySelector("[name=product]").value === "Cup"`)
	}
	p.Press(escape)
	p.Button("Discard")
	p.Until(closed)

	p.Click("#open-form")
	p.Type("[name=product]", "Cup")
	p.Eval(`(async () => {
		const save = document.querySelector("dialog[open] [type=submit]");
		for (const _ of [1, 2]) save.click();
		await new Promise((drawn) => setTimeout(drawn));
		if (save.ariaBusy !== "true") throw new Error("the button does not show that the form is being sent");
	})()`)
	p.Until(closed + ` && document.querySelector("#sent").textContent === "1"`)
}
