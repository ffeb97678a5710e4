package consumer

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"time"
)

// Checkpoint is the progress in a shard. The zero value is the shard's oldest record.
type Checkpoint struct {
	// Sequence is the number of the last record handled; empty if there was none yet.
	Sequence string `json:"sequence,omitempty"`
	// Since is the time at which reading began with Latest, in whole seconds, if there is no Sequence.
	Since time.Time `json:"since,omitzero"`
	// Done reports that the shard is closed and has been handled to its end.
	Done bool `json:"done,omitempty"`
}

// position names the position for messages.
func (c Checkpoint) position() string { return cmp.Or(c.Sequence, "its beginning") }

// Checkpoints stores checkpoints. Its methods can be called concurrently for different shards.
type Checkpoints interface {
	// Load returns the checkpoints of a stream, by shard id.
	Load(ctx context.Context, streamARN string) (map[string]Checkpoint, error)
	// Save replaces a shard's checkpoint. When it returns nil, the checkpoint is as durable as the store makes it.
	Save(ctx context.Context, streamARN, shard string, c Checkpoint) error
	// Delete removes the checkpoint of a shard that no longer exists. It does nothing if there is none.
	Delete(ctx context.Context, streamARN, shard string) error
}

// MemoryCheckpoints keeps checkpoints in memory.
type MemoryCheckpoints struct {
	mu      sync.Mutex
	streams map[string]map[string]Checkpoint
}

// NewMemory returns empty MemoryCheckpoints.
func NewMemory() *MemoryCheckpoints {
	return &MemoryCheckpoints{streams: map[string]map[string]Checkpoint{}}
}

// Load implements Checkpoints.
func (m *MemoryCheckpoints) Load(_ context.Context, stream string) (map[string]Checkpoint, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.streams[stream]), nil
}

// Save implements Checkpoints.
func (m *MemoryCheckpoints) Save(_ context.Context, stream, shard string, c Checkpoint) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	put(m.streams, stream, shard, c)
	return nil
}

// Delete implements Checkpoints.
func (m *MemoryCheckpoints) Delete(_ context.Context, stream, shard string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.streams[stream], shard)
	return nil
}

func put(streams map[string]map[string]Checkpoint, stream, shard string, c Checkpoint) {
	if streams[stream] == nil {
		streams[stream] = map[string]Checkpoint{}
	}
	streams[stream][shard] = c
}
