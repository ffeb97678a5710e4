package stream

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// ShardsMax is the maximum number of open shards of a stream. Closed ones are kept for a day, so with a rotation every four hours
// the description has up to seven times as many.
const ShardsMax = 100

const maxHash = math.MaxUint16

// Shard is a part of a stream: the records whose hash is between Low and High, inclusive, and whose number is at least Start and
// less than End.
type Shard struct {
	ID     string `json:"id"`
	Parent string `json:"parent,omitempty"` // "" for the first shards of a stream
	Low    uint16 `json:"low"`
	High   uint16 `json:"high"`
	Start  kv.Seq `json:"start"`
	End    kv.Seq `json:"end,omitempty"` // 0 while the shard is open
	Opened int64  `json:"opened"`
	Closed int64  `json:"closed,omitempty"` // milliseconds since the epoch, like Opened
}

// Open reports whether records can still be added.
func (s *Shard) Open() bool { return s.End == 0 }

// Holds reports whether the shard contains the record with a number and hash.
func (s *Shard) Holds(seq kv.Seq, hash uint16) bool {
	return s.Covers(seq) && s.Low <= hash && hash <= s.High
}

// Covers reports whether the number is in the shard's range of numbers.
func (s *Shard) Covers(seq kv.Seq) bool { return s.Start <= seq && (s.Open() || seq < s.End) }

// Last returns the last number that a record of a closed shard can have, or the shard's first number if it can have none.
func (s *Shard) Last() kv.Seq { return max(s.End-1, s.Start) }

func (s *Shard) close(end kv.Seq, now int64) { s.End, s.Closed = max(end, s.Start), now }

// Reshard closes open shards before a number and opens children in their place. pieces returns the number of children: 0 leaves a
// shard unchanged, 1 replaces it with a child that has the same hashes. A shard with too few hashes, or whose split would exceed
// ShardsMax, is left unchanged. Reshard reports whether it changed anything.
func (s *Stream) Reshard(at kv.Seq, now int64, pieces func(*Shard) int) bool {
	var children []Shard
	open := s.openShards()
	for i := range s.Shards {
		parent := &s.Shards[i]
		if !parent.Open() {
			continue
		}
		n := pieces(parent)
		if n <= 0 || n > int(parent.High)-int(parent.Low)+1 || n > ShardsMax-open+1 {
			continue
		}
		open += n - 1
		parent.close(at, now)
		children = append(children, divide(Shard{Parent: parent.ID, Low: parent.Low, High: parent.High}, n)...)
	}
	if children == nil {
		return false
	}
	// The clock may stand still or go back; ids must not.
	opened := max(now, s.Shards[len(s.Shards)-1].Opened+1)
	s.Shards = append(s.Shards, s.open(opened, at, children)...)
	return true
}

// OldestOpen returns when the oldest open shard was opened, or the zero time if none is open.
func (s *Stream) OldestOpen() (opened time.Time) {
	for i := range s.Shards { // in order of opening
		if s.Shards[i].Open() {
			return time.UnixMilli(s.Shards[i].Opened)
		}
	}
	return time.Time{}
}

func (s *Stream) openShards() (n int) {
	for i := range s.Shards {
		if s.Shards[i].Open() {
			n++
		}
	}
	return n
}

// open assigns ids to shards that are opened together.
func (s *Stream) open(now int64, start kv.Seq, shards []Shard) []Shard {
	for i := range shards {
		shards[i].Start, shards[i].Opened = start, now
		shards[i].ID = s.shardID(now, shards[:i], shards[i].Low)
	}
	slices.SortFunc(shards, func(a, b Shard) int { return cmp.Compare(a.ID, b.ID) })
	return shards
}

// shardID returns "shardId-", the time, and a hash of the shard's properties that differs from those of neighbouring shards.
func (s *Stream) shardID(now int64, neighbours []Shard, low uint16) string {
	for salt := uint16(0); ; salt++ {
		h := fnv.New32a()
		_, _ = h.Write([]byte(s.TableName + "/" + s.Label))
		_, _ = h.Write(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, low), salt))
		id := fmt.Sprintf("shardId-%020d-%08x", now, h.Sum32())
		if !slices.ContainsFunc(neighbours, func(x Shard) bool { return x.ID == id }) {
			return id
		}
	}
}

// divide divides a shard's hashes into equal parts.
func divide(whole Shard, n int) []Shard {
	parts := make([]Shard, n)
	hashes := int(whole.High) - int(whole.Low) + 1
	for i := range parts {
		parts[i] = whole
		parts[i].Low = uint16(int(whole.Low) + i*hashes/n)
		parts[i].High = uint16(int(whole.Low) + (i+1)*hashes/n - 1)
	}
	return parts
}

// Shard returns the shard with an id, or nil.
func (s *Stream) Shard(id string) *Shard {
	i := slices.IndexFunc(s.Shards, func(x Shard) bool { return x.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Shards[i]
}

// After returns the shards after the one with an id, which may have been removed; "" is before all.
func (s *Stream) After(id string) []Shard {
	i := slices.IndexFunc(s.Shards, func(x Shard) bool { return x.ID > id })
	if i < 0 {
		return nil
	}
	return s.Shards[i:]
}

// ChildrenOf returns the children of a shard among the given shards.
func ChildrenOf(parent string, shards []Shard) []Shard {
	var children []Shard
	for _, x := range shards {
		if x.Parent == parent {
			children = append(children, x)
		}
	}
	return children
}

// Trim removes the shards that were closed at or before a time, and reports whether there were any.
func (s *Stream) Trim(closedBy int64) bool {
	n := len(s.Shards)
	s.Shards = slices.DeleteFunc(s.Shards, func(x Shard) bool { return !x.Open() && x.Closed <= closedBy })
	return len(s.Shards) < n
}

// Readable returns the stream without the shards that were closed before a time; s itself is unchanged.
func (s *Stream) Readable(since int64) *Stream {
	old := func(x Shard) bool { return !x.Open() && x.Closed < since }
	if !slices.ContainsFunc(s.Shards, old) {
		return s
	}
	readable := *s
	readable.Shards = slices.DeleteFunc(slices.Clone(s.Shards), old)
	return &readable
}

// ValidShardID reports whether a text has the form of a shard's id.
func ValidShardID(text string) bool {
	rest, ok := strings.CutPrefix(text, "shardId-")
	opened, hash, found := strings.Cut(rest, "-")
	return ok && found && len(opened) == 20 && len(hash) == 8 &&
		strings.Trim(opened, "0123456789") == "" && strings.Trim(hash, "0123456789abcdef") == ""
}
