package webtest

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// browsers are the running browsers by language. Tests that run at the same time share one, because starting one takes most of a
// second. A browser exits when its last tab closes.
var browsers = struct {
	mu sync.Mutex
	by map[string]*sharedBrowser
}{by: map[string]*sharedBrowser{}}

type sharedBrowser struct {
	ctx  context.Context //nolint:containedctx // it is the browser
	stop func()
	tabs int
}

// tab opens a tab in a browser of the language, and returns a function that closes it. Tabs share neither cookies nor storage.
func tab(tb testing.TB, o options) (context.Context, func()) {
	tb.Helper()
	b, err := take(o.language)
	if err != nil {
		tb.Fatalf("%v (the browser is Debian's chromium: test/setup installs it)", err)
	}
	ctx, leave := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	return ctx, func() {
		leave()
		b.release(o.language)
	}
}

// take returns the browser of a language, and starts it if necessary.
func take(language string) (*sharedBrowser, error) {
	browsers.mu.Lock()
	defer browsers.mu.Unlock()
	if b := browsers.by[language]; b != nil {
		b.tabs++
		return b, nil
	}
	profile, err := os.MkdirTemp("", "webtest-")
	if err != nil {
		return nil, err
	}
	flags := slices.Concat(chromedp.DefaultExecAllocatorOptions[:], []chromedp.ExecAllocatorOption{
		chromedp.UserDataDir(profile), chromedp.Flag("lang", language), chromedp.Flag("accept-lang", language),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
	})
	if os.Getuid() == 0 {
		flags = append(flags, chromedp.NoSandbox) // root cannot use the sandbox
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), flags...)
	ctx, leave := chromedp.NewContext(ctx)
	end := func() {
		leave()
		stop()
		_ = os.RemoveAll(profile)
	}
	if err := chromedp.Do(ctx); err != nil {
		end()
		return nil, errors.Join(errors.New("start a browser"), err)
	}
	b := &sharedBrowser{ctx: ctx, stop: end, tabs: 1}
	browsers.by[language] = b
	return b, nil
}

// release releases the browser. The last release ends it.
func (b *sharedBrowser) release(language string) {
	browsers.mu.Lock()
	defer browsers.mu.Unlock()
	if b.tabs--; b.tabs == 0 {
		delete(browsers.by, language)
		b.stop()
	}
}
