package signature

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

const good = "AWS4-HMAC-SHA256 Credential=" + suiteKey + "/" + suiteScope + ", SignedHeaders=host;x-amz-date, " +
	"Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"

// TestFaults are AWS's errors, in its order.
func TestFaults(t *testing.T) {
	date := "X-Amz-Date:" + suiteDate
	for _, c := range []struct {
		name, target, authorization string
		headers                     []string
		want                        string
	}{
		{name: "nothing", want: "MissingAuthenticationTokenException: Request is missing Authentication Token"},
		{
			name: "both forms", target: "/?X-Amz-Algorithm=x", authorization: good,
			want: "InvalidSignatureException: The request is signed in its query and in its 'Authorization' header: use only one of them.",
		},
		{
			name: "space in the key", authorization: "AWS4-HMAC-SHA256 Credential= key/20150830, SignedHeaders=host, Signature=0", headers: []string{date},
			want: "IncompleteSignatureException: 'key/20150830' not a valid key=value pair (missing equal-sign) in Authorization header: 'AWS4-HMAC-SHA256 Credential= key/20150830, SignedHeaders=host, Signature=0'.",
		},
		{
			name: "nothing in it", authorization: "AWS4-HMAC-SHA256",
			want: "IncompleteSignatureException: Authorization header requires 'Credential' parameter. Authorization header requires 'Signature' parameter. " +
				"Authorization header requires 'SignedHeaders' parameter. Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. Authorization=AWS4-HMAC-SHA256",
		},
		{
			name: "no signature", authorization: "AWS4-HMAC-SHA256 Credential=a,SignedHeaders=b", headers: []string{date},
			want: "IncompleteSignatureException: Authorization header requires 'Signature' parameter. Authorization=AWS4-HMAC-SHA256 Credential=a,SignedHeaders=b",
		},
		{
			name: "SigV4a", authorization: strings.Replace(good, "HMAC", "ECDSA-P256", 1), headers: []string{date},
			want: "IncompleteSignatureException: Unsupported AWS 'algorithm': 'AWS4-ECDSA-P256-SHA256'.",
		},
		{
			name: "no presigning", target: "/?X-Amz-Date=x",
			want: "IncompleteSignatureException: AWS query-string parameters must include 'X-Amz-Algorithm'. AWS query-string parameters must include 'X-Amz-Credential'. " +
				"AWS query-string parameters must include 'X-Amz-Signature'. AWS query-string parameters must include 'X-Amz-SignedHeaders'. Re-examine the query-string parameters.",
		},
		{
			name: "no date", authorization: good, headers: []string{"X-Amz-Date:201"},
			want: "IncompleteSignatureException: Date must be in ISO-8601 'basic format'. Got '201'. See http://en.wikipedia.org/wiki/ISO_8601",
		},
		{
			name: "host not signed", authorization: strings.Replace(good, "host;", "", 1), headers: []string{date},
			want: "InvalidSignatureException: 'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.",
		},
		{
			name: "target not signed", authorization: good, headers: []string{date, "X-Amz-Target:DynamoDB_20120810.GetItem"},
			want: "InvalidSignatureException: 'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization.",
		},
		{
			name: "header not there", authorization: strings.Replace(good, "host;", "accept;host;", 1), headers: []string{date},
			want: "IncompleteSignatureException: 'accept' is named as a SignedHeader, but it does not exist in the HTTP request.",
		},
		{
			name: "scope too short", authorization: strings.Replace(good, "/service/aws4_request", "", 1), headers: []string{date},
			want: "IncompleteSignatureException: Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got 'AKIDEXAMPLE/20150830/us-east-1'",
		},
		{
			name: "other scope", authorization: strings.Replace(good, "20150830/us-east-1/service/aws4_request", "20150829/us-east-3/s3/aws5", 1), headers: []string{date},
			want: "InvalidSignatureException: Credential should be scoped to correct service: 'service'. " +
				"Credential should be scoped with a valid terminator: 'aws4_request', not 'aws5'. " +
				"Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '20150829' != '20150830', from '20150830T123600Z'. ",
		},
		{
			name: "wrong signature", authorization: strings.Replace(good, "Signature=5", "Signature=6", 1), headers: []string{date},
			want: "InvalidSignatureException: The request signature we calculated does not match the signature you provided. " +
				"Check your AWS Secret Access Key and signing method. Consult the service documentation for details.\n\n" +
				"The Canonical String for this request should have been\n" +
				"'GET\n/\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-date\n" +
				"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'\n\n" +
				"The String-to-Sign should have been\n" +
				"'AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/us-east-1/service/aws4_request\n" +
				"bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63'\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.target == "" {
				c.target = "/"
			}
			r := request(http.MethodGet, c.target, "", c.headers...)
			if c.authorization != "" {
				r.Header.Set("Authorization", c.authorization)
			}
			s, err := new(Parser).Parse(r)
			if err == nil {
				err = s.InScope("service", "sts")
			}
			if err == nil {
				err = s.Verify(NewSecret(suiteSecret), r, nil)
			}
			if err == nil || err.Error() != c.want {
				t.Errorf("%v, want\n%s", err, c.want)
			}
		})
	}
}

// TestClockSkewAndExpiry: requests are valid for five minutes either way, presigned requests until they expire.
func TestClockSkewAndExpiry(t *testing.T) {
	for _, c := range []struct {
		after   time.Duration
		expires time.Duration
		want    string
	}{
		{after: 5 * time.Minute},
		{after: -5 * time.Minute},
		{after: 5*time.Minute + time.Second, want: "Signature expired: 20150830T123600Z is now earlier than 20150830T123601Z (20150830T124101Z - 5 min.)"},
		{after: -5*time.Minute - time.Second, want: "Signature not yet current: 20150830T123600Z is still later than 20150830T123559Z (20150830T123059Z + 5 min.)"},
		{after: time.Hour, expires: time.Hour},
		{after: time.Hour + time.Second, expires: time.Hour, want: "Signature expired: 20150830T133601Z is now later than 20150830T133600Z, when the presigned request expired"},
		{after: time.Second, expires: time.Hour},
	} {
		s := &Signed{at: suiteTime, stamp: suiteDate, expires: c.expires}
		err := s.Timely(suiteTime.Add(c.after), DefaultSkew)
		e, _ := errors.AsType[*apierr.Error](err)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("after %v: %v", c.after, err)
		case c.want != "" && (e == nil || e.Code != apierr.InvalidSignatureException || e.Message != c.want):
			t.Errorf("after %v: %v, want %s", c.after, err, c.want)
		}
	}
}

// TestDateHeader: a request without X-Amz-Date is signed at its Date.
func TestDateHeader(t *testing.T) {
	r := request(http.MethodGet, "/", "", "Date:Sun, 30 Aug 2015 12:36:00 GMT")
	r.Header.Set("Authorization", strings.Replace(good, "x-amz-date", "date", 1))
	s, err := new(Parser).Parse(r)
	if err != nil || !s.at.Equal(suiteTime) || s.stamp != suiteDate {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestSigningKeys: those of a day are kept, up to a number, and only of requests that were verified.
func TestSigningKeys(t *testing.T) {
	secret := NewSecret(suiteSecret)
	for day := range 3 {
		for region := range 40 {
			c := newClaims(fmt.Sprintf("%s/2015083%d/region-%d/dynamodb/aws4_request", suiteKey, day, region), "host")
			key, _ := secret.signingKey(c)
			secret.keep(key)
			again, known := secret.signingKey(c)
			if !known || again != key || len(secret.known()) > derivedMax {
				t.Fatalf("%d kept, known: %v", len(secret.known()), known)
			}
		}
	}
	if text := fmt.Sprintf("%v %+v %#v %s", secret, secret, secret, secret); strings.Contains(text, suiteSecret) {
		t.Error(text)
	}
}

// TestSDK: what the SDK signs and presigns is verified, UNSIGNED-PAYLOAD too, whatever the path, the query and the headers.
func TestSDK(t *testing.T) {
	signer, credentials := v4.NewSigner(), aws.Credentials{AccessKeyID: suiteKey, SecretAccessKey: suiteSecret, SessionToken: "token"}
	for _, target := range []string{"/", "/service/X/operation/Y", "/a%20b/c%2Fd", "/?a=b%20c&a=&b&ü=%3D%2B", "/x/?x"} {
		for _, body := range []string{"", `{"TableName":"t"}`} {
			for _, payload := range []string{"", unsignedPayload} {
				hash := payload
				if payload == "" {
					digest := sha256.Sum256([]byte(body))
					hash = hex.EncodeToString(digest[:])
				}
				for _, presign := range []bool{false, true} {
					r := sdkRequest(t, target, body)
					if payload != "" {
						r.Header.Set(headerPayload, payload)
					}
					if presign {
						uri, headers, err := signer.PresignHTTP(context.Background(), credentials, r, hash, "service", "us-east-1", suiteTime)
						if err != nil {
							t.Fatal(err)
						}
						r = sdkRequest(t, uri, body)
						r.Header = headers // the others are parameters now
					} else if err := signer.SignHTTP(context.Background(), credentials, r, hash, "service", "us-east-1", suiteTime); err != nil {
						t.Fatal(err)
					}
					r.RequestURI = r.URL.RequestURI()
					if err := verify(r, body, suiteSecret); err != nil {
						t.Errorf("%s %q %s presigned %v: %v", target, body, payload, presign, err)
					}
					if err := verify(r, body+"x", suiteSecret); (err == nil) != (payload != "") {
						t.Errorf("%s %q %s presigned %v: another body: %v", target, body, payload, presign, err)
					}
				}
			}
		}
	}
}

func sdkRequest(t *testing.T, target, body string) *http.Request {
	t.Helper()
	if strings.HasPrefix(target, "/") {
		target = "http://localhost:8000" + target
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Add("My-Header", "  a   b ")
	r.Header.Add("My-Header", "c")
	return r
}

// FuzzVerify: nothing that a sender writes makes a panic, an error of the wrong kind, or a signature that is right.
func FuzzVerify(f *testing.F) {
	f.Add(good, "", "/", suiteDate)
	f.Add("", "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a/b/c/d/e&X-Amz-Date=20150830T123600Z&X-Amz-SignedHeaders=host&X-Amz-Signature=0", "/../a//b/", "")
	f.Add("AWS4-HMAC-SHA256 Credential=////, SignedHeaders=;:authority;transfer-encoding, Signature=", "a=%zz&%&=+", "", "Sun, 30 Aug 2015 12:36:00 GMT")
	f.Fuzz(func(t *testing.T, authorization, query, path, date string) {
		r := &http.Request{
			Method: http.MethodPost, RequestURI: path, URL: &url.URL{Path: path, RawQuery: query}, Host: "example.amazonaws.com",
			Header: http.Header{"Authorization": {authorization}, "X-Amz-Date": {date}},
		}
		err := verify(r, "body", suiteSecret)
		if _, ok := errors.AsType[*apierr.Error](err); !ok {
			t.Errorf("%v", err)
		}
	})
}

// TestHex: digests are written as encoding/hex writes them.
func TestHex(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for n := range all {
		if got, want := string(appendHex([]byte("x"), all[n:])), "x"+hex.EncodeToString(all[n:]); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	secret := NewSecret(suiteSecret)
	r := request(http.MethodGet, "/", "", "X-Amz-Date:"+suiteDate, "Authorization:"+good)
	r.Header.Set("Authorization", good)
	parser := new(Parser)
	for b.Loop() {
		s, err := parser.Parse(r)
		if err == nil {
			err = s.InScope("service")
		}
		if err == nil {
			err = s.Verify(secret, r, nil)
		}
		if err != nil {
			b.Fatal(err)
		}
		parser.Keep(&s)
	}
}

// TestCredentialOf: the key and the Region that others see in a request are those whose signature is verified, however often and wherever
// the request says something else.
func TestCredentialOf(t *testing.T) {
	const other = "AKIAOTHER/20150830/eu-west-1/service/aws4_request"
	for name, authorization := range map[string]string{
		"as SDKs write it":   good,
		"another one before": strings.Replace(good, "Credential=", "Credential="+other+", Credential=", 1),
		"another one after":  good + ", Credential=" + other,
		"another name":       strings.Replace(good, "Credential=", "XCredential="+other+", Credential=", 1),
		"slashes behind":     strings.Replace(good, "aws4_request", "aws4_request//", 1),
	} {
		r := newRequest(t, authorization)
		s, err := new(Parser).Parse(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if id, region, ok := CredentialOf(r); !ok || id != s.KeyID || region != s.Region {
			t.Errorf("%s: %q of %q, %v; verified are %q of %q", name, id, region, ok, s.KeyID, s.Region)
		}
	}
	query := newRequest(t, "")
	query.URL.RawQuery = "X-Amz-Credential=" + url.QueryEscape(other) + "&X-Amz-Credential=" + url.QueryEscape(suiteKey+"/"+suiteScope)
	if id, region, ok := CredentialOf(query); !ok || id != "AKIAOTHER" || region != "eu-west-1" {
		t.Errorf("%q of %q, %v", id, region, ok)
	}
	query.URL.RawQuery = "X%2DAmz%2DCredential=" + url.QueryEscape(other)
	if _, err := new(Parser).Parse(query); err == nil || err.Error() != apierr.NotSigned.With().Error() {
		t.Errorf("a name in other characters: %v", err)
	}
	if id, region, ok := CredentialOf(query); ok || id != "" || region != "" {
		t.Errorf("a name in other characters: %q of %q", id, region)
	}
	for _, none := range []string{"", "Bearer a.b.c", "AWS4-HMAC-SHA256 Credential=a/b/c/d"} {
		if id, region, ok := CredentialOf(newRequest(t, none)); ok || id != "" || region != "" {
			t.Errorf("%q: %q of %q", none, id, region)
		}
	}
	if id, region, ok := CredentialOf(newRequest(t, "AWS4-HMAC-SHA256 Credential=a/b/20150830/r/service/aws4_request")); !ok || id != "a/b" || region != "r" {
		t.Errorf("a key with slashes: %q of %q, %v", id, region, ok)
	}
}

func newRequest(t *testing.T, authorization string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.amazonaws.com/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Date", suiteDate)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	return r
}
