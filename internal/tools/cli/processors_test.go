package cli

import "testing"

func TestProcessors(t *testing.T) {
	for _, test := range []struct {
		some   int
		chosen string
		want   int
	}{
		{some: 1, want: 2},
		{some: 2, want: 0},
		{some: 8, want: 0},
		{some: 1, chosen: "1", want: 0},
	} {
		if got := processors(test.some, test.chosen); got != test.want {
			t.Errorf("processors(%d, %q) is %d, want %d", test.some, test.chosen, got, test.want)
		}
	}
}
