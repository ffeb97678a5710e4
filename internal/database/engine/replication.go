package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// Replication: each Region fetches the changes of a global table from the change log of every other one, and applies those that
// are not older than its own.
//
//	Region A: write ─► item, version, log record ─┐
//	Region B: position ─► records after it ◄──────┘ ─► after the delay: item, version, log record, position   one commit
//
// A record that came from another replica is not fetched again: all other Regions fetch it from its own Region.
//
//	R1  A change has arrived when a commit has advanced the position beyond it, starting from the flow's last position. So each
//	    change is applied once, in the order of its log, and a restart continues where it was.
//	R2  Of two writes of an item the one with the higher version wins, in every Region, whichever arrives first.
//	R3  A log keeps what another Region has not fetched, even while that Region is not served.

const (
	// arrivalsMax and arrivalBytes limit the changes applied in one commit.
	arrivalsMax  = 100
	arrivalBytes = 1 << 20
	// flowRetry is how long a flow waits after a failure.
	flowRetry = time.Second
	// positionInterval is how often a position is stored that only advanced over records that are not replicated.
	positionInterval = 10 * time.Second
)

// flowID identifies a flow of changes to a table of the engine.
type flowID struct {
	table  keyenc.TableID
	region string // the source Region
}

// flows are the flows of changes to the tables of an engine.
type flows struct {
	woken chan struct{}

	mu      sync.Mutex
	running map[flowID]*flow
}

func newFlows() flows { return flows{woken: make(chan struct{}, 1), running: map[flowID]*flow{}} }

// wake signals that the replicas of a table may have changed.
func (f *flows) wake() {
	select {
	case f.woken <- struct{}{}:
	default:
	}
}

// superviseFlows keeps one goroutine running for each flow required by the table definitions, until ctx ends.
func (e *Engine) superviseFlows(ctx context.Context) {
	select {
	case <-e.regions.opened:
	case <-ctx.Done():
		return
	}
	e.flows.wake()
	var ended sync.WaitGroup
	defer func() {
		ended.Wait()
		e.flows.mu.Lock()
		defer e.flows.mu.Unlock()
		clear(e.flows.running)
	}()
	for {
		select {
		case <-e.flows.woken:
		case <-ctx.Done():
			return
		}
		wanted := e.wantedFlows()
		e.flows.mu.Lock()
		for id, f := range e.flows.running {
			if _, ok := wanted[id]; !ok {
				f.cancel()
				delete(e.flows.running, id)
			}
		}
		for id, f := range wanted {
			if e.flows.running[id] != nil {
				continue
			}
			ctx, cancel := context.WithCancel(ctx)
			f.cancel = cancel
			e.flows.running[id] = f
			ended.Go(func() {
				defer cancel()
				if f.run(ctx) {
					e.flows.ended(id, f)
				}
			})
		}
		e.flows.mu.Unlock()
	}
}

// ended removes a flow that has ended, so that a new one can start if needed: its source may become a replica again.
func (f *flows) ended(id flowID, x *flow) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running[id] == x {
		delete(f.running, id)
		f.wake()
	}
}

// wantedFlows returns the flows to all replicas, from all served Regions.
func (e *Engine) wantedFlows() map[flowID]*flow {
	wanted := map[flowID]*flow{}
	for _, t := range e.catalog.Tables() {
		if t.Replica == "" || t.Descriptor.BeingFilled() || t.Descriptor.Deleting() {
			continue
		}
		for _, other := range t.Descriptor.Global.Replicas {
			if from := e.regions.get(other.Region); from != nil && other.State == catalog.ReplicaActive {
				wanted[flowID{t.ID, other.Region}] = newFlow(e, from, t)
			}
		}
	}
	return wanted
}

// flow applies the changes of one replica to another.
type flow struct {
	to, from *Engine
	table    keyenc.TableID // of to
	name     string
	cancel   context.CancelFunc

	after  kv.Seq // all changes up to here have arrived
	stored kv.Seq // the stored value of after
	at     time.Time

	mu      sync.Mutex
	arrived kv.Seq    // after, for other goroutines
	behind  time.Time // time of the oldest known change that has not arrived; zero if there is none
}

func newFlow(to, from *Engine, t *catalog.Table) *flow {
	return &flow{to: to, from: from, table: t.ID, name: t.Name}
}

// run applies changes until the flow is no longer needed. It reports whether one of the tables has changed, so that another flow
// may be needed.
func (f *flow) run(ctx context.Context) bool {
	for ctx.Err() == nil {
		err := f.follow(ctx, 0)
		if ctx.Err() != nil || errors.Is(err, kv.ErrClosed) {
			return false
		}
		if errors.Is(err, ErrTableGone) || errors.Is(err, ErrNoTable) {
			return rest(ctx, flowRetry) // until the definitions agree
		}
		f.to.options.Logger.Error("replication failed and will be retried", "table", f.name,
			"from", f.from.options.Region, "to", f.to.options.Region, "error", err)
		if !rest(ctx, flowRetry) {
			break
		}
	}
	return false
}

// errPositionMoved: the position is not where the flow left it. A job has applied changes, or the replica has left and rejoined.
var errPositionMoved = errors.New("engine: the replication position has moved")

// follow applies changes. If until is not 0, it applies all changes below that number without delay, and returns.
func (f *flow) follow(ctx context.Context, until kv.Seq) error {
	for {
		if err := f.followOn(ctx, until); !errors.Is(err, errPositionMoved) {
			return err
		}
	}
}

// followOn is follow, starting at the stored position.
func (f *flow) followOn(ctx context.Context, until kv.Seq) (err error) {
	source := f.from.catalog.Tables()[f.name]
	if source == nil || source.Descriptor.GoneAt != 0 {
		return ErrNoTable
	}
	if f.after, err = f.to.storedPosition(ctx, f.table, f.from.options.Region); err != nil {
		return err
	}
	f.stored, f.at = f.after, f.to.options.Now()
	log := &follower{engine: f.from, table: source, after: f.after, begun: true, listener: f.from.appendCounts.listen(source.ID)}
	defer f.from.appendCounts.dismiss(log.listener)
	if err := log.recordProgress(ctx); err != nil {
		return err
	}
	for until == 0 || f.after+1 < until {
		var records []kv.Record
		if until == 0 {
			records, err = log.next(ctx)
		} else if records, err = log.read(ctx); err == nil && len(records) == 0 && log.after+1 < until {
			err = log.listener.wait(ctx, f.from.jobs.ctx.Done())
		}
		if errors.Is(err, ErrChangesTrimmed) {
			f.to.options.Logger.Error("changes were trimmed before they were replicated to another Region: its replica differs from now on",
				"table", f.name, "from", f.from.options.Region, "to", f.to.options.Region)
			if err := f.skip(ctx, log); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if err := f.applyRecords(ctx, records, until == 0); err != nil {
			return err
		}
		f.after = max(f.after, log.after)
		f.note(time.Time{})
	}
	return f.store(ctx)
}

// skip continues with the oldest change in the log.
func (f *flow) skip(ctx context.Context, log *follower) error {
	lost, err := log.lost(ctx)
	if err != nil {
		return err
	}
	log.after, f.after = max(log.after, lost), max(f.after, lost)
	return f.store(ctx)
}

// note publishes the flow's progress.
func (f *flow) note(behind time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.arrived, f.behind = f.after, behind
}

// arrival is a change from another replica.
type arrival struct {
	seq    kv.Seq
	change logenc.Change
}

// applyRecords applies those records that are to be replicated, each when it is due.
func (f *flow) applyRecords(ctx context.Context, records []kv.Record, waits bool) error {
	var batch []arrival
	keys, size := map[string]bool{}, 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := f.arrive(ctx, batch)
		batch, size = nil, 0
		clear(keys)
		return err
	}
	for i := range records {
		change, err := logenc.Decode(records[i].Data)
		if err != nil {
			return fmt.Errorf("engine: change %d of table %q: %w", records[i].Seq, f.name, err)
		}
		if change.Origin == logenc.OriginReplica || change.Version == 0 {
			continue
		}
		if len(batch) == 0 {
			f.note(time.UnixMilli(records[i].Seq.Millis()))
		}
		due := time.UnixMilli(records[i].Seq.Millis()).Add(f.to.options.ReplicationDelay)
		if waits && due.After(f.to.options.Now()) {
			if err := flush(); err != nil {
				return err
			}
			f.note(time.UnixMilli(records[i].Seq.Millis()))
			if err := f.to.waitFor(ctx, due); err != nil {
				return err
			}
		}
		if keys[string(change.Key)] || len(batch) == arrivalsMax || size > arrivalBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		keys[string(change.Key)] = true
		size += len(change.Old) + len(change.New)
		batch = append(batch, arrival{records[i].Seq, change})
	}
	if err := flush(); err != nil {
		return err
	}
	if len(records) > 0 && f.to.options.Now().Sub(f.at) >= positionInterval {
		f.after = max(f.after, records[len(records)-1].Seq)
		return f.store(ctx)
	}
	return nil
}

// waitFor waits for a time of the injected clock.
func (e *Engine) waitFor(ctx context.Context, at time.Time) error {
	for {
		wait := at.Sub(e.options.Now())
		if wait <= 0 {
			return nil
		}
		timer := time.NewTimer(min(wait, jobWaitMax))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// arrive applies changes of different items in one commit, together with the position after them. Changes that are too large for
// one commit are split. Nothing is applied from a replica that has left the global table.
func (f *flow) arrive(ctx context.Context, batch []arrival) error {
	for {
		t := f.to.catalog.Tables()[f.name]
		if t == nil || t.ID != f.table || t.Descriptor.Global.Replica(f.from.options.Region) == nil {
			return ErrTableGone
		}
		err := f.arriveAt(ctx, t, batch)
		switch {
		case errors.Is(err, errTableChanged):
			if err := f.to.catalog.Renew(ctx, t); err != nil {
				return err
			}
		case errors.Is(err, kv.ErrTooLarge) && len(batch) > 1:
			half := len(batch) / 2
			if err := f.arrive(ctx, batch[:half]); err != nil {
				return err
			}
			return f.arrive(ctx, batch[half:])
		default:
			return err
		}
	}
}

func (f *flow) arriveAt(ctx context.Context, t *catalog.Table, batch []arrival) error {
	g := make(writeGroup, len(batch))
	for i := range batch {
		var err error
		if g[i], err = arriving(t, &batch[i].change, f.from.options.Region); err != nil {
			return err
		}
	}
	key, after := keyenc.Position(t.ID, f.from.options.Region), batch[len(batch)-1].seq
	in := g.intent()
	in.Write, in.Frees = append(in.Write, key), false
	written := 0
	err := f.to.update(ctx, in, g, func(txn kv.Txn, ws *workspace) error {
		written = 0
		if err := g.checkVersions(txn); err != nil {
			return err
		}
		if err := f.checkPosition(txn, key); err != nil {
			return err
		}
		for _, w := range g {
			if err := w.run(txn, ws); err != nil {
				return err
			}
			if w.outcome.logged {
				written++
			}
		}
		txn.Set(key, encodeSeq(after))
		return nil
	})
	if err != nil {
		return err
	}
	f.after, f.stored, f.at = after, after, f.to.options.Now()
	counts := f.to.options.Observe.Table(f.to.options.MetricsPrefix + t.Name)
	for range written {
		countRecord(counts, t, f.at)
	}
	latency := f.from.options.Observe.Table(f.from.options.MetricsPrefix + t.Name).Replication(f.to.options.Region)
	for i := range batch {
		latency.Observe(max(0, f.at.Sub(time.UnixMilli(batch[i].seq.Millis()))))
	}
	return nil
}

// checkPosition checks that the position is still where the flow has stored it.
func (f *flow) checkPosition(txn kv.Txn, key []byte) error {
	data, err := txn.Get(key)
	if err == nil && !bytes.Equal(data, encodeSeq(f.stored)) {
		err = errPositionMoved
	}
	return err
}

// arriving returns the write for a change of another replica.
func arriving(t *catalog.Table, change *logenc.Change, region string) (*write, error) {
	_, pk, sk, err := keyenc.ParseItem(change.Key)
	if err != nil {
		return nil, err
	}
	w := &write{
		kind: deleteWrite, origin: logenc.OriginReplica, arrived: &itemVersion{change.Version, region},
		t: t, key: keyenc.Item(nil, t.ID, pk, sk), pk: pk, sk: sk,
	}
	if change.Exists {
		w.kind, w.stored = putWrite, change.New
	}
	return w, nil
}

// store stores the position.
func (f *flow) store(ctx context.Context) error {
	if f.after == f.stored {
		return nil
	}
	key, version := keyenc.Position(f.table, f.from.options.Region), keyenc.TableVersion(f.table)
	err := f.to.store.Update(ctx, kv.Intent{Write: [][]byte{key}, Check: [][]byte{version}, Frees: true}, func(txn kv.Txn) error {
		if v, err := catalog.Version(txn, f.table); err != nil || v == 0 {
			return err
		}
		if err := f.checkPosition(txn, key); err != nil {
			return err
		}
		txn.Set(key, encodeSeq(f.after))
		return nil
	})
	if err == nil {
		f.stored, f.at = f.after, f.to.options.Now()
	}
	return err
}

func encodeSeq(n kv.Seq) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
