package counters_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv/counters"
)

func FuzzAdd(f *testing.F) {
	f.Add(int64(1), int64(-1), int64(math.MaxInt64), true)
	f.Add(int64(0), int64(math.MinInt64), int64(math.MinInt64), false)
	f.Fuzz(func(t *testing.T, a, b, c int64, longer bool) {
		x, y := []int64{a, b}, []int64{c}
		if longer {
			y = append(y, a, b)
		}
		sum, err := counters.Decode(counters.Append([]byte{}, x))
		if err != nil || !slices.Equal(sum, x) {
			t.Fatalf("%v, %v came back of %v", sum, err, x)
		}
		xy, err := counters.Add(slices.Clone(x), counters.Append(nil, y))
		if err != nil {
			t.Fatal(err)
		}
		yx, err := counters.Add(slices.Clone(y), counters.Append(nil, x))
		if err != nil || !slices.Equal(xy, yx) || xy[0] != a+c || len(xy) != max(len(x), len(y)) {
			t.Fatalf("%v + %v is %v, the other way round %v, %v", x, y, xy, yx, err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{0x80})
	f.Add([]byte{0, 1, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		values, err := counters.Decode(data)
		if err != nil {
			return
		}
		again, err := counters.Decode(counters.Append([]byte{}, values))
		if err != nil || !slices.Equal(again, values) {
			t.Fatalf("%x: %v, then %v, %v", data, values, again, err)
		}
	})
}

// TestStoredForm pins the form that counters are stored in; it must never change.
func TestStoredForm(t *testing.T) {
	want := []byte{0x02, 0x01, 0x00, 0xd8, 0x04}
	if got := counters.Append(nil, []int64{1, -1, 0, 300}); !bytes.Equal(got, want) {
		t.Errorf("stored as %x, want %x", got, want)
	}
	if got, err := counters.Decode(want); err != nil || !slices.Equal(got, []int64{1, -1, 0, 300}) {
		t.Errorf("read as %v, %v", got, err)
	}
}

func TestDecodeNil(t *testing.T) {
	if values, err := counters.Decode(nil); values != nil || err != nil {
		t.Errorf("%v, %v", values, err)
	}
}
