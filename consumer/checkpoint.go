package consumer

import (
	"context"
	"maps"
	"sync"
	"time"
)

// Checkpoint is how far a shard has been handled. The zero value is the beginning of what the shard holds.
type Checkpoint struct {
	// Sequence is the number of the last record handled; "" where there was none yet.
	Sequence string `json:"sequence,omitempty"`
	// Since, where there is no Sequence, is the time at which reading began with Latest, in whole seconds.
	Since time.Time `json:"since,omitzero"`
	// Done says that the shard is closed and has been handled to its end.
	Done bool `json:"done,omitempty"`
}

// Checkpoints keeps checkpoints. Its methods may be called at once, for different shards.
type Checkpoints interface {
	// Load returns the checkpoints of a stream, by the shard's id.
	Load(ctx context.Context, streamARN string) (map[string]Checkpoint, error)
	// Save puts a shard's checkpoint in the place of an earlier one. When it returns nil the checkpoint is as
	// durable as the store makes it.
	Save(ctx context.Context, streamARN, shard string, c Checkpoint) error
	// Delete forgets a shard that the stream no longer has. Deleting what is not there does nothing.
	Delete(ctx context.Context, streamARN, shard string) error
}

// MemoryCheckpoints keeps checkpoints as long as the process lives.
type MemoryCheckpoints struct {
	mu      sync.Mutex
	streams map[string]map[string]Checkpoint
}

// NewMemory returns MemoryCheckpoints without any.
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
