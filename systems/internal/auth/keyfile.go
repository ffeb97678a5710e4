package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwk"
)

// keyFile is what an issuer keeps, for itself after a restart and for whoever mints a token beside it.
type keyFile struct {
	Base string  `json:"base"`
	Keys jwk.Set `json:"-"`
	// Private are Keys, private parts included; the file is for its owner alone.
	Private json.RawMessage `json:"keys"`
}

// OpenIssuer is an issuer whose keys are kept in a file, which is made where it is not there. An empty base is the one
// that the file says, so that a token minted beside a server is that server's.
func OpenIssuer(path, base string, now func() time.Time) (*Issuer, error) {
	kept, err := readKeys(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && base != "":
		key, err := newKey()
		if err != nil {
			return nil, err
		}
		i := issuerOf(base, now, []jwk.Key{key})
		i.path = path
		return i, i.saveAt(base)
	case err != nil:
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
	i := issuerOf(base, now, keys)
	i.path = path
	if base != kept.Base {
		return i, i.saveAt(base)
	}
	return i, nil
}

func readKeys(path string) (*keyFile, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the path is the operator's
	if err != nil {
		return nil, err
	}
	var kept keyFile
	if err := json.Unmarshal(text, &kept); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
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

// save keeps the keys; the caller holds the lock.
func (i *Issuer) save() error {
	if i.path == "" {
		return nil
	}
	return i.saveAt(i.url[:len(i.url)-len("/"+i.pool)])
}

func (i *Issuer) saveAt(base string) error {
	set := jwk.NewSet()
	for _, key := range i.keys {
		if err := set.AddKey(key); err != nil {
			return fmt.Errorf("auth: keep the keys: %w", err)
		}
	}
	private, err := json.Marshal(set)
	if err != nil {
		return fmt.Errorf("auth: keep the keys: %w", err)
	}
	text, err := json.Marshal(keyFile{Base: base, Private: private})
	if err != nil {
		return fmt.Errorf("auth: keep the keys: %w", err)
	}
	return replaceFile(i.path, text)
}

// replaceFile writes a file that only its owner reads, whole or not at all.
func replaceFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	made, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = made.Write(text)
	if err = errors.Join(err, made.Close()); err == nil {
		err = os.Rename(made.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(made.Name()))
	}
	return nil
}
