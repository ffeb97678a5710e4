package demo

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/monotable/monotable/systems/internal/systemtest"
	"github.com/monotable/monotable/web/webtest"
)

// foreign is a front-end developer's page: with a token, it writes a note with an idempotency key, reads the response's headers,
// reads the note again with its tag, and receives events.
const foreign = `<!doctype html><html lang="en"><title>Mine</title><body><h1>waiting</h1><script>
const say = (text) => { document.querySelector("h1").textContent = text; };
(async () => {
  const api = "%[1]s/notes", authorization = "Bearer %[2]s";
  const made = await fetch(api + "/notes", { method: "POST", headers: { authorization, "content-type": "application/json", "idempotency-key": "mine" }, body: '{"text":"from elsewhere"}' });
  const refused = await fetch(api + "/notes?limit=1000", { headers: { authorization } });
  const list = await (await fetch(api + "/notes", { headers: { authorization, "if-none-match": '"x"' } })).json();
  const events = await fetch(api + "/events", { headers: { authorization, "last-event-id": "7" } });
  const reader = events.body.pipeThrough(new TextDecoderStream()).getReader();
  const first = (await reader.read()).value;
  reader.cancel();
  say([made.status, made.headers.has("x-request-id"), refused.status, (await refused.json()).code, list.items[0].text, first.includes("hello")].join(" "));
})().catch((fault) => say("failed: " + fault));
</script></body></html>`

// TestCORS: with a token, a page of an origin that --web-cors-origin allows can do everything that the systems' own pages can;
// other pages can do nothing.
func TestCORS(t *testing.T) {
	t.Parallel()
	var page string
	mine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, page)
	}))
	defer mine.Close()
	for _, c := range []struct{ allowed, want string }{
		{mine.URL, "201 true 400 invalid_parameter from elsewhere true"},
		{"http://localhost:5173", "failed: TypeError: Failed to fetch"},
	} {
		r := serve(t, "--memory", "--web-cors-origin", c.allowed)
		token := onPage(t, systemtest.Call(t, "GET", r.web+"/", "").Body).Systems[0].Token
		page = fmt.Sprintf(foreign, r.web, token)
		p := webtest.Open(t, mine.URL+"/", webtest.Expect("another origin: "+r.web), webtest.Expect("400 (Bad Request)"), webtest.Expect("CORS policy"), webtest.Expect("Failed to load resource"))
		p.Until(`document.querySelector("h1").textContent !== "waiting"`)
		if got := p.Text("h1"); got != c.want {
			t.Errorf("with %s allowed: %s, want %s", c.allowed, got, c.want)
		}
		p.Close()
	}
}
