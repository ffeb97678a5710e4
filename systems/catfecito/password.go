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

// Cost is the cost of hashing or checking a password.
type Cost struct {
	Passes    uint32
	MemoryKiB uint32
	Lanes     uint8
}

// DefaultCost is OWASP's recommendation for argon2id: 19 MiB, two passes, one lane.
func DefaultCost() Cost { return Cost{Passes: 2, MemoryKiB: 19 << 10, Lanes: 1} }

const (
	saltBytes = 16
	hashBytes = 32
)

// passwords hashes passwords and compares them with hashes, at most one per processor concurrently, because an attacker can make
// a server spend a log-in's time and memory.
type passwords struct {
	cost  Cost
	slots chan struct{}
	// nobodys is a hash that no password matches.
	nobodys table.Secret
}

func newPasswords(cost Cost) *passwords {
	p := &passwords{cost: cost, slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
	p.nobodys = cost.encode(random(saltBytes), random(hashBytes))
	return p
}

// hash hashes a password with a new salt, in the PHC string format.
func (p *passwords) hash(ctx context.Context, password string) (table.Secret, error) {
	salt := random(saltBytes)
	sum, err := p.sum(ctx, password, salt, p.cost)
	if err != nil {
		return "", err
	}
	return p.cost.encode(salt, sum), nil
}

// match reports whether a password matches a hash, which may have a different cost.
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

// sum is a password's argon2id. Accented letters are normalised, because keyboards compose them differently.
func (p *passwords) sum(ctx context.Context, password string, salt []byte, cost Cost) ([]byte, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return argon2.IDKey([]byte(norm.NFC.String(password)), salt, cost.Passes, cost.MemoryKiB, cost.Lanes, hashBytes), nil
}

// encode formats a hash as a PHC string.
func (c Cost) encode(salt, sum []byte) table.Secret {
	b64 := base64.RawStdEncoding
	return table.Secret(fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, c.MemoryKiB, c.Passes, c.Lanes, b64.EncodeToString(salt), b64.EncodeToString(sum)))
}

// errHash is for a stored hash that this program did not create.
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
