package catfecito_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/monotable/monotable/web/webtest"
)

// TestTabsShareSession: two tabs that are opened at once, as when a browser restores them, both resume the session, and the refresh
// token that remains is the valid one, in whatever order the responses arrive.
func TestTabsShareSession(t *testing.T) {
	t.Parallel()
	v := open(t)
	signUp(t, v, anasMail)
	session := logIn(t, v, anasMail, password)
	var asked atomic.Int32
	late := make(chan struct{})
	release := sync.OnceFunc(func() { close(late) })
	address := webtest.Line(t, v.Address(t), func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		switch {
		case r.URL.Path == "/asked":
			_, _ = fmt.Fprint(w, asked.Load())
		case strings.HasSuffix(r.URL.Path, "/sessions/refresh") && asked.Add(1) == 1: // the first response arrives late
			response := httptest.NewRecorder()
			server.ServeHTTP(response, r)
			<-late
			maps.Copy(w.Header(), response.Header())
			w.WriteHeader(response.Code)
			_, _ = w.Write(response.Body.Bytes())
		default:
			server.ServeHTTP(w, r)
		}
	})
	t.Cleanup(release)

	p := webtest.Open(t, address+"/assets-none", webtest.Expect("404"))
	p.Eval(fmt.Sprintf(`localStorage.setItem("refresh-token /catfecito/", %q)`, session.RefreshToken))
	// The page is in the background now, where only timers tell the time.
	p.Eval(`(async () => {
		window.tabs = [open("/catfecito/#/account"), open("/catfecito/#/account")];
		window.until = async (is) => { while (!await is()) await new Promise((next) => setTimeout(next, 10)); };
		window.resumed = (tab) => tab.document.querySelector(".devices") !== null;
		const asked = async () => await (await fetch("/asked")).text() === "2";
		await until(async () => await asked() || (await navigator.locks.query()).pending.length > 0); // the second tab may wait for the first
		if (await asked()) await until(() => tabs.some(resumed));
	})()`)
	release()
	p.Eval(`(async () => {
		await until(() => tabs.every(resumed));
		const refreshToken = localStorage.getItem("refresh-token /catfecito/");
		const response = await fetch("/catfecito/sessions/refresh", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ refreshToken }) });
		if (!response.ok) throw new Error("the kept refresh token is not the valid one: " + response.status);
	})()`)
}
