package signature

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// The figures of AWS's published test suite for Signature Version 4: its key, its moment, and the signatures of its requests.
const (
	suiteKey    = "AKIDEXAMPLE"
	suiteSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	suiteScope  = "20150830/us-east-1/service/aws4_request"
	suiteDate   = "20150830T123600Z"
)

var suiteTime = time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)

// request makes a request as a server gets it: lines of headers are "Name:value".
func request(method, target, body string, headers ...string) *http.Request {
	path, query, _ := strings.Cut(target, "?")
	r := &http.Request{
		Method: method, RequestURI: target, URL: &url.URL{Path: path, RawQuery: query},
		Host: "example.amazonaws.com", Header: http.Header{}, ContentLength: int64(len(body)),
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ":")
		r.Header.Add(name, value)
	}
	return r
}

// TestSuite verifies the requests of the suite that a server can get: those with normalized paths, as all services but S3 have
// them. The suite signs a header on several lines as it does several headers; net/http, which joins such lines by spaces before
// anyone sees them, leaves no way to tell.
func TestSuite(t *testing.T) {
	for _, c := range []struct {
		name, method, target, body, signed, signature string
		headers                                       []string
	}{
		{name: "vanilla", target: "/", signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{name: "relative path", target: "/example1/example2/../..", signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{name: "slashes", target: "//example//", signature: "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"},
		{name: "space in the path", target: "/example space/", signature: "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
		{name: "UTF-8 in the path", target: "/ሴ", signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
		{name: "UTF-8 in the query", target: "/?ሴ=bar", signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
		{name: "one parameter", target: "/?Param1=value1", signature: "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"},
		{name: "order of parameters", target: "/?Param2=value2&Param1=value1", signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		{name: "order of encoded parameters", target: "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1", signature: "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"},
		{
			name: "duplicate header", target: "/", headers: []string{"My-Header1:value2", "My-Header1:value2", "My-Header1:value1"},
			signed: "host;my-header1;x-amz-date", signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
		},
		{
			name: "header on several lines", target: "/", headers: []string{"My-Header1:value1", "My-Header1:value2", "My-Header1:value3"},
			signed: "host;my-header1;x-amz-date", signature: "ba17b383a53190154eb5fa66a1b836cc297cc0a3d70a5d00705980573d8ff790",
		},
		{
			name: "order of values", target: "/", headers: []string{"My-Header1:value4", "My-Header1:value1", "My-Header1:value3", "My-Header1:value2"},
			signed: "host;my-header1;x-amz-date", signature: "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01",
		},
		{
			name: "spaces in values", target: "/", headers: []string{"My-Header1: value1", "My-Header2: \"a   b   c\""},
			signed: "host;my-header1;my-header2;x-amz-date", signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
		},
		{
			name: "session token", target: "/", headers: []string{"X-Amz-Security-Token:6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267"},
			signed: "host;x-amz-date;x-amz-security-token", signature: "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8",
		},
		{
			name: "form", method: http.MethodPost, target: "/", body: "Param1=value1",
			headers: []string{"Content-Type:application/x-www-form-urlencoded", "X-Amz-Content-Sha256:9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e"},
			signed:  "content-length;content-type;host;x-amz-content-sha256;x-amz-date", signature: "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b",
		},
		{
			name:   "presigned",
			target: "/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20150830%2Fus-east-1%2Fservice%2Faws4_request&X-Amz-Date=20150830T123600Z&X-Amz-SignedHeaders=host&X-Amz-Expires=3600&X-Amz-Signature=e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			method, signed := c.method, c.signed
			if method == "" {
				method = http.MethodGet
			}
			if signed == "" {
				signed = "host;x-amz-date"
			}
			r := request(method, c.target, c.body, append(c.headers, "X-Amz-Date:"+suiteDate)...)
			if c.signature != "" {
				r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+suiteKey+"/"+suiteScope+", SignedHeaders="+signed+", Signature="+c.signature)
			}
			for range 2 { // the second time the client is known
				if err := verify(r, c.body, suiteSecret); err != nil {
					t.Error(err)
				}
			}
			if err := verify(r, c.body+" ", suiteSecret); err == nil {
				t.Error("another body is accepted")
			}
			if err := verify(r, c.body, "another"); err == nil {
				t.Error("another secret is accepted")
			}
		})
	}
}

// clients keeps claims from test to test, as a server does.
var clients Parser

// verify does all that a server does.
func verify(r *http.Request, body, secret string) error {
	s, err := clients.Parse(r)
	if err != nil {
		return err
	}
	if err := s.InScope("service"); err != nil {
		return err
	}
	if err := s.Verify(NewSecret(secret), r, []byte(body)); err != nil {
		return err
	}
	clients.Keep(&s)
	return s.Timely(suiteTime, DefaultSkew)
}
