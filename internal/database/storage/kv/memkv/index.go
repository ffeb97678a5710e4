package memkv

import (
	"bytes"
	"hash/maphash"
)

// index finds the entries of the live tree by a hash of their key: a point read touches a few cache lines, rather than one or two
// for each comparison on its way down the tree.
//
// It has one entry for each hash. If two keys ever have the same hash, the index records that, and from then on looks up in the
// tree whatever it does not find.
type index struct {
	seed     maphash.Seed
	entries  map[uint64]entry
	collided bool
}

func newIndex() *index {
	return &index{seed: maphash.MakeSeed(), entries: make(map[uint64]entry)}
}

// get returns the key's value, or nil. If the index cannot decide it searches the tree.
func (x *index) get(t *tree, key []byte) []byte {
	e, ok := x.entries[maphash.Bytes(x.seed, key)]
	switch {
	case ok && bytes.Equal(e.key, key):
	case x.collided:
		e, _ = t.Get(entry{key: key})
	default:
		return nil
	}
	return e.value
}

func (x *index) set(e entry) {
	h := maphash.Bytes(x.seed, e.key)
	if old, ok := x.entries[h]; ok && !bytes.Equal(old.key, e.key) {
		x.collided = true
	}
	x.entries[h] = e
}

func (x *index) delete(key []byte) {
	h := maphash.Bytes(x.seed, key)
	if old, ok := x.entries[h]; ok && bytes.Equal(old.key, key) {
		delete(x.entries, h)
	}
}
