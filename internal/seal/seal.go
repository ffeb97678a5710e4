// Package seal encrypts and authenticates small secrets, mainly keys, with XChaCha20-Poly1305 and a random nonce. A secret
// sealed for one purpose cannot be opened for another.
package seal

import (
	"errors"
	"io"

	"golang.org/x/crypto/chacha20poly1305"
)

// KeyBytes is the length of a key.
const KeyBytes = chacha20poly1305.KeySize

// Seal encrypts text for a purpose. The result is the nonce followed by the output of XChaCha20-Poly1305.
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

// Open decrypts a secret that was sealed with the key for the purpose.
func Open(key, sealed []byte, purpose string) ([]byte, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, err
	}
	if len(sealed) < aead.NonceSize() {
		return nil, errors.New("sealed secret is too short")
	}
	return aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], []byte(purpose))
}
