//go:build tikv

package tikvkv

import (
	"bytes"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/counters"
)

// pageRows is the default number of rows per request of an iteration.
const pageRows = 256

// rowsOfClient is the client library's iterator, which starts on its first row.
type rowsOfClient interface {
	Valid() bool
	Key() []byte
	Value() []byte
	Next() error
	Close()
}

// scan iterates over rows. It starts before its first one.
type scan struct {
	view    *view
	lo, hi  []byte
	o       kv.IterOptions
	rows    rowsOfClient
	begun   bool
	key     []byte
	row     []byte
	err     error
	isEnded bool
}

// scan iterates over the rows with keys in [lo, hi).
func (v *view) scan(lo, hi []byte, o kv.IterOptions) *scan {
	return &scan{view: v, lo: lo, hi: hi, o: o}
}

// Next steps to the next row.
func (s *scan) Next() bool {
	if s.isEnded || s.err != nil {
		return false
	}
	if s.err = s.step(); s.err == nil && s.rows.Valid() && (!s.o.Reverse || bytes.Compare(s.rows.Key(), s.lo) >= 0) {
		s.key, s.row = s.rows.Key(), s.rows.Value()
		return true
	}
	s.err, s.isEnded, s.key, s.row = translate(s.err), true, nil, nil
	return false
}

func (s *scan) step() (err error) {
	if s.begun {
		return s.rows.Next()
	}
	s.begun = true
	if bytes.Compare(s.lo, s.hi) >= 0 {
		s.rows = nothing{}
		return nil
	}
	// A snapshot of the same moment, because the page size belongs to a snapshot.
	snap := s.view.store.client.GetSnapshot(s.view.at)
	page := pageRows
	if s.o.Limit > 0 {
		page = min(max(s.o.Limit, 2), pageRows) // the library rejects less
	}
	snap.SetScanBatchSize(page)
	if s.o.Reverse {
		s.rows, err = snap.IterReverse(s.hi)
	} else {
		s.rows, err = snap.Iter(s.lo, s.hi)
	}
	if err != nil {
		s.rows = nothing{}
	}
	return err
}

// Err returns the error that ended the iteration early.
func (s *scan) Err() error { return s.err }

// Close ends the iteration.
func (s *scan) Close() error {
	if s.rows != nil {
		s.rows.Close()
		s.rows = nothing{}
	}
	s.isEnded = true
	return nil
}

// nothing is an iterator without rows.
type nothing struct{}

func (nothing) Valid() bool   { return false }
func (nothing) Key() []byte   { return nil }
func (nothing) Value() []byte { return nil }
func (nothing) Next() error   { return nil }
func (nothing) Close()        {}

// iterator is a scan of values for callers.
type iterator struct {
	*scan
	key, value []byte
	release    func() // nil if the view belongs to someone else
}

// Next steps to the next key.
func (it *iterator) Next() bool {
	it.key, it.value = nil, nil
	if !it.scan.Next() {
		return false
	}
	key := it.scan.key[len(it.view.store.prefix)+1:]
	if it.row[0] == isCounter {
		sums, err := it.view.sums(key, it.row)
		if err != nil {
			it.err = err
			return false
		}
		it.key, it.value = key, counters.Append([]byte{}, sums)
		return true
	}
	it.key, it.value = key, value(it.row)
	return true
}

func (it *iterator) Key() []byte   { return it.key }
func (it *iterator) Value() []byte { return it.value }

func (it *iterator) Close() error {
	if it.release != nil {
		it.release()
	}
	return it.scan.Close()
}
