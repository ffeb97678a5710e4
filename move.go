package monotable

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/move"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv"
)

// movePause is how long a transaction of a move may be idle while the other store is read.
const movePause = 10 * time.Minute

// Moved is the result of Move.
type Moved struct {
	Keys       int64 `json:"keys"`  // items, index entries and everything else
	Bytes      int64 `json:"bytes"` // of keys, values and log records, uncompressed
	LogRecords int64 `json:"log_records"`
	Backups    int64 `json:"backups"`
	// Checksum is the SHA-256 of keys, values, records and, if the source was not being served, backups. It is computed from the
	// source and again from the target.
	Checksum string   `json:"checksum"`
	Verified Verified `json:"verified"`
	// For a database that was served during the move: Keys, Bytes and LogRecords are those of the verification, Rounds is how
	// many rounds of changes were copied, and Held is how many seconds updates waited until the target could be opened.
	Rounds int     `json:"rounds,omitempty"`
	Held   float64 `json:"held_seconds,omitempty"`
	// Completed: an earlier call had copied and verified everything, but was interrupted at its very end. The other fields are
	// zero.
	Completed bool `json:"completed"`
}

// MoveOptions configure Move. From and To are required, each a directory or the URL of a store (see [OpenStore]).
type MoveOptions struct {
	From, To string
	// MasterKey opens an encrypted source and, with Encrypt, encrypts a new target directory.
	MasterKey []byte
	Encrypt   bool
	// Rate limits copying and comparing, in bytes a second. Default 0: no limit.
	Rate int
	// Progress is called with the progress of the phases "copy" and "compare", in bytes, and "verify", in records.
	Progress func(phase string, done, total int64)
	// Notice is called before anything is copied with facts an operator should know, such as a restart of an interrupted move or
	// what will not be moved.
	Notice func(text string)
}

// errVerify is returned by Move if the copy does not verify.
var errVerify = errors.New("the copy equals the source, but its contents are inconsistent: run monotable verify on the source")

// Move takes a whole database from one store to another while no process has it open: tables, indexes, streams with their
// sequence numbers, points in time to restore to, backups, users and policies. The copy is compared with the source and verified.
// Then the source is marked as moved: no process opens it any more, and the error says where the database is. [Reopen] reverts
// that.
//
// The target must be empty. After an error the source can be opened again. After a crash neither can be opened until the same
// call is repeated, which starts over or, if everything had been copied, completes the move.
func Move(ctx context.Context, o *MoveOptions) (Moved, error) {
	moved, err := o.move(ctx)
	if err != nil {
		return Moved{}, fmt.Errorf("monotable: move %s to %s: %w", describeStore(o.From), describeStore(o.To), err)
	}
	return moved, nil
}

func (o *MoveOptions) move(ctx context.Context) (Moved, error) {
	if err := o.check(); err != nil {
		return Moved{}, err
	}
	source, err := o.openSource(ctx)
	if err != nil {
		return Moved{}, err
	}
	target, err := o.openTarget(ctx)
	if err != nil {
		return Moved{}, errors.Join(err, source.Close())
	}
	for _, text := range o.remains(source) {
		o.notice(text)
	}
	var verified Verified
	result, err := move.Run(ctx, source, target, o.options(&verified))
	err = errors.Join(err, target.Close(), source.Close())
	return moved(&result, verified), err
}

// options returns the options of package move, whose Verify fills in verified.
func (o *MoveOptions) options(verified *Verified) move.Options {
	return move.Options{
		From: describeStore(o.From), To: describeStore(o.To), Notice: o.notice, Rate: o.Rate,
		Progress: func(phase move.Phase, done, total int64) { o.progress(string(phase), done, total) },
		Verify: func(ctx context.Context, copied kv.Store) (err error) {
			*verified, err = o.verify(ctx, copied)
			return err
		},
	}
}

func moved(r *move.Result, verified Verified) Moved {
	return Moved{
		Keys: r.Keys, Bytes: r.Bytes, LogRecords: r.LogRecords, Backups: r.Backups,
		Checksum: r.Checksum, Verified: verified, Rounds: r.Rounds, Held: r.Held.Seconds(), Completed: r.Completed,
	}
}

// Reopen reverts an interrupted or completed move: store, a directory or the URL of a store, can be opened again.
// It has none of the writes made after the move, so the caller decides that this copy is the database and the other one is not.
// Only the master key of o is used; o may be nil.
func Reopen(ctx context.Context, store string, o *MoveOptions) error {
	from := MoveOptions{From: store}
	if o != nil {
		from.MasterKey = o.MasterKey
	}
	source, err := from.openSource(ctx)
	if err == nil {
		err = errors.Join(move.Reopen(ctx, source), source.Close())
	}
	if err != nil {
		return fmt.Errorf("monotable: reopen %s: %w", describeStore(store), err)
	}
	return nil
}

func (o *MoveOptions) check() error {
	keys := &Options{MasterKey: o.MasterKey}
	switch {
	case o.Rate < 0:
		return errors.New("the rate cannot be negative")
	case o.From == "" || o.To == "":
		return errors.New("a move needs a source and a target")
	case describeStore(o.From) == describeStore(o.To):
		return errors.New("the source and the target are the same store")
	case !isURL(o.From) && !isURL(o.To) && (within(o.From, o.To) || within(o.To, o.From)):
		return errors.New("one directory is inside the other: choose a separate directory")
	case o.Encrypt && isURL(o.To):
		return errors.New("only directories can be encrypted: for PostgreSQL and TiKV, encrypt the volumes of their servers")
	case o.Encrypt && o.MasterKey == nil:
		return errors.New("an encrypted directory needs a master key")
	}
	return keys.validateMasterKeys()
}

// within reports whether path is below dir, judging by the names.
func within(dir, path string) bool {
	below, err := filepath.Rel(describeStore(dir), describeStore(path))
	return err == nil && filepath.IsLocal(below)
}

func isURL(store string) bool { return strings.Contains(store, "://") }

// describeStore returns a store's name without passwords, for messages.
func describeStore(store string) string {
	if strings.HasPrefix(store, tikvScheme) {
		return describeTiKV(store)
	}
	if isURL(store) {
		return postgreskv.Describe(store)
	}
	if path, err := absolute(store); err == nil {
		return path
	}
	return store
}

func (o *MoveOptions) openSource(ctx context.Context) (move.Store, error) {
	if isURL(o.From) {
		return openShareable(ctx, o.From, true)
	}
	if _, err := existing(o.From); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(o.From, "FORMAT")); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no database in %s", o.From)
	}
	return openDirectory(o.From, pebblekv.Options{MasterKey: o.MasterKey})
}

func (o *MoveOptions) openTarget(ctx context.Context) (move.Store, error) {
	if isURL(o.To) {
		return openShareable(ctx, o.To, false)
	}
	options := pebblekv.Options{Encrypt: o.Encrypt}
	if o.Encrypt {
		options.MasterKey = o.MasterKey
	}
	return openDirectory(o.To, options)
}

func openDirectory(dir string, o pebblekv.Options) (move.Store, error) {
	path, err := absolute(dir)
	if err != nil {
		return nil, err
	}
	o.Logger = slog.New(slog.DiscardHandler)
	store, err := pebblekv.Open(path, o)
	if err != nil {
		return nil, err
	}
	return store, nil
}

// openShareable opens a store that several processes may share, which must exist or may be made.
func openShareable(ctx context.Context, address string, exists bool) (move.Store, error) {
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	if strings.HasPrefix(address, tikvScheme) {
		return openTiKV(ctx, address, exists, slog.New(slog.DiscardHandler))
	}
	store, err := postgreskv.Open(ctx, address, postgreskv.Options{Pause: movePause, Existing: exists})
	if err != nil {
		return nil, err
	}
	return store, nil
}

// describeTiKV returns the URL of a store in TiKV without its options.
func describeTiKV(address string) string {
	hosts, query, _ := strings.Cut(strings.TrimPrefix(address, tikvScheme), "?")
	described := tikvScheme + strings.TrimSuffix(hosts, "/")
	if values, err := url.ParseQuery(query); err == nil && values.Get("prefix") != "" {
		described += "?prefix=" + values.Get("prefix")
	}
	return described
}

// remains describes what belongs to the source but does not move.
func (o *MoveOptions) remains(source move.Store) (texts []string) {
	if isURL(o.From) {
		return nil
	}
	for _, place := range []struct{ dir, what, flag, option string }{
		{"s3", "exports", "--s3-dir", "S3Dir"}, {"kinesis", "deliveries to Kinesis", "--kinesis-dir", "KinesisDir"},
	} {
		path := filepath.Join(describeStore(o.From), place.dir)
		if entries, err := os.ReadDir(path); err == nil && len(entries) > 0 {
			texts = append(texts, fmt.Sprintf("%s in %s stay where they are: copy them, or start servers with %s %s (Options.%s)", place.what, path, place.flag, path, place.option))
		}
	}
	if store, is := source.(*pebblekv.Store); is && store.Encrypted() && isURL(o.To) {
		texts = append(texts, "the directory is encrypted, and the target is not: encrypt its volumes")
	}
	return texts
}

func (o *MoveOptions) notice(text string) {
	if o.Notice != nil {
		o.Notice(text)
	}
}

func (o *MoveOptions) progress(phase string, done, total int64) {
	if o.Progress != nil {
		o.Progress(phase, done, total)
	}
}

// verify verifies the copy and reports each finding as a notice.
func (o *MoveOptions) verify(ctx context.Context, copied kv.Store) (Verified, error) {
	report := func(f Finding) { o.notice(f.What) }
	done, err := verify.Run(ctx, copied, reportTo(report), verify.Options{
		Progress: func(done, total int64) { o.progress("verify", done, total) },
	})
	if err == nil {
		err = verifyOthers(ctx, copied, o.MasterKey, &done, report)
	}
	if err == nil && done.Findings > 0 {
		err = errVerify
	}
	return Verified(done), err
}
