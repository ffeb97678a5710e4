// Package bucket stores users' files: in an S3 bucket, or in a directory if none is configured.
//
// # Model
//
//	Upload ─▶ a signed address ─▶ the client's PUT, not through the API ─▶ Get, checks of the bytes ─▶ Put under another key
//
// A signed address is valid for one key, one size and a short time. Uploads are unchecked: a system reads them, checks the bytes,
// and stores what it accepts under a key for which no address is signed.
//
// # Invariants
//
//	B1  An upload has the signed size, or the store rejects it.
//	B2  A file appears complete, and is on disk when Put returns.
//	B3  Deleting a missing file succeeds.
//
// A Store is safe for concurrent use.
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

// Errors for errors.Is.
var (
	ErrMissing  = errors.New("bucket: the file does not exist")
	ErrTooLarge = errors.New("bucket: the file is too large")
)

// Upload tells a client how to upload a file.
type Upload struct {
	Method string
	// URL is absolute, or relative to the system's root.
	URL string
	// Header must be sent unchanged.
	Header map[string]string
	Until  time.Time
}

// Store stores files by keys such as uploads/01HM69BJT0GQXYEAV0CGM90155.
type Store interface {
	// Upload signs an address for a file of exactly this size in bytes.
	Upload(ctx context.Context, key string, size int64, valid time.Duration) (Upload, error)
	// Put stores a file with a media type, replacing any with that key.
	Put(ctx context.Context, key, mediaType string, data []byte) error
	// Get reads a file of at most this many bytes.
	Get(ctx context.Context, key string, most int64) ([]byte, error)
	Delete(ctx context.Context, key string) error
	// Tidy deletes a folder's files older than a time. In S3 lifecycle rules do that.
	Tidy(ctx context.Context, folder string, before time.Time) error
	// Origin is the origin of uploads, for Content-Security-Policy; "" means the system's own.
	Origin() string
}

// Options of Open.
type Options struct {
	// Place is s3://NAME or a directory; "" means a directory below Dir.
	Place string
	// Dir is the process's directory for files; "" means a temporary directory that is removed at the end.
	Dir string
	// Secret signs the upload addresses of a directory.
	Secret []byte
	Clock  func() time.Time
}

// Open opens a store. The caller calls shut to release its resources.
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

// checked rejects keys that are not a name in a folder.
func checked(key string) error {
	if !keyForm.MatchString(key) {
		return fmt.Errorf("bucket: %q is no key", key)
	}
	return nil
}
