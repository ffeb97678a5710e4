package sts

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/identity"
	"github.com/monotable/monotable/internal/database/identity/policy"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

const account = "123456789012"

func newHandler(tb testing.TB) *Handler {
	tb.Helper()
	d, err := identity.Open(tb.Context(), identity.Options{Store: memkv.New(), Account: account})
	if err != nil {
		tb.Fatal(err)
	}
	for _, r := range []identity.Request{
		{Action: "policy create", Name: "all", Document: `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`},
		{Action: "user create", Name: "ana", Policies: []string{"all"}},
		{Action: "role create", Name: "loader", Trust: `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:*"}}`},
	} {
		if _, err := d.Manage(tb.Context(), &r); err != nil {
			tb.Fatal(err)
		}
	}
	return New(Options{Directory: d, Account: account})
}

func form(tb testing.TB, body string) *http.Request {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	return r
}

// TestServes: STS gets what is signed for it, and forms without a signature that name its version.
func TestServes(t *testing.T) {
	h := newHandler(t)
	for _, c := range []struct {
		name          string
		change        func(*http.Request)
		body          string
		before, after bool
	}{
		{"unsigned", func(*http.Request) {}, "Action=X&Version=2011-06-15", true, true},
		{"unsigned, of CloudWatch", func(*http.Request) {}, "Action=X&Version=2010-08-01", true, false},
		{"signed", func(r *http.Request) {
			r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a/20261123/r/sts/aws4_request")
		}, "", true, true},
		{"signed for CloudWatch", func(r *http.Request) {
			r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a/20261123/r/monitoring/aws4_request")
		}, "Version=2011-06-15", false, false},
		{"DynamoDB", func(r *http.Request) { r.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem") }, "", false, false},
		{"another type", func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }, "Version=2011-06-15", false, false},
		{"another path", func(r *http.Request) { r.URL.Path = "/x" }, "Version=2011-06-15", false, false},
		{"query", func(r *http.Request) { r.Method, r.URL.RawQuery = http.MethodGet, "Action=X&Version=2011-06-15" }, "", true, true},
		{"health", func(r *http.Request) { r.Method = http.MethodGet }, "", false, false},
	} {
		r := form(t, c.body)
		c.change(r)
		if before, after := h.Serves(r, nil), h.Serves(r, []byte(c.body)); before != c.before || after != c.after {
			t.Errorf("%s: %v %v", c.name, before, after)
		}
	}
}

// TestRejectionsHaveSTSCodes: what the server in front refuses has STS's codes.
func TestRejectionsHaveSTSCodes(t *testing.T) {
	h := newHandler(t)
	for code, want := range map[apierr.Code]string{
		apierr.MissingAuthenticationTokenException: "403 MissingAuthenticationToken",
		apierr.InvalidSignatureException:           "403 SignatureDoesNotMatch",
		apierr.UnrecognizedClientException:         "403 InvalidClientTokenId",
		apierr.IncompleteSignatureException:        "400 IncompleteSignature",
		apierr.InternalServerError:                 "500 InternalServerError",
	} {
		status, _, body := h.Refuse(form(t, ""), "id", apierr.New(code, "a <b>"))
		var response struct {
			Error struct{ Type, Code, Message string }
			ID    string `xml:"RequestId"`
		}
		if err := xml.Unmarshal(body, &response); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(status, " ", response.Error.Code); got != want || response.Error.Message != "a <b>" || response.ID != "id" {
			t.Errorf("%s: %d %s", code, status, body)
		}
	}
}

const assume = "Action=AssumeRole&Version=2011-06-15&RoleArn=arn:aws:iam::123456789012:role/loader&RoleSessionName=ab"

// TestDispatch: actions and versions that are not there.
func TestDispatch(t *testing.T) {
	h := newHandler(t)
	for body, want := range map[string]string{
		"":                                    "MissingAction: The request is missing an action.",
		"Action=GetFederationToken":           "InvalidAction: Could not find operation GetFederationToken for version NO_VERSION_SPECIFIED",
		"Action=X&Version=2011-06-15":         "InvalidAction: Could not find operation X for version 2011-06-15",
		"Action=%zz":                          "MalformedInput: The request cannot be read.",
		"a=" + strings.Repeat("x", bodyMax+1): "RequestEntityTooLarge: The request is larger than 262144 bytes.",
		"Action=AssumeRole&Version=2011-06-15&RoleArn=arn:aws:iam::123456789012:role/loader&RoleSessionName=ab": "AccessDenied: Roles may not be assumed by root accounts.",
		"Action=AssumeRole&Version=2011-06-15&RoleArn=loader&RoleSessionName=ab":                                "ValidationError: loader is invalid",
		"Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn:x&RoleSessionName=ab&WebIdentityToken=a.b.c.d": "InvalidIdentityToken: The ID Token provided is not a valid JWT. " +
			"(You may see this error if you sent an Access Token)",
		"Action=GetSessionToken&Version=2011-06-15&SerialNumber=x": "AccessDenied: MultiFactorAuthentication failed, unable to validate MFA code.  " +
			"Please verify your MFA serial number is valid and associated with this user.",
		"Action=GetSessionToken&Version=2011-06-15&DurationSeconds=x":            "MalformedInput: DurationSeconds is not an integer",
		"Action=GetCallerIdentity&Version=2011-06-15&Action=GetSessionToken":     "MalformedInput: The parameter Action appears more than once.",
		assume + "&PolicyArns.member.2.arn=arn:aws:iam::123456789012:policy/all": "MalformedInput: The members of PolicyArns are not numbered from 1",
		assume + "&PolicyArns.member.1.Arn=arn:aws:iam::123456789012:policy/all": "MalformedInput: The members of PolicyArns are not numbered from 1",
		assume + "&Tags.member.1.Value=x":                                        "MalformedInput: The members of Tags are not numbered from 1",
		assume + "&TransitiveTagKeys.member.0=x":                                 "MalformedInput: The members of TransitiveTagKeys are not numbered from 1",
	} {
		_, err := h.perform(t.Context(), h.options.Directory.Root(), form(t, body), []byte(body))
		if err == nil || err.Error() != want {
			t.Errorf("%.80s: %v, want %s", body, err, want)
		}
	}
	if _, err := h.perform(t.Context(), new(policy.Principal), form(t, ""), []byte("Action=GetCallerIdentity&Version=2011-06-15")); err == nil {
		t.Error("an anonymous caller has an identity")
	}
}

// FuzzPerform: nothing that a client sends makes a panic or a fault of the server.
func FuzzPerform(f *testing.F) {
	h := newHandler(f)
	for _, seed := range []string{
		"Action=GetCallerIdentity&Version=2011-06-15",
		"Action=AssumeRole&Version=2011-06-15&RoleArn=arn:aws:iam::123456789012:role/loader&RoleSessionName=ab&Tags.member.1.Key=a&Tags.member.1.Value=b&Policy={}",
		"Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn:x&RoleSessionName=ab&WebIdentityToken=e30.e30.e30",
		"Action=GetSessionToken&Version=2011-06-15&DurationSeconds=900",
	} {
		f.Add(seed)
	}
	who := &policy.Principal{ARN: "arn:aws:iam::" + account + ":user/ana", Account: account, Username: "ana"}
	f.Fuzz(func(t *testing.T, body string) {
		r := form(t, body)
		_ = h.Serves(r, []byte(body))
		public := h.Public(r, []byte(body))
		status, _, response := h.Serve(t.Context(), who, r, "id", []byte(body))
		if status >= http.StatusInternalServerError {
			t.Errorf("%d %s", status, response)
		}
		if values, err := url.ParseQuery(body); public && (err != nil || values.Get("Action") != webIdentityAction) {
			t.Error("public")
		}
		for d := xml.NewDecoder(strings.NewReader(string(response))); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v: %s", err, response)
			}
		}
	})
}
