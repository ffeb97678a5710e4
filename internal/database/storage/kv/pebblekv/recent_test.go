package pebblekv

import (
	"strings"
	"testing"
)

// TestRecentValues: a value is found again if no commit of its key, or of unknown keys, has begun since its place was taken, and
// none had begun before and was not synced.
func TestRecentValues(t *testing.T) {
	key, value := []byte("key"), []byte("value")
	for _, test := range []struct {
		what   string
		before func(u *unsynced) // before the place is taken
		then   func(u *unsynced) // between reading the value and keeping it
		value  []byte
		kept   bool
	}{
		{what: "nothing", kept: true},
		{what: "an earlier commit", before: func(u *unsynced) { commitOf(u, key)() }, kept: true},
		{what: "a commit that is not synced", before: func(u *unsynced) { commitOf(u, key) }},
		{what: "a commit of another key that is not synced", before: func(u *unsynced) { commitOf(u, []byte("another")) }, kept: true},
		{what: "a range that is not synced", before: func(u *unsynced) { u.beginRange() }},
		{what: "an earlier range", before: func(u *unsynced) { u.beginRange(); u.endRange() }, kept: true},
		{what: "a commit meanwhile", then: func(u *unsynced) { commitOf(u, key)() }},
		{what: "a commit meanwhile, not synced", then: func(u *unsynced) { commitOf(u, key) }},
		{what: "a commit of another key of the slot meanwhile", then: func(u *unsynced) { commitOf(u, neighbour(u, key))() }, kept: true},
		{what: "a range meanwhile", then: func(u *unsynced) { u.beginRange(); u.endRange() }},
		{what: "another reader meanwhile", then: func(u *unsynced) { _, p := u.recent.get(key); p.keep(key, value) }, kept: true},
		{what: "a neighbour's value meanwhile", then: func(u *unsynced) { k := neighbour(u, key); _, p := u.recent.get(k); p.keep(k, value) }, kept: true},
		{what: "an empty value", value: []byte{}, kept: true},
		{what: "a large value", value: []byte(strings.Repeat("x", recentValueBytes+1))},
	} {
		t.Run(test.what, func(t *testing.T) {
			u := newUnsynced(1 << 20)
			if test.before != nil {
				test.before(u)
			}
			got, place := u.recent.get(key)
			if got != nil {
				t.Fatalf("found %q before it was kept", got)
			}
			want := test.value
			if want == nil {
				want = value
			}
			if test.then != nil {
				test.then(u)
			}
			place.keep(key, want)
			if got, _ := u.recent.get(key); (got != nil) != test.kept || got != nil && string(got) != string(want) {
				t.Errorf("found %.20q, kept %t; want it kept: %t", got, got != nil, test.kept)
			}
			checkBytes(t, u.recent)
			commitOf(u, key)
			if got, _ := u.recent.get(key); got != nil {
				t.Errorf("found %q while a commit may have changed it", got)
			}
			checkBytes(t, u.recent)
		})
	}
}

// TestRecentValuesFit: a value that was read last is kept, whatever others are there, and all of them stay below the limit.
func TestRecentValuesFit(t *testing.T) {
	u := newUnsynced(recentShare * 64 * recentSlotBytes)
	value := []byte(strings.Repeat("x", 1000))
	kept := 0
	for i := range 10_000 {
		key := []byte(strings.Repeat("k", i%97+1) + string(rune('a'+i%26)))
		_, place := u.recent.get(key)
		place.keep(key, value)
		if got, _ := u.recent.get(key); got != nil {
			kept++
		}
		if held := u.recent.bytes.Load(); held > u.recent.limit {
			t.Fatalf("%d bytes are held, of %d", held, u.recent.limit)
		}
	}
	if kept < 9000 { // some have to make room for themselves
		t.Errorf("%d of 10000 values were kept", kept)
	}
	checkBytes(t, u.recent)
}

// commitOf begins a commit of a key, and returns what ends it.
func commitOf(u *unsynced, key []byte) (end func()) {
	stripes := u.appendStripes(nil, key)
	u.begin(stripes)
	return func() { u.end(stripes) }
}

// neighbour returns a key of the same slot and another stripe.
func neighbour(u *unsynced, key []byte) []byte {
	slot := u.recent.slot(u.stripe(key))
	for n := []byte("neighbour"); ; n = append(n, 'x') {
		if u.recent.slot(u.stripe(n)) == slot && u.stripe(n) != u.stripe(key) {
			return n
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
