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
