package console_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/inprocess"
	"github.com/monotable/monotable/internal/tools/console"
	"github.com/monotable/monotable/monotabletest"
)

// response is a response whose body has been read.
type response struct {
	status  int
	body    string
	header  http.Header
	cookies []*http.Cookie
}

// post sends a request as the page does, after change has modified it.
func post(t *testing.T, url, body string, change ...func(*http.Request)) response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Monotable-Console", "1")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for _, f := range change {
		f(r)
	}
	got, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{got.StatusCode, string(text), got.Header, got.Cookies()}
}

// TestValuesSurvive: items written through the console are read back unchanged, digit by digit and type by type.
func TestValuesSurvive(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	address := served(t, db) + "/_console/api/"
	item := `{"PK":{"S":"x"},"SK":{"S":"y"},"pi":{"N":"3.1415926535897932384626433832795028841"},"big":{"N":"99999999999999999999999999999999999999"},` +
		`"bytes":{"B":"AP/+gA=="},"sets":{"M":{"b":{"BS":["AA==","/w=="]},"n":{"NS":["0.1","12345678901234567890123456789012345678"]},"s":{"SS":["a","ñ"]}}},` +
		`"list":{"L":[{"NULL":true},{"BOOL":false},{"L":[]},{"M":{}},{"S":""}]}}`
	if a := post(t, address+"PutItem", `{"TableName":"shop","Item":`+item+`}`); a.status != http.StatusOK {
		t.Fatalf("PutItem: %d %s", a.status, a.body)
	}
	a := post(t, address+"GetItem", `{"TableName":"shop","Key":{"PK":{"S":"x"},"SK":{"S":"y"}}}`)
	var got struct{ Item json.RawMessage }
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(sorted(t, got.Item), sorted(t, []byte(item))) {
		t.Errorf("got  %s\nwant %s", sorted(t, got.Item), sorted(t, []byte(item)))
	}
	if a := post(t, address+"GetItem", `{"TableName":"nothing","Key":{"PK":{"S":"x"}}}`); a.status != http.StatusBadRequest || !strings.Contains(a.body, "ResourceNotFoundException") {
		t.Errorf("no table: %d %s, want the code of the endpoint", a.status, a.body)
	}
}

// sorted returns JSON with its members sorted. Numbers stay text, so no digit is lost.
func sorted(t *testing.T, text []byte) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestReadOnly: neither write operations nor write statements get through, however the body is encoded.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	address := served(t, db, func(o *console.Options) { o.ReadOnly = true }) + "/_console/api/"
	for _, operation := range []string{
		"CreateTable", "UpdateTable", "DeleteTable", "UpdateTimeToLive", "UpdateContinuousBackups", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TagResource", "UntagResource",
		"CreateBackup", "DeleteBackup", "RestoreTableFromBackup", "RestoreTableToPointInTime", "ExportTableToPointInTime", "ImportTable", "UpdateContributorInsights",
	} {
		if a := post(t, address+operation, `{"TableName":"shop"}`); a.status != http.StatusForbidden || !strings.Contains(a.body, "ReadOnly") {
			t.Errorf("%s: %d %s", operation, a.status, a.body)
		}
	}
	for _, operation := range []string{"TransactWriteItems", "ExecuteTransaction", "BatchExecuteStatement", "PutResourcePolicy", "putitem", "Nothing"} {
		if a := post(t, address+operation, `{}`); a.status != http.StatusForbidden || !strings.Contains(a.body, "UnknownOperation") {
			t.Errorf("%s: %d %s", operation, a.status, a.body)
		}
	}
	remove := `DELETE FROM \"shop\" WHERE PK = 'USER#u-00' AND SK = 'PROFILE'`
	read := `SELECT * FROM \"shop\" WHERE PK = 'USER#u-00' AND SK = 'PROFILE'`
	for _, body := range []string{
		`{"Statement":"` + remove + `"}`, `{"Statement":" ` + strings.ToLower(remove) + `"}`, `{"Statement":"/* SELECT */ ` + remove + `"}`, `{"Statement":""}`, `{}`, `[]`, `{"Statement":["` + read + `"]}`,
		`{"Statement":"` + read + `","Statement":"` + remove + `"}`, `{"Statement":"` + read + `","statement":"` + remove + `"}`,
	} {
		if a := post(t, address+"ExecuteStatement", body); a.status != http.StatusForbidden {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	for _, body := range []string{ // of duplicate members, the last one counts for the endpoint
		`{"Statement":"` + read + `"}`, `{"Statement":"  ` + strings.ToLower(read[:6]) + read[6:] + `"}`, `{"Statement":"` + remove + `","Statement":"` + read + `"}`, `{"statement":"` + remove + `","Statement":"` + read + `"}`,
	} {
		if a := post(t, address+"ExecuteStatement", body); a.status != http.StatusOK || !strings.Contains(a.body, "Ana Ruiz") {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
}

// TestForeignPages: a page of another origin, or of a name rebound to this address, can neither call operations nor read
// responses.
func TestForeignPages(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	address := served(t, db)
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	rebound := func(r *http.Request) { r.Host = "evil.example" }
	for name, change := range map[string]func(*http.Request){
		"no header":      func(r *http.Request) { r.Header.Del("X-Monotable-Console") },
		"cross-site":     set("Sec-Fetch-Site", "cross-site"),
		"same-site":      set("Sec-Fetch-Site", "same-site"),
		"foreign origin": func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "https://evil.example") },
		"null origin":    func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "null") },
		"rebound":        rebound,
	} {
		if a := post(t, address+"/_console/api/ListTables", `{}`, change); a.status != http.StatusForbidden || strings.Contains(a.body, "TableNames") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	get := func(r *http.Request) { r.Method, r.Body, r.ContentLength = http.MethodGet, http.NoBody, 0 }
	if a := post(t, address+"/_console/", "", get, rebound); a.status != http.StatusForbidden {
		t.Errorf("the page at a rebound name: %d", a.status)
	}
	if a := post(t, address+"/_console/api/ListTables", "", get); a.status == http.StatusOK {
		t.Errorf("a call by GET: %d %s", a.status, a.body)
	}
	a := post(t, address+"/_console/", "", get)
	if policy := a.header.Get("Content-Security-Policy"); a.status != http.StatusOK || !strings.Contains(policy, "default-src 'none'; script-src 'self'") {
		t.Errorf("the page: %d, policy %q", a.status, policy)
	}
}

// TestConsoleWithAPI: the API responds as without the console, and browsers are redirected to the console.
func TestConsoleWithAPI(t *testing.T) {
	t.Parallel()
	address := served(t, monotabletest.New(t))
	get := func(accept string) func(*http.Request) {
		return func(r *http.Request) {
			r.Method, r.Body, r.ContentLength = http.MethodGet, http.NoBody, 0
			r.Header.Set("Accept", accept)
		}
	}
	if a := post(t, address+"/", "", get("*/*")); a.status != http.StatusOK || !strings.HasPrefix(a.body, "healthy: dynamodb.") {
		t.Errorf("GET /: %d %s", a.status, a.body)
	}
	if a := post(t, address+"/", "", get("text/html,*/*;q=0.8")); a.status != http.StatusSeeOther || a.header.Get("Location") != "/_console/" {
		t.Errorf("GET / of a browser: %d %v", a.status, a.header)
	}
	if a := post(t, address+"/_consoles", "", get("*/*")); a.status != http.StatusNotFound || !strings.Contains(a.body, "UnknownOperationException") {
		t.Errorf("GET /_consoles: %d %s", a.status, a.body)
	}
}

// guarded returns a database that requires signatures, with a user who may only read the table shop.
func guarded(t *testing.T) (db *monotable.DB, root, reader string) {
	t.Helper()
	db = monotabletest.NewWith(t, &monotable.Options{Auth: &monotable.Auth{
		Required: true, RootAccessKeyID: "ROOT", RootSecretAccessKey: "root-secret", File: "testdata/iam.yaml",
	}})
	shop(t, db)
	return db, `{"accessKeyId":"ROOT","secretAccessKey":"root-secret"}`, `{"accessKeyId":"READER","secretAccessKey":"reader-secret"}`
}

// TestSession: if the endpoint requires signatures, the console signs with the key of the signed-in user for the duration of the
// session, and policies apply.
func TestSession(t *testing.T) {
	t.Parallel()
	db, root, reader := guarded(t)
	now := time.Now()
	address := served(t, db, func(o *console.Options) { o.SignIn, o.Now = true, func() time.Time { return now } }) + "/_console/"
	if a := post(t, address+"api/ListTables", `{}`); a.status != http.StatusUnauthorized || !strings.Contains(a.body, "SignedOut") {
		t.Errorf("signed out: %d %s", a.status, a.body)
	}
	for _, key := range []string{`{"accessKeyId":"ROOT","secretAccessKey":"wrong"}`, `{"accessKeyId":"NOBODY","secretAccessKey":"root-secret"}`, `{}`, ``} {
		if a := post(t, address+"session", key); a.status < 400 || len(a.cookies) > 0 {
			t.Errorf("%s: %d %s", key, a.status, a.body)
		}
	}
	signIn := func(key string) func(*http.Request) {
		a := post(t, address+"session", key)
		if a.status != http.StatusNoContent || len(a.cookies) != 1 {
			t.Fatalf("%s: %d %s", key, a.status, a.body)
		}
		c := a.cookies[0]
		if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/_console/" || strings.Contains(c.Value, "secret") {
			t.Errorf("cookie %+v", c)
		}
		return func(r *http.Request) { r.AddCookie(c) }
	}
	asReader := signIn(reader)
	// Signing keys derived from one secret are not used for another, in either direction.
	wrong := `{"accessKeyId":"READER","secretAccessKey":"wrong"}`
	if a := post(t, address+"session", wrong); a.status != http.StatusUnauthorized || len(a.cookies) > 0 {
		t.Errorf("a wrong secret after the right one: %d %s", a.status, a.body)
	}
	signIn(reader)
	if a := post(t, address+"api/GetItem", `{"TableName":"shop","Key":{"PK":{"S":"USER#u-00"},"SK":{"S":"PROFILE"}}}`, asReader); a.status != http.StatusOK || !strings.Contains(a.body, "Ana Ruiz") {
		t.Errorf("the reader reads: %d %s", a.status, a.body)
	}
	if a := post(t, address+"api/DeleteTable", `{"TableName":"shop"}`, asReader); a.status != http.StatusBadRequest || !strings.Contains(a.body, "AccessDeniedException") {
		t.Errorf("the reader deletes: %d %s", a.status, a.body)
	}
	if a := post(t, address+"api/ListTables", `{}`, signIn(root)); a.status != http.StatusOK {
		t.Errorf("the root lists: %d %s", a.status, a.body)
	}
	if a := post(t, address+"api/ListTables", `{}`, asReader, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }); a.status != http.StatusForbidden {
		t.Errorf("with a session, of another site: %d %s", a.status, a.body)
	}
	now = now.Add(13 * time.Hour)
	if a := post(t, address+"api/ListTables", `{}`, asReader); a.status != http.StatusUnauthorized || !strings.Contains(a.body, "SignedOut") {
		t.Errorf("after the session: %d %s", a.status, a.body)
	}
}

// TestSecretsNeedPrivacy: secrets are not accepted over an unencrypted network connection.
func TestSecretsNeedPrivacy(t *testing.T) {
	t.Parallel()
	db, root, _ := guarded(t)
	h := console.New(console.Options{Endpoint: "http://monotable.localhost/", Region: "us-east-1", Client: inprocess.Client{Handler: db.Handler()}, SignIn: true})
	try := func(change func(*http.Request)) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://db.example.com:8000/_console/session", strings.NewReader(root))
		r.Header.Set("X-Monotable-Console", "1")
		r.RemoteAddr = "203.0.113.7:4711"
		change(r)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	if status := try(func(*http.Request) {}); status != http.StatusForbidden {
		t.Errorf("in the clear: %d", status)
	}
	if status := try(func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "https") }); status != http.StatusNoContent {
		t.Errorf("behind a proxy with TLS: %d", status)
	}
	if status := try(func(r *http.Request) { r.RemoteAddr = "127.0.0.1:4711" }); status != http.StatusNoContent {
		t.Errorf("from loopback: %d", status)
	}
}

// TestRemote: the endpoint may also be a URL, and an unreachable endpoint is reported.
func TestRemote(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t)
	shop(t, db)
	endpoint := httptest.NewServer(db.Handler())
	t.Cleanup(endpoint.Close)
	at := func(url string) func(*console.Options) {
		return func(o *console.Options) {
			o.Endpoint, o.Client, o.Credentials = url, endpoint.Client(), credentials.NewStaticCredentialsProvider("id", "secret", "")
		}
	}
	if a := post(t, served(t, db, at(endpoint.URL))+"/_console/api/ListTables", `{}`); a.status != http.StatusOK || !strings.Contains(a.body, `"shop"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	if a := post(t, served(t, db, at(gone.URL))+"/_console/api/ListTables", `{}`); a.status != http.StatusBadGateway || !strings.Contains(a.body, "EndpointUnreachable") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if n, err := db.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("shop")}); err != nil || n.Count != 78 {
		t.Errorf("the table has %v items, %v", n, err)
	}
}
