// Package signature verifies Signature Version 4, AWS's way of signing requests, in its two forms: the header Authorization, and
// parameters of the query (presigned requests).
//
// # Model
//
//	canonical request    method, path, query, signed headers, their names, SHA-256 of the body       canonical.go
//	string to sign       AWS4-HMAC-SHA256, time, credential scope, SHA-256 of the canonical request
//	signing key          HMAC chain from the secret over date, region, service, aws4_request        secret.go
//	signature            HMAC of the string to sign with the signing key
//
// A request passes Parser.Parse, Signed.InScope, Signed.Verify and Signed.Timely, in the order in which AWS reports what is wrong. The
// secret of the key is the caller's to look up, between InScope and Verify.
//
// # Invariants
//
//	I1  Every error is an *apierr.Error in AWS's words. Nothing that a sender controls makes a panic.
//	I2  Signatures are compared in constant time. No secret is in an error, nor anything derived from one but a signature.
//	I3  Host and X-Amz-Target are signed, so a signature is good for one server and one operation.
//
// # Concurrency
//
// All functions may be called at once. A Parser and a Secret are shared by requests.
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

// DefaultSkew is by how much the clocks of sender and server may differ.
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

	// keptMax is how many clients' claims a Parser keeps.
	keptMax = 256
	// presignedMax is the longest that a presigned request may be good for.
	presignedMax = 7 * 24 * time.Hour
)

// Signed is what a request says of its signature.
type Signed struct {
	*claims
	// Token is the session token that goes with a temporary access key.
	Token string

	prefix    string // of the header Authorization, for Parser.Keep; "" where the claims are kept, or were in a query
	signature string
	at        time.Time
	stamp     string // at, as it is signed
	presigned bool
	expires   time.Duration // of a presigned request, 0 where it says nothing
}

// claims are what requests of one client have in common. They never change.
type claims struct {
	// KeyID is the id of the access key; Region and Service are those of the credential scope.
	KeyID, Region, Service string

	scope     string // date/region/service/aws4_request
	date, end string // of the scope
	headers   string // names of the signed headers in lower case, separated by semicolons
	signed    []signedHeader
	host      bool // is signed
	target    bool // X-Amz-Target is signed
}

// signedHeader is a header's name as it is signed, and as net/http has it.
type signedHeader struct{ name, canonical string }

// Parser reads what requests say of their signatures. It keeps the claims of some clients, of whom most requests differ by their
// signature alone. The zero Parser works.
type Parser struct {
	kept atomic.Pointer[map[string]*claims] // by the header Authorization up to the signature
	last atomic.Pointer[moment]             // when a request was signed: in a second there are many
}

// moment is a time as it is signed.
type moment struct {
	stamp string
	at    time.Time
}

// Parse reads what a request says of its signature.
func (p *Parser) Parse(r *http.Request) (Signed, error) {
	header := first(r.Header, headerAuthorization)
	inQuery := strings.Contains(r.URL.RawQuery, "X-Amz-")
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

// Keep keeps the claims of a request whose signature is right.
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
	p.kept.Store(&kept) // of two that are kept at once one is
}

// parseTime reads a time in ISO 8601's basic format, or, where it is from the header Date, in one of HTTP's, which it brings into the
// other format.
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

// newClaims reads a credential, KEY/20261120/eu-west-1/dynamodb/aws4_request, in which the key has no slashes. Of one that is no
// credential the claims have no KeyID, and the scope is what it is.
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

// cutCredential cuts a credential into the key and the four parts of the scope: date, Region, service and end.
func cutCredential(credential string) (keyID string, scope [4]string, ok bool) {
	parts := strings.Split(strings.TrimRight(credential, "/"), "/")
	at := len(parts) - len(scope)
	if at < 1 || parts[0] == "" {
		return "", scope, false
	}
	copy(scope[:], parts[at:])
	return strings.Join(parts[:at], "/"), scope, true
}

// checkHeaders refuses signatures that do not cover what a request is for, and names of headers that are not there.
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

// InScope refuses a credential scope of another service or day; the first of services is the one that the error names. Whether
// the Region is served is for who serves Regions to say.
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

// Timely refuses a request that was signed too long ago, or in the future.
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
