package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

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

// TestToastOverDialog: a message that appears while a dialog is open can be read and closed, and the dialog stays. Once the dialog has
// closed, the page shows the messages that are left.
func TestToastOverDialog(t *testing.T) {
	t.Parallel()
	p := webtest.Open(t, gallery(t))
	const problem = `[...document.querySelectorAll("button")].find((b) => b.textContent === "Problem").click()`
	p.Click("#open-dialog")
	p.Wait("dialog[open]")
	p.Eval(problem)
	p.Wait(".toast")
	p.Accessible() // ends the animations, too
	p.Shot("floating-toast-dialog")
	p.Click(".toast button:last-child")
	p.Until(`document.querySelector(".toast") === null && document.querySelector("dialog[open]") !== null`)
	p.Eval(problem)
	p.Until(`document.querySelector("dialog[open] .toast") !== null`)
	p.Press("\u001b")
	p.Until(`document.querySelector("dialog[open]") === null && document.querySelectorAll(".toast").length === 1`)
	p.Click(".toast button:last-child")
	p.Until(`document.querySelector(".toast") === null`)
}

// TestToastOnce: the same message shown again replaces the first. A closed message gives the focus back.
func TestToastOnce(t *testing.T) {
	t.Parallel()
	p := webtest.Open(t, gallery(t))
	p.Button("Toast")
	for range 3 {
		p.Button("Problem")
	}
	p.Until(`document.querySelectorAll(".toast").length === 2`)
	p.Accessible() // ends the animations, too
	p.Click(".toast.danger button")
	p.Until(`document.querySelectorAll(".toast").length === 1 && document.activeElement.textContent === "Problem"`)
}

// TestMenuState: a menu's button says whether the menu is open.
func TestMenuState(t *testing.T) {
	t.Parallel()
	p := webtest.Open(t, gallery(t))
	const button = `document.querySelector("button[aria-label=Theme]").matches("[aria-expanded=`
	p.Wait("button[aria-label=Theme]")
	p.Until(button + `false]")`)
	p.Button("Theme")
	p.Until(button + `true]")`)
	p.Accessible()
	p.Press("\u001b")
	p.Until(button + `false]")`)
}

// TestFocusIsVisible: what gets the focus by going backwards is not under the header.
func TestFocusIsVisible(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]webtest.Option{"desk": webtest.Desk, "phone": webtest.Phone} {
		p := webtest.Open(t, gallery(t), size)
		p.Wait(".timeline")
		p.Eval(`(() => { window.scrollTo(0, 1e6); [...document.querySelectorAll("main button")].at(-1).focus(); })()`)
		for range 40 {
			p.Do(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(8))) // Shift
			hidden, err := chromedp.Run(p.Context(), chromedp.Evaluate[bool](`document.activeElement.closest("main") !== null &&
				document.activeElement.getBoundingClientRect().bottom < document.querySelector(".shell-header").getBoundingClientRect().bottom`))
			if err != nil || hidden {
				t.Fatalf("%s: the focus is under the header: %v", name, err)
			}
		}
	}
}

// TestTouch: on phones, also in tools, whose letters are smaller, buttons are 44 pixels high, and fields have letters of 16 pixels, because
// iOS zooms into smaller ones.
func TestTouch(t *testing.T) {
	t.Parallel()
	p := webtest.Open(t, gallery(t), webtest.Phone)
	p.Wait(".timeline")
	if small, err := chromedp.Run(p.Context(), chromedp.Evaluate[string](`[...document.querySelectorAll(".button")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 44).map((e) => e.outerHTML).join("\n")`)); err != nil || small != "" {
		t.Errorf("less than 44 pixels high: %s %v", small, err)
	}
	p.Until(`[...document.querySelectorAll(".input")].every((e) => parseFloat(getComputedStyle(e).fontSize) >= 16)`)
}

// TestEnlarged: at 400 % on a screen of 1280 by 1024, nothing is wider than the window, and neither the header nor the head and foot of a
// dialog stay in sight and leave no room.
func TestEnlarged(t *testing.T) {
	t.Parallel()
	p := webtest.Open(t, gallery(t))
	p.Do(chromedp.EmulateViewport(320, 256))
	p.Wait(".timeline")
	p.Width()
	p.Eval(`window.scrollTo(0, 1000)`)
	p.Until(`document.querySelector(".shell-header").getBoundingClientRect().bottom < 0`)
	p.Click("#open-dialog")
	p.Wait("dialog[open]")
	p.Until(`((body) => body.clientHeight === body.scrollHeight)(document.querySelector("dialog[open] .float-body"))`)
	p.Shot("enlarged-dialog")
}

// TestPrintIsLight: a page whose reader has chosen the dark theme is printed dark on white.
func TestPrintIsLight(t *testing.T) {
	t.Parallel()
	p := webtest.Open(t, gallery(t))
	p.Wait(".timeline")
	p.Eval(`document.documentElement.dataset.theme = "dark"`)
	p.Until(`getComputedStyle(document.documentElement).colorScheme === "dark"`)
	p.Do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		return err
	}))
	p.Until(`getComputedStyle(document.documentElement).colorScheme === "light"`)
}
