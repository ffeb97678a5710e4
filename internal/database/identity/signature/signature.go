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
// A request passes Parse, Signed.InScope, Signed.Verify and Signed.Timely, in the order in which AWS reports what is wrong. The
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
// All functions may be called at once. A Secret is shared by requests.
package signature

import (
	"net/http"
	"slices"
	"strings"
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

	unsignedPayload = "UNSIGNED-PAYLOAD"

	// presignedMax is the longest that a presigned request may be good for.
	presignedMax = 7 * 24 * time.Hour
)

// Signed is what a request says of its signature.
type Signed struct {
	// KeyID is the id of the access key, and Token the session token that goes with temporary ones.
	KeyID, Token string
	// Region and Service are those of the credential scope.
	Region, Service string

	scope     string // date/region/service/aws4_request
	date, end string // of the scope
	headers   string // names of the signed headers, separated by semicolons
	signature string
	at        time.Time
	stamp     string // at, as it is signed
	presigned bool
	expires   time.Duration // of a presigned request, 0 where it says nothing
}

// Parse reads what a request says of its signature.
func Parse(r *http.Request) (*Signed, error) {
	header := r.Header.Get(headerAuthorization)
	inQuery := strings.Contains(r.URL.RawQuery, "X-Amz-")
	var s *Signed
	var credential string
	var err error
	switch {
	case header != "" && strings.Contains(r.URL.RawQuery, queryAlgorithm+"="):
		return nil, apierr.SignedTwice.With()
	case header != "":
		s, credential, err = parseHeader(r, header)
	case inQuery:
		s, credential, err = parseQuery(r)
	default:
		return nil, apierr.NotSigned.With()
	}
	if err != nil {
		return nil, err
	}
	if s.at, err = parseTime(s.stamp); err != nil {
		return nil, apierr.SignatureDateInvalid.With(s.stamp)
	}
	s.stamp = s.at.Format(basicISO)
	if err := s.checkHeaders(r); err != nil {
		return nil, err
	}
	return s, s.setCredential(credential)
}

// parseTime reads a time in ISO 8601's basic format, or, where it is from the header Date, in one of HTTP's.
func parseTime(text string) (time.Time, error) {
	if t, err := time.Parse(basicISO, text); err == nil {
		return t, nil
	}
	t, err := http.ParseTime(text)
	return t.UTC(), err
}

// checkHeaders refuses signatures that do not cover what a request is for, and names of headers that are not there.
func (s *Signed) checkHeaders(r *http.Request) error {
	host, target := false, r.Header.Get(headerTarget) == ""
	for name := range strings.SplitSeq(s.headers, ";") {
		switch {
		case strings.EqualFold(name, "host"), name == ":authority":
			host = true
		case strings.EqualFold(name, headerTarget):
			target = true
		}
	}
	switch {
	case !host:
		return apierr.HostNotSigned.With()
	case !target:
		return apierr.TargetNotSigned.With()
	}
	for name := range strings.SplitSeq(s.headers, ";") {
		if !hasHeader(r, name) {
			return apierr.SignedHeaderMissing.With(name)
		}
	}
	return nil
}

// setCredential reads KEY/20261120/eu-west-1/dynamodb/aws4_request. Keys have no slashes.
func (s *Signed) setCredential(credential string) error {
	parts := strings.Split(strings.TrimRight(credential, "/"), "/")
	if len(parts) != 5 {
		return apierr.CredentialIncomplete.With(credential)
	}
	s.KeyID, s.scope = parts[0], strings.Join(parts[1:], "/")
	s.date, s.Region, s.Service, s.end = parts[1], parts[2], parts[3], parts[4]
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
