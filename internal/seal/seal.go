// Package seal encrypts small secrets, keys above all, so that a change of them shows: XChaCha20-Poly1305 with a random nonce.
// What is sealed for one purpose opens for no other.
package seal

import (
	"errors"
	"io"

	"golang.org/x/crypto/chacha20poly1305"
)

// KeyBytes is the length of a key.
const KeyBytes = chacha20poly1305.KeySize

// Seal encrypts text for a purpose: nonce, then what XChaCha20-Poly1305 makes of it.
func Seal(random io.Reader, key, text []byte, purpose string) ([]byte, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(text)+aead.Overhead())
	if _, err := io.ReadFull(random, nonce); err != nil {
		return nil, err
	}
	return aead.Seal(nonce, nonce, text, []byte(purpose)), nil
}

// Open returns what was sealed with a key for a purpose.
func Open(key, sealed []byte, purpose string) ([]byte, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, err
	}
	if len(sealed) < aead.NonceSize() {
		return nil, errors.New("what is sealed is too short")
	}
	return aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], []byte(purpose))
}
