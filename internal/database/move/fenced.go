package move

import (
	"context"
	"errors"

	"github.com/monotable/monotable/internal/database/engine/format"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// fenced is the target of a move, which may have been suspended while another process completed the same move and servers
// began to write to the target. Every update checks in its own transaction that the target still waits for this very move, and
// keys are loaded by updates. Operations that are not updates (change logs, kept snapshots, range deletions) check before they
// start.
type fenced struct {
	Store
	mark *format.Move
}

var errOvertaken = errors.New("another process has started or completed this move in the meantime: this one stops and does not change the target")

func (f *fenced) admit(now *format.Move) error {
	if now == nil || now.Stage != format.Arriving || now.ID != f.mark.ID {
		return errOvertaken
	}
	return nil
}

func (f *fenced) checked(ctx context.Context, do func() error) error {
	_, now, err := read(ctx, f)
	if err == nil {
		err = f.admit(now)
	}
	if err != nil {
		return err
	}
	return do()
}

// Update implements kv.Core.
func (f *fenced) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	return format.GuardedBy(f.Store, f.admit).Update(ctx, in, fn)
}

// Load implements kv.Loader.
func (f *fenced) Load(ctx context.Context, fill func(put func(key, value []byte) error) error) error {
	return kv.LoadByUpdates(ctx, f.Limits(), f.Update, fill)
}

// LoadLog implements kv.Logs.
func (f *fenced) LoadLog(ctx context.Context, log kv.LogID, trimmed kv.Seq, fill func(put func(kv.Record) error) error) error {
	return f.checked(ctx, func() error { return f.Store.LoadLog(ctx, log, trimmed, fill) })
}

// ExtendLog implements kv.Logs.
func (f *fenced) ExtendLog(ctx context.Context, log kv.LogID, trimmed kv.Seq, fill func(put func(kv.Record) error) error) error {
	return f.checked(ctx, func() error { return f.Store.ExtendLog(ctx, log, trimmed, fill) })
}

// DeleteRange implements kv.Core.
func (f *fenced) DeleteRange(ctx context.Context, lo, hi []byte) error {
	return f.checked(ctx, func() error { return f.Store.DeleteRange(ctx, lo, hi) })
}

// Keep implements kv.Keeper.
func (f *fenced) Keep(ctx context.Context, name string, what kv.Selection) error {
	return f.checked(ctx, func() error { return f.Store.Keep(ctx, name, what) })
}

// DropKept implements kv.Keeper.
func (f *fenced) DropKept(ctx context.Context, name string) error {
	return f.checked(ctx, func() error { return f.Store.DropKept(ctx, name) })
}
