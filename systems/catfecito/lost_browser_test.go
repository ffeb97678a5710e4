package catfecito_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/monotable/monotable/web/webtest"
)

// TestLostAdditionCountsOnce: a customer who presses the button again because the response was lost has one piece in the cart, and the next
// press adds another one.
func TestLostAdditionCountsOnce(t *testing.T) {
	t.Parallel()
	v := openShop(t)
	signUp(t, v, anasMail)
	session := logIn(t, v, anasMail, password)
	shop, err := url.Parse(v.Address(t))
	if err != nil {
		t.Fatal(err)
	}
	line := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: shop.Scheme, Host: shop.Host})
	var sent atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/cart/items") && sent.Add(1) == 1 {
			line.ServeHTTP(httptest.NewRecorder(), r)
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		line.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)

	p := webtest.Open(t, s.URL+"/catfecito/assets-none", webtest.Language("es-MX"), webtest.Expect("404"), webtest.Expect("502"))
	p.Eval(fmt.Sprintf(`localStorage.setItem("refresh-token /catfecito/", %q)`, session.RefreshToken))
	p.Go(s.URL + "/catfecito/")
	p.Wait(".product-add")
	counts := func(n int) { p.Until(fmt.Sprintf(`document.querySelector(".cart-count")?.textContent === "%d"`, n)) }
	p.Click(".product-add")
	p.Until(`document.querySelector(".toast.danger") !== null`)
	p.Click(".product-add")
	counts(1)
	p.Click(".product-add")
	counts(2)
}
