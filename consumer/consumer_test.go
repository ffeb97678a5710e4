package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/monotabletest"
)

// audience is a handler that records its input.
type audience struct {
	mu       sync.Mutex
	received []string // sequence numbers
	batches  []int    // their sizes
	refuse   func(consumer.Batch) error
}

func (a *audience) handle(_ context.Context, b consumer.Batch) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refuse != nil {
		if err := a.refuse(b); err != nil {
			return err
		}
	}
	a.batches = append(a.batches, len(b.Records))
	for _, r := range b.Records {
		a.received = append(a.received, *r.Dynamodb.SequenceNumber)
	}
	return nil
}

// want compares everything received since the previous call, in any order.
func (a *audience) want(t *testing.T, want ...string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.Sort(a.received)
	if !slices.Equal(a.received, want) {
		t.Errorf("received %v, want %v", a.received, want)
	}
	a.received, a.batches = nil, nil
}

func newConsumer(t *testing.T, s consumer.Streams, h consumer.Handler, o consumer.Options) *consumer.Consumer {
	t.Helper()
	c, err := consumer.New(s, streamARN, h, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func catchUp(t *testing.T, s consumer.Streams, h consumer.Handler, o consumer.Options) {
	t.Helper()
	if err := newConsumer(t, s, h, o).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// running is a Run in the background of a bubble.
type running struct {
	cancel context.CancelFunc
	err    error
	ended  bool
}

func start(t *testing.T, s consumer.Streams, h consumer.Handler, o consumer.Options) *running {
	t.Helper()
	c := newConsumer(t, s, h, o)
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{cancel: cancel}
	go func() {
		r.err = c.Run(ctx)
		r.ended = true
	}()
	synctest.Wait()
	return r
}

// stop ends the run and returns why it had ended.
func (r *running) stop() error {
	r.cancel()
	synctest.Wait()
	return r.err
}

// wait lets time pass.
func wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// TestParentsBeforeChildren reads a tree of shards that is listed on several pages: no record is delivered before those of its
// shard's ancestors.
func TestParentsBeforeChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStream(2)
		var all []string
		write := func(shard int) { all = append(all, s.write(shard, "x"), s.write(shard, "x"), s.write(shard, "x")) }
		write(0)
		write(1)
		for _, parent := range []int{0, 1, 2, 3} {
			for child := s.split(parent, 2); child < len(s.shards); child++ {
				write(child)
			}
		}
		a := &audience{}
		var order []string
		a.refuse = func(b consumer.Batch) error { order = append(order, b.Shard); return nil }
		catchUp(t, s, a.handle, consumer.Options{BatchSize: 2})
		for _, h := range s.shards {
			if h.parent != "" && slices.Index(order, h.id) < lastIndex(order, h.parent) {
				t.Errorf("%s was read before its parent's end:\n%s", h.id, strings.Join(order, "\n"))
			}
		}
		a.want(t, all...)
	})
}

// TestEmptyPages tests that a closed shard may return any number of empty pages before its end, and its children are only read
// after that.
func TestEmptyPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStream(1)
		want := s.write(0, "x")
		s.emptyPages = 20
		last := s.write(s.split(0, 1), "x")
		a := &audience{}
		catchUp(t, s, a.handle, consumer.Options{})
		a.want(t, want, last)
	})
}

func lastIndex(order []string, id string) int {
	for i, other := range slices.Backward(order) {
		if other == id {
			return i
		}
	}
	return -1
}

// TestFollows hears of changes as they come, through splits and rotations.
func TestFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := newStream(1), &audience{}
		r := start(t, s, a.handle, consumer.Options{})
		one := s.write(0, "x")
		wait(time.Second)
		a.want(t, one)
		two := s.write(0, "x")
		child := s.split(0, 2)
		three, four := s.write(child, "x"), s.write(child+1, "y")
		wait(time.Second)
		a.want(t, two, three, four)
		if err := r.stop(); !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	})
}

// TestLateChildren finds children that DescribeStream does not list yet when their parent ends.
func TestLateChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := newStream(1), &audience{}
		r := start(t, s, a.handle, consumer.Options{})
		s.mu.Lock()
		s.shards[0].closed = true
		s.mu.Unlock()
		wait(3 * time.Second)
		child := s.split(0, 1)
		one := s.write(child, "x")
		wait(10 * time.Second)
		a.want(t, one)
		_ = r.stop()
	})
}

// TestDisabledStream is read to its end.
func TestDisabledStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := newStream(2), &audience{}
		r := start(t, s, a.handle, consumer.Options{})
		one := s.write(1, "x")
		s.disable()
		wait(time.Second)
		a.want(t, one)
		if !r.ended || r.err != nil {
			t.Errorf("ended: %v, %v", r.ended, r.err)
		}
	})
}

// TestStartPositions tests each kind of start position.
func TestStartPositions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStream(2)
		one, two := s.write(0, "x"), s.write(1, "y")
		child := s.split(0, 1)
		three, four := s.write(child, "x"), s.write(1, "y")
		for _, c := range []struct {
			from consumer.Position
			want []string
		}{
			{"", []string{one, two, three, four}},
			{consumer.TrimHorizon, []string{one, two, three, four}},
			{consumer.Position(one), []string{two, three, four}},
			{consumer.Position(two), []string{three, four}},
			{consumer.Position(three), []string{four}},
			{consumer.Position(four), nil},
			{consumer.Latest, nil},
		} {
			a := &audience{}
			catchUp(t, s, a.handle, consumer.Options{From: c.from})
			a.want(t, c.want...)
		}
		a := &audience{}
		r := start(t, s, a.handle, consumer.Options{From: consumer.Latest})
		five := s.write(1, "y")
		grandchild := s.split(child, 1)
		six := s.write(grandchild, "x")
		wait(2 * time.Second)
		a.want(t, five, six)
		_ = r.stop()
	})
}

// TestLatestSkipsShardsClosedBeforeFirstRun tests that a later run does not read shards that were closed before the first run.
func TestLatestSkipsShardsClosedBeforeFirstRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a, store := newStream(1), &audience{}, consumer.NewMemory()
		s.write(0, "x")
		child := s.split(s.split(0, 1), 1)
		s.write(child, "x")
		wait(time.Hour)
		latest := consumer.Options{From: consumer.Latest, Checkpoints: store}
		catchUp(t, s, a.handle, latest)
		a.want(t)
		one := s.write(child, "x")
		catchUp(t, s, a.handle, latest)
		a.want(t, one)
	})
}

// TestLatestDeliversEverythingAfterStart tests that with Latest, everything written once the run has begun is delivered. Unreadable and removed shards do
// not delay the start, and later shards do not repeat it.
func TestLatestDeliversEverythingAfterStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStream(3)
		s.write(0, "x")
		s.split(1, 1)
		s.failNext(3, "GetShardIterator", throttled{})
		var begun atomic.Int64
		a := &audience{}
		r := start(t, s, a.handle, consumer.Options{From: consumer.Latest, Begun: func() { begun.Add(1) }})
		if begun.Load() != 0 {
			t.Error("started, although no shard could be read")
		}
		wait(time.Second)
		if begun.Load() != 1 {
			t.Fatalf("begun %d times, want once", begun.Load())
		}
		want := []string{s.write(0, "x"), s.write(2, "x"), s.write(3, "x")}
		wait(time.Minute)
		want = append(want, s.write(s.split(0, 1), "x"))
		wait(time.Minute)
		a.want(t, want...)
		if err := r.stop(); !errors.Is(err, context.Canceled) || begun.Load() != 1 {
			t.Errorf("ended with %v, begun %d times, want once", err, begun.Load())
		}

		s.remove(0)
		s.fault = func(call string) error {
			if call == "GetShardIterator" && begun.Load() == 1 {
				s.shards[2].removed = true // between its listing and its reading
			}
			return nil
		}
		r = start(t, s, a.handle, consumer.Options{From: consumer.Latest, Begun: func() { begun.Add(1) }})
		if begun.Load() != 2 {
			t.Errorf("started %d times, want twice: one shard no longer exists", begun.Load())
		}
		if err := r.stop(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// TestCheckpoints resumes where the last run ended, with every kind of checkpoint store, even if shards were split or are no
// longer listed.
func TestCheckpoints(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoints.json")
	memory := consumer.NewMemory()
	db := monotabletest.New(t).Client()
	for _, c := range []struct {
		name string
		open func() (consumer.Checkpoints, error)
	}{
		{"memory", func() (consumer.Checkpoints, error) { return memory, nil }},
		{"file", func() (consumer.Checkpoints, error) { return consumer.OpenFile(path) }},
		{"table", func() (consumer.Checkpoints, error) {
			table := consumer.NewTable(db, "checkpoints", "test")
			return table, table.Create(t.Context())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, a := newStream(2), &audience{}
			run := func(want ...string) {
				t.Helper()
				store, err := c.open()
				if err != nil {
					t.Fatal(err)
				}
				catchUp(t, s, a.handle, consumer.Options{From: consumer.TrimHorizon, Checkpoints: store, PollInterval: time.Millisecond})
				a.want(t, want...)
			}
			run(s.write(0, "x"), s.write(1, "y"))
			run()
			two := s.write(0, "x")
			child := s.split(0, 2)
			run(two, s.write(1, "y"), s.write(child, "x"))
			s.remove(0)
			run(s.write(child+1, "x"))
			store, err := c.open()
			if err != nil {
				t.Fatal(err)
			}
			kept, err := store.Load(t.Context(), streamARN)
			if err != nil || len(kept) != 3 {
				t.Errorf("the checkpoints of %v are kept, %v; want those of the three existing shards", kept, err)
			}
			if other, err := store.Load(t.Context(), streamARN+"1"); len(other) != 0 || err != nil {
				t.Errorf("another stream has checkpoints: %v, %v", other, err)
			}
		})
	}
}

// TestCheckpointOfLastBatch is saved when the run is over before the handler returns.
func TestCheckpointOfLastBatch(t *testing.T) {
	db := monotabletest.New(t).Client()
	table := consumer.NewTable(db, "checkpoints", "test")
	if err := table.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, a := newStream(1), &audience{}
	one := s.write(0, "x")
	ctx, cancel := context.WithCancel(t.Context())
	a.refuse = func(consumer.Batch) error { cancel(); return nil }
	if err := newConsumer(t, s, a.handle, consumer.Options{Checkpoints: table}).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	saved, err := table.Load(t.Context(), streamARN)
	if err != nil || saved[s.shards[0].id].Sequence != one {
		t.Errorf("the checkpoint is %v, %v; want %s", saved, err, one)
	}
}

// TestHandlerFails is tried again with the same batch, after rests that double, and the checkpoint waits.
func TestHandlerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a, store := newStream(1), &audience{}, consumer.NewMemory()
		one, two := s.write(0, "x"), s.write(0, "y")
		var at []time.Duration
		begun := time.Now()
		a.refuse = func(b consumer.Batch) error {
			at = append(at, time.Since(begun))
			if len(b.Records) != 2 {
				t.Errorf("a batch of %d", len(b.Records))
			}
			if saved, _ := store.Load(t.Context(), streamARN); saved[b.Shard].Sequence != "" {
				t.Errorf("the checkpoint is at %v before the batch is handled", saved)
			}
			if len(at) < 6 {
				return errors.New("not now")
			}
			return nil
		}
		catchUp(t, s, a.handle, consumer.Options{Checkpoints: store, RetryMin: 100 * time.Millisecond, RetryMax: time.Second})
		a.want(t, one, two)
		if got, want := fmt.Sprint(at), "[0s 100ms 300ms 700ms 1.5s 2.5s]"; got != want {
			t.Errorf("tried at %s, want %s", got, want)
		}
	})
}

// TestBisect tests that bisecting finds the record that cannot be handled, gives it up, and hands over all others.
func TestBisect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := newStream(1), &audience{}
		var all []string
		for range 100 {
			all = append(all, s.write(0, "x"))
		}
		bad := all[37]
		poison := errors.New("poison")
		tries := 0
		a.refuse = func(b consumer.Batch) error {
			for _, r := range b.Records {
				if *r.Dynamodb.SequenceNumber == bad {
					if len(b.Records) == 1 {
						tries++
					}
					return poison
				}
			}
			return nil
		}
		var failures []consumer.Failure
		catchUp(t, s, a.handle, consumer.Options{
			Bisect: true, MaxAttempts: 3,
			OnFailure: func(_ context.Context, f consumer.Failure) error { failures = append(failures, f); return nil },
		})
		if len(failures) != 1 || len(failures[0].Records) != 1 || *failures[0].Records[0].Dynamodb.SequenceNumber != bad ||
			!errors.Is(failures[0].Err, poison) || failures[0].Attempts != 3 || tries != 3 {
			t.Errorf("given up after %d tries: %+v", tries, failures)
		}
		a.want(t, slices.Delete(slices.Clone(all), 37, 38)...)
	})
}

// TestUnhandledRecordEndsRun tests that without a callback, or if the callback fails, the run ends before the batch.
func TestUnhandledRecordEndsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		poison, full := errors.New("poison"), errors.New("dead letters are full")
		for _, c := range []struct {
			onFailure func(context.Context, consumer.Failure) error
			want      error
		}{
			{nil, poison},
			{func(context.Context, consumer.Failure) error { return full }, full},
		} {
			s, a, store := newStream(1), &audience{}, consumer.NewMemory()
			one := s.write(0, "x")
			a.refuse = func(consumer.Batch) error { return poison }
			o := consumer.Options{MaxAttempts: 2, OnFailure: c.onFailure, Checkpoints: store}
			if err := newConsumer(t, s, a.handle, o).Run(t.Context()); !errors.Is(err, c.want) {
				t.Errorf("ended with %v, want %v", err, c.want)
			}
			a.refuse = nil
			catchUp(t, s, a.handle, o)
			a.want(t, one)
		}
	})
}

// TestRetriesTemporaryErrors retries temporary errors: throttling, server errors, expired iterators.
func TestRetriesTemporaryErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			call string
			err  error
		}{
			{"DescribeStream", &types.LimitExceededException{}},
			{"GetShardIterator", throttled{}},
			{"GetRecords", throttled{}},
			{"GetRecords", &types.ExpiredIteratorException{}},
		} {
			s, a := newStream(1), &audience{}
			one := s.write(0, "x")
			s.failNext(3, c.call, c.err)
			r := start(t, s, a.handle, consumer.Options{})
			wait(time.Second)
			a.want(t, one)
			two := s.write(0, "x")
			s.failNext(3, c.call, c.err)
			wait(2 * time.Second)
			a.want(t, two)
			_ = r.stop()
		}
	})
}

// throttled is an error as the SDK makes of AWS's ThrottlingException.
type throttled struct{}

func (throttled) Error() string     { return "ThrottlingException: slow down" }
func (throttled) ErrorCode() string { return "ThrottlingException" }

// TestPermanentErrorsEndRun tests that a run ends immediately if retrying cannot help.
func TestPermanentErrorsEndRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := &types.ResourceNotFoundException{}
		for _, call := range []string{"DescribeStream", "GetShardIterator", "GetRecords"} {
			s := newStream(1)
			s.fault = func(next string) error {
				if next == call || call != "DescribeStream" && len(s.calls) > 3 {
					return gone
				}
				return nil
			}
			if err := newConsumer(t, s, (&audience{}).handle, consumer.Options{}).Run(t.Context()); !errors.Is(err, gone) {
				t.Errorf("%s: ended with %v, want %v", call, err, gone)
			}
		}
	})
}

// TestTrimmed reports records that were trimmed before they were read, or skips them if configured.
func TestTrimmed(t *testing.T) {
	for name, lose := range map[string]func(s *stream){
		"records": func(s *stream) { s.trim(0, 2) },
		"shard":   func(s *stream) { s.remove(0) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, a, store := newStream(1), &audience{}, consumer.NewMemory()
				one := s.write(0, "x")
				catchUp(t, s, a.handle, consumer.Options{Checkpoints: store})
				a.want(t, one)
				s.write(0, "x")
				three := s.write(0, "x")
				child := s.split(0, 1)
				four := s.write(child, "x")
				lose(s)
				err := newConsumer(t, s, a.handle, consumer.Options{Checkpoints: store}).CatchUp(t.Context())
				if !errors.Is(err, consumer.ErrTrimmed) {
					t.Errorf("ended with %v", err)
				}
				a.want(t)
				catchUp(t, s, a.handle, consumer.Options{Checkpoints: store, SkipTrimmed: true})
				if name == "shard" {
					a.want(t, four)
				} else {
					a.want(t, three, four)
				}
			})
		})
	}
}

// TestTrimmedBeforeFirstRecord reports records that were trimmed from a shard of which nothing had been handled yet, although its
// parent had been read to its end.
func TestTrimmedBeforeFirstRecord(t *testing.T) {
	for name, lose := range map[string]func(s *stream){"records": func(*stream) {}, "parent": func(s *stream) { s.remove(0) }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, a, store := newStream(1), &audience{}, consumer.NewMemory()
				one := s.write(0, "x")
				child := s.split(0, 1)
				catchUp(t, s, a.handle, consumer.Options{Checkpoints: store})
				a.want(t, one)
				s.write(child, "x")
				three := s.write(child, "x")
				s.trim(child, 1)
				lose(s)
				for range 2 {
					err := newConsumer(t, s, a.handle, consumer.Options{Checkpoints: store}).CatchUp(t.Context())
					if !errors.Is(err, consumer.ErrTrimmed) {
						t.Errorf("ended with %v", err)
					}
				}
				a.want(t)
				catchUp(t, s, a.handle, consumer.Options{Checkpoints: store, SkipTrimmed: true})
				a.want(t, three)
				four := s.write(child, "x")
				catchUp(t, s, a.handle, consumer.Options{Checkpoints: store})
				a.want(t, four)
			})
		})
	}
}

// TestTrimmedSinceLatest reports that a run which had begun with Latest, and had read nothing, is too long ago for the next one.
func TestTrimmedSinceLatest(t *testing.T) {
	for _, since := range []time.Duration{23 * time.Hour, 25 * time.Hour} {
		t.Run(since.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, a, store := newStream(1), &audience{}, consumer.NewMemory()
				catchUp(t, s, a.handle, consumer.Options{From: consumer.Latest, Checkpoints: store})
				one := s.write(0, "x")
				s.split(0, 1)
				wait(since)
				err := newConsumer(t, s, a.handle, consumer.Options{Checkpoints: store}).CatchUp(t.Context())
				if since < 24*time.Hour {
					a.want(t, one)
				} else {
					a.want(t)
				}
				if errors.Is(err, consumer.ErrTrimmed) != (since > 24*time.Hour) {
					t.Errorf("after %v the run ended with %v", since, err)
				}
			})
		})
	}
}

// TestHorizonMoves tests that the horizon may move between the iterator and the first read without a loss.
func TestHorizonMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := newStream(1), &audience{}
		s.write(0, "x")
		two := s.write(0, "x")
		s.fault = func(call string) error {
			if call == "GetRecords" {
				s.shards[0].trimmed = 1
			}
			return nil
		}
		catchUp(t, s, a.handle, consumer.Options{})
		a.want(t, two)
	})
}

// TestEarlierConsumerGetsError tests that of two consumers with the same checkpoints the earlier one gets an error.
func TestEarlierConsumerGetsError(t *testing.T) {
	db := monotabletest.New(t).Client()
	older, newer := consumer.NewTable(db, "checkpoints", "test"), consumer.NewTable(db, "checkpoints", "test")
	other := consumer.NewTable(db, "checkpoints", "other")
	if err := older.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, a := newStream(1), &audience{}
	fast := consumer.Options{PollInterval: time.Millisecond}
	with := func(store consumer.Checkpoints) consumer.Options { o := fast; o.Checkpoints = store; return o }
	one := s.write(0, "x")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- newConsumer(t, s, func(context.Context, consumer.Batch) error { return nil }, with(older)).Run(ctx)
	}()
	for saved := map[string]consumer.Checkpoint{}; saved[s.shards[0].id].Sequence != one; {
		var err error
		if saved, err = newer.Load(t.Context(), streamARN); err != nil {
			t.Fatal(err)
		}
	}
	catchUp(t, s, a.handle, with(newer))
	catchUp(t, s, a.handle, with(other))
	a.want(t, one)
	two := s.write(0, "x")
	if err := <-ended; !errors.Is(err, consumer.ErrTakenOver) {
		t.Errorf("the older one ended with %v", err)
	}
	catchUp(t, s, a.handle, with(newer))
	a.want(t, two)
}

// TestOptionFaults reports all errors at once.
func TestOptionFaults(t *testing.T) {
	_, err := consumer.New(newStream(1), streamARN, nil, consumer.Options{
		From: "yesterday", BatchSize: 1001, Concurrency: -1, MaxAttempts: -1, RetryMin: time.Hour,
	})
	if err == nil {
		t.Fatal("New accepted invalid options")
	}
	for _, want := range []string{"handler", "From", "BatchSize", "Concurrency", "MaxAttempts", "RetryMin"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not name %s: %v", want, err)
		}
	}
}
