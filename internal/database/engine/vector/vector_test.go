package vector

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// TestNearestKeepsTheBest: whatever the order of the offers, the nearest come out in order, ties by key.
func TestNearestKeepsTheBest(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, f := range []Function{Cosine, DotProduct} {
		all := make([]Scored, 100)
		for i := range all {
			all[i] = Scored{Key: fmt.Appendf(nil, "%03d", i), Score: float64(rng.IntN(10)), Bytes: i}
		}
		want := slices.Clone(all)
		slices.SortStableFunc(want, func(a, b Scored) int { // all is in the order of keys
			if f == DotProduct {
				return int(b.Score - a.Score)
			}
			return int(a.Score - b.Score)
		})
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		n := NewNearest(f, 17)
		for _, s := range all {
			n.Offer(s.Key, s.Score, s.Bytes)
		}
		same := func(a, b Scored) bool { return bytes.Equal(a.Key, b.Key) && a.Score == b.Score && a.Bytes == b.Bytes }
		if got := n.Sorted(); !slices.EqualFunc(got, want[:17], same) {
			t.Errorf("%s: got %v, want %v", f, got, want[:17])
		}
	}
}

// TestValueReadsBack: components come back as numbers that are stored as the same components.
func TestValueReadsBack(t *testing.T) {
	numbers := []string{"0", "1", "-1", "0.1", "16777217", "3.4028234E38", "-3.4028234E38", "1E-45", "-1E-100", "0.333333333333333333333"}
	elements := make([]attr.Value, len(numbers))
	for i, n := range numbers {
		elements[i] = attr.Number(n)
	}
	stored := func(v attr.Value) []byte {
		value, _, err := itemenc.Encode(nil, attr.Item{{Name: "v", Value: v}}).Lookup("v")
		if err != nil {
			t.Fatal(err)
		}
		out, ok, err := Append(nil, value, len(numbers))
		if err != nil || !ok {
			t.Fatalf("not a vector: %v", err)
		}
		return out
	}
	first := stored(attr.List(elements))
	v, err := Value(first)
	if err != nil {
		t.Fatal(err)
	}
	again := stored(v)
	again[4*8+3] |= 0x80 // −1E-100 is −0 and is decoded as 0
	if !bytes.Equal(first, again) {
		t.Errorf("%x is decoded as %x", first, again)
	}
}

// TestStoredForm pins the form that entries of vector indexes are stored in; it must never change.
func TestStoredForm(t *testing.T) {
	item := itemenc.Encode(nil, attr.Item{{Name: "v", Value: attr.List([]attr.Value{attr.Number("1"), attr.Number("-2.5"), attr.Number("0.1")})}})
	value, _, err := item.Lookup("v")
	if err != nil {
		t.Fatal(err)
	}
	entry, ok, err := Append(nil, value, 3)
	if want := []byte("\x00\x00\x80\x3f\x00\x00\x20\xc0\xcd\xcc\xcc\x3d"); err != nil || !ok || !bytes.Equal(entry, want) {
		t.Errorf("stored as %x, %v, %v; want %x", entry, ok, err, want)
	}
	components, projected, err := Split(append(entry, item...), 3)
	if err != nil || !bytes.Equal(components, entry) || !bytes.Equal(projected, item) {
		t.Errorf("cut into %x and %x, %v", components, projected, err)
	}
}

// FuzzVector: a list is stored exactly if Check finds no fault in it, as the components that Parse reads; they come back as
// numbers that are stored alike, and every score is finite.
func FuzzVector(f *testing.F) {
	f.Add("1,-2.5,0.1", uint8(3))
	f.Add("1e125,3.4028235e38,3.4028236e38,1e-130,-0", uint8(5))
	f.Add("x,1", uint8(2))
	f.Fuzz(func(t *testing.T, text string, dimensions uint8) {
		var elements []attr.Value
		for number := range strings.SplitSeq(text, ",") {
			v := attr.ParseNumber(number)
			if _, faulty := v.Fault(); faulty {
				v = attr.String(number)
			}
			elements = append(elements, v)
		}
		store := func(v attr.Value) ([]byte, bool) {
			value, _, err := itemenc.Encode(nil, attr.Item{{Name: "v", Value: v}}).Lookup("v")
			if err != nil {
				t.Fatal(err)
			}
			stored, ok, err := Append([]byte("before"), value, int(dimensions))
			if err != nil || !bytes.HasPrefix(stored, []byte("before")) {
				t.Fatalf("%q is stored as %q, %v", text, stored, err)
			}
			return stored[len("before"):], ok
		}
		stored, ok := store(attr.List(elements))
		fault := Check(attr.List(elements), int(dimensions))
		if ok != (fault.Kind == NoFault) || len(stored) != 0 && len(stored) != int(dimensions)*ComponentBytes {
			t.Fatalf("%q is stored as %x, %v; its fault is %v", text, stored, ok, fault)
		}
		if !ok {
			return
		}
		components, _ := Parse(elements, int(dimensions))
		for i, c := range components {
			if at(stored[i*ComponentBytes:]) != c {
				t.Fatalf("component %d of %q is stored as %v and read as %v", i, text, at(stored[i*ComponentBytes:]), c)
			}
		}
		v, err := Value(stored)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := store(v)
		for i, c := range components {
			if at(again[i*ComponentBytes:]) != c {
				t.Fatalf("component %v of %q is decoded as %v", c, text, at(again[i*ComponentBytes:]))
			}
		}
		for _, function := range []Function{Cosine, Euclidean, DotProduct} {
			if score := NewQuery(function, components).Score(stored); math.IsNaN(score) || math.IsInf(score, 0) {
				t.Fatalf("%s of %q and itself is %v", function, text, score)
			}
		}
	})
}

// FuzzSplit cuts any bytes.
func FuzzSplit(f *testing.F) {
	f.Add([]byte("\x00\x00\x80\x3fitem"), uint16(1))
	f.Add([]byte("\x00\x00\x80\x3f"), uint16(1))
	f.Fuzz(func(t *testing.T, entry []byte, dimensions uint16) {
		components, projected, err := Split(entry, int(dimensions))
		if whole := len(entry) > int(dimensions)*ComponentBytes; whole != (err == nil) {
			t.Fatalf("%d bytes of %d dimensions: %v", len(entry), dimensions, err)
		}
		if err == nil && (!bytes.Equal(append(bytes.Clone(components), projected...), entry) || len(components) != int(dimensions)*ComponentBytes) {
			t.Fatalf("%x is cut into %x and %x", entry, components, projected)
		}
		_, _ = Value(components)
	})
}

func BenchmarkScore(b *testing.B) {
	const dimensions = 256
	rng := rand.New(rand.NewPCG(1, 2))
	elements := make([]attr.Value, dimensions)
	for i := range elements {
		elements[i] = attr.Number(fmt.Sprintf("%.6f", rng.Float64()))
	}
	components, _ := Parse(elements, dimensions)
	value, _, err := itemenc.Encode(nil, attr.Item{{Name: "v", Value: attr.List(elements)}}).Lookup("v")
	if err != nil {
		b.Fatal(err)
	}
	stored, _, err := Append(nil, value, dimensions)
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range []Function{Cosine, Euclidean, DotProduct} {
		q := NewQuery(f, components)
		b.Run(string(f), func(b *testing.B) {
			for b.Loop() {
				q.Score(stored)
			}
		})
	}
}
