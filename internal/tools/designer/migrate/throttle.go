package migrate

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/time/rate"
)

// meter counts the units that requests have consumed, and makes their makers wait until these are paid for.
type meter struct {
	limiter *rate.Limiter // nil for no limit
	burst   int

	mu          sync.Mutex
	read, write float64
	owed        float64 // a part of a unit that nobody has waited for
}

func newMeter(units float64) *meter {
	m := &meter{}
	if units > 0 {
		m.burst = max(1, int(units))
		m.limiter = rate.NewLimiter(rate.Limit(units), m.burst)
	}
	return m
}

// spend counts consumed capacity, and waits.
func (m *meter) spend(ctx context.Context, read bool, consumed ...types.ConsumedCapacity) error {
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

// spent is what has been counted.
func (m *meter) spent() (read, write float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read, m.write
}

// pause waits before another attempt, longer each time.
func pause(ctx context.Context, attempt int) error {
	timer := time.NewTimer(min(5*time.Second, 5*time.Millisecond<<min(attempt, 12)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
