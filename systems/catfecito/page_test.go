package catfecito_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/apitest"
)

// TestPayInABrowser: a customer cancels one payment at the provider's page and completes another. The shop learns of both from
// signed events.
func TestPayInABrowser(t *testing.T) {
	t.Parallel()
	v := open(t)
	o := buy(t, v, ana, "k", stock(t, v, "Taza", "20.00", 5).ProductID, 1)
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(390, 844))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has no sandbox when run as root
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	press := func(value, want string, status catfecitodb.OrderStatus) {
		t.Helper()
		page := must[struct{ URL string }](t, v, request(ana, http.MethodPost, "/orders/"+o.OrderID+"/payments", nil), http.StatusOK)
		if err := chromedp.Do(ctx, chromedp.Navigate(v.Address(t)+"/"+page.URL), chromedp.Click(`button[value="payment.`+value+`"]`)); err != nil {
			t.Fatalf("%v (the browser is Debian's chromium: test/setup installs it)", err)
		}
		apitest.Eventually(t, "the page says "+want, func() bool {
			text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector("#outcome").textContent`))
			if err != nil {
				t.Fatal(err)
			}
			return text == want
		})
		if got := scan(t, v).truth[o.OrderID].Status; got != status {
			t.Errorf("%s: the order is %s, want %s", value, got, status)
		}
	}
	press("cancelled", "Cancelled. The order is not paid.", catfecitodb.OrderStatusPending)
	press("succeeded", "Paid. You can close this page.", catfecitodb.OrderStatusPaid)
	if at := os.Getenv("SCREENSHOTS"); at != "" {
		picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "catfecito-pay.png"), picture, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
