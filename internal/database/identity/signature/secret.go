package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"hash"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// derivedMax is the maximum number of signing keys that a Secret caches; a day has one for each combination of Region and
// service.
const derivedMax = 16

// Secret is a secret access key. It caches the signing keys of the day, whose derivation takes four times as long as a signature.
type Secret struct {
	text string
	keys atomic.Pointer[[]*signingKey]
}

// signingKey signs the requests of a scope.
type signingKey struct {
	scope, date string
	signers     sync.Pool // of *signer
}

// signer is an HMAC with precomputed initial states, and a buffer for its input.
type signer struct {
	mac    hash.Hash
	buffer []byte
}

// NewSecret returns the secret of an access key.
func NewSecret(text string) *Secret { return &Secret{text: text} }

// String hides the secret from logs.
func (*Secret) String() string { return "[secret]" }

// GoString hides the secret from logs.
func (*Secret) GoString() string { return "[secret]" }

// signingKey returns the signing key for a client's claims, and whether it was cached.
func (s *Secret) signingKey(c *claims) (k *signingKey, known bool) {
	for _, k := range s.known() {
		if k.scope == c.scope {
			return k, true
		}
	}
	key := []byte("AWS4" + s.text)
	for _, part := range []string{c.date, c.Region, c.Service, terminator} {
		key = sum(key, part)
	}
	k = &signingKey{scope: strings.Clone(c.scope), date: strings.Clone(c.date)}
	k.signers.New = func() any { return &signer{mac: hmac.New(sha256.New, key), buffer: make([]byte, 0, 1024)} }
	return k, false
}

func (s *Secret) known() []*signingKey {
	if keys := s.keys.Load(); keys != nil {
		return *keys
	}
	return nil
}

// keep caches a key that has signed a request. Keys of other days are dropped.
func (s *Secret) keep(key *signingKey) {
	known := s.known()
	kept := make([]*signingKey, 0, len(known)+1)
	for _, k := range known {
		if k.date == key.date && len(known) < derivedMax {
			kept = append(kept, k)
		}
	}
	kept = append(kept, key)
	s.keys.Store(&kept) // of two keys derived concurrently one is kept
}

func sum(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// Verify rejects a request that was not signed with the secret and, like AWS, reports what should have been signed.
func (s *Signed) Verify(secret *Secret, r *http.Request, body []byte) error {
	key, known := secret.signingKey(s.claims)
	signer := key.signers.Get().(*signer)
	defer key.signers.Put(signer)
	canonical := s.appendCanonical(signer.buffer[:0], r, body)
	all := s.appendStringToSign(canonical, canonical)
	signer.mac.Reset()
	signer.mac.Write(all[len(canonical):])
	// The buffer after the string to sign is free.
	digest := signer.mac.Sum(all)
	signer.buffer = appendHex(digest, digest[len(all):])
	want := signer.buffer[len(digest):]
	if subtle.ConstantTimeCompare(want, []byte(s.signature)) == 1 {
		if !known {
			secret.keep(key)
		}
		return nil
	}
	return apierr.SignatureWrong.With(string(canonical), string(all[len(canonical):]))
}
