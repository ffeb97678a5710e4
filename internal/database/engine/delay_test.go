package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine"
)

// TestGSIDelay: index reads lag behind, table reads do not.
func TestGSIDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const delay = 80 * time.Millisecond
		e := newEngine(t, engine.Options{GSIDelay: delay})
		createTable(t, e, musicTable("a"))
		advance(time.Second)
		if err := putMusic(t.Context(), e, field("pk", "1"), field("a", "x")); err != nil {
			t.Fatal(err)
		}
		count := func(index *string) int64 {
			t.Helper()
			out, err := e.Scan(t.Context(), &api.ScanInput{TableName: new("Music"), IndexName: index})
			if err != nil {
				t.Fatal(err)
			}
			return *out.Count
		}
		if table, index := count(nil), count(new("a")); table != 1 || index != 0 {
			t.Errorf("at once: %d in the table, %d in the index; want 1, 0", table, index)
		}
		advance(delay - time.Millisecond)
		if n := count(new("a")); n != 0 {
			t.Errorf("before the delay is over the index shows %d", n)
		}
		advance(delay/8 + time.Millisecond)
		if n := count(new("a")); n != 1 {
			t.Errorf("after the delay the index shows %d", n)
		}
	})
}
