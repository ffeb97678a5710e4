package tablecopy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/consumer"
)

// stateFormat is the format version of the state file.
const stateFormat = 1

// state is the state file. The fields of a table, and those of a segment, belong to one goroutine; any may call save.
type state struct {
	path   string
	mu     sync.Mutex // for fields changed by segments, and for the file
	stream *consumer.FileCheckpoints

	Format int    `json:"format"`
	From   string `json:"from"`
	To     string `json:"to"`
	Follow bool   `json:"follow,omitempty"`
	Seed   []byte `json:"seed,omitempty"` // for Options.Transform; nil without one

	Tables []*tableState `json:"tables"`
}

type tableState struct {
	Source string `json:"source"`
	Target string `json:"target"`
	// Creating is set before the target table is created: a table found later is the copy's own.
	Creating bool `json:"creating,omitempty"`
	// Existed reports that the target already had the table.
	Existed bool `json:"existed,omitempty"`
	// Stream is the ARN of the stream to follow, once its position is recorded.
	Stream string `json:"stream,omitempty"`
	// EnabledStream reports that the copy has turned on the source's stream.
	EnabledStream bool       `json:"enabledStream,omitempty"`
	Segments      []*segment `json:"segments,omitempty"`
	Copied        bool       `json:"copied,omitempty"`
	Done          bool       `json:"done,omitempty"`
}

// segment is the progress of a segment of the scan.
type segment struct {
	After key   `json:"after,omitempty"` // the last key whose items are written
	Items int64 `json:"items,omitempty"`
	Done  bool  `json:"done,omitempty"`
}

// key is a primary key in DynamoDB's JSON.
type key map[string]keyValue

type keyValue struct {
	S *string `json:"S,omitempty"`
	N *string `json:"N,omitempty"`
	B []byte  `json:"B,omitempty"`
}

func keyOf(attributes Item) key {
	k := key{}
	for name, value := range attributes {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			k[name] = keyValue{S: &v.Value}
		case *types.AttributeValueMemberN:
			k[name] = keyValue{N: &v.Value}
		case *types.AttributeValueMemberB:
			k[name] = keyValue{B: v.Value}
		}
	}
	return k
}

func (k key) attributes() Item {
	if k == nil {
		return nil
	}
	out := Item{}
	for name, v := range k {
		switch {
		case v.S != nil:
			out[name] = &types.AttributeValueMemberS{Value: *v.S}
		case v.N != nil:
			out[name] = &types.AttributeValueMemberN{Value: *v.N}
		default:
			out[name] = &types.AttributeValueMemberB{Value: v.B}
		}
	}
	return out
}

func (t *tableState) items() int64 {
	n := int64(0)
	for _, s := range t.Segments {
		n += s.Items
	}
	return n
}

// openState reads a state file; one that does not exist is an empty state.
func openState(path string) (*state, error) {
	s := &state{path: path, Format: stateFormat}
	data, err := os.ReadFile(path) //nolint:gosec // the user names it
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(data, s)
	}
	if err != nil {
		return nil, fmt.Errorf("the state of the copy in %s: %w", path, err)
	}
	if s.Format != stateFormat {
		return nil, fmt.Errorf("the state of the copy in %s has format %d; this program reads %d", path, s.Format, stateFormat)
	}
	return s, nil
}

// update changes the state and saves it.
func (s *state) update(change func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	return s.write()
}

func (s *state) save() error { return s.update(func() {}) }

// write replaces the file durably.
func (s *state) write() error {
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(s.path), filepath.Base(s.path)+".*")
	if err != nil {
		return fmt.Errorf("save the state of the copy: %w", err)
	}
	_, err = next.Write(append(data, '\n'))
	err = errors.Join(err, next.Sync(), next.Close())
	if err == nil {
		err = os.Rename(next.Name(), s.path)
	}
	if err != nil {
		return fmt.Errorf("save the state of the copy: %w", errors.Join(err, os.Remove(next.Name())))
	}
	return nil
}

func (s *state) checkpoints() string { return s.path + ".streams" }

// streams opens the stream checkpoints once, because a checkpoint file has one owner.
func (s *state) streams() (*consumer.FileCheckpoints, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == nil {
		var err error
		if s.stream, err = consumer.OpenFile(s.checkpoints()); err != nil {
			return nil, err
		}
	}
	return s.stream, nil
}

// forgetStreams deletes the stream checkpoints.
func (s *state) forgetStreams() error {
	if err := os.Remove(s.checkpoints()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// remove deletes the files of a completed copy.
func (s *state) remove() error {
	if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.forgetStreams()
}
