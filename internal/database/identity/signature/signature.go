// Package signature verifies Signature Version 4, AWS's scheme for signing requests, in its two forms: the Authorization header,
// and query parameters (presigned requests).
//
// # Model
//
//	canonical request    method, path, query, signed headers, their names, SHA-256 of the body       canonical.go
//	string to sign       AWS4-HMAC-SHA256, time, credential scope, SHA-256 of the canonical request
//	signing key          HMAC chain from the secret over date, region, service, aws4_request        secret.go
//	signature            HMAC of the string to sign with the signing key
//
// A request passes Parser.Parse, Signed.InScope, Signed.Verify and Signed.Timely, in the order in which AWS reports errors. The
// caller looks up the secret of the key between InScope and Verify.
//
// # Invariants
//
//	I1  Every error is an *apierr.Error with AWS's message. No client input causes a panic.
//	I2  Signatures are compared in constant time. Errors contain no secret, nor anything derived from one except a signature.
//	I3  Host and X-Amz-Target are signed, so a signature is only valid for one server and one operation.
//
// # Concurrency
//
// All functions are safe for concurrent use. A Parser and a Secret are shared by requests.
package signature

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// DefaultSkew is the tolerated difference between the clocks of sender and server.
const DefaultSkew = 5 * time.Minute

const (
	algorithm  = "AWS4-HMAC-SHA256"
	terminator = "aws4_request"
	basicISO   = "20060102T150405Z"
	dateLength = len("20060102")

	headerAuthorization = "Authorization"
	headerDate          = "X-Amz-Date"
	headerPayload       = "X-Amz-Content-Sha256"
	headerToken         = "X-Amz-Security-Token"
	headerTarget        = "X-Amz-Target"

	nameHost      = "host"
	nameAuthority = ":authority" // HTTP/2's
	nameTarget    = "x-amz-target"

	unsignedPayload = "UNSIGNED-PAYLOAD"

	// keptMax is the maximum number of clients whose claims a Parser caches.
	keptMax = 256
	// presignedMax is the maximum validity of a presigned request.
	presignedMax = 7 * 24 * time.Hour
)

// Signed is the parsed signature of a request.
type Signed struct {
	*claims
	// Token is the session token of a temporary access key.
	Token string

	prefix    string // of the Authorization header, for Parser.Keep; "" if the claims are cached, or came from a query
	signature string
	at        time.Time
	stamp     string // at, as signed
	presigned bool
	expires   time.Duration // of a presigned request, or 0
}

// claims are the common part of one client's requests. They are immutable.
type claims struct {
	// KeyID is the id of the access key; Region and Service are those of the credential scope.
	KeyID, Region, Service string

	scope     string // date/region/service/aws4_request
	date, end string // of the scope
	headers   string // names of the signed headers in lower case, separated by semicolons
	signed    []signedHeader
	host      bool // host is signed
	target    bool // X-Amz-Target is signed
}

// signedHeader is a header's name, as signed and in net/http's form.
type signedHeader struct{ name, canonical string }

// Parser parses the signatures of requests. It caches the claims of some clients, most of whose requests differ only by their
// signature. The zero Parser is valid.
type Parser struct {
	kept atomic.Pointer[map[string]*claims] // by the Authorization header up to the signature
	last atomic.Pointer[moment]             // the latest signing time, which many requests of a second share
}

// moment is a signing time and its text.
type moment struct {
	stamp string
	at    time.Time
}

// Parse parses the signature of a request.
func (p *Parser) Parse(r *http.Request) (Signed, error) {
	header := first(r.Header, headerAuthorization)
	inQuery := presigned(r)
	var s Signed
	var err error
	switch {
	case header != "" && inQuery && strings.Contains(r.URL.RawQuery, queryAlgorithm+"="):
		return Signed{}, apierr.SignedTwice.With()
	case header != "":
		s, err = p.parseHeader(r, header)
	case inQuery:
		s, err = parseQuery(r)
	default:
		return Signed{}, apierr.NotSigned.With()
	}
	if err != nil {
		return Signed{}, err
	}
	if last := p.last.Load(); last != nil && last.stamp == s.stamp {
		s.at = last.at
	} else if s.at, err = parseTime(&s.stamp); err != nil {
		return Signed{}, apierr.SignatureDateInvalid.With(s.stamp)
	}
	if err := s.checkHeaders(r); err != nil {
		return Signed{}, err
	}
	if s.KeyID == "" {
		return Signed{}, apierr.CredentialIncomplete.With(s.scope)
	}
	return s, nil
}

// Keep caches the claims of a request whose signature is valid.
func (p *Parser) Keep(s *Signed) {
	if last := p.last.Load(); last == nil || last.at.Before(s.at) {
		p.last.Store(&moment{strings.Clone(s.stamp), s.at})
	}
	if s.prefix == "" {
		return
	}
	kept := map[string]*claims{strings.Clone(s.prefix): s.claims}
	if old := p.kept.Load(); old != nil && len(*old) < keptMax {
		maps.Copy(kept, *old)
	}
	p.kept.Store(&kept) // of two cached concurrently one is kept
}

// parseTime parses a time in ISO 8601's basic format or, if it is from the Date header, in one of HTTP's, which it converts to
// the other.
func parseTime(stamp *string) (time.Time, error) {
	if t, err := time.Parse(basicISO, *stamp); err == nil {
		return t, nil
	}
	t, err := http.ParseTime(*stamp)
	if err == nil {
		t = t.UTC()
		*stamp = t.Format(basicISO)
	}
	return t, err
}

// newClaims parses a credential, KEY/20261120/eu-west-1/dynamodb/aws4_request, whose key has no slashes. If it is invalid, the
// claims have no KeyID and the whole text as the scope.
func newClaims(credential, headers string) *claims {
	c := &claims{scope: credential, headers: strings.ToLower(headers)}
	for name := range strings.SplitSeq(c.headers, ";") {
		c.signed = append(c.signed, signedHeader{name, http.CanonicalHeaderKey(name)})
		c.host = c.host || name == nameHost || name == nameAuthority
		c.target = c.target || name == nameTarget
	}
	if keyID, scope, ok := cutCredential(credential); ok && !strings.Contains(keyID, "/") {
		c.KeyID, c.scope = keyID, strings.Join(scope[:], "/")
		c.date, c.Region, c.Service, c.end = scope[0], scope[1], scope[2], scope[3]
	}
	return c
}

// cutCredential splits a credential into the key and the four parts of the scope: date, Region, service and end.
func cutCredential(credential string) (keyID string, scope [4]string, ok bool) {
	parts := strings.Split(strings.TrimRight(credential, "/"), "/")
	at := len(parts) - len(scope)
	if at < 1 || parts[0] == "" {
		return "", scope, false
	}
	copy(scope[:], parts[at:])
	return strings.Join(parts[:at], "/"), scope, true
}

// checkHeaders rejects signatures that do not cover what identifies a request, and names of missing headers.
func (s *Signed) checkHeaders(r *http.Request) error {
	switch {
	case !s.host:
		return apierr.HostNotSigned.With()
	case !s.target && len(r.Header[headerTarget]) > 0:
		return apierr.TargetNotSigned.With()
	}
	for i := range s.signed {
		if h := &s.signed[i]; !h.in(r) {
			return apierr.SignedHeaderMissing.With(h.name)
		}
	}
	return nil
}

// InScope rejects a credential scope of another service or day; the error names the first of services. Whether the Region is
// served is checked elsewhere.
func (s *Signed) InScope(services ...string) error {
	var wrong []string
	if !slices.Contains(services, s.Service) {
		wrong = append(wrong, apierr.ScopeService.With(services[0]).Message)
	}
	if s.end != terminator {
		wrong = append(wrong, apierr.ScopeEnd.With(s.end).Message)
	}
	if day := s.stamp[:dateLength]; s.date != day {
		wrong = append(wrong, apierr.ScopeDate.With(s.date, day, s.stamp).Message)
	}
	if len(wrong) == 0 {
		return nil
	}
	return apierr.New(apierr.InvalidSignatureException, strings.Join(wrong, ""))
}

// Timely rejects a request that was signed too long ago, or in the future.
func (s *Signed) Timely(now time.Time, skew time.Duration) error {
	text := func(t time.Time) string { return t.UTC().Format(basicISO) }
	minutes := int(skew / time.Minute)
	switch age := now.Sub(s.at); {
	case age < -skew:
		return apierr.SignatureEarly.With(s.stamp, text(now.Add(skew)), text(now), minutes)
	case s.expires > 0 && age > s.expires:
		return apierr.PresignedExpired.With(text(now), text(s.at.Add(s.expires)))
	case s.expires == 0 && age > skew:
		return apierr.SignatureExpired.With(s.stamp, text(now.Add(-skew)), text(now), minutes)
	default:
		return nil
	}
}
