package signature

import (
	"crypto/sha256"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// Parameters of a presigned request.
const (
	queryAlgorithm  = "X-Amz-Algorithm"
	queryCredential = "X-Amz-Credential"
	queryDate       = "X-Amz-Date"
	queryExpires    = "X-Amz-Expires"
	queryHeaders    = "X-Amz-SignedHeaders"
	querySignature  = "X-Amz-Signature"
	queryToken      = "X-Amz-Security-Token"
	queryPayload    = "X-Amz-Content-Sha256"
)

// parseHeader parses
//
//	AWS4-HMAC-SHA256 Credential=KEY/SCOPE, SignedHeaders=host;x-amz-date, Signature=HEX
//
// with any commas and spaces between the pairs, and the time in X-Amz-Date or Date.
func (p *Parser) parseHeader(r *http.Request, header string) (s Signed, err error) {
	s = Signed{Token: first(r.Header, headerToken), stamp: first(r.Header, headerDate)}
	if s.stamp == "" {
		s.stamp = r.Header.Get("Date")
	}
	prefix := ""
	if cut := len(header) - signatureLength; cut > 0 && strings.HasSuffix(header[:cut], signatureParameter) {
		prefix, s.signature = header[:cut], header[cut:]
		if kept := p.kept.Load(); kept != nil && s.stamp != "" {
			if s.claims = (*kept)[prefix]; s.claims != nil {
				return s, nil
			}
		}
	}
	credential, headers, signature, err := parameters(header)
	if err != nil {
		return Signed{}, err
	}
	var missing []string
	for _, part := range []struct{ name, value string }{{"Credential", credential}, {"Signature", signature}, {"SignedHeaders", headers}} {
		if part.value == "" {
			missing = append(missing, apierr.AuthorizationLacks.With(part.name).Message)
		}
	}
	if s.stamp == "" {
		missing = append(missing, apierr.AuthorizationLacksDate.With().Message)
	}
	if len(missing) > 0 {
		return Signed{}, apierr.AuthorizationIncomplete.With(strings.Join(missing, ""), header)
	}
	if !strings.HasPrefix(header, algorithm+" ") {
		scheme, _, _ := strings.Cut(header, " ")
		return Signed{}, apierr.AlgorithmUnsupported.With(scheme)
	}
	s.claims = newClaims(credential, headers)
	if s.signature == signature {
		s.prefix = prefix
	}
	s.signature = signature
	return s, nil
}

// presigned reports whether a request without an Authorization header is taken for a presigned one.
func presigned(r *http.Request) bool { return strings.Contains(r.URL.RawQuery, "X-Amz-") }

// CredentialOf returns the access key and the Region named in a request's signature, exactly as Parse reads them, whether or not
// the signature is valid: a key with slashes is rejected by Parse. ok is false if there is none.
func CredentialOf(r *http.Request) (keyID, region string, ok bool) {
	var credential string
	if header := r.Header.Get(headerAuthorization); header != "" {
		credential, _, _, _ = parameters(header)
	} else if presigned(r) {
		credential = r.URL.Query().Get(queryCredential)
	}
	keyID, scope, ok := cutCredential(credential)
	return keyID, scope[1], ok
}

// The end of the header as SDKs write it.
const (
	signatureParameter = "Signature="
	signatureLength    = 2 * sha256.Size
)

// parameters returns the pairs of the header.
func parameters(header string) (credential, headers, signature string, err error) {
	scheme, rest, _ := strings.Cut(header, " ")
	if strings.HasPrefix(scheme, "AWS") && scheme != algorithm {
		return "", "", "", apierr.AlgorithmUnsupported.With(scheme)
	}
	for pair := range strings.FieldsFuncSeq(rest, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' }) {
		name, value, found := strings.Cut(pair, "=")
		if !found {
			return "", "", "", apierr.AuthorizationInvalid.With(pair, header)
		}
		switch name {
		case "Credential":
			credential = value
		case "SignedHeaders":
			headers = value
		case "Signature":
			signature = value
		}
	}
	return credential, headers, signature, nil
}

// parseQuery parses the parameters of a presigned request.
func parseQuery(r *http.Request) (s Signed, err error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return Signed{}, apierr.QueryInvalid.With()
	}
	var missing []string
	for _, name := range []string{queryAlgorithm, queryCredential, querySignature, queryHeaders, queryDate} {
		if query.Get(name) == "" {
			missing = append(missing, apierr.QueryLacks.With(name).Message)
		}
	}
	if len(missing) > 0 {
		return Signed{}, apierr.QueryIncomplete.With(strings.Join(missing, ""))
	}
	if a := query.Get(queryAlgorithm); a != algorithm {
		return Signed{}, apierr.AlgorithmUnsupported.With(a)
	}
	s = Signed{
		claims: newClaims(query.Get(queryCredential), query.Get(queryHeaders)),
		Token:  query.Get(queryToken), stamp: query.Get(queryDate), signature: query.Get(querySignature), presigned: true,
	}
	if s.Token == "" {
		s.Token = r.Header.Get(headerToken)
	}
	if text := query.Get(queryExpires); text != "" {
		seconds, err := strconv.ParseUint(text, 10, 32)
		s.expires = time.Duration(seconds) * time.Second //nolint:gosec // 32 bits
		if err != nil || s.expires <= 0 || s.expires > presignedMax {
			return Signed{}, apierr.ExpiresInvalid.With(int(presignedMax / time.Second))
		}
	}
	return s, nil
}
