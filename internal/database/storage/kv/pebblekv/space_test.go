package pebblekv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// smallDisk is a file system with a fixed size. Writes that do not fit fail with ENOSPC, and are counted.
type smallDisk struct {
	*vfs.MemFS
	size    int64
	others  *atomic.Int64 // bytes used by other programs
	refused *atomic.Int64 // writes
}

func newSmallDisk(size int64) smallDisk {
	return smallDisk{vfs.NewCrashableMem(), size, new(atomic.Int64), new(atomic.Int64)}
}

// crash returns the disk after a power failure.
func (d smallDisk) crash() smallDisk {
	return smallDisk{d.CrashClone(vfs.CrashCloneCfg{}), d.size, d.others, new(atomic.Int64)}
}

func (d smallDisk) used(dir string) (total int64) {
	names, err := d.List(dir)
	if err != nil {
		return 0
	}
	for _, name := range names {
		path := d.PathJoin(dir, name)
		info, err := d.Stat(path)
		switch {
		case err != nil: // removed in the meantime
		case info.IsDir():
			total += d.used(path)
		default:
			total += info.Size()
		}
	}
	return total
}

func (d smallDisk) available() int64 { return max(0, d.size-d.others.Load()-d.used("/")) }

func (d smallDisk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	free := d.available()
	return vfs.DiskUsage{AvailBytes: uint64(free), TotalBytes: uint64(d.size), UsedBytes: uint64(d.size - free)}, nil
}

func (d smallDisk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.MemFS.Create(name, category)
	return smallDiskFile{f, d}, err
}

func (d smallDisk) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := d.Remove(oldname); err != nil {
		return nil, err
	}
	return d.Create(newname, category)
}

type smallDiskFile struct {
	vfs.File
	disk smallDisk
}

func (f smallDiskFile) Write(p []byte) (int, error) {
	if f.disk.available() < int64(len(p)) {
		f.disk.refused.Add(1)
		return 0, syscall.ENOSPC
	}
	return f.File.Write(p)
}

// logged collects what a store logs.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

const smallDiskSize = 24 << 20

// filler is an incompressible value of 4 KiB.
func filler(seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	value := make([]byte, 4<<10)
	for i := range value {
		value[i] = byte(random.Uint32())
	}
	return value
}

func fillerKey(i uint64) []byte { return fmt.Appendf(nil, "k%06d", i) }

func putFiller(ctx context.Context, s kv.Store, i uint64) error {
	key := fillerKey(i)
	return s.Update(ctx, kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error {
		txn.Set(key, filler(i))
		return nil
	})
}

func deleteFiller(ctx context.Context, s kv.Store, i uint64) error {
	key := fillerKey(i)
	return s.Update(ctx, kv.Intent{Write: [][]byte{key}, Frees: true}, func(txn kv.Txn) error {
		txn.Delete(key)
		txn.AppendLog(1, key)
		return nil
	})
}

// fill puts from several goroutines until each is rejected, and returns what was acknowledged.
func fill(t *testing.T, s kv.Store) map[uint64]bool {
	t.Helper()
	var mu sync.Mutex
	acknowledged := map[uint64]bool{}
	var next atomic.Uint64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				i := next.Add(1)
				if err := putFiller(t.Context(), s, i); err != nil {
					if !errors.Is(err, kv.ErrFull) {
						t.Errorf("put %d: %v", i, err)
					}
					return
				}
				mu.Lock()
				acknowledged[i] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return acknowledged
}

func expectFillers(t *testing.T, s kv.Store, want map[uint64]bool) {
	t.Helper()
	for i, there := range want {
		got, err := s.Get(t.Context(), fillerKey(i))
		if err != nil || there && !bytes.Equal(got, filler(i)) || !there && got != nil {
			t.Fatalf("key %d has %d bytes, %v; there should be one: %v", i, len(got), err, there)
		}
	}
}

// awaitRoom waits until that many bytes can be written, and puts.
func awaitRoom(t *testing.T, s kv.Store, i uint64, bytes int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for {
		usage, err := s.DiskUsage()
		if err != nil {
			t.Fatal(err)
		}
		if usage.Writable() >= bytes {
			break
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatalf("there is no room: %+v", usage)
		}
	}
	if err := putFiller(ctx, s, i); err != nil {
		t.Fatalf("a put into a store that has room: %v", err)
	}
}

// TestFullDisk fills a disk. Puts are rejected before anything fails, reads and deletes continue, and a compaction makes puts
// possible again. A crash while the disk is full loses nothing.
func TestFullDisk(t *testing.T) {
	disk, log := newSmallDisk(smallDiskSize), &logged{}
	s := open(t, "/db", pebblekv.Options{FS: disk, Logger: log.logger()})
	acknowledged := fill(t, s)
	if err := s.Health(); !errors.Is(err, kv.ErrFull) {
		t.Errorf("the health of a full store: %v", err)
	}
	usage, err := s.DiskUsage()
	if err != nil || usage.Reserve != smallDiskSize/4 || usage.Available < usage.Reserve/2 || usage.Writable() > usage.Reserve {
		t.Errorf("usage %+v, %v", usage, err)
	}
	if stored := int64(len(acknowledged)) * 4 << 10; stored < smallDiskSize/3 {
		t.Errorf("the disk of %d bytes is full with %d", smallDiskSize, stored)
	}
	expectFillers(t, s, acknowledged)
	crashed := open(t, "/db", pebblekv.Options{FS: disk.crash(), Logger: log.logger()})
	expectFillers(t, crashed, acknowledged)
	if err := crashed.Close(); err != nil {
		t.Error(err)
	}

	for i := range acknowledged {
		if err := deleteFiller(t.Context(), s, i); err != nil {
			t.Fatalf("deleting %d: %v", i, err)
		}
		acknowledged[i] = false
		if i%8 == 0 {
			expectFillers(t, s, map[uint64]bool{i: false})
		}
	}
	if err := s.Compact(t.Context(), nil, nil); err != nil {
		t.Errorf("compact: %v", err)
	}
	awaitRoom(t, s, 1, smallDiskSize/4)
	acknowledged[1] = true
	expectFillers(t, s, acknowledged)
	if err := s.Health(); err != nil {
		t.Errorf("the health of a store with room: %v", err)
	}
	if n := disk.refused.Load(); n > 0 {
		t.Errorf("the disk refused %d writes", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := log.count("out of disk space"); n == 0 {
		t.Errorf("the log does not say that the disk was full:\n%s", &log.text)
	}
}

// TestFullDiskRepeatedly fills the disk and empties it by deleting the range, without explicit compactions.
func TestFullDiskRepeatedly(t *testing.T) {
	disk := newSmallDisk(smallDiskSize)
	s := open(t, "/db", pebblekv.Options{FS: disk, Logger: slog.New(slog.DiscardHandler)})
	first := 0
	for round := range 3 {
		n := len(fill(t, s))
		if round == 0 {
			first = n
		} else if n < first/2 {
			t.Errorf("round %d: %d values fill the disk, the first time %d did", round, n, first)
		}
		if err := s.DeleteRange(t.Context(), nil, nil); err != nil {
			t.Fatal(err)
		}
		awaitRoom(t, s, 1, smallDiskSize/2)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := disk.refused.Load(); n > 0 {
		t.Errorf("the disk refused %d writes", n)
	}
}

// TestDiskFilledByOthers reduces the free space step by step.
func TestDiskFilledByOthers(t *testing.T) {
	disk, log := newSmallDisk(smallDiskSize), &logged{}
	s := open(t, "/db", pebblekv.Options{FS: disk, Logger: log.logger()})
	usage, err := s.DiskUsage()
	if err != nil {
		t.Fatal(err)
	}
	leave := func(room int64) {
		t.Helper()
		disk.others.Store(disk.size - disk.used("/") - usage.Pending - room)
		if _, err := s.DiskUsage(); err != nil { // triggers a check
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		room          int64
		put, deletion bool
	}{
		{usage.Reserve + 1<<20, true, true},
		{usage.Reserve - 1<<20, false, true},
		{usage.Reserve/2 - 1<<20, false, false},
		{1 << 10, false, false},
		{usage.Reserve/2 + 1<<20, false, true},
		{usage.Reserve + 1<<10, false, true}, // not yet: the store would immediately be full again
		{usage.Reserve + 1<<20, true, true},
	} {
		leave(step.room)
		put, deletion := putFiller(t.Context(), s, 1), deleteFiller(t.Context(), s, 2)
		if step.put != (put == nil) || put != nil && !errors.Is(put, kv.ErrFull) {
			t.Errorf("with room %d, a put: %v", step.room, put)
		}
		if step.deletion != (deletion == nil) || deletion != nil && !errors.Is(deletion, kv.ErrFull) {
			t.Errorf("with room %d, a deletion: %v", step.room, deletion)
		}
		if health := s.Health(); step.put != (health == nil) {
			t.Errorf("with room %d, the store's health: %v", step.room, health)
		}
		if _, err := s.Get(t.Context(), fillerKey(1)); err != nil {
			t.Errorf("with room %d, a read: %v", step.room, err)
		}
		if err := s.Update(t.Context(), intent("x"), func(kv.Txn) error { return nil }); err != nil {
			t.Errorf("with room %d, an update that writes nothing: %v", step.room, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for line, want := range map[string]int{"only reads and deletes": 1, "half of the disk reserve": 1} {
		if n := log.count(line); n != want {
			t.Errorf("the log has %d lines with %q, want %d:\n%s", n, line, want, &log.text)
		}
	}
}

// TestCompactionOnFullDisk: a compaction without enough space ends, and the store survives.
func TestCompactionOnFullDisk(t *testing.T) {
	disk := newSmallDisk(smallDiskSize)
	s := open(t, "/db", pebblekv.Options{FS: disk, Logger: slog.New(slog.DiscardHandler)})
	all := map[uint64]bool{}
	for range 2 { // data that is not overwritten is moved, and takes no space
		if err := s.Compact(t.Context(), nil, nil); err != nil {
			t.Fatal(err)
		}
		for i := range uint64(500) {
			if err := putFiller(t.Context(), s, i); err != nil {
				t.Fatal(err)
			}
			all[i] = true
		}
	}
	usage, err := s.DiskUsage()
	if err != nil {
		t.Fatal(err)
	}
	disk.others.Store(disk.available() - usage.Pending - usage.Reserve/8)
	if err := s.Compact(t.Context(), nil, nil); !errors.Is(err, kv.ErrFull) {
		t.Errorf("a compaction without room: %v", err)
	}
	expectFillers(t, s, all)
	disk.others.Store(0)
	if err := s.Compact(t.Context(), nil, nil); err != nil {
		t.Errorf("a compaction with room: %v", err)
	}
	awaitRoom(t, s, 1, smallDiskSize/4)
	expectFillers(t, s, all)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestLargeUpdateOfFullDisk: an update that is larger than the free space is rejected, and smaller ones succeed.
func TestLargeUpdateOfFullDisk(t *testing.T) {
	disk, log := newSmallDisk(smallDiskSize), &logged{}
	s := open(t, "/db", pebblekv.Options{FS: disk, Logger: log.logger()})
	large := bytes.Repeat(filler(1), smallDiskSize/2/(4<<10))
	err := s.Update(t.Context(), intent("large"), func(txn kv.Txn) error {
		txn.Set([]byte("large"), large)
		return nil
	})
	if !errors.Is(err, kv.ErrFull) {
		t.Errorf("an update of half the disk: %v", err)
	}
	if err := putFiller(t.Context(), s, 1); err != nil {
		t.Errorf("a small one after it: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := log.count("out of disk space"); n > 0 {
		t.Errorf("the log says that the store is full:\n%s", &log.text)
	}
}

// TestLoadOnFullDisk: a load that does not fit is rejected in time, and leaves nothing.
func TestLoadOnFullDisk(t *testing.T) {
	disk := newSmallDisk(smallDiskSize)
	s := open(t, "/db", pebblekv.Options{FS: disk, Logger: slog.New(slog.DiscardHandler)})
	before := disk.available()
	err := s.Load(t.Context(), func(put func(key, value []byte) error) error {
		for i := range uint64(smallDiskSize) {
			if err := put(fillerKey(i), filler(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if !errors.Is(err, kv.ErrFull) {
		t.Errorf("a load that is larger than the disk: %v", err)
	}
	if n := disk.refused.Load(); n > 0 {
		t.Errorf("the disk refused %d writes", n)
	}
	if after := disk.available(); before-after > 64<<10 {
		t.Errorf("it leaves %d bytes", before-after)
	}
	awaitRoom(t, s, 1, smallDiskSize/4)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestNoDiskReserve: without a reserve, or if the file system does not report its size, nothing is rejected.
func TestNoDiskReserve(t *testing.T) {
	disk := newSmallDisk(smallDiskSize)
	disk.others.Store(smallDiskSize - 2<<20)
	for name, o := range map[string]pebblekv.Options{
		"not wanted":           {FS: disk, DiskReserve: -1},
		"not told":             {FS: vfs.NewMem()},
		"not told, but wanted": {FS: vfs.NewMem(), DiskReserve: 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			o.Logger = slog.New(slog.DiscardHandler)
			s := open(t, "/db", o)
			if err := putFiller(t.Context(), s, 1); err != nil {
				t.Error(err)
			}
			if err := s.Health(); err != nil {
				t.Error(err)
			}
			if _, err := s.DiskUsage(); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCopyOnFullDisk: a copy that does not fit is rejected before it fills the disk, and leaves nothing.
func TestCopyOnFullDisk(t *testing.T) {
	disk := newSmallDisk(smallDiskSize)
	s := open(t, "/db", pebblekv.Options{FS: disk, Logger: slog.New(slog.DiscardHandler)})
	fill(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := disk.available()
	err := pebblekv.Copy(t.Context(), disk, "/db", "/copy", nil)
	if err == nil || !strings.Contains(err.Error(), "the disk has") {
		t.Errorf("a copy of a store that takes more than half of the disk: %v", err)
	}
	if n := disk.refused.Load(); n > 0 || disk.available() < before {
		t.Errorf("the disk refused %d writes, and %d of %d bytes are available", n, disk.available(), before)
	}
}

// TestBackupWithoutAnySpace: a backup, which is rejected while other programs use all of the disk, does not end writing.
func TestBackupWithoutAnySpace(t *testing.T) {
	disk := newSmallDisk(smallDiskSize)
	s := open(t, "/db", pebblekv.Options{FS: disk, Logger: slog.New(slog.DiscardHandler)})
	if err := putFiller(t.Context(), s, 1); err != nil {
		t.Fatal(err)
	}
	disk.others.Add(disk.available())
	if err := s.Backup(t.Context(), "/backup", nil); !errors.Is(err, kv.ErrFull) {
		t.Errorf("a backup without any space: %v", err)
	}
	disk.others.Store(0)
	if err := putFiller(t.Context(), s, 2); err != nil {
		t.Errorf("a put after there is space: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestDropWithoutAnySpace: an update that drops a table does not end all writing if there is no space for it.
func TestDropWithoutAnySpace(t *testing.T) {
	disk := newSmallDisk(smallDiskSize)
	s := open(t, "/db", pebblekv.Options{FS: disk, Logger: slog.New(slog.DiscardHandler)})
	if err := putFiller(t.Context(), s, 1); err != nil {
		t.Fatal(err)
	}
	drop := func() error {
		return s.Update(t.Context(), kv.Intent{Drops: true}, func(txn kv.Txn) error {
			txn.AppendLog(1, []byte("dropped"))
			return nil
		})
	}
	disk.others.Add(disk.available())
	if err := drop(); !errors.Is(err, kv.ErrFull) {
		t.Errorf("a drop without any space: %v", err)
	}
	disk.others.Add(-1 << 20)
	if err := drop(); err != nil {
		t.Errorf("a drop after there is some space: %v", err)
	}
	disk.others.Store(0)
	if err := putFiller(t.Context(), s, 2); err != nil {
		t.Errorf("a put after there is space: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// leave makes other programs use all but a certain amount of the space.
func (d smallDisk) leave(t *testing.T, s *pebblekv.Store, room int64) {
	t.Helper()
	d.others.Store(0)
	usage, err := s.DiskUsage()
	if err != nil {
		t.Fatal(err)
	}
	d.others.Store(usage.Available - usage.Pending - room)
	if _, err := s.DiskUsage(); err != nil { // triggers a check
		t.Fatal(err)
	}
}

// TestKeepOnFullDisk: keeping a snapshot does not use the reserve unless it is kept for a removal, and updates that drop whole
// tables or snapshots are always accepted.
func TestKeepOnFullDisk(t *testing.T) {
	disk := newSmallDisk(smallDiskSize)
	s := open(t, "/db", pebblekv.Options{FS: disk, Logger: slog.New(slog.DiscardHandler)})
	if err := putFiller(t.Context(), s, 1); err != nil {
		t.Fatal(err)
	}
	keep(t, s, "before")
	reserve := int64(smallDiskSize / 4)
	removal := everything
	removal.Frees = true
	drop := func(room int64) {
		t.Helper()
		disk.leave(t, s, room)
		if err := s.Update(t.Context(), kv.Intent{Drops: true}, func(txn kv.Txn) error {
			txn.AppendLog(1, []byte("dropped"))
			return nil
		}); err != nil {
			t.Errorf("with room %d, an update that drops: %v", room, err)
		}
	}

	disk.leave(t, s, reserve-1<<20)
	if err := s.Keep(t.Context(), "full", everything); !errors.Is(err, kv.ErrFull) {
		t.Errorf("with less room than the reserve, a snapshot is kept: %v", err)
	}
	if err := s.Keep(t.Context(), "removal", removal); err != nil {
		t.Errorf("with less room than the reserve, a snapshot for a removal: %v", err)
	}
	drop(reserve - 1<<20)
	disk.leave(t, s, 1<<20)
	if err := s.Keep(t.Context(), "exhausted", removal); !errors.Is(err, kv.ErrFull) {
		t.Errorf("with next to no room, a snapshot for a removal is kept: %v", err)
	}
	drop(1 << 20)
	for _, name := range []string{"before", "removal"} {
		if err := s.DropKept(t.Context(), name); err != nil {
			t.Errorf("with next to no room, dropping %s: %v", name, err)
		}
	}
	expectEmpty(t, disk, "/db/kept")
	expectEmpty(t, disk, "/db/making")
	if err := s.DeleteRange(t.Context(), nil, nil); err != nil {
		t.Errorf("with next to no room, removing a range: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := disk.refused.Load(); n > 0 {
		t.Errorf("the disk refused %d writes", n)
	}
}

// linklessDisk has no hard links, so that a kept snapshot is a copy.
type linklessDisk struct{ smallDisk }

func (linklessDisk) Link(string, string) error { return syscall.EOPNOTSUPP }

// TestKeepStopsBeforeReserve: a copy that turns out not to fit ends with ErrFull and leaves nothing: with a reserve before it has
// used any of it, without one when the disk is full. The store survives.
func TestKeepStopsBeforeReserve(t *testing.T) {
	for name, reserve := range map[string]int64{"reserve": 4 << 20, "none": -1} {
		t.Run(name, func(t *testing.T) {
			disk := newSmallDisk(smallDiskSize)
			s := open(t, "/db", pebblekv.Options{FS: linklessDisk{disk}, DiskReserve: reserve, Logger: slog.New(slog.DiscardHandler)})
			for i := range uint64(1000) {
				if err := putFiller(t.Context(), s, i); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Compact(t.Context(), nil, nil); err != nil {
				t.Fatal(err)
			}
			disk.leave(t, s, max(reserve, 0)+2<<20) // the tables have 4 MiB
			if err := s.Keep(t.Context(), "large", everything); !errors.Is(err, kv.ErrFull) {
				t.Errorf("a copy that does not fit: %v", err)
			}
			if n := disk.refused.Load(); n > 0 != (reserve < 0) {
				t.Errorf("the disk refused %d writes", n)
			}
			expectEmpty(t, disk, "/db/kept")
			expectEmpty(t, disk, "/db/making")
			if err := putFiller(t.Context(), s, 1); err != nil {
				t.Errorf("a put afterwards: %v", err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDiskReserveLargerThanDisk: no write could ever be accepted, so the store does not open.
func TestDiskReserveLargerThanDisk(t *testing.T) {
	o := pebblekv.Options{FS: newSmallDisk(smallDiskSize), DiskReserve: smallDiskSize, Logger: slog.New(slog.DiscardHandler)}
	_, err := pebblekv.Open("/db", o)
	if err == nil || !strings.Contains(err.Error(), "(--disk-reserve, Options.DiskReserve) is 24 MiB, but the disk of /db has only 24 MiB") {
		t.Fatalf("a reserve of the whole disk: %v", err)
	}
	o.DiskReserve--
	if err := open(t, "/db", o).Close(); err != nil {
		t.Error(err)
	}
}
