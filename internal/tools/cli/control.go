package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/tools/control"
)

// serveControl lets tools work on the database until stop is called. The server also runs without it.
func serveControl(db *monotable.DB, metrics prometheus.Gatherer, flags *serveFlags, endpoint string, logger *slog.Logger) (stop func()) {
	if flags.memory {
		return func() {}
	}
	if flags.store != "" { // the directory is only for the socket
		if err := os.MkdirAll(flags.data, 0o700); err != nil {
			logger.Warn("stats, verify and iam will not work while this server runs", "error", err)
			return func() {}
		}
		// Two servers can have a store open, but not one socket.
		if other, err := control.Dial(context.Background(), flags.data); err == nil {
			logger.Warn("stats, verify and iam reach another server that has the same --data: give each server a directory of its own", "data", flags.data, "other", other.Endpoint())
			return func() {}
		}
	}
	stop, err := control.Serve(flags.data, db, metrics, endpoint, logger)
	if err != nil {
		logger.Warn("backup, verify, compact, stats and iam will not work while this server runs", "error", err)
		return func() {}
	}
	return stop
}

// reach returns the database in a directory: through the server that has it open or, if none responds, as its
// files. Only then are the master keys read.
func reach(ctx context.Context, env Environment, dir string, keys *masterKeyFlags) (control.Database, error) {
	client, err := control.Dial(ctx, dir)
	switch {
	case err == nil:
		return client, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, control.ErrNotServed):
		read, err := keys.read(ctx, env)
		return offline{dir, &monotable.Options{MasterKey: read.current, PreviousMasterKey: read.previous}}, err
	default:
		return nil, err
	}
}

// Endpoint is the URL of the API of the database in a directory that another process has open, "" if none has.
func Endpoint(ctx context.Context, dir string) (string, error) {
	client, err := control.Dial(ctx, dir)
	switch {
	case errors.Is(err, control.ErrNotServed):
		return "", nil
	case err != nil:
		return "", err
	}
	return client.Endpoint(), nil
}

// offline works on a directory that no process has open.
type offline struct {
	dir     string
	options *monotable.Options // the master keys
}

// Backup copies the directory.
func (o offline) Backup(ctx context.Context, dest string, progress func(done, total int64)) error {
	return o.explain(monotable.Backup(ctx, o.dir, dest, progress))
}

// Compact frees space that the database does not need.
func (o offline) Compact(ctx context.Context) error {
	return o.explain(monotable.Compact(ctx, o.dir, o.options))
}

// Insights returns an error, because they are counted in the memory of a server.
func (o offline) Insights(context.Context, string) (monotable.Insights, error) {
	return monotable.Insights{}, fmt.Errorf("no server has %s open: insights are only available from a running server", o.dir)
}

// IAM manages who may call the database.
func (o offline) IAM(ctx context.Context, r *monotable.IAMRequest) (monotable.IAMResult, error) {
	result, err := monotable.IAM(ctx, o.dir, o.options, r)
	if errors.Is(err, fs.ErrNotExist) {
		return result, fmt.Errorf("there is no database in %s yet: start the server first, or use another --data", o.dir)
	}
	return result, o.explain(err)
}

// Stats returns statistics about the database's content.
func (o offline) Stats(ctx context.Context) (monotable.Stats, error) {
	s, err := monotable.ReadStats(ctx, o.dir, o.options)
	return s, o.explain(err)
}

// Verify checks the database's consistency.
func (o offline) Verify(ctx context.Context, report func(monotable.Finding), progress func(done, total int64)) (monotable.Verified, error) {
	done, err := monotable.Verify(ctx, o.dir, o.options, report, progress)
	return done, o.explain(err)
}

// explain adds advice for a directory that is locked although no server responds.
func (o offline) explain(err error) error {
	if errors.Is(err, monotable.ErrLocked) {
		return fmt.Errorf("%s is open in another process that does not accept commands: stop it first", o.dir)
	}
	return err
}
