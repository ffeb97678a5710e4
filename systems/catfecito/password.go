package catfecito

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"github.com/monotable/monotable/design/table"
)

// Cost is what it costs to hash a password, and to try one.
type Cost struct {
	Passes    uint32
	MemoryKiB uint32
	Lanes     uint8
}

// DefaultCost is what OWASP recommends for argon2id: 19 MiB, two passes, one lane.
func DefaultCost() Cost { return Cost{Passes: 2, MemoryKiB: 19 << 10, Lanes: 1} }

const (
	saltBytes = 16
	hashBytes = 32
)

// passwords hashes passwords and compares them with hashes, at most so many at once as there are processors: what a
// log-in takes of time and memory is what an attacker asks for.
type passwords struct {
	cost  Cost
	slots chan struct{}
	// nobodys is a hash that no password has.
	nobodys table.Secret
}

func newPasswords(cost Cost) *passwords {
	p := &passwords{cost: cost, slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
	p.nobodys = cost.encode(random(saltBytes), random(hashBytes))
	return p
}

// hash is the hash of a password with a new salt, in the PHC string format.
func (p *passwords) hash(ctx context.Context, password string) (table.Secret, error) {
	salt := random(saltBytes)
	sum, err := p.sum(ctx, password, salt, p.cost)
	if err != nil {
		return "", err
	}
	return p.cost.encode(salt, sum), nil
}

// match tells whether a password is the one of a hash, which may have been made at another cost.
func (p *passwords) match(ctx context.Context, password string, hash table.Secret) (bool, error) {
	cost, salt, want, err := decodeHash(hash)
	if err != nil {
		return false, err
	}
	got, err := p.sum(ctx, password, salt, cost)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}

// sum is argon2id of a password. Letters with accents are the same however a keyboard writes them.
func (p *passwords) sum(ctx context.Context, password string, salt []byte, cost Cost) ([]byte, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return argon2.IDKey([]byte(norm.NFC.String(password)), salt, cost.Passes, cost.MemoryKiB, cost.Lanes, hashBytes), nil
}

// encode is the PHC string of a hash.
func (c Cost) encode(salt, sum []byte) table.Secret {
	b64 := base64.RawStdEncoding
	return table.Secret(fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, c.MemoryKiB, c.Passes, c.Lanes, b64.EncodeToString(salt), b64.EncodeToString(sum)))
}

// errHash is for a stored hash that this program has not made.
var errHash = errors.New("the password's hash is none of argon2id")

func decodeHash(hash table.Secret) (cost Cost, salt, sum []byte, err error) {
	parts := strings.Split(hash.Reveal(), "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return Cost{}, nil, nil, errHash
	}
	_, scanned := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &cost.MemoryKiB, &cost.Passes, &cost.Lanes)
	salt, unsalted := base64.RawStdEncoding.DecodeString(parts[4])
	sum, unsummed := base64.RawStdEncoding.DecodeString(parts[5])
	if scanned != nil || unsalted != nil || unsummed != nil || cost.Passes == 0 || cost.Lanes == 0 || len(sum) != hashBytes {
		return Cost{}, nil, nil, errHash
	}
	return cost, salt, sum, nil
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}
