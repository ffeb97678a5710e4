package loadgen_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/loadgen"
)

// slow is a connection whose server takes a millisecond per request and stalls once, for a second.
type slow struct {
	begin    time.Time
	prepared int
	fault    error
}

func (s *slow) Prepare(context.Context) error {
	s.prepared++
	<-time.After(time.Second) // counts towards no latency
	return nil
}

func (s *slow) Send(context.Context) error {
	if s.begin.IsZero() {
		s.begin = time.Now()
		<-time.After(time.Second)
	}
	<-time.After(time.Millisecond)
	return s.fault
}

// TestLatencies: preparation is not measured; percentiles, mean and maximum cover the requests sent.
func TestLatencies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, err := loadgen.Run(t.Context(), []*slow{{}, {}}, loadgen.Options{Duration: 100 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if out.Requests < 190 || out.Requests > 202 || out.Waited != 0 {
			t.Errorf("%d requests, %d waited; want two a second", out.Requests, out.Waited)
		}
		if p := out.Percentile(50); p.Round(10*time.Microsecond) != time.Millisecond {
			t.Errorf("p50 %v, want 1 ms", p)
		}
		if m := out.Max(); m < 1001*time.Millisecond || m > 1003*time.Millisecond {
			t.Errorf("the longest was %v, want 1.001 s", m)
		}
		if m := out.Mean(); m < 10*time.Millisecond || m > 12*time.Millisecond {
			t.Errorf("the mean is %v, want about 11 ms", m)
		}
	})
}

// TestRequestsAreDueAfterCallersSleep: requests are due when the caller's Sleep says so.
func TestRequestsAreDueAfterCallersSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slept := 0
		out, err := loadgen.Run(t.Context(), []*slow{{}}, loadgen.Options{Duration: 10 * time.Second, Rate: 10, Sleep: func(d time.Duration) {
			slept++
			<-time.After(d)
		}})
		if err != nil || slept == 0 || slept > out.Requests || out.Waited < 50 {
			t.Errorf("slept %d times for %d requests, of which %d waited (%v)", slept, out.Requests, out.Waited, err)
		}
	})
}

func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		for _, rate := range []float64{0, 10} {
			_, err := loadgen.Run(t.Context(), []*slow{{fault: broken}, {fault: broken}, {}}, loadgen.Options{Duration: 10 * time.Second, Rate: rate})
			if !errors.Is(err, broken) || !strings.Contains(err.Error(), "the first of 2 connections") {
				t.Errorf("rate %g: %v", rate, err)
			}
		}
	})
}
