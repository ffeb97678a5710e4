package catfecito_test

import (
	"crypto/sha1" //nolint:gosec // as the list's hashes are made
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/mail"
	"github.com/monotable/monotable/systems/internal/mail/mailtest"
)

const (
	anasMail = "ana@mail.com"
	password = "un café con leche"
)

// openWithMail opens a shop that stores its e-mails.
func openWithMail(tb testing.TB) (*apitest.Server, *mail.Outbox) {
	tb.Helper()
	o := catFecito()
	outbox := new(mail.Outbox)
	o.Mail = outbox
	return apitest.Open(tb, catfecito.System(o)), outbox
}

// signUp creates a user.
func signUp(tb testing.TB, v *apitest.Server, email string) catfecito.User {
	tb.Helper()
	return must[catfecito.User](tb, v, keyed("", "/users", email, object{"email": email, "name": "Ana", "password": password}), http.StatusCreated)
}

// logIn opens a session.
func logIn(tb testing.TB, v *apitest.Server, email, password string) catfecito.Session {
	tb.Helper()
	r := request("", http.MethodPost, "/login", object{"email": email, "password": password})
	r.Header = map[string]string{"User-Agent": "Netscape"}
	return must[catfecito.Session](tb, v, r, http.StatusOK)
}

// by is a request with a session's token.
func by(s catfecito.Session, r apitest.Request) apitest.Request {
	r.Token = s.AccessToken
	return r
}

func refresh(token string) apitest.Request {
	return request("", http.MethodPost, "/sessions/refresh", object{"refreshToken": token})
}

var me = request("", http.MethodGet, "/me", nil) //nolint:gochecknoglobals // a request, never changed

// TestRefresh: a refresh token works once, and again within ten seconds, for a client that did not receive the response; that
// invalidates the first pair. If an old token is used later, the session ends.
func TestRefresh(t *testing.T) {
	t.Parallel()
	v := open(t)
	signUp(t, v, anasMail)
	first := logIn(t, v, anasMail, password)
	must[catfecito.User](t, v, by(first, me), http.StatusOK)
	v.Clock.Advance(17 * time.Minute)
	refused(t, v, by(first, me), http.StatusUnauthorized, "invalid_token")
	lost := must[catfecito.Session](t, v, refresh(first.RefreshToken), http.StatusOK)
	second := must[catfecito.Session](t, v, refresh(first.RefreshToken), http.StatusOK)
	must[catfecito.User](t, v, by(second, me), http.StatusOK)
	refused(t, v, refresh(lost.RefreshToken), http.StatusUnauthorized, "session_ended")
	v.Clock.Advance(11 * time.Second)
	third := must[catfecito.Session](t, v, refresh(second.RefreshToken), http.StatusOK)
	v.Clock.Advance(11 * time.Second)
	refused(t, v, refresh(second.RefreshToken), http.StatusUnauthorized, "session_ended")
	refused(t, v, refresh(third.RefreshToken), http.StatusUnauthorized, "session_ended")
	refused(t, v, by(third, me), http.StatusUnauthorized, "invalid_token")
	for _, wrong := range []string{"x", "..", "01KH5V3M0G0000000000000001.x.u", strings.Repeat("x.", 100), second.RefreshToken + "x"} {
		refused(t, v, refresh(wrong), http.StatusUnauthorized, "session_ended")
	}
}

// TestSpentTokenIsNotProlonged: an exchanged refresh token is valid for ten seconds after its exchange, however often it is used in them.
func TestSpentTokenIsNotProlonged(t *testing.T) {
	t.Parallel()
	v := open(t)
	signUp(t, v, anasMail)
	first := logIn(t, v, anasMail, password)
	must[catfecito.Session](t, v, refresh(first.RefreshToken), http.StatusOK)
	for range 2 { // after 4 s and 8 s
		v.Clock.Advance(4 * time.Second)
		must[catfecito.Session](t, v, refresh(first.RefreshToken), http.StatusOK)
	}
	v.Clock.Advance(4 * time.Second)
	refused(t, v, refresh(first.RefreshToken), http.StatusUnauthorized, "session_ended")
	refused(t, v, by(first, me), http.StatusUnauthorized, "invalid_token")
}

// TestSessionEnds: a session that is unused for thirty days ends; a used one does not.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	v := open(t)
	signUp(t, v, anasMail)
	s := logIn(t, v, anasMail, password)
	for range 3 {
		v.Clock.Advance(29 * 24 * time.Hour)
		s = must[catfecito.Session](t, v, refresh(s.RefreshToken), http.StatusOK)
	}
	v.Clock.Advance(30*24*time.Hour + time.Second)
	refused(t, v, refresh(s.RefreshToken), http.StatusUnauthorized, "session_ended")
}

// TestLogOut: a closed session ends immediately; others do not.
func TestLogOut(t *testing.T) {
	t.Parallel()
	v := open(t)
	signUp(t, v, anasMail)
	phone := logIn(t, v, anasMail, password)
	v.Clock.Advance(time.Second) // sessions are listed by time
	desk := logIn(t, v, anasMail, password)
	list := must[page[catfecito.Device]](t, v, by(desk, request("", http.MethodGet, "/me/sessions", nil)), http.StatusOK)
	if len(list.Items) != 2 || list.Items[0].Device != "Netscape" {
		t.Fatalf("sessions %+v, want two on Netscape", list.Items)
	}
	for range 2 { // repeating it changes nothing
		must[any](t, v, by(desk, request("", http.MethodDelete, "/me/sessions/"+list.Items[1].SessionID, nil)), http.StatusNoContent)
	}
	refused(t, v, by(phone, me), http.StatusUnauthorized, "invalid_token")
	refused(t, v, refresh(phone.RefreshToken), http.StatusUnauthorized, "session_ended")
	must[catfecito.User](t, v, by(desk, me), http.StatusOK)
	must[any](t, v, by(desk, request("", http.MethodDelete, "/me/sessions/current", nil)), http.StatusNoContent)
	refused(t, v, by(desk, me), http.StatusUnauthorized, "invalid_token")

	signUp(t, v, "eva@mail.com")
	others := logIn(t, v, "eva@mail.com", password)
	again := logIn(t, v, anasMail, password)
	list = must[page[catfecito.Device]](t, v, by(again, request("", http.MethodGet, "/me/sessions", nil)), http.StatusOK)
	must[any](t, v, by(others, request("", http.MethodDelete, "/me/sessions/"+list.Items[0].SessionID, nil)), http.StatusNoContent)
	must[catfecito.User](t, v, by(again, me), http.StatusOK)
}

// TestMaxSessions: of more than twenty sessions the oldest are closed.
func TestMaxSessions(t *testing.T) {
	t.Parallel()
	v := open(t)
	signUp(t, v, anasMail)
	var all []catfecito.Session
	for range 22 {
		all = append(all, logIn(t, v, anasMail, password))
		v.Clock.Advance(time.Second)
	}
	for i, s := range all {
		if i < 2 {
			refused(t, v, by(s, me), http.StatusUnauthorized, "invalid_token")
			continue
		}
		must[catfecito.User](t, v, by(s, me), http.StatusOK)
	}
}

// TestRevokedRole: permissions depend on the role when the request is made.
func TestRevokedRole(t *testing.T) {
	t.Parallel()
	v := open(t)
	u := signUp(t, v, anasMail)
	s := logIn(t, v, anasMail, password)
	desk := by(s, request("", http.MethodGet, "/users/"+u.UserID, nil))
	refused(t, v, desk, http.StatusForbidden, "forbidden")
	role := func(role string) {
		must[catfecito.User](t, v, staff(request("", http.MethodPut, "/users/"+u.UserID+"/role", object{"role": role})), http.StatusOK)
	}
	role("admin")
	must[catfecito.User](t, v, desk, http.StatusOK)
	role("customer")
	refused(t, v, desk, http.StatusForbidden, "forbidden")
}

var sixDigits = regexp.MustCompile(`\b[0-9]{6}\b`)

// codeIn returns the code in the latest e-mail, which must be to the given address.
func codeIn(tb testing.TB, post interface{ Letters() []mail.Letter }, to string) string {
	tb.Helper()
	letters := post.Letters()
	if len(letters) == 0 || !strings.EqualFold(letters[0].To, to) {
		tb.Fatalf("letters %+v, want one to %s", letters, to)
	}
	code := sixDigits.FindString(letters[0].Text)
	if code == "" || !strings.Contains(letters[0].Subject, code) {
		tb.Fatalf("the letter %+v has no code", letters[0])
	}
	return code
}

// another returns a wrong code.
func another(code string) string {
	if code == "000000" {
		return "000001"
	}
	return "000000"
}

// TestVerification: an address is verified with the code sent to it, within fifteen minutes and five attempts.
func TestVerification(t *testing.T) {
	t.Parallel()
	v, outbox := openWithMail(t)
	signUp(t, v, anasMail)
	s := logIn(t, v, anasMail, password)
	ask := by(s, request("", http.MethodPost, "/me/verification", nil))
	ask.Header = map[string]string{"Accept-Language": "pt-BR,en;q=0.5"}
	submit := func(code string) apitest.Request {
		return by(s, request("", http.MethodPut, "/me/verification", object{"code": code}))
	}
	refused(t, v, submit("123456"), http.StatusBadRequest, "wrong_code")
	must[any](t, v, ask, http.StatusAccepted)
	if l := outbox.Letters()[0]; !strings.HasPrefix(l.Text, "Olá, Ana") {
		t.Errorf("the letter is %q, want Portuguese", l.Text)
	}
	limited(t, v, "a second code at once", ask, time.Minute)
	code := codeIn(t, outbox, anasMail)
	for range 5 {
		refused(t, v, submit(another(code)), http.StatusBadRequest, "wrong_code")
	}
	refused(t, v, submit(code), http.StatusBadRequest, "wrong_code")
	v.Clock.Advance(time.Minute)
	must[any](t, v, ask, http.StatusAccepted)
	code = codeIn(t, outbox, anasMail)
	v.Clock.Advance(15*time.Minute + time.Second)
	s = must[catfecito.Session](t, v, refresh(s.RefreshToken), http.StatusOK)
	ask.Token = s.AccessToken
	refused(t, v, submit(code), http.StatusBadRequest, "wrong_code")
	must[any](t, v, ask, http.StatusAccepted)
	code = codeIn(t, outbox, anasMail)
	for range 2 { // the second attempt changes nothing
		if u := must[catfecito.User](t, v, submit(code), http.StatusOK); u.VerifiedAt == nil {
			t.Errorf("the user is %+v, want it verified", u)
		}
	}
	refused(t, v, ask, http.StatusConflict, "already_verified")
}

// TestReset: the code allows setting a new password, and all sessions end. Unknown addresses get an e-mail as well.
func TestReset(t *testing.T) {
	t.Parallel()
	v, outbox := openWithMail(t)
	signUp(t, v, anasMail)
	s := logIn(t, v, anasMail, password)
	ask := func(email string) apitest.Request {
		return request("", http.MethodPost, "/password-resets", object{"email": email})
	}
	set := func(email, code, password string) apitest.Request {
		return request("", http.MethodPut, "/password-resets", object{"email": email, "code": code, "password": password})
	}
	must[any](t, v, ask("nobody@mail.com"), http.StatusAccepted)
	if l := outbox.Letters()[0]; l.To != "nobody@mail.com" || sixDigits.MatchString(l.Subject+l.Text) {
		t.Errorf("the letter to an unknown user is %+v, want one without a code", l)
	}
	refused(t, v, set("nobody@mail.com", "123456", "otra taza de té verde"), http.StatusBadRequest, "wrong_code")
	must[any](t, v, ask(strings.ToUpper(anasMail)), http.StatusAccepted)
	code := codeIn(t, outbox, anasMail)
	refused(t, v, set(anasMail, code, "12345678"), http.StatusBadRequest, "weak_password")
	refused(t, v, set(anasMail, another(code), "otra taza de té verde"), http.StatusBadRequest, "wrong_code")
	must[any](t, v, set(anasMail, code, "otra taza de té verde"), http.StatusNoContent)
	refused(t, v, set(anasMail, code, "y otra taza de té negro"), http.StatusBadRequest, "wrong_code")
	refused(t, v, by(s, me), http.StatusUnauthorized, "invalid_token")
	refused(t, v, refresh(s.RefreshToken), http.StatusUnauthorized, "session_ended")
	refused(t, v, request("", http.MethodPost, "/login", object{"email": anasMail, "password": password}), http.StatusUnauthorized, "wrong_credentials")
	if again := logIn(t, v, anasMail, "otra taza de té verde"); again.User.VerifiedAt == nil {
		t.Error("a user who got the code at an address has not verified it")
	}
}

// TestDailyCodes: an address, whether or not it has a user, is sent ten codes of each purpose a day, so that a distributed guesser
// has few tries and its owner few letters.
func TestDailyCodes(t *testing.T) {
	t.Parallel()
	v, outbox := openWithMail(t)
	u := signUp(t, v, anasMail)
	left := func() time.Duration {
		now := v.Clock.Now().UTC()
		return now.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now)
	}
	v.Clock.Advance(left())
	ask := func(email string) apitest.Request {
		return request("", http.MethodPost, "/password-resets", object{"email": email})
	}
	for _, email := range []string{anasMail, "nobody@mail.com"} {
		for i := range 10 {
			must[any](t, v, ask([]string{email, strings.ToUpper(email)}[i%2]), http.StatusAccepted)
			v.Clock.Advance(time.Minute)
		}
		before := len(outbox.Letters())
		limited(t, v, "the eleventh code for "+email, ask(email), left())
		if n := len(outbox.Letters()); n != before {
			t.Errorf("the eleventh request for %s sent %d letters", email, n-before)
		}
	}
	must[any](t, v, request(u.UserID, http.MethodPost, "/me/verification", nil), http.StatusAccepted) // which has a limit of its own
	v.Clock.Advance(left())
	must[any](t, v, ask(anasMail), http.StatusAccepted)
}

// TestChangePassword: the old password is required. All other sessions end, even one whose closing failed.
func TestChangePassword(t *testing.T) {
	t.Parallel()
	v := open(t)
	signUp(t, v, anasMail)
	phone, desk := logIn(t, v, anasMail, password), logIn(t, v, anasMail, password)
	change := func(s catfecito.Session, old, password string) apitest.Request {
		return by(s, request("", http.MethodPut, "/me/password", object{"oldPassword": old, "password": password}))
	}
	refused(t, v, change(desk, "not that one", "otra taza de té verde"), http.StatusBadRequest, "wrong_password")
	refused(t, v, change(desk, password, "password"), http.StatusBadRequest, "weak_password")
	now := must[catfecito.Session](t, v, change(desk, password, "otra taza de té verde"), http.StatusOK)
	must[catfecito.User](t, v, by(now, me), http.StatusOK)
	for _, s := range []catfecito.Session{phone, desk} {
		refused(t, v, by(s, me), http.StatusUnauthorized, "invalid_token")
		refused(t, v, refresh(s.RefreshToken), http.StatusUnauthorized, "session_ended")
	}
	logIn(t, v, anasMail, "otra taza de té verde")
}

// TestManyRefreshes: a refresh token that is used several times concurrently yields at least one working session, and at most one
// lasting one.
func TestManyRefreshes(t *testing.T) {
	t.Parallel()
	v := open(t)
	signUp(t, v, anasMail)
	s := logIn(t, v, anasMail, password)
	var requests []apitest.Request
	for range 8 {
		requests = append(requests, refresh(s.RefreshToken))
	}
	good := 0
	for _, r := range together(t, v, requests) {
		if r.Status != http.StatusOK {
			continue
		}
		var next catfecito.Session
		r.JSON(t, &next)
		if v.Do(t, refresh(next.RefreshToken)).Status == http.StatusOK {
			good++
		}
	}
	if good != 1 {
		t.Errorf("%d refresh tokens are good, want one", good)
	}
}

// TestWeakPasswords: passwords that are easy to guess for someone who knows the user are rejected.
func TestWeakPasswords(t *testing.T) {
	t.Parallel()
	v := open(t)
	up := func(key, password string) apitest.Request {
		return keyed("", "/users", key, object{"email": "anamaria@mail.com", "name": "Ana", "password": password})
	}
	for i, weak := range []string{"12345678", "password1", "anamaria@mail.com", "catfecito", "aaaaaaaaaaaa"} {
		refused(t, v, up(fmt.Sprint(i), weak), http.StatusBadRequest, "weak_password")
	}
	must[catfecito.User](t, v, up("long", strings.Repeat("un café ", 16)[:128]), http.StatusCreated)
}

// TestBreachedPasswords: passwords in a breach list are rejected. If the list is unavailable, no user is locked out.
func TestBreachedPasswords(t *testing.T) {
	t.Parallel()
	const found, failing = "otra taza de té verde", "una jarra de agua fresca"
	digits := func(password string) string {
		return strings.ToUpper(fmt.Sprintf("%x", sha1.Sum([]byte(password)))) //nolint:gosec // as the list's hashes are made
	}
	list := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch prefix := strings.TrimPrefix(r.URL.Path, "/range/"); prefix {
		case digits(found)[:5]:
			_, _ = fmt.Fprintf(w, "%s:0\r\n%s:7\r\n", strings.Repeat("A", 35), digits(found)[5:])
		case digits(failing)[:5]:
			w.WriteHeader(http.StatusInternalServerError)
		default:
			_, _ = fmt.Fprintf(w, "%s:0\r\n", digits(password)[5:]) // padding
		}
	}))
	t.Cleanup(list.Close)
	o := catFecito()
	o.Breached = list.URL + "/range/"
	v := apitest.Open(t, catfecito.System(o))
	up := func(email, password string) apitest.Request {
		return keyed("", "/users", email, object{"email": email, "name": "Ana", "password": password})
	}
	refused(t, v, up("a@mail.com", found), http.StatusBadRequest, "breached_password")
	must[catfecito.User](t, v, up("b@mail.com", failing), http.StatusCreated)
	must[catfecito.User](t, v, up("c@mail.com", password), http.StatusCreated)
}

// letterhead is the sender of the shop's e-mails.
const letterhead = "CatFecito <shop@example.com>"

// sessionRoutes calls the operations for sessions, passwords and addresses.
func sessionRoutes(t *testing.T, v *apitest.Server, post *mailtest.Server) {
	t.Helper()
	const address, changed = "Juan@mail.com", "otra taza de té verde" // signed up before, because a network address may only sign up ten users
	s := logIn(t, v, address, password)
	s = must[catfecito.Session](t, v, refresh(s.RefreshToken), http.StatusOK)
	list := by(s, request("", http.MethodGet, "/me/sessions", nil))
	found := must[page[catfecito.Device]](t, v, list, http.StatusOK) // sessions of the same millisecond have no order
	if !slices.ContainsFunc(found.Items, func(d catfecito.Device) bool { return d.Device == "Netscape" }) {
		t.Errorf("sessions %+v, want the one of this log-in", found.Items)
	}
	end := by(s, request("", http.MethodDelete, "/me/sessions/x", nil))
	verify := by(s, request("", http.MethodPut, "/me/verification", object{"code": "12345"}))
	change := by(s, request("", http.MethodPut, "/me/password", object{"oldPassword": password, "password": changed}))
	reset := request("", http.MethodPut, "/password-resets", nil)
	v.Run(t, append(pages(list), []apitest.Case{
		invalid("refresh with nothing", refresh(""), object{}, "body"),
		invalid("refresh with too much", refresh(""), object{"refreshToken": strings.Repeat("x", 301)}, "body.refreshToken"),
		badQuery("no session's id", end, "", "path.sessionId"),
		invalid("code of five digits", verify, object{"code": "12345"}, "body.code"),
		invalid("code without JSON", verify, "{", ""),
		invalid("short password", change, object{"oldPassword": password, "password": "1234567"}, "body.password"),
		invalid("no old password", change, object{"password": changed}, "body"),
		invalid("reset of no address", reset, object{"email": "eva", "code": "123456", "password": changed}, "body.email"),
		invalid("reset with nothing", reset, object{}, "body"),
		invalid("asked to reset no address", request("", http.MethodPost, "/password-resets", nil), object{"email": "eva"}, "body.email"),
	}...))
	must[any](t, v, by(s, request("", http.MethodPost, "/me/verification", nil)), http.StatusAccepted)
	verify.Body = object{"code": codeIn(t, post, address)}
	must[catfecito.User](t, v, verify, http.StatusOK)
	s = must[catfecito.Session](t, v, change, http.StatusOK)
	must[any](t, v, by(s, request("", http.MethodDelete, "/me/sessions/current", nil)), http.StatusNoContent)
	must[any](t, v, request("", http.MethodPost, "/password-resets", object{"email": address}), http.StatusAccepted)
	reset.Body = object{"email": address, "code": codeIn(t, post, address), "password": password}
	must[any](t, v, reset, http.StatusNoContent)
	logIn(t, v, address, password)
}
