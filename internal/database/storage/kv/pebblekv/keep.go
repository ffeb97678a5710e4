package pebblekv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// keeper is the state of the store's kept snapshots. Each is a checkpoint of the database in DIR/kept, which shares tables with
// it by hard links.
type keeper struct {
	mu   sync.Mutex // held while names in DIR/kept are added, removed or read
	open map[string]*openKept
}

// openKept is the database of a kept snapshot, shared by all its readers.
type openKept struct {
	*pebble.DB
	users int
}

// Keep creates a checkpoint of the tables that contain the selection.
func (s *Store) Keep(ctx context.Context, name string, what kv.Selection) (err error) {
	if !kv.ValidKeptName(name) {
		return fmt.Errorf("%q cannot be the name of a kept snapshot", name)
	}
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	defer s.catch(&err)
	defer func() {
		if vfs.IsNoSpaceError(err) {
			err = fmt.Errorf("%w: %w", kv.ErrFull, err)
		}
	}()
	allowed := allowed(kv.Intent{Frees: what.Frees})
	if err := errors.Join(ctx.Err(), s.writable(), s.space.admit(0, allowed)); err != nil {
		return err
	}
	if _, err := s.fs.Stat(s.keptPath(name)); err == nil {
		return fmt.Errorf("%w: %s", kv.ErrKeptExists, name)
	}
	making := s.makingPath("keep")
	defer s.discard(making)
	if err := s.checkpoint(ctx, making, allowed, pebble.WithRestrictToSpans(spans(what))); err != nil {
		return fmt.Errorf("keeping %s: %w", name, err)
	}
	return s.publish(making, name)
}

// publish renames a complete checkpoint to its final name.
func (s *Store) publish(created, name string) error {
	fs, kept := s.fs, s.fs.PathJoin(s.dir, keptDir)
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	if _, err := fs.Stat(s.keptPath(name)); err == nil {
		return fmt.Errorf("%w: %s", kv.ErrKeptExists, name)
	}
	if err := makeDirectory(fs, kept); err != nil {
		return err
	}
	if err := fs.Rename(created, s.keptPath(name)); err != nil {
		return err
	}
	if err := syncDirectory(fs, kept); err != nil {
		return fmt.Errorf("%w: %w", kv.ErrUndetermined, err)
	}
	return nil
}

// spans returns the ranges of a selection in Pebble's key space. It never returns none, which would mean everything.
func spans(what kv.Selection) []pebble.CheckpointSpan {
	nothing := pebble.CheckpointSpan{Start: []byte{0xFF}, End: []byte{0xFF, 0}}
	all := []pebble.CheckpointSpan{nothing}
	for _, span := range what.Spans {
		if lo, hi, empty := bounds(span.Lo, span.Hi); !empty {
			all = append(all, pebble.CheckpointSpan{Start: slices.Clone(lo), End: slices.Clone(hi)})
		}
	}
	for _, log := range what.Logs {
		lo, hi := logBounds(log)
		all = append(all, pebble.CheckpointSpan{Start: lo, End: hi})
	}
	return all
}

// OpenKept opens a kept snapshot, whose database is shared by concurrent readers.
func (s *Store) OpenKept(_ context.Context, name string) (kv.Snapshot, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	view, err := s.useKept(name)
	if err != nil {
		s.end()
		return nil, err
	}
	return &snapshot{store: s, view: view}, nil
}

func (s *Store) useKept(name string) (view keptView, err error) {
	defer s.catch(&err)
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	kept := s.keeper.open[name]
	if kept == nil {
		if !s.isKept(name) {
			return keptView{}, fmt.Errorf("%w: %s", kv.ErrNotKept, name)
		}
		p := s.options.pebbleOptions(unlocked{s.files}, pebbleLogger{s})
		p.ReadOnly, p.Cache = true, s.cache
		p.EventListener = eventListener(s.log, &s.stalls, s.options.OnBackgroundWork) // without one, Pebble treats corrupt data as fatal
		db, err := pebble.Open(s.keptPath(name), p)
		if err != nil {
			return keptView{}, fmt.Errorf("opening the kept snapshot %s: %w", name, err)
		}
		kept = &openKept{DB: db}
		s.keeper.open[name] = kept
	}
	kept.users++
	return keptView{kept, s, name}, nil
}

// keptView is a reader's view of a kept snapshot.
type keptView struct {
	*openKept
	store *Store
	name  string
}

// Close closes the database after its last reader.
func (v keptView) Close() error {
	v.store.keeper.mu.Lock()
	defer v.store.keeper.mu.Unlock()
	if v.users--; v.users > 0 {
		return nil
	}
	delete(v.store.keeper.open, v.name)
	return v.DB.Close()
}

// Kept lists the kept snapshots by name.
func (s *Store) Kept(ctx context.Context) ([]kv.KeptSnapshot, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.end()
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	names, err := s.keptNames()
	if err != nil {
		return nil, err
	}
	list := make([]kv.KeptSnapshot, 0, len(names))
	for _, name := range names {
		files, err := listFiles(s.fs, s.keptPath(name))
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		k := kv.KeptSnapshot{Name: name}
		for _, f := range files {
			k.Bytes += f.size
		}
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b kv.KeptSnapshot) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// DropKept durably removes the snapshot's name before it removes its files, so that a partial snapshot is never found.
func (s *Store) DropKept(_ context.Context, name string) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	if err := s.writable(); err != nil {
		return err
	}
	dropped := s.makingPath("drop")
	if err := s.unpublish(name, dropped); err != nil {
		return fmt.Errorf("dropping the kept snapshot %s: %w", name, err)
	}
	s.discard(dropped)
	return nil
}

func (s *Store) unpublish(name, to string) error {
	fs := s.fs
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	if s.keeper.open[name] != nil {
		return errors.New("it is open")
	}
	if !s.isKept(name) {
		return nil
	}
	if err := fs.MkdirAll(fs.PathDir(to), dirMode); err != nil {
		return err
	}
	if err := fs.Rename(s.keptPath(name), to); err != nil {
		return err
	}
	if err := syncDirectory(fs, fs.PathJoin(s.dir, keptDir)); err != nil {
		// It is unknown whether the name has been removed, but the files are complete.
		return errors.Join(err, fs.Rename(to, s.keptPath(name)))
	}
	return nil
}

func (s *Store) keptPath(name string) string { return s.fs.PathJoin(s.dir, keptDir, name) }

func (s *Store) isKept(name string) bool {
	if !kv.ValidKeptName(name) {
		return false
	}
	_, err := s.fs.Stat(s.keptPath(name))
	return err == nil
}

// keptNames lists DIR/kept, unordered.
func (s *Store) keptNames() ([]string, error) {
	names, err := s.fs.List(s.fs.PathJoin(s.dir, keptDir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return slices.DeleteFunc(names, func(name string) bool { return !kv.ValidKeptName(name) }), err
}

// unlocked is a file system without locks: the store's lock covers everything in its directory.
type unlocked struct{ vfs.FS }

// Lock does nothing.
func (unlocked) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }
