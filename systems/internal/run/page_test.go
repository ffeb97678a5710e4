package run

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/internal/system"
)

// TestPagePolicy: a page may only show images from, and send files to, the origins that its system names.
func TestPagePolicy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of   system.Page
		want []string
	}{
		{system.Page{}, []string{"connect-src 'self'", "img-src 'self' data: blob:"}},
		{system.Page{Pictures: []string{"https://a.example"}}, []string{"connect-src 'self'", "img-src 'self' https://a.example data: blob:"}},
		{system.Page{Uploads: []string{"https://b.example"}}, []string{"connect-src 'self' https://b.example", "img-src 'self' data: blob:"}},
	} {
		w := httptest.NewRecorder()
		Options{}.page("portfolio", "..", c.of).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
		var got []string
		for directive := range strings.SplitSeq(w.Header().Get("Content-Security-Policy"), ";") {
			if d := strings.TrimSpace(directive); strings.HasPrefix(d, "img-src") || strings.HasPrefix(d, "connect-src") {
				got = append(got, d)
			}
		}
		if w.Code != http.StatusOK || strings.Join(got, "; ") != strings.Join(c.want, "; ") {
			t.Errorf("%+v: %d, the policy has %q, want %q", c.of, w.Code, got, c.want)
		}
	}
}
