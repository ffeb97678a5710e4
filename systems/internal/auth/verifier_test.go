package auth

import (
	"bytes"
	"context"
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/systems/internal/problem"
)

// now is the current time in the tests.
var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return now }

const (
	testIssuer = "https://cognito-idp.us-east-1.amazonaws.com/us-east-1_abc"
	testClient = "client-1"
	testKid    = "kid-1"
)

// oneKey is a KeySource of one key.
type oneKey struct{ public *rsa.PublicKey }

func (o oneKey) Key(_ context.Context, kid string) (*rsa.PublicKey, error) {
	if kid != testKid {
		return nil, ErrUnknownKey
	}
	return o.public, nil
}

func generate(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// compact builds a JWT by hand, so that the tests do not depend on the library under test; sign gets the bytes to be signed.
func compact(t *testing.T, header, claims map[string]any, sign func(signed []byte) []byte) string {
	t.Helper()
	part := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	signed := part(header) + "." + part(claims)
	return signed + "." + base64.RawURLEncoding.EncodeToString(sign([]byte(signed)))
}

func rs256(t *testing.T, key *rsa.PrivateKey) func([]byte) []byte {
	t.Helper()
	return func(signed []byte) []byte {
		sum := sha256.Sum256(signed)
		signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		return signature
	}
}

func validHeader() map[string]any { return map[string]any{"alg": "RS256", "kid": testKid} }

func validClaims() map[string]any {
	return map[string]any{
		"sub": "u-1", "iss": testIssuer, "client_id": testClient, "token_use": "access",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "cognito:groups": []string{"admin", "staff"},
	}
}

// with returns a map with changed values; nil removes one.
func with(values, changes map[string]any) map[string]any {
	out := maps.Clone(values)
	for name, value := range changes {
		if value == nil {
			delete(out, name)
			continue
		}
		out[name] = value
	}
	return out
}

func TestVerifyClaims(t *testing.T) {
	t.Parallel()
	key := generate(t)
	v, err := NewVerifier(testIssuer, []string{"client-0", testClient}, oneKey{&key.PublicKey}, clock)
	if err != nil {
		t.Fatal(err)
	}
	at := func(d time.Duration) int64 { return now.Add(d).Unix() }
	for _, test := range []struct {
		name   string
		change map[string]any
		detail string // "" if the token is accepted
	}{
		{"as it should be", nil, ""},
		{"the first client's", map[string]any{"client_id": "client-0"}, ""},
		{"expired within the skew", map[string]any{"exp": at(-59 * time.Second)}, ""},
		{"expired", map[string]any{"exp": at(-61 * time.Second)}, "has expired"},
		{"never expires", map[string]any{"exp": nil}, "not valid now"},
		{"expires in words", map[string]any{"exp": "tomorrow"}, "not signed"},
		{"not yet valid, within the skew", map[string]any{"nbf": at(59 * time.Second)}, ""},
		{"not yet valid", map[string]any{"nbf": at(61 * time.Second)}, "not valid now"},
		{"issued in the future, within the skew", map[string]any{"iat": at(59 * time.Second)}, ""},
		{"issued in the future", map[string]any{"iat": at(61 * time.Second)}, "not valid now"},
		{"another issuer's", map[string]any{"iss": testIssuer + "x"}, "another issuer"},
		{"no issuer's", map[string]any{"iss": nil}, "another issuer"},
		{"another client's", map[string]any{"client_id": "client-2"}, "another client"},
		{"no client's", map[string]any{"client_id": nil}, "another client"},
		{"a client that is a list", map[string]any{"client_id": []string{testClient}}, "another client"},
		{"aud for client_id, as id tokens have", map[string]any{"client_id": nil, "aud": testClient}, "another client"},
		{"an id token", map[string]any{"token_use": "id"}, "not an access token"},
		{"a token of no use", map[string]any{"token_use": nil}, "not an access token"},
		{"no subject", map[string]any{"sub": nil}, "has no subject"},
		{"an empty subject", map[string]any{"sub": ""}, "has no subject"},
		{"a sub that is too long", map[string]any{"sub": strings.Repeat("u", 256)}, "too long"},
		{"groups as a text", map[string]any{"cognito:groups": "admin"}, "groups"},
		{"groups of numbers", map[string]any{"cognito:groups": []int{1}}, "groups"},
	} {
		t.Run(test.name, func(t *testing.T) {
			token := compact(t, validHeader(), with(validClaims(), test.change), rs256(t, key))
			p, err := v.Verify(t.Context(), token)
			if test.detail == "" {
				if diff := cmp.Diff(Principal{Sub: "u-1", Groups: []string{"admin", "staff"}}, p); err != nil || diff != "" {
					t.Errorf("%v %s", err, diff)
				}
				return
			}
			refused(t, p, err, test.detail)
		})
	}
}

// refused checks that a token is rejected and no principal is returned.
func refused(t *testing.T, p Principal, err error, detail string) {
	t.Helper()
	decided, ok := errors.AsType[*problem.Error](err)
	if !ok || decided.Status != 401 || decided.Code != problem.CodeInvalidToken || !strings.Contains(decided.Detail, detail) {
		t.Errorf("error %v, want 401 invalid_token with %q", err, detail)
	}
	if p.Sub != "" || p.Groups != nil {
		t.Errorf("principal %v of a token that is not accepted", p)
	}
}

func TestVerifySignature(t *testing.T) {
	t.Parallel()
	key, other := generate(t), generate(t)
	v, err := NewVerifier(testIssuer, []string{testClient}, oneKey{&key.PublicKey}, clock)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	hs256 := func(secret []byte) func([]byte) []byte {
		return func(signed []byte) []byte {
			mac := hmac.New(sha256.New, secret)
			mac.Write(signed)
			return mac.Sum(nil)
		}
	}
	unsigned := func([]byte) []byte { return nil }
	rs512 := func(signed []byte) []byte {
		sum := sha512.Sum512(signed)
		signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA512, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		return signature
	}
	otherJWK := map[string]any{
		"kty": "RSA", "kid": testKid, "alg": "RS256", "e": "AQAB",
		"n": base64.RawURLEncoding.EncodeToString(other.N.Bytes()),
	}
	good := compact(t, validHeader(), validClaims(), rs256(t, key))
	parts := strings.Split(good, ".")
	forged := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"u-2"}`))
	for name, token := range map[string]string{
		"empty":                     "",
		"words":                     "let me in",
		"two parts":                 parts[0] + "." + parts[1],
		"five parts, as encrypted":  good + ".a.b",
		"no base64":                 parts[0] + ".!." + parts[2],
		"other claims":              parts[0] + "." + forged + "." + parts[2],
		"half a signature":          good[:len(good)-100],
		"no signature":              parts[0] + "." + parts[1] + ".",
		"alg none":                  compact(t, with(validHeader(), map[string]any{"alg": "none"}), validClaims(), unsigned),
		"alg None":                  compact(t, with(validHeader(), map[string]any{"alg": "None"}), validClaims(), unsigned),
		"no alg":                    compact(t, with(validHeader(), map[string]any{"alg": nil}), validClaims(), rs256(t, key)),
		"HS256 by the public key":   compact(t, with(validHeader(), map[string]any{"alg": "HS256"}), validClaims(), hs256(der)),
		"HS256 by its PEM":          compact(t, with(validHeader(), map[string]any{"alg": "HS256"}), validClaims(), hs256(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))),
		"HS256 by its modulus":      compact(t, with(validHeader(), map[string]any{"alg": "HS256"}), validClaims(), hs256(key.N.Bytes())),
		"RS512":                     compact(t, with(validHeader(), map[string]any{"alg": "RS512"}), validClaims(), rs512),
		"another key":               compact(t, validHeader(), validClaims(), rs256(t, other)),
		"another key that it tells": compact(t, with(validHeader(), map[string]any{"jwk": otherJWK}), validClaims(), rs256(t, other)),
		"a key elsewhere":           compact(t, with(validHeader(), map[string]any{"jku": "https://evil.example/keys"}), validClaims(), rs256(t, other)),
		"unknown kid":               compact(t, with(validHeader(), map[string]any{"kid": "kid-2"}), validClaims(), rs256(t, key)),
		"no kid":                    compact(t, with(validHeader(), map[string]any{"kid": nil}), validClaims(), rs256(t, key)),
		"what nobody understands":   compact(t, with(validHeader(), map[string]any{"crit": []string{"exp"}, "exp": 1}), validClaims(), rs256(t, key)),
		"no JSON inside":            compactText(t, key, "not JSON"),
		"too long":                  compact(t, validHeader(), with(validClaims(), map[string]any{"pad": strings.Repeat("x", 9000)}), rs256(t, key)),
	} {
		t.Run(name, func(t *testing.T) {
			p, err := v.Verify(t.Context(), token)
			refused(t, p, err, "")
		})
	}
	if _, err := v.Verify(t.Context(), good); err != nil {
		t.Errorf("the token from which the others are derived: %v", err)
	}
}

func compactText(t *testing.T, key *rsa.PrivateKey, payload string) string {
	t.Helper()
	header := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","kid":"` + testKid + `"}`))
	signed := header + "." + base64.RawURLEncoding.EncodeToString([]byte(payload))
	return signed + "." + base64.RawURLEncoding.EncodeToString(rs256(t, key)([]byte(signed)))
}

// changing is a KeySource whose keys change.
type changing map[string]*rsa.PublicKey

func (c changing) Key(_ context.Context, kid string) (*rsa.PublicKey, error) {
	if key := c[kid]; key != nil {
		return key, nil
	}
	return nil, ErrUnknownKey
}

// TestCachedTokenIsRejectedAfterExpiry: a token that was accepted before is rejected once it expires, or once its kid names no key or a different
// one.
func TestCachedTokenIsRejectedAfterExpiry(t *testing.T) {
	t.Parallel()
	key, other := generate(t), generate(t)
	keys, at := changing{testKid: &key.PublicKey}, now
	v, err := NewVerifier(testIssuer, []string{testClient}, keys, func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	token := compact(t, validHeader(), validClaims(), rs256(t, key))
	accepted := func() {
		t.Helper()
		for range 2 {
			if p, err := v.Verify(t.Context(), token); err != nil || p.Sub != "u-1" {
				t.Errorf("%v, %v", p, err)
			}
		}
	}
	accepted()
	keys[testKid] = &other.PublicKey
	p, err := v.Verify(t.Context(), token)
	refused(t, p, err, "not signed")
	delete(keys, testKid)
	p, err = v.Verify(t.Context(), token)
	refused(t, p, err, "not signed")
	keys[testKid] = &key.PublicKey
	accepted()
	at = now.Add(time.Hour + 2*skew)
	p, err = v.Verify(t.Context(), token)
	refused(t, p, err, "expired")
}

func BenchmarkVerify(b *testing.B) {
	issuer, err := NewIssuer("bench", "http://127.0.0.1", time.Now)
	if err != nil {
		b.Fatal(err)
	}
	v := issuer.Verifier()
	token, err := issuer.Mint(Claims{Sub: "u-1", Groups: []string{"admin"}})
	if err != nil {
		b.Fatal(err)
	}
	for name, forget := range map[string]bool{"first": true, "again": false} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if forget {
					v.proven.Purge()
				}
				if _, err := v.Verify(b.Context(), token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestVerifierNeeds(t *testing.T) {
	t.Parallel()
	key := generate(t)
	keys := oneKey{&key.PublicKey}
	for _, test := range []struct {
		issuer  string
		clients []string
		keys    KeySource
	}{{"", []string{"c"}, keys}, {"i", nil, keys}, {"i", []string{""}, keys}, {"i", []string{"c"}, nil}} {
		if _, err := NewVerifier(test.issuer, test.clients, test.keys, nil); err == nil {
			t.Errorf("a verifier of %q and %q with keys %v", test.issuer, test.clients, test.keys)
		}
	}
}

func TestPrincipalInContext(t *testing.T) {
	t.Parallel()
	if _, err := Required(t.Context()); err == nil {
		t.Error("a principal in an empty context")
	} else if decided, ok := errors.AsType[*problem.Error](err); !ok || decided.Status != 401 || decided.Code != problem.CodeMissingToken {
		t.Errorf("%v, want 401 missing_token", err)
	}
	p, err := Required(With(t.Context(), Principal{Sub: "u-1", Groups: []string{"staff"}}))
	if err != nil || p.Sub != "u-1" || !p.In("admin", "staff") || p.In("admin") || p.In() {
		t.Errorf("%v, %v", p, err)
	}
}

// FuzzVerify: only the signed token is accepted, and nothing panics.
func FuzzVerify(f *testing.F) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		f.Fatal(err)
	}
	v, err := NewVerifier(testIssuer, []string{testClient}, oneKey{&key.PublicKey}, clock)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("a.b.c"))
	f.Add([]byte(`eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1LTEifQ.`))
	f.Fuzz(func(t *testing.T, token []byte) {
		if p, err := v.Verify(t.Context(), string(bytes.ToValidUTF8(token, nil))); err == nil {
			t.Errorf("accepted %q as %v", token, p)
		}
	})
}
