package vector

import "math"

// Function is a distance function, named as in a request.
type Function string

// The distance functions.
const (
	Cosine     Function = "COSINE"
	Euclidean  Function = "EUCLIDEAN"
	DotProduct Function = "DOT_PRODUCT"
)

// Query is a vector to compare others with.
type Query struct {
	function   Function
	components []float64
	square     float64 // of its length
}

// NewQuery prepares a vector for comparison.
func NewQuery(f Function, components []float32) *Query {
	q := &Query{function: f, components: make([]float64, len(components))}
	for i, c := range components {
		q.components[i] = float64(c)
		q.square += float64(c) * float64(c)
	}
	return q
}

// Score compares the query with stored components of the same number:
//
//	COSINE       1 − cos of the angle between the two: 0 to 2; 1 if either is the zero vector
//	EUCLIDEAN    the length of their difference
//	DOT_PRODUCT  the sum of the products of their components
func (q *Query) Score(components []byte) float64 {
	switch q.function {
	case Cosine:
		product, square := dotAndSquare(q.components, components)
		if q.square == 0 || square == 0 {
			return 1
		}
		return min(max(1-product/(math.Sqrt(q.square)*math.Sqrt(square)), 0), 2)
	case Euclidean:
		return math.Sqrt(squaredDistance(q.components, components))
	default:
		return dot(q.components, components)
	}
}

// Nearer reports whether score a is nearer than b.
func (f Function) Nearer(a, b float64) bool {
	if f == DotProduct {
		return a > b
	}
	return a < b
}

// block is how many components a loop iteration processes, each with its own sum, because a processor can add to several
// independent sums in parallel. The product of two 32-bit numbers is exact in 64 bits, so a fused multiply-add changes nothing.
const block = 4

func dot(q []float64, v []byte) float64 {
	var a, b, c, d float64
	for len(q) >= block && len(v) >= block*ComponentBytes {
		a += q[0] * float64(at(v))
		b += q[1] * float64(at(v[4:]))
		c += q[2] * float64(at(v[8:]))
		d += q[3] * float64(at(v[12:]))
		q, v = q[block:], v[block*ComponentBytes:]
	}
	for len(q) > 0 && len(v) >= ComponentBytes {
		a += q[0] * float64(at(v))
		q, v = q[1:], v[ComponentBytes:]
	}
	return (a + b) + (c + d)
}

func dotAndSquare(q []float64, v []byte) (product, square float64) {
	var a, b, c, d, s, t float64
	for len(q) >= block && len(v) >= block*ComponentBytes {
		v0, v1, v2, v3 := float64(at(v)), float64(at(v[4:])), float64(at(v[8:])), float64(at(v[12:]))
		a += q[0] * v0
		b += q[1] * v1
		c += q[2] * v2
		d += q[3] * v3
		s += v0 * v0
		t += v1 * v1
		s += v2 * v2
		t += v3 * v3
		q, v = q[block:], v[block*ComponentBytes:]
	}
	for len(q) > 0 && len(v) >= ComponentBytes {
		v0 := float64(at(v))
		a += q[0] * v0
		s += v0 * v0
		q, v = q[1:], v[ComponentBytes:]
	}
	return (a + b) + (c + d), s + t
}

func squaredDistance(q []float64, v []byte) float64 {
	var a, b, c, d float64
	square := func(x float64) float64 { return float64(x * x) } // force rounding, since a difference may be inexact
	for len(q) >= block && len(v) >= block*ComponentBytes {
		a += square(q[0] - float64(at(v)))
		b += square(q[1] - float64(at(v[4:])))
		c += square(q[2] - float64(at(v[8:])))
		d += square(q[3] - float64(at(v[12:])))
		q, v = q[block:], v[block*ComponentBytes:]
	}
	for len(q) > 0 && len(v) >= ComponentBytes {
		a += square(q[0] - float64(at(v)))
		q, v = q[1:], v[ComponentBytes:]
	}
	return (a + b) + (c + d)
}
