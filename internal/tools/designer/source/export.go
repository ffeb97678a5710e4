package source

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/plural"
)

// Export is an export of a table to S3, as a directory.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html
type Export struct {
	// Table is the name of the exported table; "" if no manifest names it.
	Table string

	files []dataFile
	count int64
}

// dataFile is a file with items.
type dataFile struct {
	path string
	// number of items according to the manifest; -1 if it does not say
	count int64
}

// The files of an export besides its data.
const (
	summaryFile = "manifest-summary.json"
	filesFile   = "manifest-files.json"
)

// OpenExport finds the files of an export: those listed by the manifest in the directory or below it, or all .json and
// .json.gz files if there is no manifest.
func OpenExport(dir string) (*Export, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("directory %s does not exist", dir)
	}
	var manifests, plain []string
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
		case entry.Name() == summaryFile:
			manifests = append(manifests, name)
		case entry.Name() == filesFile:
		case strings.HasSuffix(name, ".json"), strings.HasSuffix(name, ".json.gz"):
			plain = append(plain, name)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(manifests) > 1:
		return nil, fmt.Errorf("%s contains %d exports: use the directory of one, such as %s", dir, len(manifests), filepath.Dir(manifests[0]))
	case len(manifests) == 1:
		return openManifest(manifests[0])
	case len(plain) == 0:
		return nil, fmt.Errorf("%s contains neither a %s nor .json or .json.gz files", dir, summaryFile)
	}
	slices.Sort(plain)
	e := &Export{}
	for _, name := range plain {
		e.files = append(e.files, dataFile{name, -1})
	}
	return e, nil
}

// summary is the part of the summary manifest that is used.
type summary struct {
	TableArn     string `json:"tableArn"`
	ItemCount    int64  `json:"itemCount"`
	OutputFormat string `json:"outputFormat"`
	ExportType   string `json:"exportType"`
}

func openManifest(name string) (*Export, error) {
	data, err := os.ReadFile(name) //nolint:gosec // the user names the directory
	if err != nil {
		return nil, err
	}
	var s summary
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case s.OutputFormat != "" && s.OutputFormat != "DYNAMODB_JSON":
		return nil, fmt.Errorf("%s: the export is in %s: export the table as DYNAMODB_JSON", name, s.OutputFormat)
	case strings.Contains(s.ExportType, "INCREMENTAL"):
		return nil, fmt.Errorf("%s: the export is incremental and only contains changes: make a full export", name)
	}
	e := &Export{count: s.ItemCount}
	_, e.Table, _ = strings.Cut(s.TableArn, ":table/")
	list, err := os.Open(filepath.Join(filepath.Dir(name), filesFile))
	if err != nil {
		return nil, fmt.Errorf("the export is incomplete: %w", err)
	}
	defer list.Close()
	lines := json.NewDecoder(list)
	for {
		var f struct {
			ItemCount     int64  `json:"itemCount"`
			DataFileS3Key string `json:"dataFileS3Key"`
		}
		switch err := lines.Decode(&f); {
		case errors.Is(err, io.EOF):
			return e, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", list.Name(), err)
		}
		// The keys are those in the bucket; locally, the files are in data beside the manifest.
		file := filepath.Join(filepath.Dir(name), "data", path.Base(f.DataFileS3Key))
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("the export is incomplete: %w", err)
		}
		e.files = append(e.files, dataFile{file, f.ItemCount})
	}
}

// Count returns the number of items according to the manifest.
func (e *Export) Count() int64 { return e.count }

// Items reads all files.
func (e *Export) Items(ctx context.Context) iter.Seq2[Item, error] { return e.read(ctx, 0) }

// Sample reads the start of each file; each file has a part of the partition keys' hash range.
func (e *Export) Sample(ctx context.Context, n int) iter.Seq2[Item, error] {
	return e.read(ctx, max(1, (n+len(e.files)-1)/max(1, len(e.files))))
}

// read reads all files, at most limit items from each; 0 means no limit.
func (e *Export) read(ctx context.Context, limit int) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for _, f := range e.files {
			if err := f.read(ctx, limit, yield); err != nil {
				if !errors.Is(err, errStopped) {
					yield(nil, err)
				}
				return
			}
		}
	}
}

// errStopped ends reading when the reader wants no more items.
var errStopped = errors.New("stopped")

func (f dataFile) read(ctx context.Context, limit int, yield func(Item, error) bool) error {
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close()
	var in io.Reader = bufio.NewReaderSize(file, 1<<16)
	if strings.HasSuffix(f.path, ".gz") {
		unpacked, err := gzip.NewReader(in)
		if errors.Is(err, io.EOF) {
			return f.complete(0) // an empty partition
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		in = unpacked
	}
	records := json.NewDecoder(in)
	for n := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var r record
		switch err := records.Decode(&r); {
		case errors.Is(err, io.EOF):
			return f.complete(n)
		case err != nil:
			return fmt.Errorf("%s, after %s: %w", f.path, plural.Of(n, "item"), err)
		}
		items, err := r.items()
		if err != nil {
			return fmt.Errorf("%s, after %s: %w", f.path, plural.Of(n, "item"), err)
		}
		for _, item := range items {
			if n++; !yield(item, nil) {
				return errStopped
			}
			if limit > 0 && n >= int64(limit) {
				return nil
			}
		}
	}
}

// complete compares the number of items in a file with the manifest.
func (f dataFile) complete(n int64) error {
	if f.count >= 0 && f.count != n {
		return fmt.Errorf("%s contains %d items, but the manifest says %d: download it again", f.path, n, f.count)
	}
	return nil
}

// record is a line of an export, or the output of "aws dynamodb scan" and get-item.
type record struct {
	Item  map[string]*wire
	Items []map[string]*wire
	// Keys is set in incremental exports.
	Keys map[string]*wire
}

func (r record) items() ([]Item, error) {
	switch {
	case r.Keys != nil:
		return nil, errors.New("this is a record of an incremental export: make a full export")
	case r.Item == nil && r.Items == nil:
		return nil, errors.New(`this is not a line of an export: {"Item": {"PK": {"S": "USER#1"}, …}}`)
	case r.Item != nil:
		r.Items = append(r.Items, r.Item)
	}
	out := make([]Item, len(r.Items))
	for i, attributes := range r.Items {
		item, err := valuesOf(attributes)
		if err != nil {
			return nil, err
		}
		out[i] = item
	}
	return out, nil
}
