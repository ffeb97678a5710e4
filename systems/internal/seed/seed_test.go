package seed

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design/table"
)

func text(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }

// draws returns records of a number and a random value.
func draws(p Part) iter.Seq[table.Record] {
	return func(yield func(table.Record) bool) {
		for n := range p.Items {
			v := table.Values{"n": text(strconv.Itoa(p.First + n)), "draw": text(strconv.FormatUint(p.Uint64(), 10))}
			if !yield(table.Record{Values: v}) {
				return
			}
		}
	}
}

// sample returns a sample that is loaded into a map.
func sample(into map[string]string) Sample {
	var mu sync.Mutex
	return Sample{Records: draws, Load: func(_ context.Context, records iter.Seq[table.Record], progress func(int)) error {
		stored := 0
		for r := range records {
			mu.Lock()
			into[r.Values["n"].(*types.AttributeValueMemberS).Value] = r.Values["draw"].(*types.AttributeValueMemberS).Value
			mu.Unlock()
			stored++
			progress(stored)
		}
		return nil
	}}
}

func TestSamplesAreTheSame(t *testing.T) {
	t.Parallel()
	run := func(o Options) map[string]string {
		out := map[string]string{}
		stored, err := Run(t.Context(), sample(out), o)
		if err != nil || stored != o.Items || len(out) != o.Items {
			t.Fatalf("stored %d, %d exist, want %d: %v", stored, len(out), o.Items, err)
		}
		return out
	}
	first := run(Options{Items: 12_345, Seed: 7})
	if diff := cmp.Diff(first, run(Options{Items: 12_345, Seed: 7})); diff != "" {
		t.Errorf("the same seed: %s", diff)
	}
	if other := run(Options{Items: 12_345, Seed: 8}); cmp.Equal(first, other) {
		t.Error("another seed makes the same data")
	}
	smaller := run(Options{Items: 2_000, Seed: 7})
	for n, draw := range smaller {
		if first[n] != draw {
			t.Fatalf("record %s depends on the size", n)
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	var reported []int
	if _, err := Run(t.Context(), sample(map[string]string{}), Options{Items: 5_000, Progress: func(n int) { reported = append(reported, n) }}); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(reported) || len(reported) == 0 || reported[len(reported)-1] != 5_000 {
		t.Errorf("%d steps, sorted %v, want steps up to 5000", len(reported), slices.IsSorted(reported))
	}
}

// TestFailure: the first error ends the run, and the error names its records.
func TestFailure(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	s := sample(map[string]string{})
	load := s.Load
	s.Load = func(ctx context.Context, records iter.Seq[table.Record], progress func(int)) error {
		for r := range records {
			if r.Values["n"].(*types.AttributeValueMemberS).Value == "3000" {
				return full
			}
			break
		}
		return load(ctx, records, progress)
	}
	stored, err := Run(t.Context(), s, Options{Items: 1_000_000})
	if !errors.Is(err, full) || !strings.Contains(err.Error(), "3000 to 3999") {
		t.Errorf("%v, want the fault and its records", err)
	}
	if stored > 500_000 {
		t.Errorf("%d records were stored after the fault", stored)
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]int{"1000": 1000, "1k": 1000, "250K": 250_000, "1M": 1_000_000} {
		if got, err := ParseItems(word); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", word, got, err, want)
		}
	}
	for _, word := range []string{"", "k", "999", "0.5M", "2M", "1001k", "-1k", "99999999999999999999", "9223372036854775807k"} {
		if got, err := ParseItems(word); err == nil {
			t.Errorf("%q is %d", word, got)
		}
	}
	for _, n := range []int{0, 999, 1_000_001} {
		if _, err := Run(t.Context(), sample(nil), Options{Items: n}); err == nil {
			t.Errorf("a sample of %d", n)
		}
	}
}
