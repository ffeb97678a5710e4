package stream_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/stream"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

const created = 1_414_576_573_621 // the time in the shard id of AWS's documentation

func open(shards int) *stream.Stream {
	s := &stream.Stream{
		Table: 7, TableName: "Music", Label: "2014-10-29T09:56:13.621", View: catalog.NewAndOldImages,
		Keys: []catalog.KeyElement{{Name: "Artist"}, {Name: "Song", Range: true}}, Created: created,
	}
	s.Open(5, shards)
	return s
}

// TestStoredForm pins the stored form of a stream: a change here needs a new format.
func TestStoredForm(t *testing.T) {
	s := open(1)
	s.EnabledAt = created + 1
	s.Reshard(9, created+2, func(*stream.Shard) int { return 1 })
	s.Close(12, created+3)
	s.SettledAt = created + 4
	s.Horizon = 6 // as in format 1
	got, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"format":1,"table":7,"tableName":"Music","label":"2014-10-29T09:56:13.621","view":"NEW_AND_OLD_IMAGES",` +
		`"keys":[{"name":"Artist"},{"name":"Song","range":true}],"created":1414576573621,"enabledAt":1414576573622,` +
		`"disabledAt":1414576573624,"settledAt":1414576573625,"horizon":6,"shards":[` +
		`{"id":"` + s.Shards[0].ID + `","low":0,"high":65535,"start":5,"end":9,"opened":1414576573621,"closed":1414576573623},` +
		`{"id":"` + s.Shards[1].ID + `","parent":"` + s.Shards[0].ID + `","low":0,"high":65535,"start":9,"end":12,"opened":1414576573623,"closed":1414576573624}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("stored form (-want +got):\n%s", diff)
	}
	again, err := stream.Decode(got)
	if diff := cmp.Diff(s, again); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestDecodeRejects(t *testing.T) {
	for _, text := range []string{"", "{}", `{"format":2,"label":"l","tableName":"t"}`, `{"format":1,"shards":7}`} {
		if _, err := stream.Decode([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// FuzzRecord decodes any bytes: what is accepted is encoded and decoded again to the same value, and supports all queries.
func FuzzRecord(f *testing.F) {
	s := open(3)
	s.Reshard(9, created+2, func(*stream.Shard) int { return 2 })
	seed, err := s.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"format":1,"shards":[{"id":"","low":9,"high":1,"start":5,"end":1},{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := stream.Decode(data)
		if err != nil {
			return
		}
		stored, err := s.Encode()
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		again, err := stream.Decode(stored)
		if err != nil {
			t.Fatalf("%s is stored as %s: %v", data, stored, err)
		}
		if third, err := again.Encode(); err != nil || string(third) != string(stored) {
			t.Fatalf("%s is stored as %s, and that as %s, %v", data, stored, third, err)
		}
		s.Reshard(12, created, func(*stream.Shard) int { return 2 })
		s.Close(15, created)
	})
}

// TestIDs tests that IDs have the lengths of AWS's: 28 to 65 characters.
func TestIDs(t *testing.T) {
	s := open(100)
	for i, x := range s.Shards {
		if !stream.ValidShardID(x.ID) || len(x.ID) != 37 {
			t.Errorf("id %q", x.ID)
		}
		if i > 0 && s.Shards[i-1].ID >= x.ID {
			t.Errorf("%s is before %s", s.Shards[i-1].ID, x.ID)
		}
	}
	for _, text := range []string{"", "shardId-", "shardId-00000001414576573621-f55eea8", "shardId-0000000141457657362x-f55eea83", "shard-000000001414576573621-f55eea83"} {
		if stream.ValidShardID(text) {
			t.Errorf("%q is taken for an id", text)
		}
	}
}

// TestLineage splits, rotates, trims and closes a stream at random and checks, after each step, that every record is in one
// shard, that a child's parent ends where the child starts, and that shards are in order.
func TestLineage(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 10 {
		s := open(1 + random.IntN(3))
		at, now := kv.Seq(5), int64(created)
		removed := map[string]bool{}
		trimmedBelow := kv.Seq(5)
		for range 20 {
			at += kv.Seq(random.IntN(20))
			now += int64(random.IntN(3)) - 1 // the clock stops, and goes back
			s.Reshard(at, now, func(*stream.Shard) int { return random.IntN(4) - 1 })
			if random.IntN(10) == 0 {
				before := slices.Clone(s.Shards)
				s.Trim(now - int64(random.IntN(20)))
				for _, x := range before {
					if s.Shard(x.ID) == nil {
						removed[x.ID] = true
						trimmedBelow = max(trimmedBelow, x.End)
					}
				}
			}
			checkLineage(t, s, removed, trimmedBelow, at)
		}
		s.Close(at+1, now)
		for i := range s.Shards {
			if s.Shards[i].Open() {
				t.Errorf("%s is open after Close", s.Shards[i].ID)
			}
		}
	}
}

func checkLineage(t *testing.T, s *stream.Stream, removed map[string]bool, from, to kv.Seq) {
	t.Helper()
	numbers := []kv.Seq{from, to}
	for _, x := range s.Shards {
		numbers = append(numbers, x.Start, x.Start-1)
	}
	for _, seq := range numbers {
		if seq < from || seq > to {
			continue
		}
		for _, hash := range []uint16{0, 1, 0x1234, 0x7fff, 0x8000, 0xfffe, 0xffff} {
			holders := 0
			for i := range s.Shards {
				if s.Shards[i].Holds(seq, hash) {
					holders++
				}
			}
			if holders != 1 {
				t.Fatalf("record %d of hash %x is in %d shards", seq, hash, holders)
			}
		}
	}
	open := 0
	for i, x := range s.Shards {
		if x.Open() {
			open++
		}
		if i > 0 && s.Shards[i-1].ID >= x.ID {
			t.Fatalf("%s is before %s", s.Shards[i-1].ID, x.ID)
		}
		if x.Parent == "" || removed[x.Parent] {
			continue
		}
		parent := s.Shard(x.Parent)
		if parent == nil || parent.End != x.Start || x.Low < parent.Low || x.High > parent.High || parent.ID >= x.ID {
			t.Fatalf("%+v is a child of %+v", x, parent)
		}
		if !slices.ContainsFunc(stream.ChildrenOf(parent.ID, s.Shards), func(c stream.Shard) bool { return c.ID == x.ID }) {
			t.Fatalf("%s is not among the children of %s", x.ID, parent.ID)
		}
	}
	if open > stream.ShardsMax {
		t.Fatalf("%d shards are open", open)
	}
}

// TestAfter pages through shards, even if the previous page ended with one that was removed.
func TestAfter(t *testing.T) {
	s := open(5)
	var seen []string
	for after := ""; ; {
		page := s.After(after)
		if len(page) == 0 {
			break
		}
		after = page[0].ID
		seen = append(seen, after)
	}
	if len(seen) != 5 {
		t.Errorf("pages of one: %v", seen)
	}
	s.Reshard(9, created+10, func(*stream.Shard) int { return 1 })
	children := slices.Clone(s.Shards[5:])
	s.Trim(created + 10)
	if diff := cmp.Diff(children, s.After(seen[2])); diff != "" {
		t.Errorf("after a removed shard (-want +got):\n%s", diff)
	}
}

// TestTrim keeps shards that are open or were closed later.
func TestTrim(t *testing.T) {
	s := open(1)
	s.Reshard(10, created+100, func(*stream.Shard) int { return 1 })
	if s.Trim(created+99) || len(s.Shards) != 2 {
		t.Errorf("too early: %+v", s)
	}
	if !s.Trim(created+100) || len(s.Shards) != 1 || !s.Shards[0].Open() {
		t.Errorf("in time: %+v", s)
	}
}

func TestStatus(t *testing.T) {
	s := open(1)
	s.EnabledAt = created + 10
	check := func(at int64, want stream.Status, gone bool) {
		t.Helper()
		now := time.UnixMilli(at)
		if s.Status(now) != want || s.Gone(now) != gone {
			t.Errorf("at %d: %s, gone %v", at, s.Status(now), s.Gone(now))
		}
	}
	check(created+9, stream.Enabling, false)
	check(created+10, stream.Enabled, false)
	s.Close(9, created+20)
	s.SettledAt = created + 30
	check(created+29, stream.Disabling, false)
	check(created+30, stream.Disabled, false)
	day := (24 * time.Hour).Milliseconds()
	check(created+20+day-1, stream.Disabled, false)
	check(created+20+day, stream.Disabled, true)
}
