package trinity_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/monotable/monotable/systems/trinity/films"
	"github.com/monotable/monotable/web/webtest"
)

// enter types a name.
func enter(p *webtest.Page, name, start string) {
	p.Type("input[name=name]", name)
	p.Button(start)
}

// swipe drags the card sideways.
func swipe(p *webtest.Page, by float64) {
	steps := []input.DispatchMouseEventParams{
		{Type: input.DispatchMouseEventTypeMousePressed, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1},
		{Type: input.DispatchMouseEventTypeMouseMoved, X: by / 2, Button: input.MouseButtonLeft, Buttons: 1}, //nolint:mnd // on the way
		{Type: input.DispatchMouseEventTypeMouseMoved, X: by, Button: input.MouseButtonLeft, Buttons: 1},
		{Type: input.DispatchMouseEventTypeMouseReleased, X: by, Button: input.MouseButtonLeft, ClickCount: 1},
	}
	p.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, step := range steps {
			step.X, step.Y = step.X+195, 320 //nolint:mnd // on the card of a phone
			if _, err := cdp.Call(ctx, t, input.DispatchMouseEvent, step); err != nil {
				return err
			}
		}
		return nil
	}))
}

// shows waits until an element has a text.
func shows(p *webtest.Page, selector, text string) {
	p.Until(fmt.Sprintf("document.querySelector(%q)?.textContent === %q", selector, text))
}

// TestRoomInBrowsers: a host with an accent in their name opens a room on a phone. One guest joins by its link and another, in Spanish,
// by its code. They swipe, press keys and buttons, and see the match immediately. The host removes a member and closes the room.
// Back, reload and a lost connection lose nothing, and leaving asks for confirmation.
func TestRoomInBrowsers(t *testing.T) {
	t.Parallel()
	server := processWith(t, films.Offline(), "http://ADDR", "http://ADDR")
	page := server.URL + "/trinity/"
	refusals := webtest.Expect("the server responded with a status of 4")
	lost := webtest.Expect("net::ERR")

	a := webtest.Open(t, page, webtest.Phone, lost)
	a.Wait("input[name=name]")
	a.Accessible()
	a.Shot("trinity-enter")
	enter(a, "José María", "Start")
	a.UntilText("Hello, José María")
	a.UntilText("You are in no room")
	a.Accessible()
	a.Button("New room")
	for _, genre := range []string{"35", "878"} {
		a.Click(`.chip:has(input[value="` + genre + `"])`)
	}
	a.UntilText("That is two. To choose another, take one of them away.")
	a.Until(`document.querySelector('.chip input[value="18"]').disabled`)
	a.Accessible()
	a.Width()
	a.Shot("trinity-new")
	a.Click(`.chip:has(input[value="878"])`)
	a.Until(`!document.querySelector('.chip input[value="18"]').disabled`)
	a.Button("Open the room")
	a.Wait(".film")
	shows(a, "#live", "Live")
	shows(a, "#people-count", "1")
	code := a.Text(".room-code")
	code = code[len(code)-6:]
	a.Click(".room-code")
	a.Until(`document.querySelector(".share-qr").naturalWidth > 0`)
	a.Accessible()
	a.Shot("trinity-share")
	a.Button("Close")

	b := webtest.Open(t, page+"#/join/"+code, webtest.Dark, refusals, lost)
	b.Wait("input[name=name]")
	enter(b, "Zoë O'Neil", "Start")
	b.Wait(".film")
	shows(a, "#people-count", "2")
	shows(b, "#live", "Live")
	a.Until(`document.querySelector(".film-text h2").textContent !== ""`)
	film := a.Text(".film:not(.below):not(.gone) h2")
	a.Accessible()
	a.Width()
	a.Shot("trinity-room")
	b.Accessible()
	b.Width()
	b.Shot("trinity-room")
	swipe(a, 40) // not far enough
	shows(a, ".film:not(.below):not(.gone) h2", film)
	a.Until(`document.querySelector(".film").parentElement.closest("[aria-live=polite]") !== null`) // what is read is what changes in it
	swipe(a, 160)
	b.UntilText("1 of 30 films")
	b.Press(kb.ArrowRight)
	for _, p := range []*webtest.Page{a, b} {
		shows(p, "#match-film", film)
		p.Accessible()
		p.Shot("trinity-match")
		p.Button("Keep going")
	}
	a.Button("No")
	b.Press(kb.ArrowLeft)
	b.UntilText("2 of 30 films")

	// The reopened page continues where it was; Back leads to the rooms.
	next := a.Text(".film:not(.below):not(.gone) h2")
	a.Do(chromedp.Reload(), chromedp.WaitVisible(".film"))
	shows(a, ".film:not(.below):not(.gone) h2", next)
	shows(a, "#matches b", film)
	a.Do(chromedp.NavigateBack())
	a.UntilText(code)
	a.Until(`document.title === "Trinity"`)
	a.Accessible()
	a.Width()
	a.Shot("trinity-home")
	a.Do(chromedp.NavigateForward(), chromedp.WaitVisible(".film"))

	c := webtest.Open(t, page, webtest.Tablet, webtest.Dark, webtest.Language("es-MX"), refusals, lost)
	enter(c, "李小龍", "Empezar")
	c.Wait("input[name=code]")
	c.Type("input[name=code]", "OOOOOO")
	c.Button("Entrar")
	c.UntilText("Ninguna sala tiene este código.")
	c.Shot("trinity-no-room")
	c.Eval(`document.querySelector("input[name=code]").select()`)
	c.Type("input[name=code]", code)
	c.Button("Entrar")
	c.Wait(".film")
	c.Width()
	c.Shot("trinity-room")
	shows(a, "#people-count", "3")
	a.Click(".faces")
	a.UntilText("李小龍")
	a.Accessible()
	a.Shot("trinity-people")
	a.Button("Remove 李小龍?")
	a.UntilText("With the code they can come back.")
	a.Button("Remove")
	c.UntilText("No estás en esta sala")
	shows(a, "#people-count", "2")

	// Members who join while the connection is lost appear when it is restored.
	server.CloseClientConnections()
	c.Button("Salas")
	c.Wait("input[name=code]")
	c.Type("input[name=code]", code)
	c.Button("Entrar")
	c.Wait(".film")
	shows(a, "#people-count", "3")
	shows(a, "#live", "Live")

	c.Button("Menú de la sala")
	c.Button("Salir de la sala")
	c.UntilText("Se borran tus votos.")
	c.Shot("trinity-leave")
	c.Button("Cancelar")
	c.Wait(".film")
	c.Button("Menú de la sala")
	c.Button("Salir de la sala")
	c.Click("dialog[open] .button.danger")
	c.UntilText("No estás en ninguna sala")
	shows(a, "#people-count", "2")
	a.Eval(`document.querySelector("dialog[open] .button.quiet")?.click()`)
	a.Button("Room menu")
	a.Button("Close the room")
	a.Click("dialog[open] .button.danger")
	b.UntilText("The host has closed this room.")
	b.Accessible()
	b.Shot("trinity-closed")
	b.Button("Matches")
	b.UntilText(film)
	b.Accessible()
	b.Shot("trinity-matches")
}

// TestFinishedMemberSeesWhoIsMissing: a member who has voted on everything sees who the others are waiting for.
func TestFinishedMemberSeesWhoIsMissing(t *testing.T) {
	t.Parallel()
	server := process(t, "http://ADDR")
	p := webtest.Open(t, server.URL+"/trinity/#/new", webtest.Phone, webtest.Dark, webtest.Language("pt-BR"))
	enter(p, "Ana", "Começar")
	p.Button("Abrir a sala")
	for range 3 {
		p.Wait(".film")
		p.Button("Sim")
	}
	p.UntilText("Convide alguém: para combinar é preciso dois.")
	p.Accessible()
	p.Shot("trinity-done")
	if status, _ := fetch(t, http.MethodGet, server.URL+"/trinity/play/qr.png", ""); status != http.StatusNotFound {
		t.Errorf("a QR code without a public address: %d", status)
	}
}
