package cli

import (
	"runtime"
	"testing"
)

func TestTuneProcessors(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, test := range []struct {
		chosen string
		want   int
	}{
		{want: 3 + spareProcessors},
		{chosen: "3", want: 3},
	} {
		runtime.GOMAXPROCS(3)
		cores := tuneProcessors(func(string) string { return test.chosen })
		if got := runtime.GOMAXPROCS(0); cores != 3 || got != test.want {
			t.Errorf("with GOMAXPROCS %q in the environment: %d cores, GOMAXPROCS %d, want 3 and %d", test.chosen, cores, got, test.want)
		}
	}
}
