package console_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/tools/console"
	"github.com/monotable/monotable/web/webtest"
)

// TestServerViews: slow requests, storage and servers are shown in each window size and theme.
func TestServerViews(t *testing.T) {
	t.Parallel()
	db, err := monotable.Open(t.TempDir(), &monotable.Options{SlowRequest: 100 * time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	shop(t, db)
	address := served(t, db, func(o *console.Options) { o.Served = &console.Served{Server: true, Metrics: true} })
	for name, with := range everywhere {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := webtest.Open(t, address+"/_console/#/server/slow", with...)
			p.UntilText("PutItem")
			p.Wait(".waits-bar span")
			look(p, "console-slow")
			p.Eval(`document.querySelector('a[href="#/server/storage"]').click()`)
			p.UntilText("L6")
			p.Until(`document.querySelectorAll(".chart canvas").length === 2`)
			look(p, "console-storage")
			p.Eval(`document.querySelector('a[href="#/server/members"]').click()`)
			p.Wait(".empty")
			look(p, "console-members")
		})
	}
}

// TestServedViews: a view is offered only if the endpoint can fill it. An endpoint with neither feature behaves like DynamoDB
// Local.
func TestServedViews(t *testing.T) {
	t.Parallel()
	db, err := monotable.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	shop(t, db)
	bare := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if target := r.Header.Get("X-Amz-Target"); len(target) > 0 && target[0] != 'D' {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"__type":"com.amazonaws.dynamodb.v20120810#UnknownOperationException"}`))
			return
		}
		db.Handler().ServeHTTP(w, r)
	})
	for _, test := range []struct {
		name     string
		endpoint http.Handler
		want     string
	}{{"monotable", db.Handler(), "server: true, metrics: true"}, {"others", bare, "server: false, metrics: false"}} {
		endpoint := httptest.NewServer(test.endpoint)
		t.Cleanup(endpoint.Close)
		page := httptest.NewServer(console.New(console.Options{
			Endpoint: endpoint.URL + "/", Region: "us-east-1", Client: http.DefaultClient, Credentials: credentials.NewStaticCredentialsProvider("console", "console", ""),
		}))
		t.Cleanup(page.Close)
		p := webtest.Open(t, page.URL+"/_console/#/tables/shop")
		p.Wait(".table-views")
		p.Until(`"server: " + (document.querySelector('a[href="#/server"]') !== null) + ", metrics: " + (document.querySelector('a[href="#/tables/shop/metrics"]') !== null) === "` + test.want + `"`)
	}
}
