package postgreskv

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
)

// segmentBytes is the maximum size of a key's part in one row: an entry of a PostgreSQL btree has at most
// 2,704 bytes.
const segmentBytes = 2560

// The flags of a row.
const (
	branchFlag  = 1 // there are keys that begin with this one, whose rest is in other rows
	counterFlag = 2 // the key has counters
)

// place is the position of a key: p identifies all segments but the last, k is the last.
type place struct{ p, k []byte }

// locate is the position of a key below a root.
func locate(root, key []byte) place {
	p := root
	for len(key) > segmentBytes {
		p, key = branch(p, key[:segmentBytes]), key[segmentBytes:]
	}
	return place{p, key}
}

// branches are the rows that lead to a key.
func branches(root, key []byte) (list []place) {
	p := root
	for len(key) > segmentBytes {
		list = append(list, place{p, key[:segmentBytes]})
		p, key = branch(p, key[:segmentBytes]), key[segmentBytes:]
	}
	return list
}

// branch is the p of the rows after a whole segment.
func branch(p, segment []byte) []byte {
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(p)))) //nolint:gosec // 40 at most
	h.Write(p)
	h.Write(segment)
	return h.Sum(nil)
}

// within is a range of keys with a common prefix: [lo, hi) of the rest; a nil hi means no end.
type within struct {
	p      []byte
	prefix []byte // of all the keys
	lo, hi []byte
}

// has reports whether a key that ends here is in the range.
func (w *within) has(k []byte) bool {
	return bytes.Compare(k, w.lo) >= 0 && (w.hi == nil || bytes.Compare(k, w.hi) < 0)
}

// beyond is the part of the range whose keys continue after a segment.
func (w *within) beyond(segment []byte) within {
	part := within{p: branch(w.p, segment), prefix: append(bytes.Clone(w.prefix), segment...)}
	if bytes.HasPrefix(w.lo, segment) {
		part.lo = w.lo[len(segment):]
	}
	if w.hi != nil && bytes.HasPrefix(w.hi, segment) {
		part.hi = w.hi[len(segment):]
	}
	return part
}

// bounds are the first segment that may be in the range, and the last one, or the first after it.
func (w *within) bounds() (first, last []byte, through bool) {
	first, last = w.lo, w.hi
	if first == nil {
		first = []byte{}
	}
	if len(first) > segmentBytes {
		first = first[:segmentBytes]
	}
	if len(last) > segmentBytes {
		last, through = last[:segmentBytes], true
	}
	return first, last, through
}
