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
	names     []string
}

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
	header := r.Header.Get(headerAuthorization)
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
	c.names = strings.Split(c.headers, ";")
	parts := strings.Split(strings.TrimRight(credential, "/"), "/")
	if len(parts) == 5 && parts[0] != "" {
		c.KeyID, c.scope = parts[0], strings.Join(parts[1:], "/")
		c.date, c.Region, c.Service, c.end = parts[1], parts[2], parts[3], parts[4]
	}
	return c
}

// checkHeaders refuses signatures that do not cover what a request is for, and names of headers that are not there.
func (s *Signed) checkHeaders(r *http.Request) error {
	host, target := false, len(r.Header[headerTarget]) == 0
	for _, name := range s.names {
		switch name {
		case nameHost, nameAuthority:
			host = true
		case nameTarget:
			target = true
		}
	}
	switch {
	case !host:
		return apierr.HostNotSigned.With()
	case !target:
		return apierr.TargetNotSigned.With()
	}
	for _, name := range s.names {
		if !hasHeader(r, name) {
			return apierr.SignedHeaderMissing.With(name)
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
	now = now.UTC()
	minutes := int(skew / time.Minute)
	if latest := now.Add(skew); s.at.After(latest) {
		return apierr.SignatureEarly.With(s.stamp, latest.Format(basicISO), now.Format(basicISO), minutes)
	}
	if s.expires > 0 {
		if end := s.at.Add(s.expires); now.After(end) {
			return apierr.PresignedExpired.With(now.Format(basicISO), end.Format(basicISO))
		}
		return nil
	}
	if earliest := now.Add(-skew); s.at.Before(earliest) {
		return apierr.SignatureExpired.With(s.stamp, earliest.Format(basicISO), now.Format(basicISO), minutes)
	}
	return nil
}
