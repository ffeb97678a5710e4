//go:build tikv

package tikvkv

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
	"github.com/tikv/client-go/v2/tikvrpc/interceptor"
	"github.com/tikv/client-go/v2/txnkv/transaction"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/counters"
	"github.com/monotable/monotable/internal/database/storage/kv/overlay"
)

// commitTime is the timeout for a cluster to confirm a commit.
const commitTime = time.Minute

// Update runs fn on the committed state and commits what it wrote, and retries after conflicts.
func (s *Store) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	held, err := s.latches.Acquire(ctx, in)
	if err != nil {
		return err
	}
	defer held.Release()
	own, cancel := context.WithTimeoutCause(ctx, callTime, errSlow)
	defer cancel()
	u := &update{store: s, in: in, id: rand.Uint64()}
	err = s.again(own, func() error { return u.attempt(own, fn) })
	if len(u.closed) > 0 {
		u.reopen(context.WithoutCancel(ctx))
	}
	switch {
	case err == nil, own.Err() == nil, errors.Is(err, kv.ErrUndetermined):
		return translate(err)
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return translate(errSlow)
	}
}

// update is a running Update.
type update struct {
	store  *Store
	in     kv.Intent
	id     uint64   // identifies its guards
	closed [][]byte // steady keys whose change it has announced
}

// attempt is one transaction.
func (u *update) attempt(ctx context.Context, fn func(kv.Txn) error) error {
	t, err := u.store.begin(ctx)
	if err != nil {
		return err
	}
	t.in = u.in
	if err := t.readIntent(); err != nil {
		return err
	}
	if err := u.passGuards(t); err != nil {
		return err
	}
	if err := fn(t); err != nil {
		return err
	}
	if t.err != nil {
		return t.err
	}
	return t.commit(u)
}

// txn is a running update.
type txn struct {
	*view
	in    kv.Intent
	tx    *transaction.KVTxn
	start uint64

	named   map[string][]byte // the rows of the intent's keys, nil for absent ones
	guards  map[string][]byte // the guards of its steady keys
	numbers *meta             // nil until it is read

	writes  overlay.Writes
	adds    counters.Sums
	records []record
	floor   kv.Seq // requested by Advance
	divides bool   // LogSeq was called
	bytes   int
	err     error // ends the update
}

type record struct {
	log  kv.LogID
	data []byte
}

// begin begins a transaction.
func (s *Store) begin(ctx context.Context) (*txn, error) {
	start, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := s.client.Begin(tikv.WithStartTS(start))
	if err != nil {
		return nil, err
	}
	return &txn{view: &view{s, ctx, start, tx.GetSnapshot()}, tx: tx, start: start}, nil
}

// readIntent reads the intent's keys, and other rows that are certain to be needed, in one request.
func (t *txn) readIntent() error {
	s := t.store
	metaKey := s.key(metaSpace)
	keys := [][]byte{metaKey}
	t.named, t.guards = map[string][]byte{}, map[string][]byte{}
	for _, list := range [][][]byte{t.in.Write, t.in.Check} {
		for _, k := range list {
			if _, has := t.named[string(k)]; has {
				continue
			}
			t.named[string(k)] = nil
			keys = append(keys, s.key(valueSpace, k...))
			if s.steady(k) {
				t.guards[string(k)] = nil
				keys = append(keys, s.key(guardSpace, k...))
			}
		}
	}
	rows, err := t.rows(keys)
	if err != nil {
		return err
	}
	m, err := decodeMeta(rows[string(metaKey)])
	t.numbers = &m
	for k := range t.named {
		t.named[k] = rows[string(s.key(valueSpace, []byte(k)...))]
	}
	for k := range t.guards {
		t.guards[k] = rows[string(s.key(guardSpace, []byte(k)...))]
	}
	return err
}

func (t *txn) Get(key []byte) ([]byte, error) {
	if v, ok := t.writes.Get(key); ok {
		return v, nil
	}
	if row, ok := t.named[string(key)]; ok {
		return value(row), nil
	}
	v, err := t.view.Get(key)
	return v, t.failed(err)
}

func (t *txn) Counter(key []byte) ([]int64, error) {
	sums, err := t.view.Counter(key)
	return sums, t.failed(err)
}

func (t *txn) Iter(lo, hi []byte, o kv.IterOptions) kv.Iterator {
	return t.writes.Iter(t.view.Iter(lo, hi, o), lo, hi, o)
}

func (t *txn) Set(key, value []byte) {
	if t.fits(len(key), len(value)) {
		t.writes.Set(bytes.Clone(key), append([]byte{}, value...))
	}
}

func (t *txn) Delete(key []byte) {
	if t.fits(len(key), 0) {
		t.writes.Delete(bytes.Clone(key))
	}
}

func (t *txn) Add(key []byte, deltas ...int64) {
	if t.fits(len(key), 8*len(deltas)) {
		t.adds.Add(key, deltas)
	}
}

func (t *txn) AppendLog(log kv.LogID, data []byte) {
	if t.fits(0, len(data)) {
		t.records = append(t.records, record{log, append([]byte{}, data...)})
	}
}

// Reserve always succeeds: the limits of an update bound its size.
func (t *txn) Reserve(int64) error { return nil }

// LogSeq is the number after that of the start: updates acknowledged before have numbers up to it.
func (t *txn) LogSeq() kv.Seq {
	t.divides = true
	return max(t.numbers.number(t.start+1), t.floor)
}

func (t *txn) Advance(to kv.Seq) { t.floor = max(t.floor, to) }

// fits records that a limit is exceeded.
func (t *txn) fits(key, value int) bool {
	t.bytes += key + value
	if key > limits.KeyBytes || value > limits.ValueBytes || t.bytes > limits.TxnBytes {
		t.err = kv.ErrTooLarge
	}
	return t.err == nil
}

// failed records an error after which the transaction is unusable.
func (t *txn) failed(err error) error {
	if err != nil {
		t.err = cmp.Or(t.err, err)
	}
	return err
}

// commit writes everything and commits. Once a commit has started, it is completed even if the caller's context ends.
func (t *txn) commit(u *update) error {
	advances := t.floor > t.numbers.number(t.start+1)
	if t.writes.Len() == 0 && len(t.adds) == 0 && len(t.records) == 0 && !t.divides && !advances {
		return nil
	}
	if len(t.adds) > 0 {
		lane := <-t.store.lanes
		defer func() { t.store.lanes <- lane }()
		if err := t.writeAdds(lane); err != nil {
			return err
		}
	}
	for key, v := range t.writes.Last {
		if err := t.write(t.store.key(valueSpace, key...), v); err != nil {
			return err
		}
	}
	if err := t.writeRecords(); err != nil {
		return err
	}
	if err := t.lockIntent(); err != nil {
		return err
	}
	for _, key := range u.guardsToOpen(t) {
		if err := t.tx.Delete(t.store.key(guardSpace, key...)); err != nil {
			return err
		}
	}
	err := t.send()
	if err == nil {
		u.closed = nil
	}
	return err
}

func (t *txn) write(key, value []byte) error {
	if value == nil {
		return t.tx.Delete(key)
	}
	return t.tx.Set(key, append([]byte{isValue}, value...))
}

// writeAdds adds to shards of the counters to which no other update of this process adds at the same time.
func (t *txn) writeAdds(lane uint16) error {
	s := t.store
	var keys [][]byte
	for key := range t.adds {
		keys = append(keys, s.key(valueSpace, []byte(key)...), s.shardKey([]byte(key), lane))
	}
	rows, err := t.rows(keys)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(t.adds)) {
		at, shard := s.key(valueSpace, []byte(key)...), s.shardKey([]byte(key), lane)
		mark := rows[string(at)]
		if len(mark) == 0 || mark[0] != isCounter { // a new generation, so that shards of an earlier one do not count
			mark = append([]byte{isCounter}, generation(t.start)...)
			if err := t.tx.Set(at, mark); err != nil {
				return err
			}
		}
		sum := t.adds[key]
		if old := rows[string(shard)]; len(old) >= 8 && bytes.Equal(old[:8], mark[1:]) {
			if sum, err = counters.Add(slices.Clone(sum), old[8:]); err != nil {
				return err
			}
		}
		if err := t.tx.Set(shard, counters.Append(bytes.Clone(mark[1:]), sum)); err != nil {
			return err
		}
	}
	return nil
}

// lockIntent makes those keys of the intent count as written that are not, so that concurrent changes of them conflict.
// Existing steady keys are only read, see the package comment.
func (t *txn) lockIntent() error {
	s := t.store
	var lock [][]byte
	for k, row := range t.named {
		key := []byte(k)
		if _, written := t.writes.Get(key); written {
			continue
		}
		if !slices.ContainsFunc(t.in.Write, func(w []byte) bool { return bytes.Equal(w, key) }) && row != nil && s.steady(key) {
			continue
		}
		lock = append(lock, s.key(valueSpace, key...))
	}
	slices.SortFunc(lock, bytes.Compare)
	for _, key := range lock {
		if err := t.tx.LockKeysWithWaitTime(t.ctx, noWait, key); err != nil {
			return err
		}
	}
	return nil
}

// noWait: an optimistic transaction records its locks, and takes them in its commit.
const noWait = -1

// send commits the transaction, within the window.
func (t *txn) send() error {
	late := false
	inWindow := func(ts uint64) bool {
		if before(ts, t.store.window) > t.start {
			late = true
		}
		return !late
	}
	t.tx.SetEnableAsyncCommit(false)
	t.tx.SetEnable1PC(false)
	t.tx.SetCommitTSUpperBoundCheck(inWindow)
	// The library allocates another timestamp if a reader came in between, without asking again.
	t.tx.SetRPCInterceptor(func(next interceptor.RPCInterceptorFunc) interceptor.RPCInterceptorFunc {
		return func(target string, req *tikvrpc.Request) (*tikvrpc.Response, error) {
			if req.Type == tikvrpc.CmdCommit && !inWindow(req.Commit().CommitVersion) {
				return &tikvrpc.Response{Resp: &kvrpcpb.CommitResponse{Error: &kvrpcpb.KeyError{Abort: "past the window"}}}, nil
			}
			return next(target, req)
		}
	})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), commitTime)
	defer cancel()
	err := classify(t.tx.Commit(ctx))
	if err != nil && late && !errors.Is(err, kv.ErrUndetermined) {
		return errors.Join(errAgain, err)
	}
	return err
}
