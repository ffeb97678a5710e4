package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// derivedMax is how many signing keys a Secret keeps: a day has one for each pair of Region and service that requests are for.
const derivedMax = 16

// Secret is the secret of an access key. It keeps the signing keys of the day, whose making takes four times what a signature
// does.
type Secret struct {
	text string
	keys atomic.Pointer[[]signingKey]
}

type signingKey struct {
	date, region, service string
	key                   []byte
}

// NewSecret returns the secret of an access key.
func NewSecret(text string) *Secret { return &Secret{text: text} }

// String hides the secret from logs.
func (*Secret) String() string { return "[secret]" }

// GoString hides the secret from logs.
func (*Secret) GoString() string { return "[secret]" }

// signingKey returns the key that signs requests of a scope, and whether it was known.
func (s *Secret) signingKey(date, region, service string) (key []byte, known bool) {
	for _, k := range s.known() {
		if k.date == date && k.region == region && k.service == service {
			return k.key, true
		}
	}
	key = []byte("AWS4" + s.text)
	for _, part := range []string{date, region, service, terminator} {
		key = sum(key, part)
	}
	return key, false
}

func (s *Secret) known() []signingKey {
	if keys := s.keys.Load(); keys != nil {
		return *keys
	}
	return nil
}

// keep keeps a key that has signed a request. Keys of other days make room for it.
func (s *Secret) keep(date, region, service string, key []byte) {
	known := s.known()
	kept := make([]signingKey, 0, len(known)+1)
	for _, k := range known {
		if k.date == date && len(known) < derivedMax {
			kept = append(kept, k)
		}
	}
	kept = append(kept, signingKey{strings.Clone(date), strings.Clone(region), strings.Clone(service), key})
	s.keys.Store(&kept) // of two that were derived at once one is kept
}

func sum(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// Verify refuses a request that was not signed with the secret, and says what should have been signed, as AWS does.
func (s *Signed) Verify(secret *Secret, r *http.Request, body []byte) error {
	buffer := buffers.Get().(*[]byte)
	defer func() { buffers.Put(buffer) }()
	canonical := s.appendCanonical((*buffer)[:0], r, body)
	all := s.appendStringToSign(canonical, canonical)
	*buffer = all
	key, known := secret.signingKey(s.date, s.Region, s.Service)
	h := hmac.New(sha256.New, key)
	h.Write(all[len(canonical):])
	var room [2 * sha256.Size]byte
	digest := h.Sum(room[:0])
	var want [2 * sha256.Size]byte
	hex.Encode(want[:], digest)
	if subtle.ConstantTimeCompare(want[:], []byte(s.signature)) == 1 {
		if !known {
			secret.keep(s.date, s.Region, s.Service, key)
		}
		return nil
	}
	return apierr.SignatureWrong.With(string(canonical), string(all[len(canonical):]))
}
