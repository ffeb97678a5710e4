package kv

import (
	"bytes"
	"context"
	"fmt"
)

func (c *checked) Load(ctx context.Context, fill func(put func(key, value []byte) error) error) error {
	return c.Store.Load(ctx, func(put func(key, value []byte) error) error {
		var last []byte
		ended := false
		defer func() { ended = true }()
		return fill(func(key, value []byte) error {
			checkKey(key)
			if ended {
				panic(fmt.Sprintf("kv: key %x is loaded after the end of fill", key))
			}
			if bytes.Compare(key, last) <= 0 {
				panic(fmt.Sprintf("kv: key %x is loaded after key %x", key, last))
			}
			last = bytes.Clone(key)
			k, v := bytes.Clone(key), append([]byte{}, value...)
			err := put(k, v)
			scramble(k)
			scramble(v)
			return err
		})
	})
}

func (c *checked) Size(ctx context.Context, lo, hi []byte) (int64, error) {
	checkBounds(lo, hi)
	return c.Store.Size(ctx, lo, hi)
}

func (c *checked) Compact(ctx context.Context, lo, hi []byte) error {
	checkBounds(lo, hi)
	return c.Store.Compact(ctx, lo, hi)
}

func (c *checked) Keep(ctx context.Context, name string, what Selection) error {
	checkName(name)
	for _, span := range what.Spans {
		checkBounds(span.Lo, span.Hi)
	}
	return c.Store.Keep(ctx, name, what)
}

func (c *checked) OpenKept(ctx context.Context, name string) (Snapshot, error) {
	checkName(name)
	s, err := c.Store.OpenKept(ctx, name)
	if err != nil {
		return nil, err
	}
	c.countKept(name, 1)
	closed := func() { c.countKept(name, -1) }
	return &checkedSnapshot{checkedReader: checkedReader{r: s}, snapshot: s, closed: closed}, nil
}

func (c *checked) countKept(name string, more int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.openKept[name] += more
}

func (c *checked) DropKept(ctx context.Context, name string) error {
	checkName(name)
	c.mu.Lock()
	open := c.openKept[name]
	c.mu.Unlock()
	if open > 0 {
		panic(fmt.Sprintf("kv: the kept snapshot %s is dropped while it is open", name))
	}
	return c.Store.DropKept(ctx, name)
}

func checkName(name string) {
	if !ValidKeptName(name) {
		panic(fmt.Sprintf("kv: %q cannot be the name of a kept snapshot", name))
	}
}
