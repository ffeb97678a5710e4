// Package buckettest is the suite that every bucket.Store passes.
package buckettest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/monotable/monotable/internal/database/bucket"
)

// Bucket is the bucket that a store must have for the suite.
const Bucket = "suite-bucket"

var in = bucket.Bucket{Name: Bucket}

// Run runs the suite. open returns a store that has an empty Bucket.
func Run(t *testing.T, open func(t *testing.T) bucket.Store) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, bucket.Store)
	}{
		{"AnObjectIsReadAsWritten", readAsWritten},
		{"TheTagIsThatOfTheParts", tagOfParts},
		{"NothingIsVisibleBeforeCommit", visibleAfterCommit},
		{"AnAbortedObjectLeavesNothing", aborted},
		{"TheNewerObjectReplacesTheOlder", replaced},
		{"KeysAreListedInTheOrderOfBytes", listed},
		{"AListEndsAtItsLimit", limited},
		{"WhatIsMissingIsToldApart", missing},
		{"WritersDoNotMeet", together},
		{"NamesThatS3DoesNotHaveAreRefused", refused},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

func write(t *testing.T, s bucket.Store, key string, data []byte) string {
	t.Helper()
	etag, err := put(t.Context(), s, key, data)
	if err != nil {
		t.Fatalf("write %q: %v", key, err)
	}
	return etag
}

func put(ctx context.Context, s bucket.Store, key string, data []byte) (string, error) {
	w, err := s.Create(ctx, in, key, bucket.Encryption{})
	if err != nil {
		return "", err
	}
	defer w.Abort()
	if _, err := w.Write(data); err != nil {
		return "", err
	}
	return w.Commit()
}

func read(t *testing.T, s bucket.Store, key string) []byte {
	t.Helper()
	r, err := s.Open(t.Context(), in, key)
	if err != nil {
		t.Fatalf("open %q: %v", key, err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read %q: %v", key, err)
	}
	return data
}

func keys(t *testing.T, s bucket.Store, prefix string, limit int) []string {
	t.Helper()
	objects, err := s.List(t.Context(), in, prefix, limit)
	if err != nil {
		t.Fatalf("list %q: %v", prefix, err)
	}
	names := []string{}
	for _, o := range objects {
		names = append(names, o.Key)
	}
	return names
}

// content is data without a pattern.
func content(n int) []byte {
	data := make([]byte, n)
	random := rand.NewChaCha8([32]byte{byte(n)})
	_, _ = random.Read(data)
	return data
}

// sizes are those around the end of a part.
var sizes = []int{0, 1, bucket.PartBytes - 1, bucket.PartBytes, bucket.PartBytes + 1, 2*bucket.PartBytes + 17}

func readAsWritten(t *testing.T, s bucket.Store) {
	t.Helper()
	for _, n := range sizes {
		key := fmt.Sprintf("objects/%d", n)
		want := content(n)
		w, err := s.Create(t.Context(), in, key, bucket.Encryption{})
		if err != nil {
			t.Fatal(err)
		}
		for rest := want; len(rest) > 0; { // in pieces that do not divide a part
			piece := rest[:min(len(rest), 1<<20-7)]
			if _, err := w.Write(piece); err != nil {
				t.Fatal(err)
			}
			rest = rest[len(piece):]
		}
		if _, err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		w.Abort() // does nothing any more
		if !bytes.Equal(read(t, s, key), want) {
			t.Errorf("the object of %d bytes is not read as it was written", n)
		}
		objects, err := s.List(t.Context(), in, key, 1)
		if err != nil || len(objects) != 1 || objects[0].Size != int64(n) {
			t.Errorf("the list says of %d bytes %v (%v)", n, objects, err)
		}
	}
}

func tagOfParts(t *testing.T, s bucket.Store) {
	t.Helper()
	for _, n := range sizes {
		data := content(n)
		var want bucket.Tag
		for part := range slices.Chunk(data, bucket.PartBytes) {
			want.Add(part)
		}
		if got := write(t, s, "tagged", data); got != want.String() {
			t.Errorf("%d bytes have the tag %s, want %s", n, got, want.String())
		}
	}
}

func visibleAfterCommit(t *testing.T, s bucket.Store) {
	t.Helper()
	w, err := s.Create(t.Context(), in, "slow", bucket.Encryption{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if _, err := w.Write(content(bucket.PartBytes + 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), in, "slow"); !errors.Is(err, bucket.ErrNoKey) && !errors.Is(err, bucket.ErrNoBucket) {
		t.Errorf("the object exists before it is committed: %v", err)
	}
	if _, err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := keys(t, s, "", 10); !slices.Equal(got, []string{"slow"}) {
		t.Errorf("after the commit there is %q", got)
	}
}

func aborted(t *testing.T, s bucket.Store) {
	t.Helper()
	write(t, s, "other", []byte("x"))
	w, err := s.Create(t.Context(), in, "gone", bucket.Encryption{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content(bucket.PartBytes + 1)); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if got := keys(t, s, "", 10); !slices.Equal(got, []string{"other"}) {
		t.Errorf("after an abort there is %q", got)
	}
}

func replaced(t *testing.T, s bucket.Store) {
	t.Helper()
	write(t, s, "a/b", []byte("old, and longer"))
	write(t, s, "a/b", []byte("new"))
	if got := read(t, s, "a/b"); string(got) != "new" {
		t.Errorf("read %q", got)
	}
}

func listed(t *testing.T, s bucket.Store) {
	t.Helper()
	all := []string{"a-b", "a.json", "a/b", "a/c/d", "a0", "aé", "b"}
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(all)) {
		write(t, s, all[i], []byte("x"))
	}
	for _, c := range []struct {
		prefix string
		want   []string
	}{
		{"", all},
		{"a", all[:6]},
		{"a/", []string{"a/b", "a/c/d"}},
		{"a/c", []string{"a/c/d"}},
		{"a/c/d", []string{"a/c/d"}},
		{"c", []string{}},
		{"../", []string{}},
	} {
		if got := keys(t, s, c.prefix, 100); !slices.Equal(got, c.want) {
			t.Errorf("prefix %q lists %q, want %q", c.prefix, got, c.want)
		}
	}
}

func limited(t *testing.T, s bucket.Store) {
	t.Helper()
	var all []string
	for i := range 25 {
		key := fmt.Sprintf("n/%02d", i)
		write(t, s, key, nil)
		all = append(all, key)
	}
	for _, limit := range []int{0, 1, 24, 25, 26} {
		if got := keys(t, s, "n/", limit); len(got) != min(limit, 25) || !slices.Equal(got, all[:len(got)]) {
			t.Errorf("of 25 a list of %d has %q", limit, got)
		}
	}
}

func missing(t *testing.T, s bucket.Store) {
	t.Helper()
	write(t, s, "a/b", []byte("x"))
	for _, key := range []string{"a", "a/b/c", "c"} {
		if r, err := s.Open(t.Context(), in, key); !errors.Is(err, bucket.ErrNoKey) {
			t.Errorf("open %q: %v, %v, want ErrNoKey", key, r, err)
		}
	}
	nowhere := bucket.Bucket{Name: "no-such-bucket"}
	if _, err := s.Open(t.Context(), nowhere, "a"); !errors.Is(err, bucket.ErrNoBucket) {
		t.Errorf("open in a bucket that is missing: %v", err)
	}
	if _, err := s.List(t.Context(), nowhere, "", 1); !errors.Is(err, bucket.ErrNoBucket) {
		t.Errorf("list of a bucket that is missing: %v", err)
	}
}

func together(t *testing.T, s bucket.Store) {
	t.Helper()
	const writers = 8
	var all sync.WaitGroup
	errs := make([]error, writers)
	for i := range writers {
		all.Go(func() {
			_, errs[i] = put(t.Context(), s, fmt.Sprintf("w/%d", i), content(1000+i))
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i := range writers {
		if !bytes.Equal(read(t, s, fmt.Sprintf("w/%d", i)), content(1000+i)) {
			t.Errorf("object %d has another's content", i)
		}
	}
}

func refused(t *testing.T, s bucket.Store) {
	t.Helper()
	for _, name := range []string{"", "..", ".", "a", "../x", "a/b", ".uploads", "-ab", "ab.", "a\x00b", "a b"} {
		b := bucket.Bucket{Name: name}
		_, created := s.Create(t.Context(), b, "key", bucket.Encryption{})
		_, opened := s.Open(t.Context(), b, "key")
		_, list := s.List(t.Context(), b, "", 1)
		for _, err := range []error{created, opened, list} {
			if !errors.Is(err, bucket.ErrName) {
				t.Errorf("bucket %q: %v, want ErrName", name, err)
			}
		}
	}
	for _, key := range []string{"", "\xff", string(make([]byte, 2000))} {
		if _, err := s.Create(t.Context(), in, key, bucket.Encryption{}); !errors.Is(err, bucket.ErrName) {
			t.Errorf("key %q: %v, want ErrName", key, err)
		}
	}
}
