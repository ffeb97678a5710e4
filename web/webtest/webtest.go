// Package webtest tests pages in Chromium, for a window size, a language, and light or dark mode.
//
// A page that logs an error, throws, violates its content policy or sends a request to another origin fails its test. With
// SCREENSHOTS=DIR in the environment, Shot writes screenshots there.
package webtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Variable is the environment variable that skips tests of pages if it is "off", for runs that repeat the tests on another store.
const Variable = "WEBTEST"

const (
	// hangTime is the time limit for one step of a test, and stepTime for one element to appear: far more than needed, even on
	// a busy machine.
	hangTime = 5 * time.Minute
	stepTime = time.Minute

	pictureMode = 0o644
	folderMode  = 0o755
)

// options are the conditions of a test.
type options struct {
	width, height  int64
	dark, touch    bool
	language, zone string
	expected       []string
}

// Option changes one condition.
type Option func(*options)

// Phone is a window of 390 pixels with touch input.
func Phone(o *options) { o.width, o.height, o.touch = 390, 844, true }

// Tablet is a window of 820 pixels with touch input.
func Tablet(o *options) { o.width, o.height, o.touch = 820, 1180, true }

// Desk is a window of 1440 pixels, the default.
func Desk(o *options) { o.width, o.height, o.touch = 1440, 900, false }

// Dark selects dark mode.
func Dark(o *options) { o.dark = true }

// Language sets the reader's language, such as "es-MX". The default is English.
func Language(tag string) Option { return func(o *options) { o.language = tag } }

// TimeZone sets the reader's time zone, such as "America/Mexico_City". The default is the machine's.
func TimeZone(name string) Option { return func(o *options) { o.zone = name } }

// Midday sets the reader's time zone to one where it is now between eleven and twelve in the morning, for tests whose steps must
// fall on the same day.
func Midday(o *options) {
	o.zone = fmt.Sprintf("Etc/GMT%+d", time.Now().UTC().Hour()-11) // the sign is the opposite of the usual one
}

// Expect allows the page to log errors that contain a text, for example about a rejected request.
func Expect(text string) Option { return func(o *options) { o.expected = append(o.expected, text) } }

// Page is a tab with its own storage, in a browser that it may share with other tests. It is closed by Close or at the end of the
// test, before the servers that the test started earlier, so that the page can finish loading. It is not safe for concurrent use.
type Page struct {
	t       testing.TB
	ctx     context.Context //nolint:containedctx // it is the tab
	end     func()
	origin  string
	options options

	mu     sync.Mutex
	closed bool
	faults []string
}

// Open opens a page.
func Open(tb testing.TB, address string, with ...Option) *Page {
	tb.Helper()
	if os.Getenv(Variable) == "off" {
		tb.Skip("pages are left out")
	}
	o := options{language: "en-US"}
	Desk(&o)
	for _, set := range with {
		set(&o)
	}
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	p := &Page{t: tb, origin: u.Scheme + "://" + u.Host, options: o}
	p.ctx, p.end = tab(tb, o)
	tb.Cleanup(p.Close)
	scheme := "light"
	if o.dark {
		scheme = "dark"
	}
	var sized []chromedp.EmulateViewportOption
	if o.touch {
		sized = append(sized, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	begin := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}})
		if err == nil && o.zone != "" {
			_, err = cdp.Call(ctx, t, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: o.zone})
		}
		return err
	})
	if err := chromedp.Do(p.ctx, begin, chromedp.EmulateViewport(o.width, o.height, sized...)); err != nil {
		tb.Fatalf("%v (the browser is Debian's chromium: test/setup installs it)", err)
	}
	if err := chromedp.Listen(p.ctx, p.recordViolation); err != nil {
		tb.Fatal(err)
	}
	p.Do(chromedp.Navigate(address))
	return p
}

// Close closes the page, and fails its test if the page did something forbidden.
func (p *Page) Close() {
	p.t.Helper()
	p.mu.Lock()
	closed := p.closed
	p.closed = true
	p.mu.Unlock()
	if !closed {
		p.end()
		p.report()
	}
}

// recordViolation records forbidden actions of the page.
func (p *Page) recordViolation(event any) {
	var fault string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		fault = e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			fault += " " + e.ExceptionDetails.Exception.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			for _, arg := range e.Args {
				fault += fmt.Sprint(arg.Description, string(arg.Value), " ")
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			fault = e.Entry.Text + " " + e.Entry.URL
		}
	case *network.EventRequestWillBeSent:
		if at := e.Request.URL; !strings.HasPrefix(at, p.origin+"/") && !strings.HasPrefix(at, "data:") && !strings.HasPrefix(at, "blob:") && !strings.HasPrefix(at, "chrome") {
			fault = "a request to another origin: " + at
		}
	}
	if fault == "" || slices.ContainsFunc(p.options.expected, func(text string) bool { return strings.Contains(fault, text) }) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed && p.t.Context().Err() == nil { // after the test, the page's server may already have ended
		p.faults = append(p.faults, fault)
	}
}

func (p *Page) report() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, fault := range p.faults {
		p.t.Errorf("the page: %s", fault)
	}
}

// Context gives access to chromedp: chromedp.Run(p.Context(), …).
func (p *Page) Context() context.Context { return p.ctx }

// run executes one step. There is no time limit for a page as a whole, because tests may use others in between.
func run[T any](p *Page, step chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(p.ctx, hangTime)
	defer cancel()
	return chromedp.Run(ctx, step)
}

// Do executes chromedp actions.
func (p *Page) Do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if _, err := run(p, chromedp.Steps(steps...)); err != nil {
		p.fail("a step", err)
	}
}

// fail ends the test with what the page shows, because a failure of a page may not happen again.
func (p *Page) fail(step string, err error) {
	p.t.Helper()
	p.Shot("failed")
	shown, _ := run(p, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText.slice(0, 2000)`))
	p.t.Fatalf("%s: %v\nthe page is %s", step, err, shown)
}

// Go navigates to another page of the same origin.
func (p *Page) Go(address string) { p.t.Helper(); p.Do(chromedp.Navigate(address)) }

// Reload loads the page again and returns when the new document has loaded, so what follows cannot be true of the old one.
func (p *Page) Reload() { p.t.Helper(); p.Do(chromedp.Reload()) }

// Wait waits until an element is visible.
func (p *Page) Wait(selector string) { p.t.Helper(); p.Do(chromedp.WaitVisible(selector)) }

// reach scrolls an element into view and reports whether a click would hit it: it is visible, enabled and not covered.
const reach = `(e) => {
	if (!e || !e.checkVisibility({ visibilityProperty: true }) || e.disabled) return false;
	const uncovered = () => {
		const box = e.getClientRects()[0];
		const top = box && document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
		return top !== null && e.contains(top);
	};
	e.scrollIntoViewIfNeeded();
	if (uncovered()) return true;
	e.scrollIntoView({ block: "center", behavior: "instant" }); // away from a sticky header
	return uncovered();
}`

// Click clicks on an element as soon as possible.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.click("document.querySelector(" + quoted(selector) + ")")
}

// click clicks on the element found by an expression. It checks again at the moment of the click, because a click by position misses
// if the page moves in between.
func (p *Page) click(element string) {
	p.t.Helper()
	for {
		p.Until("(" + reach + ")(" + element + ")")
		clicked, err := run(p, chromedp.Evaluate[bool](`((e) => (`+reach+`)(e) && (e.focus({ preventScroll: true }), e.click(), true))(`+element+`)`))
		switch {
		case clicked || navigated(err):
			return
		case err != nil:
			p.fail(element, err)
		}
	}
}

// navigated reports whether an expression failed because the page navigated.
func navigated(err error) bool {
	refused, is := errors.AsType[*cdproto.Error](err)
	return is && (strings.HasPrefix(refused.Message, "Inspected target navigated") || strings.HasPrefix(refused.Message, "Execution context was destroyed") ||
		strings.HasPrefix(refused.Message, "Cannot find context"))
}

// quoted returns a JavaScript string literal.
func quoted(text string) string {
	literal, _ := json.Marshal(text) // strings never fail
	return string(literal)
}

// Type types text into a field.
func (p *Page) Type(selector, text string) {
	p.t.Helper()
	p.Do(chromedp.WaitVisible(selector), chromedp.Focus(selector), keys(text)) // elements of a closed dialog cannot be focused
}

// Press presses keys at the focus: kb.Tab, "x".
func (p *Page) Press(pressed string) { p.t.Helper(); p.Do(keys(pressed)) }

// keys presses keys like a keyboard: if a page prevents the default of a keydown event, no character is entered.
// chromedp.KeyEvent sends the character as a separate event that is always entered, so Enter in a list would also submit the form
// around it.
func keys(pressed string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, r := range pressed {
			events := kb.Encode(r)
			down, up := events[0], events[len(events)-1]
			if char := events[1]; char.Type == kb.KeyChar {
				down.Text, down.UnmodifiedText = char.Text, char.UnmodifiedText
			} else {
				down.Type = kb.KeyRawDown
			}
			for _, event := range []*input.DispatchKeyEventParams{down, up} {
				if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, *event); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Text returns the visible text of an element.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	text, err := run(p, chromedp.Text(selector))
	if err != nil {
		p.fail(selector, err)
	}
	return text
}

// button finds buttons, links, tabs and menu items by their text.
const button = `(name) => [...document.querySelectorAll("button, a, [role=menuitem], [role=tab], summary")].find((e) =>
	e.checkVisibility() && ((e.getAttribute("aria-label") ?? e.textContent).trim() === name))`

// Button clicks on the button, link, tab or menu item with the given text as soon as possible.
func (p *Page) Button(name string) {
	p.t.Helper()
	p.click("(" + button + ")(" + quoted(name) + ")")
}

// Until waits until an expression is true. An expression that fails, for example because an element is missing, counts as false.
func (p *Page) Until(expression string) {
	p.t.Helper()
	poll := chromedp.Poll[bool]("(() => { try { return !!("+expression+"); } catch { return false; } })()", chromedp.WithPollingTimeout(stepTime))
	_, err := run(p, poll)
	for navigated(err) { // the expression may become true on the next page
		_, err = run(p, poll)
	}
	if err != nil {
		p.fail(expression, err)
	}
}

// UntilText waits until the page contains a text.
func (p *Page) UntilText(text string) {
	p.t.Helper()
	p.Until("document.body.innerText.includes(" + quoted(text) + ")")
}

// Eval evaluates an expression.
func (p *Page) Eval(expression string) {
	p.t.Helper()
	p.Do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[json.RawMessage]("("+expression+") ?? null", chromedp.EvalAwaitPromise))
		return err
	}))
}

// Width fails the test if the page is wider than its window.
func (p *Page) Width() {
	p.t.Helper()
	widths, err := run(p, chromedp.Evaluate[[]int]("[document.documentElement.scrollWidth, document.documentElement.clientWidth]"))
	if err != nil || len(widths) != 2 || widths[0] > widths[1] {
		p.t.Errorf("the page is wider than its window: %v %v", widths, err)
	}
}

// Shot writes a screenshot of the whole page, or of the window while a dialog is open, to SCREENSHOTS. Its name contains the given name,
// the language, the window size and the theme.
func (p *Page) Shot(name string) {
	p.t.Helper()
	if os.Getenv("SCREENSHOTS") == "" {
		return
	}
	take := chromedp.FullScreenshot(100) //nolint:mnd // PNG
	if floating, err := run(p, chromedp.Evaluate[bool](`document.querySelector("dialog[open], :popover-open") !== null`)); err == nil && floating {
		take = chromedp.CaptureScreenshot() // floating elements are positioned in the window
	}
	p.keep(name, take)
}

// ShotOf writes a screenshot of an element, as Shot does.
func (p *Page) ShotOf(selector, name string) {
	p.t.Helper()
	p.keep(name, chromedp.Screenshot(selector))
}

// keep writes a picture to SCREENSHOTS, if that is set.
func (p *Page) keep(name string, take chromedp.Action[[]byte]) {
	p.t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	theme := "light"
	if p.options.dark {
		theme = "dark"
	}
	picture, err := run(p, take)
	if err == nil {
		file := filepath.Join(dir, fmt.Sprintf("%s-%.2s-%d-%s.png", name, p.options.language, p.options.width, theme))
		err = errors.Join(os.MkdirAll(dir, folderMode), os.WriteFile(file, picture, pictureMode))
	}
	if err != nil {
		p.t.Errorf("screenshot %s: %v", name, err)
	}
}
