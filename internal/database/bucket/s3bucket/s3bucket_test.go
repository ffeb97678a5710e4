package s3bucket_test

import (
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
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
