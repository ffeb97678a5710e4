package demo

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/monotable/monotable/systems/internal/systemtest"
	"github.com/monotable/monotable/web/webtest"
)

// TestDocs: a developer's first hour with an API, by mouse and keyboard: from the page that lists the systems, signed in with its
// token, to finding and trying operations, a rejected request, and events as they arrive.
func TestDocs(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	r := serve(t, "--data", data)
	p := webtest.Open(t, r.web+"/", webtest.Expect("/notes/notes?limit=1000"))
	p.Wait(".system")
	p.Until(`document.querySelector('a[href="notes/docs"]') !== null`)
	p.Go(r.web + "/notes/docs")
	p.UntilText("Try these first")
	p.Accessible()

	p.Eval(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "/", bubbles: true}))`) // Press types it into the field as well
	p.Until(`document.activeElement.matches(".sidebar input")`)
	p.Press("write note")
	p.Until(`document.querySelectorAll(".sidebar-list a").length === 1`)
	p.Press(kb.Enter)
	p.Wait(".try textarea")
	p.Until(`JSON.parse(document.querySelector(".try textarea").value).text === "it's here"`) // the system's example
	p.Until(`document.querySelector(".try").textContent.includes("$TOKEN")`)
	p.Eval(`(() => { const at = document.querySelector(".try textarea"); at.value = '{"text": "from a browser"}'; at.dispatchEvent(new Event("input", {bubbles: true})); at.focus(); })()`)
	p.Eval(`document.querySelector(".try textarea").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", ctrlKey: true, bubbles: true, cancelable: true}))`)
	p.Wait(`.received[data-state="done"]`)
	if response := p.Text(".received"); !strings.Contains(response, "201") || !strings.Contains(response, `"text": "from a browser"`) {
		t.Errorf("a note that was tried: %s", response)
	}
	p.Accessible()
	p.Eval(`location.hash = "#/listNotes"`)
	p.Wait(".try")
	p.Until(`document.querySelector("h1").textContent === "Notes in order"`)
	p.Eval(`(() => { const at = document.querySelector(".try input"); at.value = "1000"; at.dispatchEvent(new Event("input", {bubbles: true})); })()`)
	p.Button("Send")
	p.Wait(`.received[data-state="done"]`)
	if refusal := p.Text(".received"); !strings.Contains(refusal, "400") || !strings.Contains(refusal, `"code": "invalid_parameter"`) {
		t.Errorf("a limit of 1000: %s", refusal)
	}
	p.Eval(`location.hash = "#/watchNotes"`)
	p.Until(`document.querySelector("h1").textContent === "Follow notes"`)
	p.Button("Send")
	p.Wait(`.received[data-state="open"]`)
	p.UntilText(`"hello"`)
	p.Button("Stop")
	p.Wait(`.received[data-state="done"]`)
	_, token, _ := command(t, "token", "--system", "notes", "--sub", indexSub, "--data", data)
	if got := systemtest.Call(t, "GET", r.web+"/notes/notes", "", "Authorization", "Bearer "+strings.TrimSpace(token)); got.Status != http.StatusOK || !strings.Contains(got.Body, "from a browser") {
		t.Errorf("the note is not its user's: %d %s", got.Status, got.Body)
	}
}

// TestDocsOfEachSystem: each system's API page is complete in each window, theme and language, is signed in with the system's
// token, and shows the system's samples.
func TestDocsOfEachSystem(t *testing.T) {
	t.Parallel()
	r := serveAll(t, registered(), "--memory")
	looks := []struct {
		system, operation, kind string
		options                 []webtest.Option
		says                    string
	}{
		{"catfecito", "createProduct", "Product", []webtest.Option{webtest.Desk}, "Try it"},
		{"appcore", "createTransaction", "Transaction", []webtest.Option{webtest.Phone, webtest.Language("es-MX")}, "Pruébela"},
		{"trinity", "createRoom", "Room", []webtest.Option{webtest.Desk, webtest.Dark, webtest.Language("pt-BR")}, "Teste"},
		{"portfolio", "writePost", "Post", []webtest.Option{webtest.Tablet}, "Try it"},
		{"transporteapp", "createViaje", "Viaje", []webtest.Option{webtest.Phone, webtest.Dark, webtest.Language("es-MX")}, "Pruébela"},
	}
	for _, look := range looks {
		p := webtest.Open(t, r.web+"/", look.options...)
		p.Wait(".system") // it hands each system's pages their token
		at := r.web + "/" + look.system + "/docs"
		p.Go(at)
		p.Wait(".overview")
		p.Until(`document.documentElement.dataset.product === "` + look.system + `"`)
		p.Accessible()
		p.Width()
		p.Shot("docs-" + look.system)
		p.Eval(`location.hash = "#/` + look.operation + `"`)
		p.UntilText(look.says)
		p.Until(`document.querySelector(".try button[type=submit]") !== null && document.querySelector(".try .notice") === null`) // signed in
		p.Until(`document.querySelector(".columns .tab-panel") !== null`)
		p.Accessible()
		p.Width()
		p.Shot("docs-" + look.system + "-operation")
		p.Eval(`location.hash = "#/types/` + look.kind + `"`)
		p.Until(`document.querySelector("h1").textContent === "` + look.kind + `"`)
		p.Accessible()
		p.Width()
		p.Shot("docs-" + look.system + "-type")
	}
}
