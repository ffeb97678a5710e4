package engine

import (
	"context"
	"crypto/md5" //nolint:gosec // the manifests have MD5 sums
	"encoding/base64"
	"hash"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/monotable/monotable/internal/database/bucket"
	"github.com/monotable/monotable/internal/database/engine/transfer"
)

// outbox writes the objects of a transfer.
type outbox struct {
	store      bucket.Store
	bucket     bucket.Bucket
	encryption bucket.Encryption
	prefix     string // as in the request
}

// objectKey returns the key of an object with a prefix; name is the part after AWSDynamoDB/.
func objectKey(prefix, name string) string {
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	return prefix + "AWSDynamoDB/" + name
}

func (o *outbox) key(name string) string { return objectKey(o.prefix, name) }

// create starts an object.
func (o *outbox) create(ctx context.Context, name string) (bucket.Writer, error) {
	object, err := o.store.Create(ctx, o.bucket, o.key(name), o.encryption)
	return object, ofBucket(err)
}

// put writes a small object.
func (o *outbox) put(ctx context.Context, name string, data []byte) error {
	object, err := o.create(ctx, name)
	if err != nil {
		return err
	}
	defer object.Abort()
	if _, err := object.Write(data); err != nil {
		return ofBucket(err)
	}
	_, err = object.Commit()
	return ofBucket(err)
}

// putManifest writes a manifest and its checksum.
func (o *outbox) putManifest(ctx context.Context, name string, data []byte) error {
	if err := o.put(ctx, name+".json", data); err != nil {
		return err
	}
	sum := md5.Sum(data) //nolint:gosec // the manifests have MD5 sums
	return o.put(ctx, name+".md5", []byte(base64.StdEncoding.EncodeToString(sum[:])))
}

// outFile is a compressed file of lines being written.
type outFile struct {
	key    string
	object bucket.Writer
	sum    hash.Hash // of the uploaded bytes
	gzip   *gzip.Writer

	text, items int64 // written so far
}

// createFile starts a file of lines. Abort discards it unless end has completed it.
func (o *outbox) createFile(ctx context.Context, name string) (*outFile, error) {
	object, err := o.create(ctx, name)
	if err != nil {
		return nil, err
	}
	f := &outFile{key: o.key(name), object: object, sum: md5.New()} //nolint:gosec // the manifests have MD5 sums
	if f.gzip, err = gzip.NewWriterLevel(io.MultiWriter(object, f.sum), gzip.BestSpeed); err != nil {
		object.Abort()
	}
	return f, err
}

// add writes the lines of n items.
func (f *outFile) add(lines []byte, items int64) error {
	f.text += int64(len(lines))
	f.items += items
	_, err := f.gzip.Write(lines)
	return ofBucket(err)
}

// end makes the file durable and visible.
func (f *outFile) end() (transfer.File, error) {
	if err := f.gzip.Close(); err != nil {
		return transfer.File{}, ofBucket(err)
	}
	etag, err := f.object.Commit()
	return transfer.File{Key: f.key, Items: f.items, MD5: f.sum.Sum(nil), ETag: etag}, ofBucket(err)
}
