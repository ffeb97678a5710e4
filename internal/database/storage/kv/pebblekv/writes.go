package pebblekv

import (
	"encoding/binary"
	"errors"
	"runtime"

	"github.com/cockroachdb/pebble/v2"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// batchBytes is the size at which a new batch is started. A single batch of 84 MB grew by repeated copying; the Go scheduler
	// cannot preempt a copy, and other goroutines waited for up to 60 ms.
	batchBytes = 1 << 20
	// yieldBytes is how much of an update, or of a table, is written before other goroutines get a turn. The Go scheduler by
	// itself only preempts after 10 ms.
	yieldBytes = 64 << 10
)

// writes are an update's writes, in batches of about batchBytes.
type writes struct {
	db      *pebble.DB
	batches []*pebble.Batch // at least one, between begin and close; the last one grows
	full    int             // size of all but the last
	yielded int             // size at the last yield
	records []recordPlace
}

// recordPlace is where the sequence number of a log record belongs: a batch, and an offset in it.
type recordPlace struct{ batch, at int }

func (w *writes) begin(db *pebble.DB) {
	w.db = db
	w.batches = append(w.batches, db.NewBatch())
}

func (w *writes) last() *pebble.Batch { return w.batches[len(w.batches)-1] }

func (w *writes) empty() bool { return len(w.batches) == 1 && w.last().Empty() }

func (w *writes) bytes() int { return w.full + w.last().Len() }

// room returns the batch for an operation of a size.
func (w *writes) room(bytes int) *pebble.Batch {
	if total := w.bytes(); total-w.yielded >= yieldBytes {
		w.yielded = total
		runtime.Gosched()
	}
	if last := w.last(); !last.Empty() && last.Len()+bytes > batchBytes {
		w.full += last.Len()
		w.batches = append(w.batches, w.db.NewBatch())
	}
	return w.last()
}

// set returns the batch's copies of key and value. They remain valid when the batch grows.
func (w *writes) set(key, value []byte) (ownKey, ownValue []byte) {
	return put(w.room(len(key)+len(value)).SetDeferred(len(key), len(value)), key, value)
}

func (w *writes) delete(key []byte) (ownKey []byte) {
	ownKey, _ = put(w.room(len(key)).DeleteDeferred(len(key)), key, nil)
	return ownKey
}

func (w *writes) merge(key, value []byte) {
	put(w.room(len(key)+len(value)).MergeDeferred(len(key), len(value)), key, value)
}

// append writes a log record and remembers the position of its sequence number, at the end of the key.
func (w *writes) append(key, record []byte) {
	batch := w.room(len(key) + len(record))
	put(batch.SetDeferred(len(key), len(record)), key, record)
	var length [binary.MaxVarintLen32]byte
	lengthLen := binary.PutUvarint(length[:], uint64(len(record)))
	w.records = append(w.records, recordPlace{len(w.batches) - 1, len(batch.Repr()) - len(record) - lengthLen - seqLen})
}

func put(op *pebble.DeferredBatchOp, key, value []byte) (ownKey, ownValue []byte) {
	copy(op.Key, key)
	copy(op.Value, value)
	if err := op.Finish(); err != nil {
		panic(err) // only indexed batches return errors
	}
	return op.Key[:len(key):len(key)], op.Value[:len(value):len(value)]
}

// number fills in the sequence numbers of the log records.
func (w *writes) number(first kv.Seq) {
	for i, place := range w.records {
		binary.BigEndian.PutUint64(w.batches[place.batch].Repr()[place.at:], uint64(first)+uint64(i))
	}
}

// whole returns all writes as one batch. The batches that it copies stay until close: Pebble uses the memory of a closed batch again,
// and the update's overlay points into it.
func (w *writes) whole() (*pebble.Batch, error) {
	if len(w.batches) == 1 {
		return w.last(), nil
	}
	whole := w.db.NewBatchWithSize(w.bytes())
	var err error
	for _, batch := range w.batches {
		err = errors.Join(err, whole.Apply(batch, nil))
	}
	w.batches = append(w.batches, whole)
	w.full = 0
	return whole, err
}

func (w *writes) close() (err error) {
	for _, batch := range w.batches {
		err = errors.Join(err, batch.Close())
	}
	clear(w.batches)
	w.batches, w.records = w.batches[:0], w.records[:0]
	w.full, w.yielded = 0, 0
	return err
}
