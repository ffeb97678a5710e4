package kinesis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Files is a sink that appends records to a file for each data stream, one per line: DIR/REGION/ACCOUNT/STREAM.jsonl. A partial
// line left by a crash is removed before the next write.
type Files struct {
	dir string

	mu sync.Mutex // held while writing: two tables may have the same stream
}

// NewFiles returns a sink for a directory, which is created when needed.
func NewFiles(dir string) *Files { return &Files{dir: dir} }

// Path returns the file of a data stream.
func (f *Files) Path(streamARN string) string {
	account, region, name := splitARN(streamARN)
	return filepath.Join(f.dir, filepath.Base(region), filepath.Base(account), filepath.Base(name)+".jsonl")
}

// Put implements Sink.
func (f *Files) Put(_ context.Context, streamARN string, records []Record) (failed []Record, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := appendLines(f.Path(streamARN), records); err != nil {
		return records, fmt.Errorf("kinesis: %w", err)
	}
	return nil, nil
}

func appendLines(path string, records []Record) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	end, err := endOfLines(file)
	if err == nil {
		err = writeLines(file, end, records)
	}
	return errors.Join(err, file.Close())
}

func writeLines(file *os.File, end int64, records []Record) error {
	if err := file.Truncate(end); err != nil {
		return err
	}
	var lines []byte
	for i := range records {
		lines = append(append(lines, records[i].Data...), '\n')
	}
	if _, err := file.WriteAt(lines, end); err != nil {
		return err
	}
	return file.Sync()
}

// endOfLines returns the end of the last complete line of a file.
func endOfLines(file *os.File) (int64, error) {
	end, err := file.Seek(0, io.SeekEnd)
	buffer := make([]byte, 64<<10)
	for end > 0 && err == nil {
		n := min(end, int64(len(buffer)))
		if _, err = file.ReadAt(buffer[:n], end-n); err != nil {
			break
		}
		if i := bytes.LastIndexByte(buffer[:n], '\n'); i >= 0 {
			return end - n + int64(i) + 1, nil
		}
		end -= n
	}
	return 0, err
}
