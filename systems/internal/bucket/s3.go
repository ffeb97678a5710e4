package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// s3Bucket is a bucket in S3, or in an S3-compatible store at AWS_ENDPOINT_URL_S3.
type s3Bucket struct {
	client  *s3.Client
	presign *s3.PresignClient
	name    string
	origin  string
}

func openS3(ctx context.Context, name string) (*s3Bucket, error) {
	found, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("bucket: s3://%s: %w", name, err)
	}
	client := s3.NewFromConfig(found, func(o *s3.Options) {
		o.UsePathStyle = o.BaseEndpoint != nil // a custom endpoint has no host name for each bucket
		// The checksum of the bytes cannot be signed in advance.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	})
	b := &s3Bucket{client: client, presign: s3.NewPresignClient(client), name: name}
	probe, err := b.Upload(ctx, "uploads/0", 0, time.Minute)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(probe.URL)
	if err != nil {
		return nil, fmt.Errorf("bucket: s3://%s: %w", name, err)
	}
	b.origin = at.Scheme + "://" + at.Host
	return b, nil
}

// Origin implements Store.
func (b *s3Bucket) Origin() string { return b.origin }

// Upload implements Store. The size is one of the signed headers, so S3 rejects any other size.
func (b *s3Bucket) Upload(ctx context.Context, key string, size int64, valid time.Duration) (Upload, error) {
	if err := checked(key); err != nil {
		return Upload{}, err
	}
	signed, err := b.presign.PresignPutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &key, ContentLength: &size}, s3.WithPresignExpires(valid))
	if err != nil {
		return Upload{}, fmt.Errorf("bucket: sign %s: %w", key, err)
	}
	header := map[string]string{}
	for name, values := range signed.SignedHeader {
		if name != "Host" && name != "Content-Length" { // browsers send these themselves, and do not let scripts set them
			header[name] = values[0]
		}
	}
	return Upload{Method: signed.Method, URL: signed.URL, Header: header, Until: time.Now().Add(valid)}, nil
}

// Put implements Store.
func (b *s3Bucket) Put(ctx context.Context, key, mediaType string, data []byte) error {
	if err := checked(key); err != nil {
		return err
	}
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.name, Key: &key, Body: bytes.NewReader(data), ContentType: &mediaType, CacheControl: aws.String("max-age=31536000, immutable"),
	})
	return err
}

// Get implements Store.
func (b *s3Bucket) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	if err := checked(key); err != nil {
		return nil, err
	}
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key, Range: aws.String("bytes=0-" + strconv.FormatInt(most, 10))})
	if missing(err) {
		return nil, ErrMissing
	}
	if err != nil {
		return nil, err
	}
	data, err := read(out.Body, most)
	return data, errors.Join(err, out.Body.Close())
}

// missing reports whether an object does not exist. S3 only says so to callers who may list the bucket; others get access denied.
func missing(err error) bool {
	response, ok := errors.AsType[*smithyhttp.ResponseError](err)
	return ok && response.HTTPStatusCode() == http.StatusNotFound
}

// Delete implements Store.
func (b *s3Bucket) Delete(ctx context.Context, key string) error {
	if err := checked(key); err != nil {
		return err
	}
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key})
	return err
}

// Tidy implements Store.
func (*s3Bucket) Tidy(context.Context, string, time.Time) error { return nil }
