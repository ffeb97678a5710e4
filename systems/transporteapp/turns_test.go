package transporteapp

import (
	"errors"
	"net/http"
	"testing"

	"github.com/monotable/monotable/design/table"
)

// TestFirstErrorInOrderIsReturned: of several errors the first in order is returned, as if the functions ran sequentially. "Not found" must not hide
// an earlier failure.
func TestFirstErrorInOrderIsReturned(t *testing.T) {
	t.Parallel()
	gone := errors.New("the database is gone")
	well, fails, missing := func() error { return nil }, func() error { return gone }, func() error { return table.ErrNotFound }
	if err := firstError(well, well); err != nil {
		t.Errorf("all is well: %v", err)
	}
	for status, list := range map[int][]func() error{
		http.StatusInternalServerError: {well, fails, missing},
		http.StatusNotFound:            {missing, well, fails},
	} {
		if p := rules().Problem(firstError(list...)); p.Status != status {
			t.Errorf("got %d, want %d", p.Status, status)
		}
	}
}
