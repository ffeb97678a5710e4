package webtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/chromedp"
)

// violation is an axe rule that a page violates.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct {
		HTML           string `json:"html"`
		FailureSummary string `json:"failureSummary"`
	}
}

// Accessible fails the test for each violation of WCAG 2.2 AA and of best practices that axe-core finds. If web's npm packages
// are not installed, it logs that and checks nothing.
func (p *Page) Accessible() {
	p.t.Helper()
	script, found := axe()
	if !found {
		p.t.Log("axe-core is not installed: make setup")
		return
	}
	p.Until(`document.readyState === "complete"`) // a document that is still loading lacks what its scripts add
	// The script stays loaded until the page is reloaded.
	there, err := run(p, chromedp.Evaluate[bool](`typeof axe !== "undefined"`))
	if err == nil && !there {
		_, err = run(p, chromedp.Evaluate[bool](script+"; true"))
	}
	if err != nil {
		p.t.Fatal(err)
	}
	// Transitions show temporary colors, so they are finished first.
	// Style sheets are not preloaded: axe would copy those of shadow roots into style elements, which the content policy forbids.
	const check = `(async () => {
	  for (const a of document.getAnimations()) if (a.effect?.getComputedTiming().endTime !== Infinity) a.finish();
	  const found = await axe.run(document, { resultTypes: ["violations"], preload: false });
	  return JSON.stringify(found.violations);
	})()`
	text, err := run(p, chromedp.Evaluate[string](check, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatal(err)
	}
	var violations []violation
	if err := json.Unmarshal([]byte(text), &violations); err != nil {
		p.t.Fatal(err)
	}
	for _, v := range violations {
		for _, n := range v.Nodes {
			p.t.Errorf("axe: %s (%s): %s\n  %s\n  %s", v.ID, v.Impact, v.Help, n.HTML, strings.ReplaceAll(n.FailureSummary, "\n", "\n  "))
		}
	}
}

// axe returns the axe-core script from web's npm packages.
func axe() (script string, found bool) {
	for dir := "."; ; dir = filepath.Join(dir, "..") {
		if text, err := os.ReadFile(filepath.Join(dir, "web/node_modules/axe-core/axe.min.js")); err == nil {
			return string(text), true
		}
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return "", false
		}
	}
}
