package catfecito

import (
	"context"
	"crypto/rand"
	"errors"
	"runtime"

	"github.com/alexedwards/argon2id"
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

// passwords hashes passwords and compares them with hashes, at most one per processor at a time, because attackers can make a
// server spend the time and memory of a log-in.
type passwords struct {
	cost  argon2id.Params
	slots chan struct{}
	// unknownUserHash is the hash of an unknown random password.
	unknownUserHash table.Secret
}

func newPasswords(cost Cost) *passwords {
	p := &passwords{slots: make(chan struct{}, runtime.GOMAXPROCS(0)), cost: argon2id.Params{
		Iterations: cost.Passes, Memory: cost.MemoryKiB, Parallelism: cost.Lanes, SaltLength: saltBytes, KeyLength: hashBytes,
	}}
	p.unknownUserHash, _ = p.hash(context.Background(), rand.Text()) // all slots are free, and the random source does not fail
	return p
}

// hash hashes a password with a new salt, in the PHC string format.
func (p *passwords) hash(ctx context.Context, password string) (hash table.Secret, err error) {
	err = p.inSlot(ctx, func() error {
		text, err := argon2id.CreateHash(normal(password), &p.cost)
		hash = table.Secret(text)
		return err
	})
	return hash, err
}

// errHash is the error for a stored hash that this program did not create.
var errHash = errors.New("the password's hash is not an argon2id hash")

// match reports whether a password matches a hash, which may have been created with another cost.
func (p *passwords) match(ctx context.Context, password string, hash table.Secret) (same bool, err error) {
	cost, _, _, err := argon2id.DecodeHash(hash.Reveal())
	if err != nil || cost.Iterations == 0 || cost.Parallelism == 0 || cost.KeyLength != hashBytes {
		return false, errHash
	}
	err = p.inSlot(ctx, func() (err error) {
		same, err = argon2id.ComparePasswordAndHash(normal(password), hash.Reveal())
		return err
	})
	return same, err
}

// inSlot runs a function as soon as a processor is free for it.
func (p *passwords) inSlot(ctx context.Context, do func() error) error {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
		return do()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// normal normalises a password's accents, which keyboards encode in different ways.
func normal(password string) string { return norm.NFC.String(password) }
