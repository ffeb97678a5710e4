package plural_test

import (
	"testing"

	"github.com/monotable/monotable/internal/plural"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ got, want string }{
		{plural.Of(0, "item"), "0 items"},
		{plural.Of(1, "index entry"), "1 index entry"},
		{plural.Of(int64(2), "index entry"), "2 index entries"},
		{plural.Of(3, "index"), "3 indexes"},
		{plural.Of(4, "key"), "4 keys"},
		{plural.Of(5, "day"), "5 days"},
		{plural.Of(1.0, "line"), "1 line"},
		{plural.Of(1.5, "line"), "1.5 lines"},
	} {
		if test.got != test.want {
			t.Errorf("%q, want %q", test.got, test.want)
		}
	}
}
