package postgreskv

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/counters"
	"github.com/monotable/monotable/internal/database/storage/kv/overlay"
)

const (
	// attempts is the maximum number of attempts of an update that the database rejects because of others.
	attempts = 20
	// commitTime is the timeout for the server to confirm a commit.
	commitTime = time.Minute
)

// Update holds the intent's keys, runs fn and commits what it wrote.
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
	for attempt := 1; ; attempt++ {
		err := s.retry(ctx, func() error { return s.update(ctx, in, fn) })
		if code := state(err); code != deadlock && code != serialization || attempt == attempts {
			return err
		}
	}
}

// update is one attempt. If it fails with an error of an unavailable server, it has changed nothing.
func (s *Store) update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	conn, err := s.updates.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	t := &txn{ctx: ctx, store: s, conn: conn}
	if err := t.begin(in); err != nil {
		t.rollback(err)
		return err
	}
	if err := fn(t); err != nil {
		t.rollback(cmp.Or(t.err, err))
		return err
	}
	switch {
	case t.err != nil:
		t.rollback(t.err)
		return t.err
	case t.writes.Len() == 0 && len(t.adds) == 0 && len(t.records) == 0 && t.floor <= t.number:
		t.rollback(nil)
		return nil
	}
	return t.commit()
}

// txn is a running update.
type txn struct {
	ctx   context.Context //nolint:containedctx // that of Update: Txn's methods have none
	store *Store
	conn  *pgxpool.Conn

	read    map[string][]byte // of the intent's keys that exist
	named   map[string]bool   // the intent's keys
	number  kv.Seq            // divides the logs
	writes  overlay.Writes
	adds    counters.Sums
	records []record
	floor   kv.Seq // requested by Advance
	bytes   int
	err     error // ends the update
}

type record struct {
	log  kv.LogID
	data []byte
}

// claim is a lock that an update needs.
type claim struct {
	lock      int64
	exclusive bool
	key       []byte
}

// claims are the locks of an intent in ascending order, without duplicates.
func (s *Store) claims(in kv.Intent) []claim {
	list := make([]claim, 0, len(in.Write)+len(in.Check))
	for _, k := range in.Write {
		list = append(list, claim{s.lock(k), true, k})
	}
	for _, k := range in.Check {
		list = append(list, claim{s.lock(k), false, k})
	}
	slices.SortFunc(list, func(a, b claim) int {
		switch {
		case a.lock != b.lock:
			return cmp.Compare(a.lock, b.lock)
		case a.exclusive == b.exclusive:
			return 0
		case a.exclusive:
			return -1
		default:
			return 1
		}
	})
	return slices.CompactFunc(list, func(a, b claim) bool { return a.lock == b.lock })
}

// begin holds the intent's keys and reads them, in one round trip.
func (t *txn) begin(in kv.Intent) error {
	claims := t.store.claims(in)
	locks, exclusive := make([]int64, len(claims)), make([]bool, len(claims))
	for i, c := range claims {
		locks[i], exclusive[i] = c.lock, c.exclusive
	}
	t.named = make(map[string]bool, len(in.Write)+len(in.Check))
	for _, list := range [][][]byte{in.Write, in.Check} {
		for _, k := range list {
			t.named[string(k)] = true
		}
	}
	short, long := apart(slices.Collect(maps.Keys(t.named)))
	if len(short)*segmentBytes > unreadBytes {
		defer allowLateAcks(t.conn.Conn())()
	}
	ctx, cancel := context.WithTimeout(t.ctx, holdTime)
	defer cancel()
	var b pgx.Batch
	b.Queue("begin isolation level read committed") // regardless of the server's default
	b.Queue("select met, number from begin_update($1, $2, $3, $4, $5, $6, $7, $8)",
		locks, exclusive, markBit, in.Transaction, in.FailOnTransaction, number(t.store.seqFloor()), t.store.numberLock, t.store.timed)
	b.Queue("select k, v from kv where p = '' and k = any($1)", short)
	results := t.conn.SendBatch(ctx, &b)
	met, err := t.begun(results)
	if err = errors.Join(err, results.Close()); err != nil {
		return err
	}
	if met > 0 {
		return &kv.ConflictError{Key: bytes.Clone(claims[met-1].key)}
	}
	for _, k := range long {
		v, err := live.get(t.ctx, t.conn, []byte(k))
		if err != nil {
			return err
		}
		if v != nil {
			t.read[k] = v
		}
	}
	return nil
}

func (t *txn) begun(results pgx.BatchResults) (met int, err error) {
	if _, err := results.Exec(); err != nil {
		return 0, err
	}
	var first *int64
	if err := results.QueryRow().Scan(&met, &first); err != nil {
		return 0, err
	}
	if first != nil {
		t.number = kv.Seq(*first) //nolint:gosec // it is not negative
		t.store.raiseFloor(t.number)
	}
	rows, err := results.Query()
	if err != nil {
		return 0, err
	}
	t.read = map[string][]byte{}
	for rows.Next() {
		var k, v []byte
		if err := rows.Scan(&k, &v); err != nil {
			return 0, err
		}
		if v != nil {
			t.read[string(k)] = v
		}
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	return met, nil
}

// apart separates the keys with one segment from longer ones.
func apart(keys []string) (short [][]byte, long []string) {
	short = make([][]byte, 0, len(keys))
	for _, k := range keys {
		if len(k) <= segmentBytes {
			short = append(short, []byte(k))
		} else {
			long = append(long, k)
		}
	}
	return short, long
}

// rollback ends a transaction that has written nothing. If the reason is a statement that the server rejected, it closes the
// connection, which also ends the transaction: the statement may have held the lock of numbers, which a rollback does not
// release.
func (t *txn) rollback(why error) {
	if t.conn.Conn().IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), healthTime)
	defer cancel()
	if state(why) != "" {
		_ = t.conn.Conn().Close(ctx)
		return
	}
	if _, err := t.conn.Exec(ctx, "rollback"); err != nil {
		_ = t.conn.Conn().Close(ctx)
	}
}

func (t *txn) Get(key []byte) ([]byte, error) {
	if value, ok := t.writes.Get(key); ok {
		return value, nil
	}
	if t.named[string(key)] {
		return t.read[string(key)], nil
	}
	var value []byte
	err := inTime(t.ctx, func(ctx context.Context) (err error) {
		value, err = live.get(ctx, t.conn, key)
		return err
	})
	return value, t.failed(err)
}

func (t *txn) Counter(key []byte) ([]int64, error) {
	var sums []int64
	err := inTime(t.ctx, func(ctx context.Context) (err error) {
		sums, err = live.counter(ctx, t.conn, key)
		return err
	})
	return sums, t.failed(err)
}

func (t *txn) Iter(lo, hi []byte, o kv.IterOptions) kv.Iterator {
	return t.writes.Iter(newIterator(t.ctx, t.conn, live, lo, hi, o), lo, hi, o)
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
	switch {
	case !t.fits(len(key), 8*len(deltas)):
	case len(key) > segmentBytes:
		t.err = kv.ErrTooLarge
	default:
		t.adds.Add(key, deltas)
	}
}

func (t *txn) AppendLog(log kv.LogID, data []byte) {
	if t.fits(0, len(data)) {
		t.records = append(t.records, record{log, append([]byte{}, data...)})
	}
}

// Reserve always succeeds: the maximum number of concurrent updates bounds the memory.
func (t *txn) Reserve(int64) error { return nil }

func (t *txn) LogSeq() kv.Seq {
	if t.floor > t.number {
		var n int64
		err := t.conn.QueryRow(t.ctx, drawSQL, number(t.lowest()), t.store.numberLock, t.store.timed).Scan(&n)
		t.number = kv.Seq(n) //nolint:gosec // it is not negative
		t.store.raiseFloor(t.number)
		_ = t.failed(err)
	}
	return t.number
}

const drawSQL = "select draw($1, 0, $2, $3)"

func (t *txn) Advance(to kv.Seq) { t.floor = max(t.floor, to) }

// lowest is the lowest number that may be allocated.
func (t *txn) lowest() kv.Seq { return max(t.floor, t.store.seqFloor()) }

// fits records that a limit is exceeded.
func (t *txn) fits(key, value int) bool {
	t.bytes += key + value
	l := kv.EmbeddedLimits()
	if key > l.KeyBytes || value > l.ValueBytes || t.bytes > l.TxnBytes {
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

// commit writes everything and commits, in one round trip. From here on the caller's context is ignored: a commit that has
// started is completed.
func (t *txn) commit() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), commitTime)
	defer cancel()
	var b pgx.Batch
	t.queueWrites(&b)
	t.queueAdds(&b)
	t.queueRecords(&b)
	b.Queue("commit")
	if t.bytes > unreadBytes {
		defer allowLateAcks(t.conn.Conn())()
	}
	before := warnings(t.conn.Conn().PgConn())
	results := t.conn.SendBatch(ctx, &b)
	var err error
	var done pgconn.CommandTag
	for range b.Len() {
		if done, err = results.Exec(); err != nil {
			break
		}
	}
	err = cmp.Or(err, results.Close())
	_, refused := errors.AsType[*pgconn.PgError](err)
	switch {
	case err == nil && done.String() != "COMMIT":
		return fmt.Errorf("the commit became a %s", done)
	case err == nil && warnings(t.conn.Conn().PgConn()) > before:
		return fmt.Errorf("%w: %w", kv.ErrUndetermined, errUnconfirmed)
	case err == nil:
		return nil
	case refused && !unavailable(err), pgconn.SafeToRetry(err):
		t.rollback(err)
		return err
	default:
		_ = t.conn.Conn().Close(ctx)
		return fmt.Errorf("%w: %v", kv.ErrUndetermined, err) //nolint:errorlint // what does not say that the update may be tried again
	}
}

// queueWrites writes keys with one segment together, and longer ones one by one.
func (t *txn) queueWrites(b *pgx.Batch) {
	var set, values, deleted [][]byte
	for key, value := range t.writes.Last {
		switch {
		case len(key) >= segmentBytes:
			queueLong(b, live.rows, live.root, key, value)
		case value == nil:
			deleted = append(deleted, key)
		default:
			set, values = append(set, key), append(values, value)
		}
	}
	if len(deleted) > 0 {
		b.Queue(`with deleted as (delete from kv where p = '' and k = any($1) returning k, flags)
			delete from counters where k in (select k from deleted where flags & 2 <> 0)`, deleted)
	}
	if len(set) > 0 {
		b.Queue(`insert into kv (p, k, v) select ''::bytea, k, v from unnest($1::bytea[], $2::bytea[]) as u(k, v)
			on conflict (p, k) do update set v = excluded.v`, set, values)
	}
}

// queueLong writes a key of at least one whole segment: its row may be a branch of others.
func queueLong(b *pgx.Batch, rows string, root, key, value []byte) {
	at := locate(root, key)
	if value == nil {
		b.Queue("update "+rows+" set v = null where p = $1 and k = $2", at.p, at.k)
		return
	}
	for _, branch := range branches(root, key) {
		b.Queue("insert into "+rows+" as r (p, k, flags) values ($1, $2, 1) on conflict (p, k) do update set flags = r.flags | 1 where r.flags & 1 = 0", branch.p, branch.k)
	}
	b.Queue("insert into "+rows+" (p, k, v) values ($1, $2, $3) on conflict (p, k) do update set v = excluded.v", at.p, at.k, value)
}

// queueAdds adds to the counters' shards of this connection, to which hardly any other adds at the same time.
func (t *txn) queueAdds(b *pgx.Batch) {
	for _, key := range slices.Sorted(maps.Keys(t.adds)) {
		b.Queue(`insert into counters as c (k, shard, n) values ($1, $2, $3)
			on conflict (k, shard) do update set n = sums(c.n, excluded.n)`, []byte(key), shardOf(t.conn.Conn().PgConn()), t.adds[key])
		b.Queue("insert into kv (p, k, flags) values ('', $1, 2) on conflict do nothing", []byte(key))
	}
}

// queueRecords appends the records, or advances the numbers if there are none.
func (t *txn) queueRecords(b *pgx.Batch) {
	if len(t.records) == 0 {
		if t.floor > t.number {
			b.Queue(drawSQL, number(t.lowest()), t.store.numberLock, t.store.timed)
		}
		return
	}
	logs, data := make([]int64, len(t.records)), make([][]byte, len(t.records))
	for i, r := range t.records {
		logs[i], data[i] = int64(r.log), r.data
	}
	b.Queue("select append_log($1, $2, $3, $4, $5, $6)", logs, data, number(t.lowest()), t.store.appendLock, t.store.numberLock, t.store.timed)
}
