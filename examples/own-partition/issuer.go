package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jwt"
)

// issuer is an identity provider that accepts any name. A real one asks for a password.
type issuer struct {
	http.Handler

	url    string
	key    jwk.Key
	public jwk.Set
}

func newIssuer(url string) (*issuer, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	i := &issuer{url: url, public: jwk.NewSet()}
	if i.key, err = jwk.Import(private); err != nil {
		return nil, err
	}
	err = errors.Join(i.key.Set(jwk.KeyIDKey, "1"), i.key.Set(jwk.AlgorithmKey, jwa.ES256()))
	if err != nil {
		return nil, err
	}
	public, err := i.key.PublicKey()
	if err == nil {
		err = i.public.AddKey(public)
	}
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("POST /token", i.token)
	i.Handler = mux
	return i, nil
}

// keys are the public keys with which the database verifies tokens.
func (i *issuer) keys(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(i.public)
}

var names = regexp.MustCompile(`^[a-z]{1,20}$`)

// token returns an identity token, valid for an hour.
func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	name := r.PostFormValue("name")
	if !names.MatchString(name) {
		http.Error(w, "a name has 1 to 20 letters, a to z", http.StatusBadRequest)
		return
	}
	token, err := jwt.NewBuilder().Issuer(i.url).Subject(name).Audience([]string{"notes"}).Expiration(time.Now().Add(time.Hour)).Build()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	signed, err := jwt.Sign(token, jwt.WithKey(jwa.ES256(), i.key))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	_, _ = w.Write(signed)
}
