package once_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/once"
)

func TestDo(t *testing.T) {
	t.Parallel()
	errRefused, errLost := errors.New("refused"), errors.New("lost")
	for name, c := range map[string]struct {
		refusal, first error
		replayed       bool
		want           string
	}{
		"done":                      {want: "do false <nil>"},
		"replayed by the write":     {replayed: true, want: "do true <nil>"},
		"refused":                   {refusal: errRefused, first: fmt.Errorf("read: %w", table.ErrNotFound), want: "do false refused"},
		"refused after it was done": {refusal: errRefused, want: "first true <nil>"},
		"key of another request":    {refusal: errRefused, first: table.ErrReused, want: "first false " + table.ErrReused.Error()},
		"record cannot be read":     {refusal: errRefused, first: errLost, want: "first false lost"},
	} {
		done, replayed, err := once.Do(func() (string, bool, error) { return "do", c.replayed, c.refusal }, func() (string, error) { return "first", c.first })
		if got := fmt.Sprint(done, " ", replayed, " ", err); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
