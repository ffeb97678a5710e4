package designtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/trial"
)

// TestRun runs a correct design.
func TestRun(t *testing.T) {
	RunWith(t, "testdata/sound.design.yaml", Options{Items: 60})
}

// recorder records the failures of a test without failing.
type recorder struct {
	testing.TB

	recorded strings.Builder
}

func (t *recorder) Errorf(format string, args ...any) { fmt.Fprintf(&t.recorded, format+"\n", args...) }

// TestFailure uses a design that sorts the lines of an order by a number without padding. Ten sorts before nine, which must be
// reported with two items and the seed.
func TestFailure(t *testing.T) {
	d, err := design.Load("testdata/shop.design.yaml")
	if err != nil {
		t.Fatal(err)
	}
	run, err := trial.New(d, trial.Options{Seed: 5, Items: 60})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, s := range run.Subjects() {
		var recorded recorder
		recorded.TB = t
		try(&recorded, run, s, 5)
		got := recorded.recorded.String()
		if s.Name != "LinesOf" {
			if got != "" {
				t.Errorf("%s fails: %s", s.Name, got)
			}
			continue
		}
		for _, want := range []string{
			"LinesOf: wrong order\n    given  orderId: ", "\n    want   the other way round, by number asc\n", "\n    items  Line orderId: ",
			` SK="LINE#`, "\n           2 of 120 items are enough to reproduce it\n    seed   5\n", "more of",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("the error is\n%s\nwithout %q", got, want)
			}
		}
	}
}
