// Package designtest runs a design as a Go test: every read, collection and write runs on an in-memory database, and the
// results are compared with a naive evaluation of the design.
//
//	func TestDesign(t *testing.T) {
//		designtest.Run(t, "shop.design.yaml")
//	}
//
// Each pattern is a subtest, so it can be run on its own:
//
//	go test -run TestDesign/OrdersOf
//
// It runs the same checks as the command monotable test: the design's samples and generated items that are easily
// confused, every page size and limit, bounds at and next to existing values, random sequences of writes after each of
// which the whole table is checked, and the consumed capacity. Failures are reduced to the fewest items that show them.
// The same seed repeats the same test.
package designtest

import (
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/trial"
)

// Options configure a test; the zero Options are those of Run.
type Options struct {
	// Seed determines the data and the questions. Default 1.
	Seed uint64
	// Items is the approximate number of items per entity. Default 300.
	Items int
}

// Run tests the design in a file, with a subtest for each of its patterns.
func Run(t *testing.T, file string) {
	t.Helper()
	RunWith(t, file, Options{})
}

// RunWith is Run with options.
func RunWith(t *testing.T, file string, o Options) {
	t.Helper()
	if o.Seed == 0 {
		o.Seed = 1
	}
	d, err := design.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	run, err := trial.New(d, trial.Options{Seed: o.Seed, Items: o.Items})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("entities", func(t *testing.T) {
		for _, s := range run.Subjects() {
			if s.Kind == trial.EntitySubject {
				t.Run(s.Name, func(t *testing.T) { try(t, run, s, o.Seed) })
			}
		}
	})
	for _, s := range run.Subjects() {
		if s.Kind != trial.EntitySubject {
			t.Run(s.Name, func(t *testing.T) { try(t, run, s, o.Seed) })
		}
	}
}

// try reports the failures of one subject.
func try(tb testing.TB, run *trial.Trial, s trial.Subject, seed uint64) {
	tb.Helper()
	result, err := run.Try(tb.Context(), s)
	if err != nil {
		tb.Fatalf("seed %d: %v", seed, err)
	}
	for i := range result.Failures {
		tb.Errorf("%s\n    seed   %d", result.Failures[i].String(), seed)
	}
	if more := result.Failed - len(result.Failures); more > 0 {
		tb.Errorf("and %d more of %d cases fail", more, result.Cases)
	}
}
