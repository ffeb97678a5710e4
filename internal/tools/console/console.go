// Package console serves the console: the page (web/apps/console) on which people see and change the tables of a DynamoDB
// endpoint, and the back end by which the page calls that endpoint.
//
// # Model
//
//	GET  /_console/             the page, and its files below /_console/assets/
//	POST /_console/api/NAME     the operation NAME of DynamoDB, its streams or CloudWatch: its JSON in, the endpoint's JSON out
//	GET  /_console/served       what the endpoint has beside DynamoDB's API
//	GET  /_console/bookmarks    the queries that people keep, where Options.Bookmarks names a file; PUT replaces them
//	     /_console/at/NAME/…    the same for another endpoint (Several)
//	POST /_console/design/…     what the design of a table says: its model, what items mean, a chart, a pattern that is run
//	POST /_console/session      signs in with an access key, where Options.SignIn asks for one; DELETE signs out
//
// The back end signs requests with the AWS SDK and passes bodies on as they are. It decodes no values, so a number keeps its 38
// digits, binary and sets keep their types, and errors have the code and message of the endpoint. The endpoint is a URL (this
// server, DynamoDB Local, AWS), or a handler in the same process.
//
// # Invariants
//
//	C1  Only the operations of operations.go are called. Options.ReadOnly leaves those that only read; a PartiQL statement
//	    is read as the endpoint will read it before it is passed on.
//	C2  A page of another origin calls nothing: a request needs the header X-Monotable-Console, which makes a browser ask first,
//	    and passes http.CrossOriginProtection. Where nobody signs in, Options.Guard checks the host as well.
//	C3  Requests are signed by Options.Credentials, or by the key of whoever has signed in: the endpoint's policies hold. That key
//	    is in a cookie that scripts cannot read, sealed under a key that ends with the process, and is taken over TLS
//	    or loopback only.
//	C4  A pattern is run by the requests that generated code would send, signed as all others; Options.ReadOnly holds for each of them.
//	C5  The back end keeps nothing but designs, the file of bookmarks and what the endpoint has between requests, and holds the bodies of requestsMax at once.
//
// A Console may serve any number of requests at once.
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

// Path is where the console is; its requests are those below it.
const Path = "/_console/"

const (
	// header has to be with each request of the page. Another origin's page cannot send it without asking first.
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

// Options of a console. Endpoint, Region and Client are required, and Credentials without SignIn.
type Options struct {
	// Endpoint is the URL of the endpoint, and Region what requests to it are signed for.
	Endpoint, Region string
	// Client sends the requests.
	Client Doer
	// Credentials sign the requests. Not used with SignIn.
	Credentials aws.CredentialsProvider
	// SignIn has people give an access key of theirs, which signs their requests.
	SignIn bool
	// ReadOnly refuses operations that change anything.
	ReadOnly bool
	// Served is what the endpoint has beside DynamoDB's API, where that is known; nil has the console find out.
	Served *Served
	// Name is what people call the endpoint, where there are several.
	Name string
	// Bookmarks is a file that has the queries that people keep; "" leaves them to the browser.
	Bookmarks string
	// Address is the endpoint's as people write it in their programs; "" is the address of the page itself.
	Address string
	// Guard says which hosts requests may name. Hosts are checked without SignIn only: a page that rebinds its name has no
	// session.
	Guard *httpguard.Guard
	// Designs are those that are known beside the attached ones.
	Designs *Designs
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Console is an http.Handler for Path and what is below it.
type Console struct {
	options Options
	mux     *http.ServeMux
	guard   *http.CrossOriginProtection
	key     []byte              // seals sessions
	places  []place             // the endpoints that the page can go to, where there are several
	others  map[string]*Console // the consoles of the other endpoints, by their names
	serving serving
	// cursorKey seals where lists of patterns go on.
	cursorKey []byte
	room      chan struct{}
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
	if o.Bookmarks != "" {
		c.mux.Handle("GET "+Path+"bookmarks", c.own(c.bookmarks))
		c.mux.Handle("PUT "+Path+"bookmarks", c.own(c.setBookmarks))
	}
	return c
}

// Beside returns a handler that serves the console and leaves everything else to api. A browser that opens the
// address of the API is sent to the console; the API's own clients do not ask for HTML.
func (c *Console) Beside(api http.Handler) http.Handler {
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
		refuse(w, http.StatusForbidden, "HostForbidden", fmt.Sprintf("The host %q is not allowed: a web page may have been rebound to this address. Start with --allowed-host to allow it.", r.Host))
		return
	}
	c.mux.ServeHTTP(w, r)
}

// own passes on requests of the console's own page, a few at a time.
func (c *Console) own(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.guard.Check(r); err != nil || r.Header.Get(header) == "" {
			refuse(w, http.StatusForbidden, "OriginForbidden", "Only the page of the console may call this.")
			return
		}
		select {
		case c.room <- struct{}{}:
			defer func() { <-c.room }()
		case <-r.Context().Done():
			return
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // where there is a connection
		r.Body = http.MaxBytesReader(w, r.Body, bodyMax)
		w.Header().Set("Cache-Control", "no-store")
		next(w, r)
	})
}

// call passes an operation on to the endpoint.
func (c *Console) call(w http.ResponseWriter, r *http.Request) {
	credentials, err := c.credentials(r)
	if err != nil {
		refuse(w, http.StatusUnauthorized, codeOf(err, "CredentialsError"), err.Error())
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, "RequestTooLarge", fmt.Sprintf("The request could not be read, or has more than %d MB.", bodyMax>>20))
		return
	}
	name := r.PathValue("operation")
	body, err = admit(name, body, c.options.ReadOnly)
	if err != nil {
		refuse(w, http.StatusForbidden, codeOf(err, "ValidationException"), err.Error())
		return
	}
	response, err := c.send(r, name, body, credentials)
	if err != nil {
		if r.Context().Err() == nil {
			refuse(w, http.StatusBadGateway, "EndpointUnreachable", fmt.Sprintf("%s cannot be reached: %v", c.options.Endpoint, err))
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
	_, _ = io.Copy(w, response.Body) // the page is gone where it fails
}

// send signs and sends one request. Where the endpoint is in this process, its policies see the address and the TLS of the request
// that the console got.
func (c *Console) send(from *http.Request, name string, body []byte, credentials aws.Credentials) (*http.Response, error) {
	of := serviceOf(name)
	r, err := http.NewRequestWithContext(from.Context(), http.MethodPost, of.endpoint(c.options.Endpoint), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", of.target+name)
	r.Header.Set("User-Agent", "monotable-console")
	r.RemoteAddr, r.TLS = from.RemoteAddr, from.TLS
	sum := sha256.Sum256(body)
	// A signer keeps what it has derived from a secret, by the id of the key alone: one that is shared would sign for whoever
	// names an id that somebody else has signed in with.
	if err := v4.NewSigner().SignHTTP(r.Context(), credentials, r, hex.EncodeToString(sum[:]), of.signed, c.options.Region, c.options.Now()); err != nil {
		return nil, err
	}
	return c.options.Client.Do(r)
}

// credentials are those that sign a request of the page.
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

// about is what the page is told when it is loaded.
func (c *Console) about(r *http.Request) any {
	told := struct {
		Endpoint string `json:"endpoint,omitempty"`
		Region   string `json:"region"`
		ReadOnly bool   `json:"readOnly"`
		SignIn   string `json:"signIn,omitempty"`
		User     string `json:"user,omitempty"`
		// Bookmarks tells whether a file has them.
		Bookmarks bool    `json:"bookmarks,omitempty"`
		Endpoints []place `json:"endpoints,omitempty"`
		Served    *Served `json:"served,omitempty"`
	}{Served: c.options.known(), Endpoint: c.options.Address, Region: c.options.Region, ReadOnly: c.options.ReadOnly, Bookmarks: c.options.Bookmarks != "", Endpoints: c.places}
	if c.options.SignIn {
		told.SignIn = "key"
		if !private(r) {
			told.SignIn = "insecure"
		}
		if who, err := c.session(r); err == nil {
			told.User = who.AccessKeyID
		}
	}
	return told
}

// refusal is an error with a code of the console's own, in the form of DynamoDB's.
type refusal struct{ code, message string }

func (e *refusal) Error() string { return e.message }

func codeOf(err error, otherwise string) string {
	if e, ok := errors.AsType[*refusal](err); ok {
		return e.code
	}
	return otherwise
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": message})
}
