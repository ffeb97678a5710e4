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

// inboxObjectsMax is how many objects AWS reads in one transfer.
const inboxObjectsMax = 50_000

// listObjects returns the objects of a bucket whose keys begin with a prefix, in the order of their keys.
func (e *Engine) listObjects(ctx context.Context, b bucket.Bucket, prefix string) ([]bucket.Object, error) {
	all, err := e.options.Buckets.List(ctx, b, prefix, inboxObjectsMax+1)
	switch {
	case err != nil:
		return nil, ofBucket(err)
	case len(all) > inboxObjectsMax:
		return nil, ofBucket(fmt.Errorf("%w: there are more than %d objects with the prefix %q", bucket.ErrName, inboxObjectsMax, prefix))
	case len(all) == 0:
		return nil, ofBucket(fmt.Errorf("%w: there is no object with the prefix %q", bucket.ErrNoKey, prefix))
	}
	return all, nil
}

// objectReader is a transfer that reads objects.
type objectReader interface {
	// records reads what is left of an object, decompressed. An error that is not a storeError is one of its text. read
	// tells how many bytes of the object itself have been read.
	records(ctx context.Context, key string, plain io.Reader, read func() int64) error
	// refuse notes why an object, or a record in it, is no item.
	refuse(key string, why error)
	// flush writes what has been read, and where the transfer is then.
	flush(ctx context.Context, at transfer.Imported) error
}

// readObject has a transfer read what is left of an object.
func (e *Engine) readObject(ctx context.Context, b bucket.Bucket, key, compression string, r objectReader) error {
	object, err := e.options.Buckets.Open(ctx, b, key)
	if err != nil {
		return ofBucket(err)
	}
	defer object.Close()
	heard := &hearing{in: object}
	plain, err := lines.Decompress(heard, compression)
	if err == nil {
		defer plain.Close()
		err = r.records(ctx, key, plain, func() int64 { return heard.n })
	}
	if heard.err != nil {
		return ofBucket(heard.err)
	}
	if isOurs(err) || ctx.Err() != nil {
		return err
	}
	if err != nil && !errors.Is(err, io.EOF) { // the object is malformed from here on
		r.refuse(key, err)
	}
	return r.flush(ctx, transfer.Imported{Object: key + pastObject})
}

// pastObject follows the key of an object in the place after it.
const pastObject = "\x00"

// storeError is a failure to write what was read.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

func isOurs(err error) bool {
	_, is := errors.AsType[*storeError](err)
	return is
}

// hearing notes the error of a reader, so that it is not taken for one of what is read.
type hearing struct {
	in  io.Reader
	n   int64 // bytes
	err error
}

// Read implements io.Reader.
func (h *hearing) Read(p []byte) (int, error) {
	n, err := h.in.Read(p)
	h.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		h.err = err
	}
	return n, err
}
