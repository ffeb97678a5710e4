package engine

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/monotable/monotable/internal/database/bucket"
	"github.com/monotable/monotable/internal/database/dynamo/lines"
	"github.com/monotable/monotable/internal/database/engine/transfer"
)

// inboxObjectsMax is the maximum number of objects in one transfer on AWS.
const inboxObjectsMax = 50_000

// listObjects returns the objects of a bucket whose keys have a prefix, in the order of their keys.
func (e *Engine) listObjects(ctx context.Context, b bucket.Bucket, prefix string) ([]bucket.Object, error) {
	all, err := e.options.Buckets.List(ctx, b, prefix, inboxObjectsMax+1)
	switch {
	case err != nil:
		return nil, ofBucket(err)
	case len(all) > inboxObjectsMax:
		return nil, ofBucket(fmt.Errorf("%w: there are more than %d objects with the prefix %q", bucket.ErrName, inboxObjectsMax, prefix))
	}
	return all, nil
}

// objectReader is a transfer that reads objects.
type objectReader interface {
	// records reads the rest of an object, decompressed. An error that is not a storeError is an error in the object's content.
	// read returns how many bytes of the object itself have been read.
	records(ctx context.Context, key string, plain io.Reader, read func() int64) error
	// refuse records why an object or a record in it is invalid.
	refuse(key string, why error)
	// flush writes what has been read, together with the transfer's progress.
	flush(ctx context.Context, at transfer.Imported) error
}

// readObject lets a transfer read the rest of an object.
func (e *Engine) readObject(ctx context.Context, b bucket.Bucket, key, compression string, r objectReader) error {
	object, err := e.options.Buckets.Open(ctx, b, key)
	if err != nil {
		return ofBucket(err)
	}
	defer object.Close()
	source := &errorReader{in: object}
	plain, err := lines.Decompress(source, compression)
	if err == nil {
		defer plain.Close()
		err = r.records(ctx, key, plain, func() int64 { return source.n })
	}
	if source.err != nil {
		return ofBucket(source.err)
	}
	if isOurs(err) || ctx.Err() != nil {
		return err
	}
	if err != nil && !errors.Is(err, io.EOF) { // the object is malformed from here on
		r.refuse(key, err)
	}
	return r.flush(ctx, transfer.Imported{Object: key + pastObject})
}

// pastObject appended to an object's key gives the position after the object.
const pastObject = "\x00"

// storeError is a failure to write what was read.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

func isOurs(err error) bool {
	_, is := errors.AsType[*storeError](err)
	return is
}

// errorReader records the error of a reader, to distinguish it from errors in the content.
type errorReader struct {
	in  io.Reader
	n   int64 // bytes read
	err error
}

// Read implements io.Reader.
func (r *errorReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	r.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}
