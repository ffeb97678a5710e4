// Package sts answers the Security Token Service's API in AWS's Query protocol: GetCallerIdentity, AssumeRole,
// AssumeRoleWithWebIdentity and GetSessionToken, over the directory of package identity.
//
// A request is a form, or the query of a GET, with Action, Version 2011-06-15 and members such as Tags.member.1.Key:
//
//	operation     reads the members, asks policies, begins a session        get_caller_identity.go …
//	web identity  verifies a JWT with the keys of its issuer                web_identity.go, keys.go
//	protocol      XML, and AWS's codes for what the server itself refuses    protocol.go
//
// # Invariants
//
//	I1  What a client sends never causes a panic or a 500. Nothing of it is kept but in the token that it gets.
//	I2  A role is taken only when its trust policy allows it: every action that a request needs, sts:TagSession and
//	    sts:SetSourceIdentity among them, is asked for.
//	I3  A session has at most what its role or user has, for at most as long as AWS allows.
//
// # Concurrency
//
// A Handler serves any number of requests at once, and looks at turnsMax web identities together.
package sts

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/identity"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

const (
	apiVersion = "2011-06-15"
	// bodyMax is the most bytes that a request may have, and turnsMax how many web identities are looked at together: anyone may
	// ask for it, and it may wait for a provider.
	bodyMax  = 256 << 10
	turnsMax = 4

	webIdentityAction = "AssumeRoleWithWebIdentity"
)

// Options of a Handler. Directory and Account are needed.
type Options struct {
	Directory *identity.Directory
	Account   string
	// Client fetches the keys of identity providers. Default: one that waits 5 s.
	Client *http.Client
	Now    func() time.Time // default time.Now
	Logger *slog.Logger     // default: discard
}

// Handler answers requests.
type Handler struct {
	options Options
	turns   chan struct{}

	mu   sync.Mutex
	keys map[string]*keySet // by the URL of a provider's keys
}

// New returns a Handler.
func New(o Options) *Handler {
	if o.Client == nil {
		o.Client = &http.Client{Timeout: fetchTimeout}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Handler{options: o, turns: make(chan struct{}, turnsMax), keys: map[string]*keySet{}}
}

// Serves reports whether a request is for STS: by the service that it is signed for, or, unsigned, by the version that its body names.
func (h *Handler) Serves(r *http.Request, body []byte) bool {
	if r.URL.Path != "/" && r.URL.Path != "" || r.Header.Get("X-Amz-Target") != "" {
		return false
	}
	if r.Method == http.MethodGet {
		return strings.Contains(r.URL.RawQuery, "Version="+apiVersion)
	}
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if r.Method != http.MethodPost || !strings.EqualFold(strings.TrimSpace(media), "application/x-www-form-urlencoded") {
		return false
	}
	if authorization := r.Header.Get("Authorization"); authorization != "" {
		return strings.Contains(authorization, "/sts/")
	}
	return body == nil || strings.Contains(string(body), "Version="+apiVersion)
}

// Public reports whether a request brings its proof in a parameter: a web identity's token.
func (h *Handler) Public(r *http.Request, body []byte) bool {
	form, err := parameters(r, body)
	return err == nil && form.Get("Action") == webIdentityAction
}

// Recorded returns the parameters of a request for STS. Those that cannot be read are none.
func (h *Handler) Recorded(r *http.Request, body []byte) url.Values {
	form, err := parameters(r, body)
	if err != nil {
		form = url.Values{}
	}
	if form.Get("Version") != apiVersion && !h.Serves(r, body) {
		return nil
	}
	return form
}

// Serve responds to a request that Serves is true for.
func (h *Handler) Serve(ctx context.Context, who *policy.Principal, r *http.Request, id string, body []byte) (status int, header http.Header, response []byte) {
	if who == nil {
		who = h.options.Directory.Root()
	}
	out, err := h.perform(ctx, who, r, body)
	if err == nil {
		if response, err = encode(out, id); err == nil {
			return http.StatusOK, xmlHeader(), response
		}
	}
	f := faultOf(err)
	if f == errInternal {
		h.options.Logger.ErrorContext(ctx, "request failed", slog.String("request_id", id), slog.Any("error", err))
	}
	return f.encode(id)
}

// Refuse responds to a request that is not served for a reason of the server's own.
func (h *Handler) Refuse(_ *http.Request, id string, e *apierr.Error) (int, http.Header, []byte) {
	return faultOf(e).encode(id)
}

// perform carries out one operation.
func (h *Handler) perform(ctx context.Context, who *policy.Principal, r *http.Request, body []byte) (any, error) {
	form, err := parameters(r, body)
	if err != nil {
		return nil, err
	}
	c := &call{h: h, who: who, r: r, form: form}
	action := form.Get("Action")
	if who.ARN == "" && action != webIdentityAction { // nobody
		return nil, apierr.NotSigned.With()
	}
	switch {
	case action == "":
		return nil, &fault{http.StatusBadRequest, "MissingAction", "The request is missing an action."}
	case form.Get("Version") != apiVersion:
		return nil, invalidAction(action, form.Get("Version"))
	case action == "GetCallerIdentity":
		return c.getCallerIdentity(), nil
	case action == "AssumeRole":
		return c.assumeRole(ctx)
	case action == webIdentityAction:
		return c.assumeRoleWithWebIdentity(ctx)
	case action == "GetSessionToken":
		return c.getSessionToken(ctx)
	default:
		return nil, invalidAction(action, apiVersion)
	}
}

// parameters are those of the body or, of a GET, of the query.
func parameters(r *http.Request, body []byte) (url.Values, error) {
	if len(body) > bodyMax {
		return nil, errTooLarge
	}
	text := string(body)
	if r.Method == http.MethodGet {
		text = r.URL.RawQuery
	}
	form, err := url.ParseQuery(text)
	if err != nil {
		return nil, &fault{http.StatusBadRequest, "MalformedInput", "The request cannot be read."}
	}
	for name, values := range form {
		if len(values) > 1 {
			return nil, &fault{http.StatusBadRequest, "MalformedInput", "The parameter " + name + " is there more than once."}
		}
	}
	return form, nil
}

// call is one request.
type call struct {
	h    *Handler
	who  *policy.Principal
	r    *http.Request
	form url.Values
}
