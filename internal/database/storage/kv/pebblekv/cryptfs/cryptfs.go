// Package cryptfs is a file system for Pebble that encrypts its files with AES-256 in counter mode.
//
// # Model
//
// A file on disk is a header of 4096 bytes followed by the content:
//
//	┌────────────┬────────┬────────┬───────────┬──────┬──────────────────────────────────┐
//	│ "monoctr1" │ key id │ nonce  │ check     │ 0    │ content XOR the file's key stream │
//	│ 8          │ 8      │ 32     │ 16        │      │                                  │
//	└────────────┴────────┴────────┴───────────┴──────┴──────────────────────────────────┘
//
// The file's own key, and the check, are derived with HKDF-SHA256 from the data key named by the id and the random nonce. Byte n
// of the content is encrypted with byte n of the key stream, so that any part can be read on its own. Data keys are in Keys,
// which a key file stores sealed under the master key.
//
// Names of files, directories and locks are not encrypted, and neither are the lengths of files.
//
// # Invariants
//
//  1. No byte of a key stream encrypts two different bytes: a file is written once, sequentially, and an old file is never reused
//     for a new one. Other writes are rejected.
//  2. Sizes and offsets in the API are those of the content.
//  3. The header of a log is on disk before the log has content. So a file without a valid header is considered empty, because its
//     creation was interrupted by a power failure, if it is not longer than a header and starts like one, or with zeros. Otherwise it
//     is corrupt or not encrypted, which is an error.
//
// Counter mode does not detect modifications. Pebble's checksums, which are encrypted together with the data, detect accidental
// ones; an attacker who can modify files can change bits whose position and value are known, and their checksums with them.
//
// All methods of FS are safe for concurrent use; those of a file as specified by vfs.File.
package cryptfs

import (
	"crypto/cipher"
	"errors"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logCategory is Pebble's category for writes to its log.
const logCategory vfs.DiskWriteCategory = "pebble-wal"

// FS encrypts the files of the underlying file system.
type FS struct {
	vfs.FS
	keys *Keys
}

// New returns a file system whose files are encrypted.
func New(fs vfs.FS, keys *Keys) *FS { return &FS{fs, keys} }

// Unwrap returns the file system below.
func (fs *FS) Unwrap() vfs.FS { return fs.FS }

// Create creates a file with its own key.
func (fs *FS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	header, s, err := newHeader(fs.keys)
	if err != nil {
		return nil, fmt.Errorf("cryptfs: %s: %w", name, err)
	}
	f, err := fs.FS.Create(name, category)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(header)
	if err == nil && category == logCategory {
		err = f.SyncData()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &file{File: f, stream: s, writes: true}, nil
}

// ReuseForWrite removes the old file: an overwritten one would have to be encrypted with another key, and a crash could leave
// parts of both.
func (fs *FS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := fs.Remove(oldname); err != nil {
		return nil, err
	}
	return fs.Create(newname, category)
}

// OpenReadWrite is not supported: see invariant 1.
func (*FS) OpenReadWrite(name string, _ vfs.DiskWriteCategory, _ ...vfs.OpenOption) (vfs.File, error) {
	return nil, fmt.Errorf("cryptfs: %s: %w: writing into a file that exists", name, errors.ErrUnsupported)
}

// Open opens a file for reading.
func (fs *FS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := fs.FS.Open(name, opts...)
	if err != nil {
		return nil, err
	}
	opened, err := fs.open(f, name)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return opened, nil
}

func (fs *FS) open(f vfs.File, name string) (*file, error) {
	header := make([]byte, headerBytes)
	n, err := io.ReadFull(f, header)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	s, err := readHeader(fs.keys, header[:n])
	if err == nil {
		return &file{File: f, stream: s}, nil
	}
	info, statErr := f.Stat()
	if statErr != nil {
		return nil, statErr
	}
	if info.Size() > headerBytes || !interrupted(header[:n]) {
		return nil, damaged(name, err)
	}
	return &file{File: f}, nil
}

// Stat describes a file by its content.
func (fs *FS) Stat(name string) (vfs.FileInfo, error) { return contentInfo(fs.FS.Stat(name)) }

// file is an encrypted file. Sequential reads and writes share one key stream.
type file struct {
	vfs.File
	stream stream        // without a block if the file is empty
	row    cipher.Stream // continues after the last Read or Write; nil: from the beginning
	writes bool          // whether it is a new file
	failed error         // the first failed write: how much was written is unknown
}

func (f *file) inRow() cipher.Stream {
	if f.row == nil {
		f.row = f.stream.from(0)
	}
	return f.row
}

// Write encrypts p in place, as Pebble allows, and writes it.
func (f *file) Write(p []byte) (int, error) {
	switch {
	case !f.writes:
		return 0, fmt.Errorf("cryptfs: %w: writing to a file that is open for reading", errors.ErrUnsupported)
	case f.failed != nil:
		return 0, f.failed
	}
	f.inRow().XORKeyStream(p, p)
	n, err := f.File.Write(p)
	f.failed = err
	return n, err
}

// WriteAt is not supported: see invariant 1.
func (*file) WriteAt([]byte, int64) (int, error) {
	return 0, fmt.Errorf("cryptfs: %w: writing at an offset", errors.ErrUnsupported)
}

func (f *file) Read(p []byte) (int, error) {
	if f.stream.block == nil {
		return 0, io.EOF
	}
	n, err := f.File.Read(p)
	f.inRow().XORKeyStream(p[:n], p[:n])
	return n, err
}

func (f *file) ReadAt(p []byte, offset int64) (int, error) {
	switch {
	case offset < 0:
		return 0, fmt.Errorf("cryptfs: a read at offset %d", offset)
	case f.stream.block == nil:
		return 0, io.EOF
	}
	n, err := f.File.ReadAt(p, headerBytes+offset)
	if n > 0 {
		f.stream.from(offset).XORKeyStream(p[:n], p[:n])
	}
	return n, err
}

func (f *file) Stat() (vfs.FileInfo, error) { return contentInfo(f.File.Stat()) }

func (f *file) Preallocate(offset, length int64) error {
	return f.File.Preallocate(headerBytes+offset, length)
}

func (f *file) SyncTo(length int64) (full bool, err error) {
	return f.File.SyncTo(headerBytes + length)
}

func (f *file) Prefetch(offset, length int64) error {
	return f.File.Prefetch(headerBytes+offset, length)
}

// info describes a file by its content.
type info struct{ vfs.FileInfo }

func contentInfo(of vfs.FileInfo, err error) (vfs.FileInfo, error) {
	if err != nil || of.IsDir() {
		return of, err
	}
	return info{of}, nil
}

// Size returns 0 for locks, and for files whose creation was interrupted.
func (i info) Size() int64 { return max(i.FileInfo.Size()-headerBytes, 0) }
