package monotable

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/monotable/monotable/internal/database/bucket"
	"github.com/monotable/monotable/internal/database/bucket/folder"
	"github.com/monotable/monotable/internal/database/bucket/s3bucket"
)

// openBuckets opens the buckets for exports and imports. dir is "" for a database in memory. The result is nil if none are
// configured.
func openBuckets(dir string, o *Options) (bucket.Store, error) {
	if o.S3Endpoint != "" {
		return openS3(o)
	}
	path := o.S3Dir
	switch {
	case path == "" && dir == "":
		return nil, nil //nolint:nilnil // a database in memory has no buckets unless configured
	case path == "":
		path = filepath.Join(dir, "s3")
	}
	path, err := absolute(path)
	if err != nil {
		return nil, err
	}
	return folder.Open(path)
}

func openS3(o *Options) (bucket.Store, error) {
	at, err := url.Parse(o.S3Endpoint)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, fmt.Errorf("S3Endpoint %q: want a URL like https://s3.eu-west-1.amazonaws.com", o.S3Endpoint)
	}
	if o.S3Config != nil {
		return s3bucket.New(o.S3Endpoint, *o.S3Config), nil
	}
	found, err := config.LoadDefaultConfig(context.Background(), config.WithDefaultRegion(o.Region))
	if err != nil {
		return nil, fmt.Errorf("S3Endpoint: %w", err)
	}
	return s3bucket.New(o.S3Endpoint, found), nil
}
