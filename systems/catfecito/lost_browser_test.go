package catfecito_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
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
	var sent atomic.Int32
	address := webtest.Line(t, v.Address(t), func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/cart/items") && sent.Add(1) == 1 {
			server.ServeHTTP(httptest.NewRecorder(), r)
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		server.ServeHTTP(w, r)
	})

	p := webtest.Open(t, address+"/assets-none", webtest.Language("es-MX"), webtest.Expect("404"), webtest.Expect("502"))
	p.Eval(fmt.Sprintf(`localStorage.setItem("refresh-token /catfecito/", %q)`, session.RefreshToken))
	p.Go(address + "/")
	p.Wait(".product-add")
	counts := func(n int) { p.Until(fmt.Sprintf(`document.querySelector(".cart-count")?.textContent === "%d"`, n)) }
	p.Click(".product-add")
	p.Until(`document.querySelector(".toast.danger") !== null`)
	p.Click(".product-add")
	counts(1)
	p.Click(".product-add")
	counts(2)
}
