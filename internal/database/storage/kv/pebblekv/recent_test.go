package pebblekv

import (
	"strconv"
	"strings"
	"testing"
)

// TestRecentValues: a value is found again unless a commit of its key, or of unknown keys, was in progress when its place was taken,
// or has begun since.
func TestRecentValues(t *testing.T) {
	key, value := []byte("key"), []byte("value")
	for _, test := range []struct {
		what   string
		before func(c *recent) // before the place is taken
		then   func(c *recent) // between reading the value and keeping it
		value  []byte
		kept   bool
	}{
		{what: "nothing", kept: true},
		{what: "an earlier commit", before: func(c *recent) { commitOf(c, key)() }, kept: true},
		{what: "a commit that is not synced", before: func(c *recent) { commitOf(c, key) }},
		{what: "a commit of another key that is not synced", before: func(c *recent) { commitOf(c, neighbour(c, key)) }, kept: true},
		{what: "a range that is not synced", before: func(c *recent) { c.unsynced.beginRange() }},
		{what: "an earlier range", before: func(c *recent) { c.unsynced.beginRange(); c.unsynced.endRange() }, kept: true},
		{what: "a commit meanwhile", then: func(c *recent) { commitOf(c, key)() }},
		{what: "a commit meanwhile, not synced", then: func(c *recent) { commitOf(c, key) }},
		{what: "a commit of another key of the slot meanwhile", then: func(c *recent) { commitOf(c, neighbour(c, key))() }, kept: true},
		{what: "a range meanwhile", then: func(c *recent) { c.unsynced.beginRange(); c.unsynced.endRange() }},
		{what: "another reader meanwhile", then: func(c *recent) { _, p := c.get(key); p.keepValue(key, value) }, kept: true},
		{what: "a neighbour's value meanwhile", then: func(c *recent) { k := neighbour(c, key); _, p := c.get(k); p.keepValue(k, value) }, kept: true},
		{what: "an empty value", value: []byte{}, kept: true},
		{what: "a large value", value: []byte(strings.Repeat("x", recentValueBytes+1))},
	} {
		t.Run(test.what, func(t *testing.T) {
			c := newRecent(newUnsynced(), 1<<20, recentValueSlotBytes)
			if test.before != nil {
				test.before(c)
			}
			got, place := c.get(key)
			if got != nil {
				t.Fatalf("found %q before it was kept", got)
			}
			want := test.value
			if want == nil {
				want = value
			}
			if test.then != nil {
				test.then(c)
			}
			place.keepValue(key, want)
			if got, _ := c.get(key); (got != nil) != test.kept || got != nil && string(got) != string(want) {
				t.Errorf("found %.20q, kept %t; want it kept: %t", got, got != nil, test.kept)
			}
			checkBytes(t, c)
			commitOf(c, key)
			if got, _ := c.get(key); got != nil {
				t.Errorf("found %q while a commit may have changed it", got)
			}
			checkBytes(t, c)
		})
	}
}

// TestRecentValuesFit: a full cache still accepts new values, and stays below its limit.
func TestRecentValuesFit(t *testing.T) {
	c := newRecent(newUnsynced(), recentShare*64*recentValueSlotBytes, recentValueSlotBytes)
	value := []byte(strings.Repeat("x", 1000))
	kept := 0
	for i := range 10_000 {
		key := []byte(strings.Repeat("k", i%97+1) + string(rune('a'+i%26)))
		_, place := c.get(key)
		place.keepValue(key, value)
		if got, _ := c.get(key); got != nil {
			kept++
		}
		if held := c.bytes.Load(); held > c.limit {
			t.Fatalf("%d bytes are held, of %d", held, c.limit)
		}
	}
	if kept < 9000 { // sometimes no value is found that can make room
		t.Errorf("%d of 10000 values were kept", kept)
	}
	checkBytes(t, c)
}

// commitOf begins a commit of a key, and returns the function that ends it.
func commitOf(c *recent, key []byte) (end func()) {
	stripes := c.unsynced.appendStripes(nil, key)
	c.unsynced.begin(stripes)
	return func() { c.unsynced.end(stripes) }
}

// neighbour returns a key of the same slot and another stripe.
func neighbour(c *recent, key []byte) []byte {
	stripe := c.unsynced.stripe(key)
	for i := 0; ; i++ {
		other := strconv.AppendInt(nil, int64(i), 10)
		if s := c.unsynced.stripe(other); s != stripe && c.at(s) == c.at(stripe) {
			return other
		}
	}
}

// checkBytes compares the bytes counted with those of the entries.
func checkBytes(t *testing.T, c *recent) {
	t.Helper()
	var sum int64
	for i := range c.slots {
		sum += c.slots[i].Load().size()
	}
	if counted := c.bytes.Load(); counted != sum {
		t.Errorf("%d bytes are counted, %d held", counted, sum)
	}
}
