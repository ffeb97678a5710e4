// Package sts implements the Security Token Service's API in AWS's Query protocol: GetCallerIdentity, AssumeRole,
// AssumeRoleWithWebIdentity and GetSessionToken, using the directory of package identity.
//
// A request is a form, or the query of a GET, with Action, Version 2011-06-15 and members such as Tags.member.1.Key:
//
//	operation     reads the members, checks policies, starts a session      caller.go, assume_role.go
//	web identity  verifies a JWT with the keys of its issuer                web_identity.go, keys.go
//	protocol      XML, and AWS's codes for the server's own errors           protocol.go
//
// # Invariants
//
//	I1  No client input causes a panic or a 500. None of it is kept except in the client's own token.
//	I2  A role is assumed only if its trust policy allows it: every action that a request needs is checked, including
//	    sts:TagSession and sts:SetSourceIdentity.
//	I3  A session has at most the permissions of its role or user, for at most as long as AWS allows.
//
// # Concurrency
//
// A Handler serves any number of requests concurrently, and verifies at most turnsMax web identities at once.
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
	// bodyMax is the maximum size of a request, and turnsMax how many web identities are verified at once: anyone may request it,
	// and it may wait for a provider.
	bodyMax  = 256 << 10
	turnsMax = 4

	webIdentityAction = "AssumeRoleWithWebIdentity"
)

// Options configure a Handler. Directory and Account are required.
type Options struct {
	Directory *identity.Directory
	Account   string
	// Client fetches the keys of identity providers. Default: one with a timeout of 5 s.
	Client *http.Client
	Now    func() time.Time // default time.Now
	Logger *slog.Logger     // default: discard
}

// Handler responds to requests.
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

// Serves reports whether a request is for STS: by the service it is signed for or, if unsigned, by the version in its body.
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

// Public reports whether a request authenticates by a parameter: a web identity's token.
func (h *Handler) Public(r *http.Request, body []byte) bool {
	form, err := parameters(r, body)
	return err == nil && form.Get("Action") == webIdentityAction
}

// Recorded returns the parameters of a request for STS, or none if they cannot be parsed.
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

// Serve responds to a request for which Serves is true.
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

// Refuse responds to a request that the server itself rejects.
func (h *Handler) Refuse(_ *http.Request, id string, e *apierr.Error) (int, http.Header, []byte) {
	return faultOf(e).encode(id)
}

// perform executes one operation.
func (h *Handler) perform(ctx context.Context, who *policy.Principal, r *http.Request, body []byte) (any, error) {
	form, err := parameters(r, body)
	if err != nil {
		return nil, err
	}
	c := &call{h: h, who: who, r: r, form: form}
	action := form.Get("Action")
	if who.ARN == "" && action != webIdentityAction { // not authenticated
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

// parameters returns those of the body or, for a GET, of the query.
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
			return nil, &fault{http.StatusBadRequest, "MalformedInput", "The parameter " + name + " appears more than once."}
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
