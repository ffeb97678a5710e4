package console

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/monotable/monotable/internal/seal"
)

const (
	purpose     = "monotable console session"
	sessionTime = 12 * time.Hour
	// cookieMax is the maximum size of a cookie in browsers.
	cookieMax = 4000
)

// accessKey is the key to sign in with; Token is set for keys of temporary sessions.
type accessKey struct {
	ID      string    `json:"accessKeyId"`
	Secret  string    `json:"secretAccessKey"`
	Token   string    `json:"sessionToken,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
}

func (k *accessKey) credentials() aws.Credentials {
	return aws.Credentials{AccessKeyID: k.ID, SecretAccessKey: k.Secret, SessionToken: k.Token}
}

// private reports whether a secret may be sent over the request's connection. A proxy's header is trusted: an attacker who could
// forge it could also forge the page.
func private(r *http.Request) bool {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	ip := net.ParseIP(host)
	return encrypted(r) || ip != nil && ip.IsLoopback()
}

func encrypted(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
}

// cookieName includes the port, because browsers share cookies between all ports of a host.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return "monotable-console"
	}
	return "monotable-console-" + port
}

// signIn checks an access key with the endpoint and stores it sealed in the browser.
func (c *Console) signIn(w http.ResponseWriter, r *http.Request) {
	var key accessKey
	switch {
	case !c.options.SignIn:
		refuse(w, r, http.StatusBadRequest, "NoSignIn", "This console does not require signing in.")
		return
	case !private(r):
		refuse(w, r, http.StatusForbidden, "Insecure", "A secret would cross the network in the clear. Open the console over TLS, or through a tunnel.")
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&key); err != nil || key.ID == "" || key.Secret == "" {
		refuse(w, r, http.StatusBadRequest, "ValidationException", "Enter an access key: its ID and its secret.")
		return
	}
	key.Expires = c.options.Now().Add(sessionTime)
	sealed, err := c.sealed(&key)
	if err != nil {
		refuse(w, r, http.StatusBadRequest, "ValidationException", err.Error())
		return
	}
	response, err := c.send(r, "ListTables", []byte(`{"Limit":1}`), key.credentials())
	if err != nil {
		refuse(w, r, http.StatusBadGateway, "EndpointUnreachable", err.Error())
		return
	}
	defer func() { _ = response.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(response.Body, bodyMax))
	// A key without permission to list tables is valid, too.
	if err == nil && response.StatusCode != http.StatusOK && !strings.Contains(string(said), "AccessDeniedException") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write(said)
		return
	}
	http.SetCookie(w, c.cookie(r, sealed, int(sessionTime/time.Second)))
	w.WriteHeader(http.StatusNoContent)
}

func (c *Console) signOut(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, c.cookie(r, "", -1))
	w.WriteHeader(http.StatusNoContent)
}

func (c *Console) cookie(r *http.Request, value string, age int) *http.Cookie {
	return &http.Cookie{Name: cookieName(r), Value: value, Path: Path, MaxAge: age, Secure: encrypted(r), HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

func (c *Console) sealed(key *accessKey) (string, error) {
	text, err := json.Marshal(key)
	if err != nil {
		return "", err
	}
	box, err := seal.Seal(rand.Reader, c.key, text, purpose)
	if err != nil {
		return "", err
	}
	value := base64.RawURLEncoding.EncodeToString(box)
	if len(value) > cookieMax {
		return "", fmt.Errorf("the session token is too long: the browser keeps %d bytes", cookieMax)
	}
	return value, nil
}

// session returns the key of the signed-in user.
func (c *Console) session(r *http.Request) (aws.Credentials, error) {
	signedOut := &refusal{"SignedOut", "Sign in with an access key."}
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return aws.Credentials{}, signedOut
	}
	box, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return aws.Credentials{}, signedOut
	}
	text, err := seal.Open(c.key, box, purpose)
	if err != nil {
		return aws.Credentials{}, signedOut // usually sealed by an earlier process
	}
	var key accessKey
	if err := json.Unmarshal(text, &key); err != nil || !c.options.Now().Before(key.Expires) {
		return aws.Credentials{}, signedOut
	}
	return key.credentials(), nil
}
