package consumer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// lineage is the tree of a stream's shards during one run, with the state of each. It belongs to the goroutine that runs
// follow; readers report through ended.
type lineage struct {
	consumer *Consumer
	catchUp  bool
	saved    map[string]Checkpoint // as loaded
	shards   map[string]*shard
	listed   bool // at least once
	closed   bool // the stream is disabled
	reading  int
	started  bool         // at least once
	pending  atomic.Int32 // shards of the first start that are not being read yet, plus one during the start
	ended    chan ending
	slots    chan struct{} // one per batch that may be handled concurrently
}

// shard is the lineage's knowledge of one shard.
type shard struct {
	id, parent string
	first      string // its lowest possible sequence number
	last       string // its highest, empty while it is open
	state      state
	begin      Checkpoint
	latest     bool // start after its newest record
	read       bool // to its end
}

type state uint8

const (
	waiting state = iota
	reading
	caughtUp // read up to the present, with catchUp
	done
)

// ending is a reader's final report on its shard.
type ending struct {
	shard      *shard
	state      state
	checkpoint Checkpoint
	err        error
}

// errShardGone: the server no longer knows a shard.
var errShardGone = errors.New("consumer: shard no longer exists")

func newLineage(c *Consumer, saved map[string]Checkpoint, catchUp bool) *lineage {
	return &lineage{
		consumer: c, catchUp: catchUp, saved: saved, shards: map[string]*shard{},
		ended: make(chan ending), slots: make(chan struct{}, c.options.Concurrency),
	}
}

// follow reads all shards until there is nothing left to read, an error occurs, or ctx ends. All readers have ended when
// it returns.
func (l *lineage) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var readers sync.WaitGroup
	defer readers.Wait()
	defer cancel()
	ticks := make(chan struct{})
	readers.Go(func() { l.tick(ctx, ticks) })
	for {
		if err := l.discover(ctx); err != nil {
			return err
		}
		l.start(ctx, &readers)
		if l.reading == 0 && (l.closed || l.catchUp) {
			return nil
		}
		select {
		case e := <-l.ended:
			if err := l.end(ctx, e); err != nil {
				return err
			}
		case <-ticks:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tick sends when it is time to look for new shards.
func (l *lineage) tick(ctx context.Context, ticks chan<- struct{}) {
	for l.consumer.options.Sleep(ctx, l.consumer.options.DiscoverInterval) == nil {
		select {
		case ticks <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}

// discover lists the stream's shards, adds new ones and forgets removed ones.
func (l *lineage) discover(ctx context.Context) error {
	listed, err := l.list(ctx)
	if err != nil {
		return err
	}
	for id, listing := range listed {
		s := l.shards[id]
		if s == nil {
			s = &shard{id: id}
			l.shards[id] = s
		}
		s.parent = aws.ToString(listing.ParentShardId)
		if r := listing.SequenceNumberRange; r != nil {
			s.first, s.last = aws.ToString(r.StartingSequenceNumber), aws.ToString(r.EndingSequenceNumber)
		}
	}
	if !l.listed {
		l.listed = true
		if err := l.begin(ctx); err != nil {
			return err
		}
	}
	return l.forget(ctx, listed)
}

func (l *lineage) list(ctx context.Context) (map[string]types.Shard, error) {
	c := l.consumer
	listed := map[string]types.Shard{}
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: &c.stream}
	for {
		var out *dynamodbstreams.DescribeStreamOutput
		err := c.withRetry(ctx, "describe stream", func(ctx context.Context) (err error) {
			out, err = c.streams.DescribeStream(ctx, in)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("consumer: %w", err)
		}
		for _, s := range out.StreamDescription.Shards {
			listed[aws.ToString(s.ShardId)] = s
		}
		l.closed = out.StreamDescription.StreamStatus == types.StreamStatusDisabled
		in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId
		if aws.ToString(in.ExclusiveStartShardId) == "" {
			return listed, nil
		}
	}
}

// begin decides where to start reading the initial shards. Shards that appear later are read from their beginning.
func (l *lineage) begin(ctx context.Context) error {
	for id, c := range l.saved {
		s := l.shards[id]
		if s == nil && !c.Done {
			if err := l.dropGone(ctx, id, c); err != nil {
				return err
			}
			continue
		}
		if s == nil {
			s = &shard{id: id}
			l.shards[id] = s
		}
		s.begin = c
		if c.Done {
			s.state, s.read = done, true
		}
		// A shard with a checkpoint was started after its ancestors were done or skipped.
		for a := l.shards[s.parent]; a != nil && a.state != done; a = l.shards[a.parent] {
			if _, ok := l.saved[a.id]; ok {
				break
			}
			a.state = done
		}
	}
	if len(l.saved) == 0 {
		for _, s := range l.shards {
			s.beginAt(l.consumer.options.From)
		}
	}
	return nil
}

// beginAt sets where a consumer without checkpoints starts reading the shards.
func (s *shard) beginAt(from Position) {
	switch from {
	case TrimHorizon:
	case Latest:
		s.latest = true
		if s.last != "" {
			s.state = done
		}
	default:
		after := string(from)
		switch {
		case s.last != "" && compareSequences(s.last, after) <= 0:
			s.state = done
		case s.first != "" && compareSequences(s.first, after) <= 0:
			s.begin.Sequence = after
		}
	}
}

// forget deletes the checkpoints of shards that are done and no longer listed, except while a child is being read or waits to be:
// they tell that the child has to be read from its first record.
func (l *lineage) forget(ctx context.Context, listed map[string]types.Shard) error {
	awaited := map[string]bool{}
	for _, s := range l.shards {
		if s.state == waiting || s.state == reading {
			awaited[s.parent] = true
		}
	}
	for id, s := range l.shards {
		if _, ok := listed[id]; ok || s.state != done || awaited[id] {
			continue
		}
		if err := l.drop(ctx, id); err != nil {
			return err
		}
		delete(l.shards, id)
	}
	return nil
}

func (l *lineage) drop(ctx context.Context, id string) error {
	c := l.consumer
	return c.withRetry(ctx, "delete checkpoint", func(ctx context.Context) error {
		return c.options.Checkpoints.Delete(ctx, c.stream, id)
	})
}

// dropGone handles a shard that no longer exists.
func (l *lineage) dropGone(ctx context.Context, id string, c Checkpoint) error {
	if !c.Done {
		if !l.consumer.options.SkipTrimmed {
			return fmt.Errorf("%w: shard %s, after %s, no longer exists", ErrTrimmed, id, c.position())
		}
		l.consumer.options.Logger.Warn("shard was removed before it was read to its end", "stream", l.consumer.stream, "shard", id, "after", c.Sequence)
	}
	return l.drop(ctx, id)
}

// start reads the shards whose parents are done or no longer exist.
func (l *lineage) start(ctx context.Context, readers *sync.WaitGroup) {
	first := !l.started
	if first {
		l.started = true
		l.pending.Add(1)
		defer l.begun()
	}
	for _, s := range l.shards {
		if parent := l.shards[s.parent]; s.state != waiting || parent != nil && parent.state != done {
			continue
		}
		s.state = reading
		l.reading++
		r := &reader{Consumer: l.consumer, shard: s.id, checkpoint: s.begin, latest: s.latest, closed: s.last != "", catchUp: l.catchUp, slots: l.slots, begun: func() {}}
		if parent := l.shards[s.parent]; parent != nil && parent.read {
			r.first = s.first
		}
		if first {
			l.pending.Add(1)
			r.begun = sync.OnceFunc(l.begun)
		}
		readers.Go(func() {
			state, err := r.read(ctx)
			if errors.Is(err, errShardGone) {
				r.begun() // there is nothing to miss
			}
			select {
			case l.ended <- ending{s, state, r.checkpoint, err}:
			case <-ctx.Done():
			}
		})
	}
}

// begun records that a shard of the first start is being read, or the end of that start.
func (l *lineage) begun() {
	if l.pending.Add(-1) == 0 && l.consumer.options.Begun != nil {
		l.consumer.options.Begun()
	}
}

// end records the end of a reader.
func (l *lineage) end(ctx context.Context, e ending) error {
	l.reading--
	e.shard.state, e.shard.read = e.state, e.state == done
	if !errors.Is(e.err, errShardGone) {
		return e.err
	}
	listed, err := l.list(ctx)
	if err != nil {
		return err // the stream itself no longer exists
	}
	if _, ok := listed[e.shard.id]; ok {
		return e.err
	}
	e.shard.state = done
	if e.checkpoint == (Checkpoint{}) {
		return l.drop(ctx, e.shard.id) // nothing had been read
	}
	return l.dropGone(ctx, e.shard.id, e.checkpoint)
}
