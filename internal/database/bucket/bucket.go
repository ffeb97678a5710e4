// Package bucket is the contract between the engine and the storage of exports and imports: buckets of objects, as in S3.
//
// A bucket is a flat map from keys to objects. An object appears completely when its Writer commits, and replaces any object with
// its key; a reader sees either the old object or the new one. Keys are listed in bytewise order.
//
// Package folder stores buckets as directories, package s3bucket in any S3-compatible store. Package buckettest is the test suite
// for both.
//
// All methods of a Store are safe for concurrent use. A Writer or reader is not.
package bucket

import (
	"context"
	"crypto/md5" //nolint:gosec // S3's entity tags are MD5
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Errors for errors.Is. Any other error, of the network or the disk, may be temporary.
var (
	// ErrNoBucket: the bucket does not exist.
	ErrNoBucket = errors.New("the specified bucket does not exist")
	// ErrNoKey: the bucket has no object with that key.
	ErrNoKey = errors.New("the specified key does not exist")
	// ErrDenied: the store denies access.
	ErrDenied = errors.New("access denied")
	// ErrName: the name of the bucket or the key is not valid in this store.
	ErrName = errors.New("the name cannot be used")
)

// PartBytes is the size of the parts in which an object is uploaded. Entity tags depend on it.
const PartBytes = 8 << 20

// keyBytesMax is the maximum length of a key.
const keyBytesMax = 1024

// Bucket names a bucket. Owner, unless empty, is the account that must own it.
type Bucket struct{ Name, Owner string }

// Object is an object in a list.
type Object struct {
	Key  string
	Size int64
}

// Encryption is the requested encryption of an object; the zero value is the bucket's default.
type Encryption struct {
	Algorithm string // "", AES256 or KMS
	Key       string // of KMS
}

// Store is a set of buckets.
type Store interface {
	// Create starts an object.
	Create(ctx context.Context, b Bucket, key string, e Encryption) (Writer, error)
	// Open reads an object from its beginning.
	Open(ctx context.Context, b Bucket, key string) (io.ReadCloser, error)
	// List returns the first objects whose keys have a prefix, at most limit.
	List(ctx context.Context, b Bucket, prefix string, limit int) ([]Object, error)
}

// Writer writes an object. Nothing is visible before Commit.
type Writer interface {
	io.Writer
	// Commit makes the object durable and visible, and returns its entity tag.
	Commit() (etag string, err error)
	// Abort discards what was written. After Commit it does nothing.
	Abort()
}

// CheckKey rejects keys that are not valid in S3.
func CheckKey(key string) error {
	if key == "" || len(key) > keyBytesMax || !utf8.ValidString(key) {
		return fmt.Errorf("%w: key %q: want 1 to %d bytes of UTF-8", ErrName, key, keyBytesMax)
	}
	return nil
}

// CheckName rejects bucket names that are not valid in S3: 3 to 255 letters, digits, '.', '-' and '_', the first and last a
// letter or digit.
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

// Tag computes the entity tag of an object that is uploaded in parts of PartBytes: the MD5 of the parts' MD5s, and their number.
// An empty object has no parts; its tag is the MD5 of nothing.
type Tag struct {
	sums  []byte
	parts int
}

// Add adds the next complete part of the object.
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
