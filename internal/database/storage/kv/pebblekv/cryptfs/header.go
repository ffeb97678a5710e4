package cryptfs

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

const (
	headerBegins = "monoctr1"
	keyIDBytes   = 8
	nonceBytes   = 32
	checkBytes   = 16
	// headerBytes is the size of a disk block, so that the blocks of the content remain aligned.
	headerBytes = 4096

	nonceAt = len(headerBegins) + keyIDBytes
	checkAt = nonceAt + nonceBytes
	forFile = "monotable file"
)

var (
	errNotEncrypted = errors.New("it is not encrypted, or its header is corrupt")
	errUnknownKey   = errors.New("it is encrypted with a data key that is not in the key file, or its header is corrupt")
	errHeader       = errors.New("its header is corrupt")
)

// newHeader returns the header of a new file and the key stream of its content.
func newHeader(keys *Keys) ([]byte, stream, error) {
	header := make([]byte, headerBytes)
	copy(header, headerBegins)
	copy(header[len(headerBegins):], keys.current[:])
	nonce := header[nonceAt:checkAt]
	_, _ = rand.Read(nonce) // never fails
	s, check, err := newStream(keys.byID[keys.current], nonce)
	copy(header[checkAt:], check)
	return header, s, err
}

// readHeader returns the key stream of the content after a header.
func readHeader(keys *Keys, header []byte) (stream, error) {
	if len(header) != headerBytes || string(header[:len(headerBegins)]) != headerBegins {
		return stream{}, errNotEncrypted
	}
	key, ok := keys.byID[keyID(header[len(headerBegins):nonceAt])]
	if !ok {
		return stream{}, errUnknownKey
	}
	s, check, err := newStream(key, header[nonceAt:checkAt])
	if err == nil && !bytes.Equal(check, header[checkAt:checkAt+checkBytes]) {
		err = errHeader
	}
	return s, err
}

// interrupted reports whether a header could be the remains of an interrupted write.
func interrupted(header []byte) bool {
	for i := range min(len(header), len(headerBegins)) {
		if header[i] != 0 && header[i] != headerBegins[i] {
			return false
		}
	}
	return true
}

// damaged returns an error that Pebble treats as corrupt data.
func damaged(name string, err error) error {
	return fmt.Errorf("%w: %s: %w", pebble.ErrCorruption, name, err)
}

// stream is the key stream of one file: AES-256 in counter mode from 0, with the file's own key.
type stream struct{ block cipher.Block }

// newStream derives a file's key from a data key and a nonce, and a check value that confirms both.
func newStream(key, nonce []byte) (s stream, check []byte, err error) {
	const fileKeyBytes = 32
	derived, err := hkdf.Key(sha256.New, key, nonce, forFile, fileKeyBytes+checkBytes)
	if err != nil {
		return stream{}, nil, err
	}
	s.block, err = aes.NewCipher(derived[:fileKeyBytes])
	return s, derived[fileKeyBytes:], err
}

// from returns the key stream from an offset of the content on.
func (s stream) from(offset int64) cipher.Stream {
	var counter, skipped [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[aes.BlockSize-8:], uint64(offset)/aes.BlockSize) //nolint:gosec // offsets are not negative
	keys := cipher.NewCTR(s.block, counter[:])
	if skip := offset % aes.BlockSize; skip > 0 {
		keys.XORKeyStream(skipped[:skip], skipped[:skip])
	}
	return keys
}
