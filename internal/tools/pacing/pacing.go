// Package pacing limits long-running work to a number of capacity units per second, and waits between attempts.
//
// A Meter is safe for concurrent use.
package pacing

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/time/rate"
)

// Meter counts the capacity units that requests consumed, and delays later requests accordingly.
type Meter struct {
	limiter *rate.Limiter // nil for no limit
	burst   int

	mu          sync.Mutex
	read, write float64
	owed        float64 // a fraction of a unit not yet waited for
}

// NewMeter returns a Meter with a limit of units per second, for reads and writes together; 0 means no limit.
func NewMeter(units float64) *Meter {
	m := &Meter{}
	if units > 0 {
		m.burst = max(1, int(units))
		m.limiter = rate.NewLimiter(rate.Limit(units), m.burst)
	}
	return m
}

// Spend counts consumed capacity and waits.
func (m *Meter) Spend(ctx context.Context, read bool, consumed ...types.ConsumedCapacity) error {
	units := 0.0
	for _, c := range consumed {
		if c.CapacityUnits != nil {
			units += *c.CapacityUnits
		}
	}
	m.mu.Lock()
	if read {
		m.read += units
	} else {
		m.write += units
	}
	m.owed += units
	whole := math.Floor(m.owed)
	m.owed -= whole
	m.mu.Unlock()
	for n := int(whole); n > 0 && m.limiter != nil; n -= m.burst {
		if err := m.limiter.WaitN(ctx, min(n, m.burst)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Spent returns the units counted so far.
func (m *Meter) Spent() (read, write float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read, m.write
}

// Pause waits before the next attempt, with backoff.
func Pause(ctx context.Context, attempt int) error {
	timer := time.NewTimer(min(5*time.Second, 5*time.Millisecond<<min(attempt, 12)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
