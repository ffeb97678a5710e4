package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwk"

	"github.com/monotable/monotable/systems/internal/keyfile"
)

// keyFile is an issuer's stored state, for restarts and for other processes that mint tokens.
type keyFile struct {
	Base string  `json:"base"`
	Keys jwk.Set `json:"-"`
	// Private is Keys including the private parts; only the file's owner can read it.
	Private json.RawMessage `json:"keys"`
}

// OpenIssuer opens a system's issuer with the keys in a file, which is created if it is missing. An empty base means the one in
// the file, so that the server accepts tokens minted by another process.
func OpenIssuer(system, path, base string, now func() time.Time) (*Issuer, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the path is the operator's
	if errors.Is(err, fs.ErrNotExist) && base != "" {
		text, err = createKeyFile(path, base)
	}
	if err != nil {
		return nil, fmt.Errorf("auth: keys of the issuer: %w", err)
	}
	kept, err := parseKeys(path, text)
	if err != nil {
		return nil, fmt.Errorf("auth: keys of the issuer: %w", err)
	}
	var keys []jwk.Key
	for n := range kept.Keys.Len() {
		key, _ := kept.Keys.Key(n)
		keys = append(keys, key)
	}
	if base == "" {
		base = kept.Base
	}
	i, err := issuerOf(system, base, now, keys)
	if err != nil {
		return nil, err
	}
	i.path = path
	if base != kept.Base {
		return i, i.saveAt(base)
	}
	return i, nil
}

// createKeyFile creates a file with a new key, unless another process does so concurrently, and returns the file's content.
func createKeyFile(path, base string) ([]byte, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	text, err := marshalKeys(base, []jwk.Key{key})
	if err != nil {
		return nil, err
	}
	return keyfile.Make(path, text)
}

func parseKeys(path string, text []byte) (*keyFile, error) {
	var kept keyFile
	if err := json.Unmarshal(text, &kept); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	var err error
	if kept.Keys, err = jwk.Parse(kept.Private); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	for n := range kept.Keys.Len() {
		key, _ := kept.Keys.Key(n)
		if private, err := jwk.IsPrivateKey(key); err != nil || !private {
			return nil, fmt.Errorf("%s has a key that cannot sign", path)
		}
	}
	if kept.Keys.Len() == 0 || kept.Base == "" {
		return nil, fmt.Errorf("%s has no keys, or no address", path)
	}
	return &kept, nil
}

// save stores the keys; the caller holds the lock.
func (i *Issuer) save() error {
	if i.path == "" {
		return nil
	}
	return i.saveAt(i.base)
}

func (i *Issuer) saveAt(base string) error {
	text, err := marshalKeys(base, i.keys)
	if err != nil {
		return err
	}
	return keyfile.Replace(i.path, text)
}

func marshalKeys(base string, keys []jwk.Key) ([]byte, error) {
	set := jwk.NewSet()
	for _, key := range keys {
		if err := set.AddKey(key); err != nil {
			return nil, fmt.Errorf("auth: keep the keys: %w", err)
		}
	}
	private, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("auth: keep the keys: %w", err)
	}
	text, err := json.Marshal(keyFile{Base: base, Private: private})
	if err != nil {
		return nil, fmt.Errorf("auth: keep the keys: %w", err)
	}
	return text, nil
}
