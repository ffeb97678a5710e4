package pacing_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/tools/pacing"
)

// TestMeter: what several spend at once takes the time that the units are worth, parts of units included.
func TestMeter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, begun := pacing.NewMeter(500), time.Now()
		var spenders sync.WaitGroup
		for range 4 {
			spenders.Go(func() {
				for range 1000 {
					if err := m.Spend(t.Context(), true, types.ConsumedCapacity{CapacityUnits: aws.Float64(2.5)}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		spenders.Wait()
		if took := time.Since(begun); took < 18*time.Second || took > 20*time.Second {
			t.Errorf("10,000 units at 500 a second took %s, want 19 s after the first second's", took)
		}
		if read, write := m.Spent(); read != 10000 || write != 0 {
			t.Errorf("it has counted %g and %g", read, write)
		}
	})
}
