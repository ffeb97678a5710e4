// Package kinesis delivers the changes of tables to their Kinesis destinations: to a service with the API of Kinesis Data
// Streams, or to files.
//
//	Deliveries ─► one goroutine per table ─► Changes after the stored position ─► batches ─► Sink ─► position stored
//
// Invariants:
//
//	I1  At least once: the position is stored after the sink has a batch durably. A crash between the two repeats it.
//	I2  The records of one item arrive in the order of its changes: a batch has at most one record of an item, and the
//	    next one is sent when all of it has arrived.
//	I3  A record is identical at each delivery, including its eventID.
//
// While the sink fails, delivery falls behind and later continues where it was. Changes that the table's log has deleted by then,
// after a day, are lost; this is logged.
package kinesis

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// batchMax and batchBytesMax limit a batch, below the limits of PutRecords.
	batchMax      = 500
	batchBytesMax = 4 << 20
	// recordBytesMax is the size of a record, with its key, that every data stream accepts.
	recordBytesMax = 1 << 20
	// retryMin and retryMax limit the wait after a failed delivery of a table; the wait doubles with each failure.
	retryMin = 100 * time.Millisecond
	retryMax = 30 * time.Second
)

// Record is a record of a data stream.
type Record struct {
	Key  string // the partition key, different for each item
	Data []byte // JSON

	seq  kv.Seq
	time time.Time
}

// oversized reports whether a data stream may reject the record for its size.
func (r *Record) oversized() bool { return len(r.Data)+len(r.Key) > recordBytesMax }

// errRefused: the sink considers a batch invalid, and will not accept it later either.
var errRefused = errors.New("the records were rejected")

// Sink stores records. The records of a call are of different items.
type Sink interface {
	// Put returns when the records are durable. failed are those that are not, with the reason in err.
	Put(ctx context.Context, streamARN string, records []Record) (failed []Record, err error)
}

// Deliverer delivers the changes of an engine's tables.
type Deliverer struct {
	engine  *engine.Engine
	sink    Sink
	observe *observe.Database
	logger  *slog.Logger

	ctx     context.Context //nolint:containedctx // of its own life
	stop    context.CancelFunc
	wake    chan struct{}
	running sync.WaitGroup
}

// New returns a deliverer, to be started with Start.
func New(sink Sink, counts *observe.Database, logger *slog.Logger) *Deliverer {
	d := &Deliverer{sink: sink, observe: counts, logger: logger, wake: make(chan struct{}, 1)}
	d.ctx, d.stop = context.WithCancel(context.Background())
	return d
}

// Wake signals that the engine's deliveries have changed.
func (d *Deliverer) Wake() {
	select {
	case d.wake <- struct{}{}:
	default: // a check is already due
	}
}

// Start starts to deliver the changes of an engine.
func (d *Deliverer) Start(e *engine.Engine) {
	d.engine = e
	d.Wake()
	d.running.Go(d.supervise)
}

// Close ends the delivery and waits for its end. The engine must still be open.
func (d *Deliverer) Close() {
	d.stop()
	d.running.Wait()
}

// supervise keeps one goroutine running for each delivery.
func (d *Deliverer) supervise() {
	type task struct {
		cancel context.CancelFunc
		done   chan struct{}
	}
	tasks := map[engine.Delivery]task{}
	end := func(x engine.Delivery) {
		tasks[x].cancel()
		<-tasks[x].done
		delete(tasks, x)
	}
	for {
		select {
		case <-d.ctx.Done():
			for x := range tasks {
				end(x)
			}
			return
		case <-d.wake:
		}
		wanted := map[engine.Delivery]bool{}
		for _, x := range d.engine.Deliveries() {
			wanted[x] = true
		}
		for x := range tasks {
			if !wanted[x] {
				end(x) // before the table's next one starts
			}
		}
		for x := range wanted {
			if _, ok := tasks[x]; ok {
				continue
			}
			ctx, cancel := context.WithCancel(d.ctx)
			t := task{cancel, make(chan struct{})}
			tasks[x] = t
			go func() {
				defer close(t.done)
				d.deliver(ctx, &x)
			}()
		}
	}
}

// deliver delivers the changes of one table until its context or the table ends.
func (d *Deliverer) deliver(ctx context.Context, x *engine.Delivery) {
	counts := d.observe.Table(x.Label).Delivery()
	defer counts.CaughtUp(x.Label)
	pause := retryMin
	for {
		before := counts.Records.Load()
		err := d.follow(ctx, x, counts)
		if ctx.Err() != nil || errors.Is(err, engine.ErrTableGone) || errors.Is(err, engine.ErrNoTable) || errors.Is(err, kv.ErrClosed) {
			return
		}
		if counts.Records.Load() > before {
			pause = retryMin
		}
		counts.Failures.Add(1)
		d.logger.Warn("delivery to Kinesis failed", "table", x.Table, "stream", x.StreamARN, "error", err, "retry", pause)
		if !wait(ctx, pause) {
			return
		}
		pause = min(2*pause, retryMax)
	}
}

// wait waits, and reports whether the context is still active.
func wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// follow delivers from the stored position on, until something fails.
func (d *Deliverer) follow(ctx context.Context, x *engine.Delivery, counts *observe.Delivery) error {
	after, err := d.engine.Delivered(ctx, x)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	records, ended := make(chan Record, batchMax), make(chan error, 1)
	go func() {
		defer close(records)
		ended <- d.read(ctx, x, after, records)
	}()
	err = d.put(ctx, x, counts, records)
	cancel()
	for range records { // lets the reader notice the end
	}
	return errors.Join(err, <-ended)
}

// read sends the changes after a position as records. If the log has deleted some, it continues with the oldest.
func (d *Deliverer) read(ctx context.Context, x *engine.Delivery, after kv.Seq, records chan<- Record) error {
	for {
		err := d.readFrom(ctx, x, &after, records)
		if !errors.Is(err, engine.ErrChangesTrimmed) || after == engine.ChangesKept {
			return err
		}
		d.logger.Error("changes were trimmed before they were delivered to Kinesis", "table", x.Table, "stream", x.StreamARN)
		after = engine.ChangesKept
	}
}

func (d *Deliverer) readFrom(ctx context.Context, x *engine.Delivery, after *kv.Seq, records chan<- Record) error {
	for change, err := range d.engine.Changes(ctx, x.Table, *after) {
		if err != nil {
			return err
		}
		record, err := newRecord(x, &change)
		if err != nil {
			return err
		}
		select {
		case records <- record:
			*after = change.Seq
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// put passes records to the sink, batch by batch, until there are no more.
func (d *Deliverer) put(ctx context.Context, x *engine.Delivery, counts *observe.Delivery, records <-chan Record) error {
	var held *Record // starts the next batch
	for {
		var batch []Record
		if held == nil {
			first, ok := <-records
			if !ok {
				return nil
			}
			held = &first
		}
		batch, held = gather(*held, records)
		counts.Behind(x.Label, batch[0].time)
		delivered, err := d.putAll(ctx, x, counts, batch)
		if err != nil {
			return err
		}
		if err := d.engine.SetDelivered(ctx, x, batch[len(batch)-1].seq); err != nil {
			return err
		}
		counts.Records.Add(int64(delivered))
		if held == nil && len(records) == 0 {
			counts.CaughtUp(x.Label)
		}
	}
}

// gather returns a batch that starts with a record and continues with the available ones, until one is of an item already in the
// batch or does not fit; that one is held back. An oversized record is alone in its batch.
func gather(first Record, records <-chan Record) (batch []Record, held *Record) {
	batch = []Record{first}
	if first.oversized() {
		return batch, nil
	}
	items, bytes := map[string]bool{first.Key: true}, len(first.Data)
	for len(batch) < batchMax {
		select {
		case next, ok := <-records:
			if !ok {
				return batch, nil
			}
			if bytes += len(next.Data); items[next.Key] || bytes > batchBytesMax || next.oversized() {
				return batch, &next
			}
			items[next.Key] = true
			batch = append(batch, next)
		default:
			return batch, nil
		}
	}
	return batch, nil
}

// putAll puts a batch, and retries the records that failed. As on AWS, a record that is too large for the stream is skipped. It
// returns how many records were delivered.
func (d *Deliverer) putAll(ctx context.Context, x *engine.Delivery, counts *observe.Delivery, batch []Record) (delivered int, err error) {
	pause, all := retryMin, len(batch)
	for {
		failed, err := d.sink.Put(ctx, x.StreamARN, batch)
		if len(failed) == 0 {
			return all, err
		}
		if errors.Is(err, errRefused) && batch[0].oversized() {
			counts.Failures.Add(1)
			d.logger.Error("a change was not delivered to Kinesis: its record is too large for the stream",
				"table", x.Table, "stream", x.StreamARN, "key", batch[0].Key, "bytes", len(batch[0].Data), "error", err)
			return 0, nil
		}
		if len(failed) == len(batch) {
			return 0, err // nothing has arrived: restart from the stored position
		}
		batch = failed
		counts.Failures.Add(1)
		d.logger.Warn("Kinesis rejected part of a batch", "table", x.Table, "stream", x.StreamARN, "records", len(failed), "error", err)
		if !wait(ctx, pause) {
			return 0, ctx.Err()
		}
		pause = min(2*pause, retryMax)
	}
}
