// Package bucket keeps files of a system's users: in a bucket of S3, or in a directory where none is configured.
//
// # Model
//
//	Upload ─▶ a signed address ─▶ the client's PUT, past the API ─▶ Get, checks of the bytes ─▶ Put under another key
//
// A client has a signed address for one key, one size and a short time. What is put there is unchecked: a system reads it, looks at
// the bytes, and puts what it accepts under a key for which no address is signed.
//
// # Invariants
//
//	B1  An upload has the size that was signed, or is refused by the store.
//	B2  A file appears whole, and is on disk when Put returns.
//	B3  Deleting what is not there succeeds.
//
// A Store may be used from any number of goroutines.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Errors that callers test for with errors.Is.
var (
	ErrMissing  = errors.New("bucket: there is no such file")
	ErrTooLarge = errors.New("bucket: the file is too large")
)

// Upload is how a client puts a file.
type Upload struct {
	Method string
	// URL is absolute, or relative to the system's root.
	URL string
	// Header must be sent as it is.
	Header map[string]string
	Until  time.Time
}

// Store keeps files by keys such as uploads/01HM69BJT0GQXYEAV0CGM90155.
type Store interface {
	// Upload signs an address for a file of exactly so many bytes.
	Upload(ctx context.Context, key string, size int64, valid time.Duration) (Upload, error)
	// Put stores a file of a media type. One of that key is replaced.
	Put(ctx context.Context, key, mediaType string, data []byte) error
	// Get reads a file that has at most so many bytes.
	Get(ctx context.Context, key string, most int64) ([]byte, error)
	Delete(ctx context.Context, key string) error
	// Tidy deletes the files of a folder that are older than a time. S3's lifecycle rules do that by themselves.
	Tidy(ctx context.Context, folder string, before time.Time) error
	// Origin is where uploads go, as Content-Security-Policy names it; "" is the system's own.
	Origin() string
}

// Options of Open.
type Options struct {
	// Place is s3://NAME or a directory; "" is below Dir.
	Place string
	// Dir is where the process keeps files; "" keeps them in a directory that is removed in the end.
	Dir string
	// Secret signs the addresses of a directory's uploads.
	Secret []byte
	Clock  func() time.Time
}

// Open opens a store. close frees what it has taken.
func Open(ctx context.Context, o Options) (store Store, shut func() error, err error) {
	if name, ok := strings.CutPrefix(o.Place, "s3://"); ok {
		store, err = openS3(ctx, name)
		return store, func() error { return nil }, err
	}
	path := o.Place
	if path == "" && o.Dir != "" {
		path = filepath.Join(o.Dir, "files")
	}
	return openDir(path, o.Secret, o.Clock)
}

var keyForm = regexp.MustCompile(`^[a-z]+/[A-Za-z0-9]{1,64}$`)

// checked refuses keys that are no name in a folder.
func checked(key string) error {
	if !keyForm.MatchString(key) {
		return fmt.Errorf("bucket: %q is no key", key)
	}
	return nil
}
