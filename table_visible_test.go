package monotable_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/consumer"
)

// TestActiveTableIsVisible: a client that was told that a table is ACTIVE can use it, even if another client created it at the
// same moment.
func TestActiveTableIsVisible(t *testing.T) {
	t.Parallel()
	for range 30 {
		db, err := monotable.Open(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				checkpoints := consumer.NewTable(db.Client(), "checkpoints", fmt.Sprint("consumer", n))
				if err := checkpoints.Create(t.Context()); err != nil { // waits until it is ACTIVE
					t.Error(err)
				}
				if _, err := checkpoints.Load(t.Context(), "stream"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
