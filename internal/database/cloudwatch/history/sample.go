package history

import (
	"cmp"
	"time"

	"github.com/monotable/monotable/internal/database/observe"
)

// Series is one metric with its dimensions; a missing dimension is empty.
type Series struct {
	Name      string `cbor:"1,keyasint"`
	Table     string `cbor:"2,keyasint,omitempty"`
	Index     string `cbor:"3,keyasint,omitempty"`
	Operation string `cbor:"4,keyasint,omitempty"`
	Stream    string `cbor:"5,keyasint,omitempty"`
	Receiver  string `cbor:"6,keyasint,omitempty"` // a Region
}

// Compare orders series by name, then by dimensions.
func (s Series) Compare(o Series) int {
	return cmp.Or(cmp.Compare(s.Name, o.Name), cmp.Compare(s.Table, o.Table), cmp.Compare(s.Index, o.Index),
		cmp.Compare(s.Operation, o.Operation), cmp.Compare(s.Stream, o.Stream), cmp.Compare(s.Receiver, o.Receiver))
}

// Unit returns the unit of the metric, in CloudWatch's spelling.
func (s Series) Unit() string {
	if s.Name == SuccessfulRequestLatency || s.Name == ReplicationLatency {
		return "Milliseconds"
	}
	return "Count"
}

// Sample is the measurement of a series in one minute, or the merged one of several.
type Sample struct {
	Count float64 `cbor:"1,keyasint"`
	Sum   float64 `cbor:"2,keyasint"`
	// Low and High are the extreme values; Ranged means that they are known.
	Low    float64 `cbor:"3,keyasint,omitempty"`
	High   float64 `cbor:"4,keyasint,omitempty"`
	Ranged bool    `cbor:"5,keyasint,omitempty"`
	// Buckets count latencies like a Histogram; nil for other metrics.
	Buckets []uint64 `cbor:"6,keyasint,omitempty"`
}

// Merge adds a measurement of the same series at another time.
func (s *Sample) Merge(o Sample) {
	if s.Count == 0 {
		*s = o
		s.Buckets = append([]uint64(nil), o.Buckets...)
		return
	}
	if o.Count == 0 {
		return
	}
	s.Count, s.Sum = s.Count+o.Count, s.Sum+o.Sum
	s.Low, s.High, s.Ranged = min(s.Low, o.Low), max(s.High, o.High), s.Ranged && o.Ranged
	if len(s.Buckets) != len(o.Buckets) {
		s.Buckets = nil
		return
	}
	for i, n := range o.Buckets {
		s.Buckets[i] += n
	}
}

// Percentile returns the value that percent of the values do not exceed. As in CloudWatch, values of which only the sum is known
// have percentiles if they are all equal; the precision of latencies is that of their buckets.
func (s *Sample) Percentile(percent float64) (value float64, ok bool) {
	switch {
	case !s.Ranged:
		return 0, false
	case s.Low == s.High:
		return s.Low, true
	case s.Buckets == nil:
		return 0, false
	}
	rank, below := percent/100*s.Count, 0.0
	for i, n := range s.Buckets {
		if n == 0 || below+float64(n) < rank {
			below += float64(n)
			continue
		}
		low, high := bucketBounds(i)
		return min(max(low+(high-low)*max(0, rank-below)/float64(n), s.Low), s.High), true
	}
	return s.High, true
}

// bucketBounds returns the bounds of a Histogram's bucket in milliseconds. The last one has no upper bound.
func bucketBounds(i int) (low, high float64) {
	if i > 0 {
		low = milliseconds(float64(observe.Buckets[i-1]))
	}
	if i < len(observe.Buckets) {
		return low, milliseconds(float64(observe.Buckets[i]))
	}
	return low, low
}

func milliseconds(nanoseconds float64) float64 { return nanoseconds / float64(time.Millisecond) }
