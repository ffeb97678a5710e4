package kv

import (
	"context"
	"fmt"
)

// Logs gives access to a store's change logs as a whole, to copy them to another store with their record numbers. Stores on disk
// or on a server implement it in addition to Store.
type Logs interface {
	// Logs lists, in ascending order, the logs that have records or have been trimmed.
	Logs(ctx context.Context) ([]LogID, error)
	// LoadLog durably replaces the contents of an unused log with what fill puts: records in ascending order of their numbers,
	// and trimmed as the result of LogTrimmed, which is below all of them. After an error or a crash the log may have any part of
	// that. The store's numbers do not advance: Txn.Advance must advance them past those of the records before the log is read or
	// appended to.
	LoadLog(ctx context.Context, log LogID, trimmed Seq, fill func(put func(Record) error) error) error
	// ExtendLog is LoadLog for a log that keeps its records, except those up to trimmed: fill puts records after them. trimmed is
	// at least the current result of LogTrimmed.
	ExtendLog(ctx context.Context, log LogID, trimmed Seq, fill func(put func(Record) error) error) error
}

// Upcoming returns the number at which a store continues, which is greater than those of all acknowledged records.
func Upcoming(ctx context.Context, store Store) (n Seq, err error) {
	err = store.Update(ctx, Intent{}, func(txn Txn) error {
		n = txn.LogSeq()
		return nil
	})
	return n, err
}

// FillLog is the common part of all implementations of LoadLog, like Fill for Load.
func FillLog(ctx context.Context, limits Limits, trimmed Seq, fill func(put func(Record) error) error, add func(Record) error) error {
	last := trimmed
	check := func(r Record) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case len(r.Data) > limits.ValueBytes:
			return ErrTooLarge
		case r.Seq <= last:
			return fmt.Errorf("kv: record %d is loaded after %d", r.Seq, last)
		}
		last = r.Seq
		return add(r)
	}
	var failed error
	err := fill(func(r Record) error {
		if failed == nil {
			failed = check(r)
		}
		return failed
	})
	if err != nil {
		return err
	}
	return failed
}
