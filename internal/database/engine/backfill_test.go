package engine_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// TestBackfillUnderWrites creates and deletes indexes while items are written, deleted and moved between index keys, with
// restarts in between, and verifies everything at the end.
func TestBackfillUnderWrites(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			open := s.open(t)
			start := func() *engine.Engine {
				e, err := engine.Open(t.Context(), kv.Checked(open()), engine.Options{TTLInterval: -1})
				if err != nil {
					t.Fatal(err)
				}
				return e
			}
			e := start()
			createTable(t, e, musicTable())
			for i := range 300 {
				if err := putMusic(t.Context(), e, field("pk", fmt.Sprint(i)), field("a", fmt.Sprint(i%7)), field("b", "x")); err != nil {
					t.Fatal(err)
				}
			}
			for round := range uint64(3) {
				var writers sync.WaitGroup
				for w := range uint64(3) {
					random := rand.New(rand.NewPCG(seed, round*10+w))
					writers.Go(func() { writeRandomly(t, e, random) })
				}
				createIndex(t, e, "a")
				e.Settle()
				createIndex(t, e, "b")
				writers.Wait()
				if err := e.Close(); err != nil { // possibly in the middle of the backfill
					t.Fatal(err)
				}
				e = start()
				e.Settle()
				wantStatus(t, e, "ACTIVE a=ACTIVE b=ACTIVE")
				if done := wantVerified(t, e); done.IndexEntries < done.Items {
					t.Errorf("%d items have %d entries", done.Items, done.IndexEntries)
				}
				deleteIndex(t, e, "a")
				e.Settle()
				deleteIndex(t, e, "b")
				e.Settle()
				if done := wantVerified(t, e); done.IndexEntries != 0 {
					t.Errorf("deleted indexes have %d entries", done.IndexEntries)
				}
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func deleteIndex(t *testing.T, e *engine.Engine, name string) {
	t.Helper()
	_, err := e.UpdateTable(t.Context(), &api.UpdateTableInput{
		TableName:                   new("Music"),
		GlobalSecondaryIndexUpdates: []api.GlobalSecondaryIndexUpdate{{Delete: &api.DeleteGlobalSecondaryIndexAction{IndexName: &name}}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func writeRandomly(t *testing.T, e *engine.Engine, random *rand.Rand) {
	t.Helper()
	for range 400 {
		pk := fmt.Sprint(random.IntN(400))
		var err error
		if random.IntN(4) == 0 {
			_, err = e.DeleteItem(t.Context(), &api.DeleteItemInput{
				TableName: new("Music"), Key: attr.Item{field("pk", pk)},
			})
		} else {
			fields := []attr.Field{field("pk", pk), field("a", fmt.Sprint(random.IntN(7)))}
			if random.IntN(2) == 0 {
				fields = append(fields, field("b", fmt.Sprint(random.IntN(3))))
			}
			err = putMusic(t.Context(), e, fields...)
		}
		if err != nil {
			t.Error(err)
			return
		}
	}
}
