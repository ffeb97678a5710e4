package engine_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/datadriven"
	"github.com/klauspost/compress/zstd"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

// bucketDirective runs the directives on buckets:
//
//	bucket NAME                     creates a bucket
//	store BUCKET/KEY [gzip|zstd]    writes the input as an object
//	objects                         lists the objects of all buckets
//	object BUCKET/KEY               prints an object, decompressed; * in a key matches anything
func (s *script) bucketDirective(_ context.Context, d *datadriven.TestData) (string, error) {
	switch d.Cmd {
	case "bucket":
		return "", os.Mkdir(filepath.Join(s.buckets, argument(d)), 0o755)
	case "store":
		return "", s.storeObject(d)
	case "object":
		return s.object(argument(d))
	}
	var b strings.Builder
	err := fs.WalkDir(os.DirFS(s.buckets), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			fmt.Fprintln(&b, name)
		}
		return err
	})
	return b.String(), err
}

func (s *script) storeObject(d *datadriven.TestData) (err error) {
	path := filepath.Join(s.buckets, filepath.FromSlash(argument(d)))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var w io.WriteCloser = f
	switch {
	case d.HasArg("gzip"):
		w = gzip.NewWriter(f)
	case d.HasArg("zstd"):
		if w, err = zstd.NewWriter(f); err != nil {
			return err
		}
	}
	if _, err = io.WriteString(w, expand(d.Input)+"\n"); err == nil && w != io.WriteCloser(f) {
		err = w.Close()
	}
	return err
}

func (s *script) object(pattern string) (string, error) {
	found, err := filepath.Glob(filepath.Join(s.buckets, filepath.FromSlash(pattern)))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, path := range found {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		var r io.Reader = f
		if strings.HasSuffix(path, ".gz") {
			if r, err = gzip.NewReader(f); err != nil {
				return "", err
			}
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return "", err
		}
		b.Write(data)
		if !strings.HasSuffix(string(data), "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}

// lastTransfer is the ARN of the latest export, import or bulk operation of all.
func (s *script) lastTransfer(ctx context.Context, kind string) string {
	var arns []*string
	switch kind {
	case "bulk-operation":
		out, err := s.engine.ListBulkOperations(ctx, &api.ListBulkOperationsInput{})
		if err != nil {
			return err.Error()
		}
		for i := range out.BulkOperationsSummaryList {
			arns = append(arns, out.BulkOperationsSummaryList[i].BulkOperationArn)
		}
	case "export":
		out, err := s.engine.ListExports(ctx, &api.ListExportsInput{})
		if err != nil {
			return err.Error()
		}
		for i := range out.ExportSummaries {
			arns = append(arns, out.ExportSummaries[i].ExportArn)
		}
	default:
		out, err := s.engine.ListImports(ctx, &api.ListImportsInput{})
		if err != nil {
			return err.Error()
		}
		for i := range out.ImportSummaryList {
			arns = append(arns, out.ImportSummaryList[i].ImportArn)
		}
	}
	id := func(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }
	last := "no " + kind
	for _, arn := range arns {
		if strings.HasPrefix(last, "no ") || id(*arn) > id(last) {
			last = *arn
		}
	}
	return last
}
