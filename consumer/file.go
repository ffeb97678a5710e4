package consumer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
)

// fileFormat is the format version that FileCheckpoints writes.
const fileFormat = 1

// FileCheckpoints stores the checkpoints of any number of streams in one JSON file. Each Save writes a new file, syncs it
// and replaces the old one, so a crash leaves one or the other. Only one process at a time may use a file; this is not
// checked.
type FileCheckpoints struct {
	path string

	mu      sync.Mutex
	streams map[string]map[string]Checkpoint
}

type checkpointFile struct {
	Format  int                              `json:"format"`
	Streams map[string]map[string]Checkpoint `json:"streams"`
}

// OpenFile reads a checkpoint file. The file need not exist yet, but its directory must.
func OpenFile(path string) (*FileCheckpoints, error) {
	content := checkpointFile{Format: fileFormat}
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &content)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("consumer: checkpoints %s: %w", path, err)
	}
	if content.Format != fileFormat {
		return nil, fmt.Errorf("consumer: checkpoints %s have format %d, this program supports %d", path, content.Format, fileFormat)
	}
	if content.Streams == nil {
		content.Streams = map[string]map[string]Checkpoint{}
	}
	return &FileCheckpoints{path: path, streams: content.Streams}, nil
}

// Load implements Checkpoints.
func (f *FileCheckpoints) Load(_ context.Context, stream string) (map[string]Checkpoint, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.streams[stream]), nil
}

// Save implements Checkpoints.
func (f *FileCheckpoints) Save(_ context.Context, stream, shard string, c Checkpoint) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	put(f.streams, stream, shard, c)
	return f.write()
}

// Delete implements Checkpoints.
func (f *FileCheckpoints) Delete(_ context.Context, stream, shard string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.streams[stream][shard]; !ok {
		return nil
	}
	delete(f.streams[stream], shard)
	return f.write()
}

func (f *FileCheckpoints) write() error {
	data, err := json.MarshalIndent(checkpointFile{Format: fileFormat, Streams: f.streams}, "", " ")
	if err == nil {
		err = replaceFile(f.path, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("consumer: checkpoints %s: %w", f.path, err)
	}
	return nil
}

// replaceFile writes a file durably.
func replaceFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	next, err := os.CreateTemp(dir, filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = next.Write(data)
	err = errors.Join(err, next.Sync(), next.Close())
	if err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return syncDir(dir)
}

// syncDir makes a rename durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
