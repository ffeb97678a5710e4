package insights

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

var seed = flag.Uint64("seed", 0, "seed of the random tests; 0 is a new one")

func random(t *testing.T) *rand.Rand {
	t.Helper()
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("-seed %d", s)
	return rand.New(rand.NewPCG(s, 0))
}

// TestSketchKeepsItsBounds compares sketches of a skewed stream of keys with exact counts, one by one and added up.
func TestSketchKeepsItsBounds(t *testing.T) {
	r := random(t)
	zipf := rand.NewZipf(r, 1.2, 4, 5000)
	const room, parts = 64, 3
	exact, total := map[string]int64{}, int64(0)
	sketches := make([]*sketch, parts)
	for i := range sketches {
		sketches[i] = newSketch(room)
		for range 20000 {
			key, n := fmt.Sprint(zipf.Uint64()), 1+r.Int64N(3)
			sketches[i].add(key, n)
			exact[key] += n
			total += n
		}
		if len(sketches[i].byKey) > room {
			t.Fatalf("%d counters, want at most %d", len(sketches[i].byKey), room)
		}
	}
	found := map[string]bool{}
	for _, c := range merge(sketches) {
		found[c.key] = true
		if want := exact[c.key]; want > c.count || want < c.count-c.err {
			t.Errorf("key %s: between %d and %d, in truth %d", c.key, c.count-c.err, c.count, want)
		}
		if c.err > total/room {
			t.Errorf("key %s: error %d, want at most %d", c.key, c.err, total/room)
		}
	}
	for key, n := range exact {
		if n > total/room && !found[key] {
			t.Errorf("key %s with %d of %d is missing", key, n, total)
		}
	}
}

// TestFewKeysAreCountedExactly checks that there is no error while there are counters for all keys.
func TestFewKeysAreCountedExactly(t *testing.T) {
	r := random(t)
	now := time.Date(2026, 11, 20, 12, 0, 30, 0, time.UTC)
	var tracker Tracker
	exact := map[string]float64{}
	for range 5000 {
		name := fmt.Sprint("k", r.IntN(counterMax))
		units := float64(1+r.IntN(4)) / 2
		exact[name] += units
		tracker.Count(Accessed, KeyOf([]attr.Value{attr.String(name)}, nil), units, now.Add(-time.Duration(r.IntN(Minutes-1))*time.Minute))
	}
	ranks := tracker.Rankings(now).AccessedPartitions
	if len(ranks) != rankMax {
		t.Fatalf("%d ranks, want %d", len(ranks), rankMax)
	}
	for i, rank := range ranks {
		if want := exact[rank.Key[0].Value]; rank.Amount != want || rank.Error != 0 {
			t.Errorf("%v: %v ± %v, want %v", rank.Key, rank.Amount, rank.Error, want)
		}
		if i > 0 && ranks[i-1].Amount < rank.Amount {
			t.Errorf("rank %d has more than the one before", i)
		}
	}
}

// TestRankingsExpire checks that what is older than Minutes does not count, also where nothing has come since.
func TestRankingsExpire(t *testing.T) {
	start := time.Date(2026, 11, 20, 12, 0, 59, 0, time.UTC)
	var tracker Tracker
	count := func(name string, at time.Time) {
		tracker.Count(Throttled, KeyOf([]attr.Value{attr.String(name)}, []attr.Value{attr.ParseNumber("7")}), 1, at)
	}
	count("old", start)
	count("new", start.Add((Minutes-1)*time.Minute))
	names := func(now time.Time) (names []string) {
		for _, rank := range tracker.Rankings(now).ThrottledItems {
			names = append(names, rank.Key[0].Value+"/"+rank.Key[1].Value)
		}
		return names
	}
	for minutes, want := range map[int][]string{
		Minutes - 1: {"new/7", "old/7"}, Minutes: {"new/7"}, 2*Minutes - 2: {"new/7"}, 2*Minutes - 1: nil, 5 * Minutes: nil,
	} {
		if diff := cmp.Diff(want, names(start.Add(time.Duration(minutes)*time.Minute))); diff != "" {
			t.Errorf("after %d minutes: %s", minutes, diff)
		}
	}
}

// TestKeysAreDistinguished checks that keys have one text each, and none a long one.
func TestKeysAreDistinguished(t *testing.T) {
	long := strings.Repeat("ä", 1000)
	for _, k := range []struct {
		values []attr.Value
		want   []Part
	}{
		{[]attr.Value{attr.String("")}, []Part{{"S", ""}}},
		{[]attr.Value{attr.String("a"), attr.String("bc")}, []Part{{"S", "a"}, {"S", "bc"}}},
		{[]attr.Value{attr.String("ab"), attr.String("c")}, []Part{{"S", "ab"}, {"S", "c"}}},
		{[]attr.Value{attr.ParseNumber("1.50"), attr.Binary("\xff\x00")}, []Part{{"N", "1.5"}, {"B", "/wA="}}},
	} {
		got := partsOf(KeyOf(k.values, nil).partition)
		if diff := cmp.Diff(k.want, got); diff != "" {
			t.Errorf("%v: %s", k.values, diff)
		}
	}
	text := partsOf(KeyOf([]attr.Value{attr.String(long)}, nil).partition)[0].Value
	if !strings.HasPrefix(text, strings.Repeat("ä", textMax/2)+"… #") || len(text) > textMax+32 {
		t.Errorf("a long key: %q", text)
	}
	if KeyOf([]attr.Value{attr.String(long + "a")}, nil) == KeyOf([]attr.Value{attr.String(long + "b")}, nil) {
		t.Error("two long keys are the same")
	}
}
