// Package bucket is the contract between the engine and the place where exports go and imports come from: buckets of
// objects, as S3 has them.
//
// A bucket is a flat map from keys to objects. An object appears whole when its Writer commits, and replaces the one
// that had its key; a reader sees the old object or the new one. Keys are listed in the order of their bytes.
//
// Package folder keeps buckets as directories, package s3bucket in any S3-compatible store. Package buckettest is the
// suite that both pass.
//
// All methods of a Store may be called at once. A Writer and a reader are for one goroutine.
package bucket

import (
	"context"
	"crypto/md5" //nolint:gosec // S3's entity tags are MD5
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// Errors that callers test for with errors.Is. Any other error may go away by itself: the network, the disk.
var (
	// ErrNoBucket: the bucket does not exist.
	ErrNoBucket = errors.New("the specified bucket does not exist")
	// ErrNoKey: the bucket has no object of that key.
	ErrNoKey = errors.New("the specified key does not exist")
	// ErrDenied: the store refuses access.
	ErrDenied = errors.New("access denied")
	// ErrName: the name of the bucket or the key cannot be used in this store.
	ErrName = errors.New("the name cannot be used")
)

// PartBytes is the size of the parts in which an object is uploaded. An entity tag depends on it.
const PartBytes = 8 << 20

// keyBytesMax is the longest key.
const keyBytesMax = 1024

// Bucket names a bucket. Owner, unless "", is the account that must own it.
type Bucket struct{ Name, Owner string }

// Object is an object in a list.
type Object struct {
	Key      string
	Size     int64
	Modified time.Time
}

// Encryption is what a Store is asked to encrypt an object with; the zero value leaves it to the bucket.
type Encryption struct {
	Algorithm string // "", AES256 or KMS
	Key       string // of KMS
}

// Store has buckets.
type Store interface {
	// Create begins an object.
	Create(ctx context.Context, b Bucket, key string, e Encryption) (Writer, error)
	// Open reads an object from its beginning.
	Open(ctx context.Context, b Bucket, key string) (io.ReadCloser, error)
	// List returns the first objects, at most limit, whose keys begin with a prefix.
	List(ctx context.Context, b Bucket, prefix string, limit int) ([]Object, error)
}

// Writer is an object that is being written. Nothing is visible before Commit.
type Writer interface {
	io.Writer
	// Commit makes the object durable and visible, and returns its entity tag.
	Commit() (etag string, err error)
	// Abort forgets what was written. After Commit it does nothing.
	Abort()
}

// CheckKey refuses keys that S3 does not have.
func CheckKey(key string) error {
	if key == "" || len(key) > keyBytesMax || !utf8.ValidString(key) {
		return fmt.Errorf("%w: key %q: want 1 to %d bytes of UTF-8", ErrName, key, keyBytesMax)
	}
	return nil
}

// CheckName refuses bucket names that S3 does not have: letters, digits, '.', '-' and '_', 3 to 255 of them, the first
// and last a letter or digit.
func CheckName(name string) error {
	inside := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(".-_", c)
	}
	const shortest, longest = 3, 255
	outside := strings.IndexFunc(name, func(c rune) bool { return !inside(c) }) >= 0
	if len(name) < shortest || len(name) > longest || outside || strings.Trim(name, ".-_") != name {
		return fmt.Errorf("%w: bucket %q", ErrName, name)
	}
	return nil
}

// Tag computes the entity tag of an object that is uploaded in parts of PartBytes: the MD5 of the parts' MD5s, and how
// many there are. An empty object has no part; its tag is the MD5 of nothing.
type Tag struct {
	sums  []byte
	parts int
}

// Add continues the object with one whole part.
func (t *Tag) Add(part []byte) {
	sum := md5.Sum(part) //nolint:gosec // S3's entity tags are MD5
	t.sums = append(t.sums, sum[:]...)
	t.parts++
}

// String returns the tag of the parts added.
func (t *Tag) String() string {
	sum := md5.Sum(t.sums) //nolint:gosec // S3's entity tags are MD5
	if t.parts == 0 {
		return hex.EncodeToString(sum[:])
	}
	return fmt.Sprintf("%s-%d", hex.EncodeToString(sum[:]), t.parts)
}
