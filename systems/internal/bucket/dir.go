package bucket

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"time"
)

// Dir is a directory. It serves the uploads that it has signed: PUT to the path uploads/ID.
type Dir struct {
	root   *os.Root
	secret []byte
	clock  func() time.Time
}

const (
	dirMode  = 0o700
	fileMode = 0o600
	// uploads is the folder for uploads.
	uploads = "uploads/"
)

func openDir(at string, secret []byte, clock func() time.Time) (*Dir, func() error, error) {
	remove := func() error { return nil }
	if at == "" {
		created, err := os.MkdirTemp("", "monotable-files-")
		if err != nil {
			return nil, nil, fmt.Errorf("bucket: %w", err)
		}
		at, remove = created, func() error { return os.RemoveAll(created) }
	}
	if err := os.MkdirAll(at, dirMode); err != nil {
		return nil, nil, fmt.Errorf("bucket: %w", err)
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("bucket: %w", err), remove())
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("uploads of a directory")) // the secret also seals other things
	return &Dir{root: root, secret: mac.Sum(nil), clock: clock}, func() error { return errors.Join(root.Close(), remove()) }, nil
}

// Origin implements Store.
func (*Dir) Origin() string { return "" }

// Upload implements Store.
func (d *Dir) Upload(_ context.Context, key string, size int64, valid time.Duration) (Upload, error) {
	if err := checked(key); err != nil {
		return Upload{}, err
	}
	until := d.clock().Add(valid).Truncate(time.Second)
	query := url.Values{"size": {strconv.FormatInt(size, 10)}, "until": {strconv.FormatInt(until.Unix(), 10)}}
	query.Set("signature", d.signature(key, query.Get("size"), query.Get("until")))
	return Upload{Method: http.MethodPut, URL: key + "?" + query.Encode(), Header: map[string]string{}, Until: until}, nil
}

func (d *Dir) signature(key, size, until string) string {
	mac := hmac.New(sha256.New, d.secret)
	fmt.Fprintf(mac, "%s\n%s\n%s", key, size, until)
	return hex.EncodeToString(mac.Sum(nil))
}

// ServeHTTP receives an upload.
func (d *Dir) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, query := uploads+path.Base(r.URL.Path), r.URL.Query()
	size, until := query.Get("size"), query.Get("until")
	if checked(key) != nil || !hmac.Equal([]byte(query.Get("signature")), []byte(d.signature(key, size, until))) {
		http.Error(w, "the address is not signed", http.StatusForbidden)
		return
	}
	seconds, _ := strconv.ParseInt(until, 10, 64) // they were signed
	most, _ := strconv.ParseInt(size, 10, 64)
	if d.clock().After(time.Unix(seconds, 0)) {
		http.Error(w, "the address is no longer valid", http.StatusForbidden)
		return
	}
	if r.ContentLength >= 0 && r.ContentLength != most {
		http.Error(w, "the file's size differs from the declared one", http.StatusBadRequest)
		return
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil || int64(len(data)) != most {
		http.Error(w, "the file's size differs from the declared one", http.StatusBadRequest)
		return
	}
	if err := d.Put(r.Context(), key, "", data); err != nil {
		http.Error(w, "the file cannot be stored", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// Put implements Store.
func (d *Dir) Put(_ context.Context, key, _ string, data []byte) (err error) {
	if err := checked(key); err != nil {
		return err
	}
	folder := path.Dir(key)
	if err := d.root.MkdirAll(folder, dirMode); err != nil {
		return err
	}
	part := folder + "/." + rand.Text()
	defer func() {
		if err != nil {
			err = errors.Join(err, d.removed(part))
		}
	}()
	file, err := d.root.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := d.root.Rename(part, key); err != nil {
		return err
	}
	return d.sync(folder)
}

// sync makes the names in a folder durable.
func (d *Dir) sync(folder string) error {
	f, err := d.root.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Get implements Store.
func (d *Dir) Get(_ context.Context, key string, most int64) ([]byte, error) {
	if err := checked(key); err != nil {
		return nil, err
	}
	file, err := d.root.Open(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrMissing
	}
	if err != nil {
		return nil, err
	}
	data, err := read(file, most)
	return data, errors.Join(err, file.Close())
}

// read reads at most a given number of bytes.
func read(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, ErrTooLarge
	}
	return data, err
}

// Delete implements Store.
func (d *Dir) Delete(_ context.Context, key string) error {
	if err := checked(key); err != nil {
		return err
	}
	return d.removed(key)
}

func (d *Dir) removed(name string) error {
	if err := d.root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Tidy implements Store. It also removes incomplete files that a crash has left behind.
func (d *Dir) Tidy(ctx context.Context, folder string, before time.Time) error {
	entries, err := fs.ReadDir(d.root.FS(), folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.ModTime().After(before) {
			continue // it may have been deleted
		}
		if err := errors.Join(ctx.Err(), d.removed(folder+"/"+e.Name())); err != nil {
			return err
		}
	}
	return nil
}
