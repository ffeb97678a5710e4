// Package console serves the console: the page (web/apps/console) for viewing and changing the tables of a DynamoDB endpoint,
// and the back end through which the page calls that endpoint.
//
// # Model
//
//	GET  /_console/             the page, and its files below /_console/assets/
//	POST /_console/api/NAME     operation NAME of DynamoDB, its streams or CloudWatch: forwards its JSON and returns the response
//	GET  /_console/served       the endpoint's features in addition to DynamoDB's API
//	GET  /_console/queries      bookmarks and history, and where they are kept: in a table of the endpoint, a file or the browser
//	POST /_console/queries/LIST adds queries to one of the two lists, and removes others
//	     /_console/at/NAME/…    the same for another endpoint (Several)
//	POST /_console/design/…     the design of a table: its model, the meaning of items, a chart, running a pattern; its checks; recent requests by pattern
//	POST /_console/session      signs in with an access key, where Options.SignIn asks for one; DELETE signs out
//
// The back end signs requests with the AWS SDK and forwards bodies unchanged. It decodes no values, so a number keeps its 38
// digits, binary and sets keep their types, and errors keep the endpoint's code and message. The endpoint is a URL (this
// server, DynamoDB Local, AWS) or a handler in the same process.
//
// # Invariants
//
//	C1  Only the operations of operations.go are called. Options.ReadOnly restricts them to reads; a PartiQL statement is parsed
//	    as the endpoint will parse it before it is forwarded.
//	C2  Pages of other origins cannot call anything: a request needs the header X-Monotable-Console, which forces a preflight,
//	    and must pass http.CrossOriginProtection. Without SignIn, Options.Guard also checks the host.
//	C3  Requests are signed with Options.Credentials or the signed-in user's key, so the endpoint's policies apply. The user's key
//	    is kept in a cookie that scripts cannot read, sealed under a key that lives as long as the process, and is accepted only over
//	    TLS or loopback.
//	C4  A pattern sends the same requests as generated code, signed like all others; Options.ReadOnly applies to each of them.
//	C5  Between requests, the back end keeps only designs, the ARNs of access keys and the endpoint's features. It holds the bodies
//	    of at most requestsMax requests at once.
//	C6  Each query is an item of QueriesTable, written with the credentials of C3. With Options.ReadOnly, they are neither written nor read.
//
// A Console is safe for concurrent use.
package console

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/monotable/monotable/internal/httpguard"
	"github.com/monotable/monotable/internal/seal"
	"github.com/monotable/monotable/web"
)

// Path is the path of the console and the prefix of its requests.
const Path = "/_console/"

const (
	// header is required on each request of the page. A page of another origin cannot send it without a preflight.
	header = "X-Monotable-Console"

	// bodyMax has room for an item of 400 KB, its values once more as a condition, and the JSON around them.
	bodyMax     = 4 << 20
	requestsMax = 32
	bodyTime    = 30 * time.Second
)

// Doer sends requests: an http.Client, or an inprocess.Client.
type Doer interface {
	Do(r *http.Request) (*http.Response, error)
}

// Options of a console. Endpoint, Region and Client are required; without SignIn, so are Credentials.
type Options struct {
	// Endpoint is the URL of the endpoint, and Region the Region for signatures.
	Endpoint, Region string
	// Client sends the requests.
	Client Doer
	// Credentials sign the requests. Not used with SignIn.
	Credentials aws.CredentialsProvider
	// SignIn asks users for an access key, which signs their requests.
	SignIn bool
	// ReadOnly rejects operations that change anything.
	ReadOnly bool
	// Served lists the endpoint's additional features, if known; with nil the console detects them.
	Served *Served
	// Name is the endpoint's display name, if there are several.
	Name string
	// Bookmarks is the file for bookmarked queries. If empty, QueriesTable has them if it exists, and otherwise the browser.
	Bookmarks string
	// KeepQueries creates QueriesTable when the first query is saved. Otherwise users create it on the page.
	KeepQueries bool
	// Address is the endpoint's address for use in programs; by default, the address of the page.
	Address string
	// Guard defines the allowed hosts. Hosts are only checked without SignIn, because a page that rebinds its name has no session.
	Guard *httpguard.Guard
	// Designs are used in addition to the attached ones.
	Designs *Designs
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// userAgent is the user agent of all requests of the console. A monotable server omits them from its lists of requests.
const userAgent = "monotable-console"

// Console is an http.Handler for Path and everything below it.
type Console struct {
	options Options
	mux     *http.ServeMux
	guard   *http.CrossOriginProtection
	key     []byte              // encrypts sessions
	places  []place             // the endpoints that the page can switch to, if there are several
	others  map[string]*Console // the consoles of the other endpoints, by name
	serving serving
	// cursorKey seals the cursors of pattern lists.
	cursorKey []byte
	room      chan struct{}

	principals principals
}

// New returns a console.
func New(o Options) *Console {
	if o.Guard == nil {
		o.Guard = new(httpguard.Guard)
	}
	if o.Designs == nil {
		o.Designs = new(Designs)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Console{
		options: o, mux: http.NewServeMux(), guard: http.NewCrossOriginProtection(),
		key: make([]byte, seal.KeyBytes), cursorKey: make([]byte, seal.KeyBytes), room: make(chan struct{}, requestsMax),
	}
	c.serving.found = o.known()
	_, _ = rand.Read(c.key) // never fails
	_, _ = rand.Read(c.cursorKey)
	page := web.App("console", web.Page{Product: "console", API: "api", Data: c.about})
	c.mux.Handle("GET "+Path, http.StripPrefix(strings.TrimSuffix(Path, "/"), page))
	c.mux.Handle("POST "+Path+"api/{operation}", c.own(c.call))
	c.designed()
	c.mux.Handle("POST "+Path+"session", c.own(c.signIn))
	c.mux.Handle("DELETE "+Path+"session", c.own(c.signOut))
	c.mux.Handle("GET "+Path+"served", c.own(c.served))
	c.kept()
	return c
}

// WithAPI returns a handler that serves the console and passes everything else to api. Browsers that open the API's address are
// redirected to the console; API clients do not ask for HTML.
func (c *Console) WithAPI(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == strings.TrimSuffix(Path, "/") || strings.HasPrefix(r.URL.Path, Path):
			c.ServeHTTP(w, r)
		case r.Method == http.MethodGet && r.URL.Path == "/" && r.URL.RawQuery == "" && strings.Contains(r.Header.Get("Accept"), "text/html"):
			http.Redirect(w, r, Path, http.StatusSeeOther)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if other, seen := c.other(r); other != nil {
		other.ServeHTTP(w, seen)
		return
	}
	if !c.options.SignIn && !c.options.Guard.AllowsHost(r.Host) {
		refuse(w, r, http.StatusForbidden, "HostForbidden", fmt.Sprintf("The host %q is not allowed: a web page may have been rebound to this address. Start with --allowed-host to allow it.", r.Host))
		return
	}
	c.mux.ServeHTTP(w, r)
}

// own accepts requests of the console's own page, a limited number at a time.
func (c *Console) own(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.guard.Check(r); err != nil || r.Header.Get(header) == "" {
			refuse(w, r, http.StatusForbidden, "OriginForbidden", "Only the console's own page may call this.")
			return
		}
		select {
		case c.room <- struct{}{}:
			defer func() { <-c.room }()
		case <-r.Context().Done():
			return
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // if there is a connection
		r.Body = http.MaxBytesReader(w, r.Body, bodyMax)
		w.Header().Set("Cache-Control", "no-store")
		next(w, r)
	})
}

// call forwards an operation to the endpoint.
func (c *Console) call(w http.ResponseWriter, r *http.Request) {
	credentials, err := c.credentials(r)
	if err != nil {
		refuse(w, r, http.StatusUnauthorized, codeOf(err, "CredentialsError"), err.Error())
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, r, http.StatusRequestEntityTooLarge, "RequestTooLarge", fmt.Sprintf("The request could not be read, or has more than %d MB.", bodyMax>>20))
		return
	}
	name := r.PathValue("operation")
	body, err = admit(name, body, c.options.ReadOnly)
	if err != nil {
		refuse(w, r, http.StatusForbidden, codeOf(err, "ValidationException"), err.Error())
		return
	}
	response, err := c.send(r, name, body, credentials)
	if err != nil {
		if r.Context().Err() == nil {
			refuse(w, r, http.StatusBadGateway, "EndpointUnreachable", fmt.Sprintf("%s cannot be reached: %v", c.options.Endpoint, err))
		}
		return
	}
	defer func() { _ = response.Body.Close() }()
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	if id := response.Header.Get("X-Amzn-Requestid"); id != "" {
		h.Set("X-Request-Id", id)
	}
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body) // on failure, the page has disconnected
}

// send signs and sends one request. If the endpoint is in this process, its policies see the address and TLS state of the
// console's request.
func (c *Console) send(from *http.Request, name string, body []byte, credentials aws.Credentials) (*http.Response, error) {
	of := serviceOf(name)
	r, err := http.NewRequestWithContext(from.Context(), http.MethodPost, of.endpoint(c.options.Endpoint), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", of.target+name)
	r.Header.Set("User-Agent", userAgent)
	r.RemoteAddr, r.TLS = from.RemoteAddr, from.TLS
	sum := sha256.Sum256(body)
	// A signer caches keys derived from a secret by access key id alone: a shared signer would sign for anyone who names an id that
	// another user has signed in with.
	if err := v4.NewSigner().SignHTTP(r.Context(), credentials, r, hex.EncodeToString(sum[:]), of.signed, c.options.Region, c.options.Now()); err != nil {
		return nil, err
	}
	return c.options.Client.Do(r)
}

// credentials returns the credentials to sign a request of the page.
func (c *Console) credentials(r *http.Request) (aws.Credentials, error) {
	if c.options.SignIn {
		return c.session(r)
	}
	credentials, err := c.options.Credentials.Retrieve(r.Context())
	if err != nil && !errors.Is(err, context.Canceled) {
		err = fmt.Errorf("no credentials: %w", err)
	}
	return credentials, err
}

// about returns the configuration of the page.
func (c *Console) about(r *http.Request) any {
	config := struct {
		Endpoint  string  `json:"endpoint,omitempty"`
		Region    string  `json:"region"`
		ReadOnly  bool    `json:"readOnly"`
		SignIn    string  `json:"signIn,omitempty"`
		User      string  `json:"user,omitempty"`
		Endpoints []place `json:"endpoints,omitempty"`
		Served    *Served `json:"served,omitempty"`
	}{Served: c.options.known(), Endpoint: c.options.Address, Region: c.options.Region, ReadOnly: c.options.ReadOnly, Endpoints: c.places}
	if c.options.SignIn {
		config.SignIn = "key"
		if !private(r) {
			config.SignIn = "insecure"
		}
		if who, err := c.session(r); err == nil {
			config.User = who.AccessKeyID
		}
	}
	return config
}

// refusal is an error with one of the console's own codes, in DynamoDB's format.
type refusal struct{ code, message string }

func (e *refusal) Error() string { return e.message }

func codeOf(err error, otherwise string) string {
	if e, ok := errors.AsType[*refusal](err); ok {
		return e.code
	}
	return otherwise
}

// refuse responds with an error in the language of the page.
func refuse(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": languageOf(r).say(message)})
}
