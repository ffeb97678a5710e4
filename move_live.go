package monotable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/monotable/monotable/internal/database/engine/format"
	"github.com/monotable/monotable/internal/database/move"
	"github.com/monotable/monotable/internal/database/server"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// awaitInterval is how often AwaitMove looks at the store.
const awaitInterval = 20 * time.Millisecond

// Move takes the whole database to a PostgreSQL database, as the function [Move] does, while reads and writes go on. Of o, From and the master key
// are without effect: they are the database's own.
//
// What has changed is copied in rounds. At the end updates wait, for about as long as the last round takes, and then every request is refused with an
// InternalServerError, which SDKs retry, and which says where the database is; [DB.Ready] returns an error, too. Only then can the target be opened.
// The database stays open, and has to be closed.
//
// After an error before that everything is as it was. Whoever ends ctx later does not end the move. An error later says that the database is neither here
// nor there before the function [Move] has been called for the same two stores, when this database is closed.
func (db *DB) Move(ctx context.Context, o *MoveOptions) (Moved, error) {
	own := *o
	own.From, own.MasterKey = db.dir, db.masterKey
	done, err := db.move(ctx, &own)
	if err != nil {
		return Moved{}, fmt.Errorf("monotable: move %s to %s: %w", describeStore(own.From), describeStore(own.To), err)
	}
	return done, nil
}

func (db *DB) move(ctx context.Context, o *MoveOptions) (Moved, error) {
	source, onDisk := db.store.(*pebblekv.Store)
	switch {
	case !onDisk:
		return Moved{}, errors.New("only a directory can be moved while it is served: stop all servers, and move then")
	case !isURL(o.To):
		return Moved{}, errors.New("a server has the directory open and can move it to PostgreSQL or TiKV only: stop the server first")
	}
	if err := o.check(); err != nil {
		return Moved{}, err
	}
	target, err := openShareable(ctx, o.To, false)
	if err != nil {
		return Moved{}, err
	}
	for _, text := range o.remains(source) {
		o.notice(text)
	}
	refusal := server.MovedTo(describeStore(o.To))
	var verified Verified
	result, err := move.RunLive(ctx, source, target, move.LiveOptions{
		Options: o.options(&verified),
		Follow: func() (move.Follower, error) {
			f, err := source.Follow()
			if err != nil {
				return nil, err
			}
			return f, nil
		},
		Refusal: refusal,
		Left:    func() { db.left.Store(&refusal) },
	})
	if result.Left {
		db.logger.WarnContext(ctx, "the database has been moved: requests are refused from now on", "to", describeStore(o.To), "error", err)
		db.rest()
	}
	return moved(&result, verified), errors.Join(err, target.Close())
}

// moved returns the error of all requests when the database has been moved.
func (db *DB) moved() error {
	if refusal := db.left.Load(); refusal != nil {
		return *refusal
	}
	return nil
}

// rest ends the work beside requests, which is the new servers'.
func (db *DB) rest() {
	if db.kinesis != nil {
		db.kinesis.Close()
	}
	db.engine.Rest()
	for _, r := range db.regions {
		if r.kinesis != nil {
			r.kinesis.Close()
		}
		r.engine.Rest()
	}
}

// AwaitMove waits until a database that is being moved to a store, or will be, can be opened there. address is the store's, as [OpenStore] has it.
func AwaitMove(ctx context.Context, address string) error {
	if err := awaitMove(ctx, address); err != nil {
		return fmt.Errorf("monotable: await the move to %s: %w", describeStore(address), err)
	}
	return nil
}

func awaitMove(ctx context.Context, address string) error {
	for {
		store, err := openShareable(ctx, address, true)
		if err == nil {
			return errors.Join(awaitVersion(ctx, store), store.Close())
		}
		if !errors.Is(err, kv.ErrMissing) {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func awaitVersion(ctx context.Context, store kv.Store) error {
	for {
		snapshot, err := store.Snapshot(ctx)
		if err != nil {
			return err
		}
		version, _, err := format.Read(snapshot)
		if err := errors.Join(err, snapshot.Close()); err != nil || version > 0 {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-time.After(awaitInterval):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
