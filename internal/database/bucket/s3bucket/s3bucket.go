// Package s3bucket stores buckets in S3 or a compatible store.
//
// Objects are uploaded in parts, so that an object of any size only needs the memory of one part, and nothing is visible before
// the upload is complete. The SDK retries temporary failures.
package s3bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/monotable/monotable/internal/database/bucket"
)

// silenceMax is how long a store may take to respond, or to send more of an object. The SDK would wait forever, and with it the
// transfer and all that wait for its end.
const silenceMax = time.Minute

// Store is an S3 endpoint.
type Store struct{ client *s3.Client }

// New returns the buckets at an endpoint, using the credentials and the region of config. Buckets are addressed by path
// (https://host/bucket/key), as required by S3-compatible stores without wildcard names.
func New(endpoint string, config aws.Config) *Store {
	return &Store{client: s3.NewFromConfig(config, func(o *s3.Options) {
		o.BaseEndpoint = &endpoint
		o.UsePathStyle = true
		// Stores other than S3 may not support the newer checksums; MD5 entity tags show that a part arrived intact.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		if client, is := o.HTTPClient.(*awshttp.BuildableClient); is { // not the caller's own
			o.HTTPClient = client.WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = silenceMax })
		}
	})}
}

// Create implements bucket.Store.
func (s *Store) Create(ctx context.Context, b bucket.Bucket, key string, e bucket.Encryption) (bucket.Writer, error) {
	if err := errors.Join(bucket.CheckName(b.Name), bucket.CheckKey(key)); err != nil {
		return nil, err
	}
	in := &s3.CreateMultipartUploadInput{Bucket: &b.Name, Key: &key, ExpectedBucketOwner: owner(b)}
	in.ServerSideEncryption, in.SSEKMSKeyId = encryption(e)
	begun, err := s.client.CreateMultipartUpload(ctx, in)
	if err != nil {
		return nil, known(err)
	}
	w := &writer{ctx: ctx, store: s, bucket: b, key: key, encryption: e, id: begun.UploadId}
	w.Put = w.part
	return w, nil
}

func encryption(e bucket.Encryption) (types.ServerSideEncryption, *string) {
	switch e.Algorithm {
	case "AES256":
		return types.ServerSideEncryptionAes256, nil
	case "KMS":
		if e.Key != "" {
			return types.ServerSideEncryptionAwsKms, &e.Key
		}
		return types.ServerSideEncryptionAwsKms, nil
	default:
		return "", nil
	}
}

func owner(b bucket.Bucket) *string {
	if b.Owner == "" {
		return nil
	}
	return &b.Owner
}

// writer is a multipart upload.
type writer struct {
	bucket.Parts
	ctx    context.Context //nolint:containedctx // of the upload
	store  *Store
	bucket bucket.Bucket
	key    string
	id     *string
	parts  []types.CompletedPart
	ended  bool

	encryption bucket.Encryption
}

// part uploads one part.
func (w *writer) part(number int, data []byte) error {
	n := aws.Int32(int32(number)) //nolint:gosec // S3 takes 10,000 at most
	out, err := w.store.client.UploadPart(w.ctx, &s3.UploadPartInput{
		Bucket: &w.bucket.Name, Key: &w.key, UploadId: w.id, PartNumber: n, ExpectedBucketOwner: owner(w.bucket),
		Body: bytes.NewReader(data), ContentLength: aws.Int64(int64(len(data))),
	})
	if err != nil {
		return known(err)
	}
	w.parts = append(w.parts, types.CompletedPart{ETag: out.ETag, PartNumber: n})
	return nil
}

// Commit implements bucket.Writer.
func (w *writer) Commit() (string, error) {
	defer w.Abort()
	if _, err := w.Flush(); err != nil {
		return "", err
	}
	if len(w.parts) == 0 {
		return w.commitEmpty()
	}
	out, err := w.store.client.CompleteMultipartUpload(w.ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &w.bucket.Name, Key: &w.key, UploadId: w.id, ExpectedBucketOwner: owner(w.bucket),
		MultipartUpload: &types.CompletedMultipartUpload{Parts: w.parts},
	})
	if err != nil {
		return "", known(err)
	}
	w.ended = true
	return strings.Trim(aws.ToString(out.ETag), `"`), nil
}

// commitEmpty puts an empty object, which not every store accepts as an upload of one part.
func (w *writer) commitEmpty() (string, error) {
	in := &s3.PutObjectInput{Bucket: &w.bucket.Name, Key: &w.key, ExpectedBucketOwner: owner(w.bucket), ContentLength: aws.Int64(0)}
	in.ServerSideEncryption, in.SSEKMSKeyId = encryption(w.encryption)
	out, err := w.store.client.PutObject(w.ctx, in)
	if err != nil {
		return "", known(err)
	}
	return strings.Trim(aws.ToString(out.ETag), `"`), nil
}

// abortWait limits the wait for a store that does not respond: a database that is being closed waits for it.
const abortWait = 10 * time.Second

// Abort implements bucket.Writer. If it fails, the store's rules for incomplete uploads remove the parts.
func (w *writer) Abort() {
	if w.ended {
		return
	}
	w.ended = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), abortWait)
	defer cancel()
	_, _ = w.store.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
		Bucket: &w.bucket.Name, Key: &w.key, UploadId: w.id, ExpectedBucketOwner: owner(w.bucket),
	})
}

// Open implements bucket.Store.
func (s *Store) Open(ctx context.Context, b bucket.Bucket, key string) (io.ReadCloser, error) {
	if err := errors.Join(bucket.CheckName(b.Name), bucket.CheckKey(key)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.Name, Key: &key, ExpectedBucketOwner: owner(b)})
	if err != nil {
		cancel()
		return nil, known(err)
	}
	return &body{out.Body, cancel}, nil
}

// body is an object being read. A read that takes too long fails.
type body struct {
	io.ReadCloser
	cancel func()
}

var errSilent = fmt.Errorf("the store has sent nothing for %v", silenceMax)

func (b *body) Read(p []byte) (int, error) {
	timer := time.AfterFunc(silenceMax, b.cancel)
	n, err := b.ReadCloser.Read(p)
	if !timer.Stop() {
		err = errSilent
	}
	return n, err
}

func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// List implements bucket.Store.
func (s *Store) List(ctx context.Context, b bucket.Bucket, prefix string, limit int) ([]bucket.Object, error) {
	if err := bucket.CheckName(b.Name); err != nil {
		return nil, err
	}
	var all []bucket.Object
	pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{
		Bucket: &b.Name, Prefix: &prefix, ExpectedBucketOwner: owner(b),
	})
	for pages.HasMorePages() && len(all) < limit {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, known(err)
		}
		for i := range page.Contents {
			o := &page.Contents[i]
			all = append(all, bucket.Object{Key: aws.ToString(o.Key), Size: aws.ToInt64(o.Size)})
		}
	}
	return all[:min(limit, len(all))], nil
}

// known converts S3's errors to those of package bucket.
func known(err error) error {
	failed, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return err
	}
	switch failed.ErrorCode() {
	case "NoSuchBucket":
		return fmt.Errorf("%w: %w", bucket.ErrNoBucket, err)
	case "NoSuchKey", "NotFound":
		return fmt.Errorf("%w: %w", bucket.ErrNoKey, err)
	case "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken":
		return fmt.Errorf("%w: %w", bucket.ErrDenied, err)
	case "InvalidBucketName", "KeyTooLongError", "InvalidArgument":
		return fmt.Errorf("%w: %w", bucket.ErrName, err)
	default:
		return err
	}
}
