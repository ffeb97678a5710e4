package kv

import (
	"context"
	"fmt"
)

// Logs gives the change logs of a store as a whole, to copy them into another store with the numbers of their records. A store on disk or on a
// server has it beside Store.
type Logs interface {
	// Logs lists, in ascending order, the logs that hold records or have been trimmed.
	Logs(ctx context.Context) ([]LogID, error)
	// LoadLog makes a log that nobody uses hold what fill puts, durably, and nothing else: records in ascending order of their numbers, and trimmed
	// as what LogTrimmed returns, which is below all of them. After an error or a crash it may hold any part of that. The store's numbers do not
	// move on: Txn.Advance must take them past those of the records before anybody reads or appends.
	LoadLog(ctx context.Context, log LogID, trimmed Seq, fill func(put func(Record) error) error) error
	// ExtendLog is LoadLog for a log that keeps the records it has, but for those up to trimmed: fill puts records above them. trimmed is no lower
	// than what LogTrimmed returns.
	ExtendLog(ctx context.Context, log LogID, trimmed Seq, fill func(put func(Record) error) error) error
}

// FillLog is the part of LoadLog that all stores share, as Fill is of Load.
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
