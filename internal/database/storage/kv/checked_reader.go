package kv

import (
	"bytes"
	"context"
	"fmt"
)

// given is a slice that was handed out temporarily.
type given struct {
	slice, original []byte
}

// lend returns the slice to show to the caller, nil for nil.
func lend(slice []byte) given {
	return given{slice: bytes.Clone(slice), original: bytes.Clone(slice)}
}

// takeBack ends the slice's validity.
func (g given) takeBack() {
	if !bytes.Equal(g.slice, g.original) {
		panic(fmt.Sprintf("kv: a slice of the store was changed from %x to %x", g.original, g.slice))
	}
	scramble(g.slice)
}

// scramble overwrites a slice; of a large one only some thousand bytes.
func scramble(slice []byte) {
	step := 1 + len(slice)>>16
	for i := 0; i < len(slice); i += step {
		slice[i] ^= 0xA5
	}
}

// checkedReads are reads outside of updates.
type checkedReads struct{ reads Reads }

func (c checkedReads) Get(ctx context.Context, key []byte) ([]byte, error) {
	checkKey(key)
	return c.reads.Get(ctx, key)
}

func (c checkedReads) Counter(ctx context.Context, key []byte) ([]int64, error) {
	checkKey(key)
	return c.reads.Counter(ctx, key)
}

func (c checkedReads) Iter(ctx context.Context, lo, hi []byte, o IterOptions) (Iterator, error) {
	checkBounds(lo, hi)
	it, err := c.reads.Iter(ctx, lo, hi, o)
	if err != nil {
		return nil, err
	}
	return &checkedIterator{it: it, reader: &checkedReader{iterators: 1}, limit: o.Limit}, nil
}

func (c checkedReads) Snapshot(ctx context.Context) (Snapshot, error) {
	s, err := c.reads.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return &checkedSnapshot{checkedReader: checkedReader{r: s}, snapshot: s}, nil
}

type checkedReader struct {
	r         Reader
	lent      []given
	iterators int // number of open ones
	ended     bool
}

func (c *checkedReader) Get(key []byte) ([]byte, error) {
	c.checkLive()
	checkKey(key)
	value, err := c.r.Get(key)
	g := lend(value)
	c.lent = append(c.lent, g)
	return g.slice, err
}

func (c *checkedReader) Counter(key []byte) ([]int64, error) {
	c.checkLive()
	checkKey(key)
	return c.r.Counter(key)
}

func (c *checkedReader) Iter(lo, hi []byte, o IterOptions) Iterator {
	c.checkLive()
	checkBounds(lo, hi)
	c.iterators++
	return &checkedIterator{it: c.r.Iter(lo, hi, o), reader: c}
}

func (c *checkedReader) checkLive() {
	if c.ended {
		panic("kv: a reader is used after its end")
	}
}

func (c *checkedReader) end() {
	c.checkLive()
	if c.iterators != 0 {
		panic(fmt.Sprintf("kv: a reader ends with %d iterators open", c.iterators))
	}
	c.ended = true
	for _, g := range c.lent {
		g.takeBack()
	}
}

type checkedSnapshot struct {
	checkedReader
	snapshot Snapshot
	closed   func() // called by Close; may be nil
}

func (s *checkedSnapshot) ReadLog(log LogID, after Seq, limit int) ([]Record, error) {
	s.checkLive()
	return s.snapshot.ReadLog(log, after, limit)
}

func (s *checkedSnapshot) Close() error {
	s.end()
	if s.closed != nil {
		s.closed()
	}
	return s.snapshot.Close()
}

type checkedIterator struct {
	it         Iterator
	reader     *checkedReader
	key, value given
	limit      int  // the maximum number of entries to read; 0 means any
	read       int  // the number of entries read
	valid      bool // positioned on an entry
	exhausted  bool
	closed     bool
}

func (c *checkedIterator) Next() bool {
	c.checkOpen()
	c.leave()
	if c.limit > 0 && c.read == c.limit {
		panic("kv: a range is read beyond its limit")
	}
	c.read++
	c.valid = c.it.Next()
	if c.valid && c.exhausted {
		panic("kv: an iterator continues after its end")
	}
	c.exhausted = !c.valid
	if c.valid {
		c.key, c.value = lend(c.it.Key()), lend(c.it.Value())
	}
	return c.valid
}

func (c *checkedIterator) Key() []byte {
	c.checkValid()
	return c.key.slice
}

func (c *checkedIterator) Value() []byte {
	c.checkValid()
	return c.value.slice
}

func (c *checkedIterator) Err() error {
	c.checkOpen()
	return c.it.Err()
}

func (c *checkedIterator) Close() error {
	c.checkOpen()
	c.leave()
	c.closed = true
	c.reader.iterators--
	return c.it.Close()
}

func (c *checkedIterator) leave() {
	if c.valid {
		c.key.takeBack()
		c.value.takeBack()
		c.valid = false
	}
}

func (c *checkedIterator) checkOpen() {
	if c.closed {
		panic("kv: an iterator is used after Close")
	}
	c.reader.checkLive()
}

func (c *checkedIterator) checkValid() {
	c.checkOpen()
	if !c.valid {
		panic("kv: an iterator without a current entry is asked for one")
	}
}
