// Package counters is the stored form of counter keys: a signed varint for each counter. A sum is as long as the longer of its
// terms. Only this package knows the form.
//
//	┌─────────┬─────────┬ ─ ─
//	│ varint₀ │ varint₁ │
//	└─────────┴─────────┴ ─ ─
//
// Addition is elementwise, wraps around like int64, and is commutative and associative: a store may add up terms in any grouping,
// at any time.
package counters

import (
	"encoding/binary"
	"fmt"
)

// Append appends the stored form of the counters to dst.
func Append(dst []byte, values []int64) []byte {
	for _, v := range values {
		dst = binary.AppendVarint(dst, v)
	}
	return dst
}

// Add adds the counters stored in data to sum and returns it, extended if necessary.
func Add(sum []int64, data []byte) ([]int64, error) {
	for i := 0; len(data) > 0; i++ {
		v, n := binary.Varint(data)
		if n <= 0 {
			return nil, fmt.Errorf("counters: %x is not a varint", data)
		}
		if i == len(sum) {
			sum = append(sum, 0)
		}
		sum[i] += v
		data = data[n:]
	}
	return sum, nil
}

// Decode returns the counters stored in data, nil for nil.
func Decode(data []byte) ([]int64, error) {
	if data == nil {
		return nil, nil
	}
	return Add(make([]int64, 0, 2), data)
}

// Sums are what an update adds to counters, by key. The zero value is empty.
type Sums map[string][]int64

// Add adds to the counters of a key, which has counters from then on even if there are no deltas.
func (s *Sums) Add(key []byte, deltas []int64) {
	if *s == nil {
		*s = Sums{}
	}
	sum := (*s)[string(key)]
	if sum == nil {
		sum = make([]int64, 0, len(deltas))
	}
	for i, d := range deltas {
		if i == len(sum) {
			sum = append(sum, 0)
		}
		sum[i] += d
	}
	(*s)[string(key)] = sum
}
