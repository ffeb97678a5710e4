package signature

import (
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

// parseHeader reads
//
//	AWS4-HMAC-SHA256 Credential=KEY/SCOPE, SignedHeaders=host;x-amz-date, Signature=HEX
//
// with any commas and spaces between the pairs, and the time from X-Amz-Date or Date.
func parseHeader(r *http.Request, header string) (s *Signed, credential string, err error) {
	scheme, rest, _ := strings.Cut(header, " ")
	if strings.HasPrefix(scheme, "AWS") && scheme != algorithm {
		return nil, "", apierr.AlgorithmUnsupported.With(scheme)
	}
	s = &Signed{Token: r.Header.Get(headerToken), stamp: r.Header.Get(headerDate)}
	if s.stamp == "" {
		s.stamp = r.Header.Get("Date")
	}
	for pair := range strings.FieldsFuncSeq(rest, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' }) {
		name, value, found := strings.Cut(pair, "=")
		if !found {
			return nil, "", apierr.AuthorizationInvalid.With(pair, header)
		}
		switch name {
		case "Credential":
			credential = value
		case "SignedHeaders":
			s.headers = value
		case "Signature":
			s.signature = value
		}
	}
	var missing []string
	for _, part := range []struct{ name, value string }{{"Credential", credential}, {"Signature", s.signature}, {"SignedHeaders", s.headers}} {
		if part.value == "" {
			missing = append(missing, apierr.AuthorizationLacks.With(part.name).Message)
		}
	}
	if s.stamp == "" {
		missing = append(missing, apierr.AuthorizationLacksDate.With().Message)
	}
	if len(missing) > 0 {
		return nil, "", apierr.AuthorizationIncomplete.With(strings.Join(missing, ""), header)
	}
	if scheme != algorithm {
		return nil, "", apierr.AlgorithmUnsupported.With(scheme)
	}
	return s, credential, nil
}

// parseQuery reads the parameters of a presigned request.
func parseQuery(r *http.Request) (s *Signed, credential string, err error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, "", apierr.QueryInvalid.With()
	}
	var missing []string
	for _, name := range []string{queryAlgorithm, queryCredential, querySignature, queryHeaders, queryDate} {
		if query.Get(name) == "" {
			missing = append(missing, apierr.QueryLacks.With(name).Message)
		}
	}
	if len(missing) > 0 {
		return nil, "", apierr.QueryIncomplete.With(strings.Join(missing, ""))
	}
	if a := query.Get(queryAlgorithm); a != algorithm {
		return nil, "", apierr.AlgorithmUnsupported.With(a)
	}
	s = &Signed{
		Token: query.Get(queryToken), stamp: query.Get(queryDate), headers: query.Get(queryHeaders), signature: query.Get(querySignature),
		presigned: true,
	}
	if s.Token == "" {
		s.Token = r.Header.Get(headerToken)
	}
	if text := query.Get(queryExpires); text != "" {
		seconds, err := strconv.ParseUint(text, 10, 32)
		s.expires = time.Duration(seconds) * time.Second //nolint:gosec // 32 bits
		if err != nil || s.expires <= 0 || s.expires > presignedMax {
			return nil, "", apierr.ExpiresInvalid.With(int(presignedMax / time.Second))
		}
	}
	return s, query.Get(queryCredential), nil
}
