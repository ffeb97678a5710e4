package engine

import (
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// TestCollectionSizes: a size is read once a second, except near the limit, where each write needs the exact one.
func TestCollectionSizes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s collectionSizes
		reads, stored := 0, int64(100)
		counter := func(key string) int64 {
			t.Helper()
			sums, err := s.counter([]byte(key), func([]byte) ([]int64, error) {
				reads++
				return []int64{stored}, nil
			})
			if err != nil || len(sums) != 1 {
				t.Fatalf("%v, %v", sums, err)
			}
			return sums[0]
		}
		want := func(when string, size int64, n int) {
			t.Helper()
			if got := counter("a"); got != size || reads != n {
				t.Errorf("%s: %d after %d reads, want %d after %d", when, got, reads, size, n)
			}
		}
		want("at first", 100, 1)
		stored = nearCollectionBytes - 1
		want("at once", 100, 1)
		<-time.After(collectionSizeAge)
		want("a second later", stored, 2)
		<-time.After(collectionSizeAge)
		stored = nearCollectionBytes
		want("another later", stored, 3)
		stored++
		want("near the limit", stored, 4)
		stored = 5
		want("once it has shrunk", 5, 5)
		want("and at once", 5, 5)
		s.add([]byte("a"), 7)
		want("after a write of this server", 12, 5)
		s.add([]byte("a"), -20)
		want("never below nothing", 0, 5)
		s.add([]byte("other"), 7) // is not remembered
		s.add([]byte("a"), nearCollectionBytes)
		want("near the limit by own writes", 5, 6)

		failure := errors.New("failure")
		if _, err := s.counter([]byte("b"), func([]byte) ([]int64, error) { return nil, failure }); !errors.Is(err, failure) {
			t.Errorf("a read that fails: %v", err)
		}
		for i := range 2 * rememberedCollections {
			counter("c" + strconv.Itoa(i))
		}
		if len(s.known) > rememberedCollections {
			t.Errorf("%d sizes are remembered, want at most %d", len(s.known), rememberedCollections)
		}
	})
}
