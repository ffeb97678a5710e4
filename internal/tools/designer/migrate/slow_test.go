package migrate_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/tools/designer/migrate"
	"github.com/monotable/monotable/internal/tools/designer/provision"
	"github.com/monotable/monotable/monotabletest"
)

// TestSlowEnd: a migration that has done everything is not an error because the database takes more than a second to release its lease.
func TestSlowEnd(t *testing.T) {
	t.Parallel()
	database := monotabletest.New(t).Handler()
	var released atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if bytes.Contains(body, []byte(`":until":{"N":"0"}`)) {
			select {
			case <-time.After(1200 * time.Millisecond):
				released.Store(true)
			case <-r.Context().Done():
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		database.ServeHTTP(w, r)
	}))
	defer server.Close()
	client := clientOf(server.URL)
	m := migrations()["all at once"]
	if err := provision.Apply(t.Context(), client, provision.Specs(edited(t, base, m.start...), nil), func(string, ...any) {}); err != nil {
		t.Fatal(err)
	}
	migration, err := migrate.Open(planned(t, "all at once"), migrate.Target{Client: client})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migration.Run(t.Context(), ""); err != nil {
		t.Error(err)
	}
	if !released.Load() {
		t.Error("the lease was not released slowly: does the test still recognise the request?")
	}
}
