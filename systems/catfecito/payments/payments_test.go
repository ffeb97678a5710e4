package payments

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

const testSecret = "what the provider signs with"

// TestReplayWindow: an event is valid for exactly five minutes before and after its time.
func TestReplayWindow(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	p, err := NewTest(testSecret, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	sent := Event{ID: "e", Kind: Succeeded, PaymentID: "p", OrderID: "o", Amount: 1}
	header, body := p.Send(sent)
	for after, want := range map[time.Duration]bool{
		0: true, replayWindow: true, -replayWindow: true, replayWindow + time.Second: false, -replayWindow - time.Second: false,
	} {
		now = time.Unix(1_700_000_000, 0).Add(after)
		got, err := p.Event(header, body)
		if want && (err != nil || got != sent) || !want && !errors.Is(err, ErrSignature) {
			t.Errorf("after %v: %+v, %v; want it taken: %v", after, got, err, want)
		}
	}
}

// TestSignature: the signature covers all signed parts. One valid secret of several is enough, and no other is accepted.
func TestSignature(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	body := []byte(`{"id":"e"}`)
	header := signed([]byte(testSecret), "e", now, body)
	other := signed([]byte("another secret, as long as it"), "e", now, body)
	header.Set(headerSignature, other.Get(headerSignature)+" "+header.Get(headerSignature)+" v2,AAAA v1,!")
	if !verify([]byte(testSecret), header, now, body) || verify([]byte(testSecret), other, now, body) {
		t.Error("a signature of several counts, one of another secret does not")
	}
	for _, name := range []string{headerID, headerTime, headerSignature} {
		changed := header.Clone()
		changed.Set(name, "1700000001")
		if verify([]byte(testSecret), changed, now, body) {
			t.Errorf("%s can be changed", name)
		}
	}
	if verify([]byte(testSecret), header, now, []byte(`{"id":"f"}`)) {
		t.Error("the body can be changed")
	}
}

// TestPage: the page serves the payment for which its address was signed, and signs no other.
func TestPage(t *testing.T) {
	t.Parallel()
	p := NewTestOnce()
	at, err := p.Begin(t.Context(), Payment{OrderID: "o-1", Amount: 3550})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for pattern, handler := range p.Pages() {
		mux.Handle(pattern, handler)
	}
	call := func(method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return w
	}
	if w := call(http.MethodGet, "/"+at, ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), ">Pay</span> 35.50") {
		t.Errorf("the page: %d %s", w.Code, w.Body)
	} else if strings.Count(w.Body.String(), "<button") != strings.Count(w.Body.String(), " disabled>") {
		t.Errorf("a button works before the page's script, so that the browser would send the form: %s", w.Body)
	}
	if w := call(http.MethodGet, "/"+strings.Replace(at, "3550", "1", 1), ""); w.Code != http.StatusForbidden {
		t.Errorf("a page for less: %d", w.Code)
	}
	_, query, _ := strings.Cut(at, "?")
	form, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]int{string(Succeeded): http.StatusOK, string(Cancelled): http.StatusOK, "payment.other": http.StatusForbidden} {
		form.Set("type", kind)
		if w := call(http.MethodPost, PagePath+"event", form.Encode()); w.Code != want {
			t.Errorf("%s: %d %s, want %d", kind, w.Code, w.Body, want)
		}
	}
	form.Set("type", string(Succeeded))
	form.Set("order", "o-2")
	if w := call(http.MethodPost, PagePath+"event", form.Encode()); w.Code != http.StatusForbidden {
		t.Errorf("an event of another order: %d", w.Code)
	}
	if _, err := NewTest("short", time.Now); err == nil {
		t.Error("a short secret is taken")
	}
}
