package demo

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/monotable/monotable/systems/internal/systemtest"
)

// browserWait is far more than a page here takes, on a machine that does much else.
const browserWait = time.Minute

// browser opens a tab that ends with the test.
func browser(t *testing.T, extra ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	options := slices.Concat(chromedp.DefaultExecAllocatorOptions[:], extra, []chromedp.ExecAllocatorOption{chromedp.UserDataDir(t.TempDir())})
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which root cannot have
	}
	ctx, cancel := context.WithTimeout(t.Context(), browserWait)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	return ctx
}

// try fills the form of an operation on its page, sends it, and returns what is shown when it has reached a state.
func try(ctx context.Context, t *testing.T, operation, input, value, state string) string {
	t.Helper()
	at := "#" + operation
	steps := []chromedp.Action[chromedp.Void]{chromedp.Click(at + " > summary")}
	if input != "" {
		steps = append(steps, chromedp.SetValue(at+" "+input, value))
	}
	steps = append(steps, chromedp.Click(at+" form button"), chromedp.WaitVisible(at+" pre.answer[data-state="+state+"]"))
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatalf("%s: %v", operation, err)
	}
	return shownAt(ctx, t, at+" pre.answer")
}

func shownAt(ctx context.Context, t *testing.T, at string) string {
	t.Helper()
	text, err := chromedp.Run(ctx, chromedp.Text(at))
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	return text
}

// TestPagesInABrowser: from the page that names the systems to an operation that is tried, with the token that the page
// handed over.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	r := serve(t, "--data", data)
	ctx := browser(t)
	if err := chromedp.Do(ctx, chromedp.Navigate(r.web+"/")); err != nil {
		t.Fatalf("%v (the browser is Debian's chromium: test/setup installs it)", err)
	}
	systemsShown := shownAt(ctx, t, ".system h3")
	if err := chromedp.Do(ctx, chromedp.Click(`a[href="notes/docs"]`), chromedp.WaitVisible("#createNote")); err != nil {
		t.Fatal(err)
	}
	operations := shownAt(ctx, t, "#operations")
	answer := try(ctx, t, "createNote", "textarea", `{"text": "from a browser"}`, "done")
	refusal := try(ctx, t, "listNotes", "input", "1000", "done")
	stream := try(ctx, t, "watchNotes", "", "", "open")
	if systemsShown != "Notes" {
		t.Errorf("the page names %q, want Notes", systemsShown)
	}
	for _, want := range []string{"/notes", "/events", "Write a note", "needs a token", "/health"} {
		if !strings.Contains(operations, want) {
			t.Errorf("the operations lack %q: %s", want, operations)
		}
	}
	if !strings.HasPrefix(answer, "201 Created") || !strings.Contains(answer, `"text": "from a browser"`) {
		t.Errorf("a note that was tried: %s", answer)
	}
	if !strings.HasPrefix(refusal, "400 ") || !strings.Contains(refusal, `"code": "invalid_parameter"`) {
		t.Errorf("a limit of 1000: %s", refusal)
	}
	if !strings.HasPrefix(stream, "200 ") || !strings.Contains(stream, `"hello"`) {
		t.Errorf("an event stream: %s", stream)
	}
	_, token, _ := command(t, "token", "--system", "notes", "--sub", indexSub, "--data", data)
	if got := systemtest.Call(t, "GET", r.web+"/notes/notes", "", "Authorization", "Bearer "+strings.TrimSpace(token)); got.Status != http.StatusOK || !strings.Contains(got.Body, "from a browser") {
		t.Errorf("the note is not its user's: %d %s", got.Status, got.Body)
	}
	r.end(t)
}

// TestEachAPIPageHasItsToken: the page of all systems hands each API page the token of its system.
func TestEachAPIPageHasItsToken(t *testing.T) {
	t.Parallel()
	all := registered()
	r := serveAll(t, all, "--memory")
	ctx := browser(t)
	if err := chromedp.Do(ctx, chromedp.Navigate(r.web+"/")); err != nil {
		t.Fatalf("%v (the browser is Debian's chromium: test/setup installs it)", err)
	}
	if err := chromedp.Do(ctx, chromedp.WaitVisible(".system")); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if err := chromedp.Do(ctx, chromedp.Navigate(r.web+"/"+s.Name+"/docs"), chromedp.WaitVisible("#operations details")); err != nil {
			t.Fatal(err)
		}
		token, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector("#token").value`))
		if err != nil {
			t.Fatal(err)
		}
		if answer := guarded(t, r.web, s, token); answer.Status == http.StatusUnauthorized {
			t.Errorf("%s: %d %s to the token %q of its page", s.Name, answer.Status, answer.Body, token)
		}
	}
	r.end(t)
}
