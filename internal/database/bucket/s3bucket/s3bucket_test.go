package s3bucket_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/monotable/monotable/internal/database/bucket"
	"github.com/monotable/monotable/internal/database/bucket/buckettest"
	"github.com/monotable/monotable/internal/database/bucket/s3bucket"
)

func TestSuite(t *testing.T) {
	buckettest.Run(t, func(t *testing.T) bucket.Store {
		t.Helper()
		server := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
		t.Cleanup(server.Close)
		config := aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "")}
		client := s3.NewFromConfig(config, func(o *s3.Options) { o.BaseEndpoint, o.UsePathStyle = &server.URL, true })
		if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(buckettest.Bucket)}); err != nil {
			t.Fatal(err)
		}
		return s3bucket.New(server.URL, config)
	})
}

// silent is an HTTP client for a store that begins uploads and does not respond to anything else.
type silent struct{}

func (silent) Do(r *http.Request) (*http.Response, error) {
	if !r.URL.Query().Has("uploads") {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	body := "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>"
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// TestAbortOfSilentStore: an upload can be ended when the store no longer responds, for a database to close.
func TestAbortOfSilentStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := s3bucket.New("http://127.0.0.1:1", aws.Config{
			Region: "us-east-1", HTTPClient: silent{}, Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		w, err := s.Create(ctx, bucket.Bucket{Name: "bucket"}, "key", bucket.Encryption{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("part")); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Commit(); !errors.Is(err, context.DeadlineExceeded) { // Commit aborts
			t.Errorf("committed: %v", err)
		}
	})
}

// TestSilentStore tests that calls end if the store does not respond, or stops in the middle of an object.
func TestSilentStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := func(context.Context, string, string) (net.Conn, error) {
			own, theirs := net.Pipe()
			go func() {
				if r, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil && r.Method == http.MethodGet {
					_, _ = io.WriteString(theirs, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\npart")
				}
				_, _ = io.Copy(io.Discard, theirs)
			}()
			return own, nil
		}
		s := s3bucket.New("http://127.0.0.1:1", aws.Config{
			Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
			HTTPClient: awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.DialContext = dial }),
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := s.Create(ctx, bucket.Bucket{Name: "bucket"}, "key", bucket.Encryption{}); err == nil || ctx.Err() != nil {
			t.Errorf("created: %v", err)
		}
		object, err := s.Open(ctx, bucket.Bucket{Name: "bucket"}, "key")
		if err != nil {
			t.Fatal(err)
		}
		if read, err := io.ReadAll(object); err == nil || string(read) != "part" || ctx.Err() != nil {
			t.Errorf("read %q, %v", read, err)
		}
		if err := object.Close(); err != nil {
			t.Error(err)
		}
	})
}
