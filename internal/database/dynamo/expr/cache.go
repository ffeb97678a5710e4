package expr

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// The cache has cacheSets × cacheWays expressions. A program uses some tens of texts; if more than cacheWays fall into the same
// set, they are reparsed from time to time.
const (
	cacheSets = 512
	cacheWays = 2
)

// cache caches parsed expressions by surface and text. It is a set-associative table of pointers: a lookup hashes the text and
// compares it with cacheWays entries, without locks or allocations; storing replaces an entry of the set. The zero value is
// empty.
type cache struct {
	sets [cacheSets][cacheWays]atomic.Pointer[cacheEntry]
}

type cacheEntry struct {
	surface Surface
	text    string
	parsed  *Expression
}

var (
	cacheSeed = maphash.MakeSeed()
	recent    cache
)

// Load is Parse with a cache of recent texts. The Expression is shared: read only.
func Load(s Surface, text string) (*Expression, error) { return recent.load(s, text) }

func (c *cache) load(s Surface, text string) (*Expression, error) {
	if len(text) > MaxTextBytes {
		return Parse(s, text)
	}
	hash := maphash.String(cacheSeed, text) + uint64(s)
	set := &c.sets[hash%cacheSets]
	for i := range set {
		if e := set[i].Load(); e != nil && e.surface == s && e.text == text {
			return e.parsed, nil
		}
	}
	// The tree refers to parts of its text, which must outlive the caller's buffer.
	text = strings.Clone(text)
	parsed, err := Parse(s, text)
	if err != nil {
		return nil, err
	}
	entry := &cacheEntry{surface: s, text: text, parsed: parsed}
	for i := range set {
		if set[i].CompareAndSwap(nil, entry) {
			return parsed, nil
		}
	}
	set[hash/cacheSets%cacheWays].Store(entry)
	return parsed, nil
}
