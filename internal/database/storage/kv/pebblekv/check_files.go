package pebblekv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// checkFiles returns an error for damage that Pebble takes for the trace of a crash:
//
//   - What Pebble cannot read in its manifest, the list of tables, counts as a record that was being written. It opens the state
//     before that, and removes all tables written since.
//   - What it cannot read in the last block of the log counts as writes that were not acknowledged.
//   - A missing log counts as an empty one, also if there are older ones, whose writes are in tables. A crash leaves no other only while
//     the store is being opened: between the deletion of the old log, whose writes are in tables then, and the creation of the new
//     one. That is after the creation of a manifest and before that of a file with options.
func checkFiles(fs vfs.FS, dir, data string) error {
	at, err := pebble.Peek(data, fs)
	if err != nil || !at.Exists {
		return nil //nolint:nilerr // pebble.Open says why
	}
	names, err := fs.List(data)
	if err != nil {
		return err
	}
	last := uint64(0)
	for _, name := range names {
		if number, is := strings.CutSuffix(name, ".log"); is {
			n, _ := strconv.ParseUint(number, 10, 64)
			last = max(last, n)
		}
	}
	if numberOf(at.OptionsFilename) > numberOf(at.ManifestFilename) && (last == 0 || last < firstLog(fs, at.ManifestFilename)) {
		return &kv.DamageError{Dir: dir, File: fs.PathJoin(data, "*.log"), Cause: errors.New("the file with the latest writes is missing")}
	}
	log := fs.PathJoin(data, fmt.Sprintf("%06d.log", last))
	for name, check := range map[string]func(io.Reader) error{
		at.ManifestFilename: checkManifest,
		log:                 func(r io.Reader) error { return checkLog(r, uint32(last)) }, //nolint:gosec // the upper half is not in a chunk
	} {
		f, err := fs.Open(name)
		if err != nil {
			continue // pebble.Open says why
		}
		if err := errors.Join(check(f), f.Close()); err != nil {
			return &kv.DamageError{Dir: dir, File: name, Cause: err}
		}
	}
	return nil
}

// firstLog returns the number of the first log whose writes are not in tables, according to what can be read of a manifest. There is such a
// log when a manifest says so, except while the store is being opened. It is 0 if the manifest does not say.
func firstLog(fs vfs.FS, manifest string) (first uint64) {
	f, err := fs.Open(manifest)
	if err != nil {
		return 0
	}
	defer f.Close()
	const comparer, log = 1, 2 // fields of a record, which begins with the first, the second, both or neither
	for records := record.NewReader(f, 0); ; {
		r, err := records.Next()
		if err != nil {
			return first
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return first
		}
		if len(text) > 0 && text[0] == comparer {
			length, n := binary.Uvarint(text[1:])
			text = text[min(uint64(1+max(n, 0))+length, uint64(len(text))):] //nolint:gosec // not negative
		}
		if len(text) > 0 && text[0] == log {
			number, _ := binary.Uvarint(text[1:])
			first = max(first, number)
		}
	}
}

// numberOf returns the number at the end of a file's name, which Pebble gives in the order in which it creates them; 0 without one.
func numberOf(name string) uint64 {
	n, _ := strconv.ParseUint(name[strings.LastIndexByte(name, '-')+1:], 10, 64)
	return n
}

// framing is how Pebble stores records in a file: as chunks in blocks, each with a checksum, a length and a kind before its data.
// In a log, the log's number follows, and how much of the file had been synced before.
type framing struct {
	header int
	whole  byte // the kind of a chunk that is a record; the next kinds are for its first, middle and last chunk
	log    uint32
}

const (
	frameBlock     = 32 << 10
	frameSector    = 512 // what a disk writes as a whole
	manifestHeader = 4 + 2 + 1
	logHeader      = manifestHeader + 4 + 8
	logWhole       = 9
	// flippedMax is how many bytes are searched for a changed bit.
	flippedMax = 4 << 10
)

// checkManifest returns an error for a manifest that is damaged. A crash tears no record but the last, because each is synced
// before the next is written. Only chunks after the unreadable one, and at the beginnings of blocks, show that it is not the last:
// what it contains comes from clients, and can look like a chunk.
func checkManifest(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	f := framing{header: manifestHeader, whole: 1}
	end := 0
	for size := f.size(data, end); size > 0; size = f.size(data, end) {
		end = f.start(end + size)
	}
	damaged := f.hasFlippedBit(data, end)
	nextBlock := func(at int) int { return (at/frameBlock + 1) * frameBlock }
	after := f.end(data, end)
	if after == 0 {
		after = nextBlock(end)
	}
	for at := f.start(after); !damaged && at < len(data); at = nextBlock(at) {
		damaged = f.size(data, at) > 0 && data[at+6] <= f.whole+1
	}
	return unreadable(damaged, end)
}

// checkLog returns an error if the last readable block of a log is damaged: after the chunk that cannot be read, another one says
// that more of the file had been synced when it was written. Pebble itself finds such chunks in later blocks.
func checkLog(r io.Reader, number uint32) error {
	f := framing{header: logHeader, whole: logWhole, log: number}
	block := make([]byte, frameBlock)
	for begin := 0; ; begin += frameBlock {
		n, err := io.ReadFull(r, block)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		block, end := block[:n], 0
		for size := f.size(block, end); size > 0; size = f.size(block, end) {
			end += size
		}
		if frameBlock-end < f.header {
			continue
		}
		damaged := f.hasFlippedBit(block, end)
		for at := f.end(block, end); !damaged && at > 0 && f.size(block, at) > 0; at += f.size(block, at) {
			damaged = binary.LittleEndian.Uint64(block[at+11:]) > uint64(begin+end) //nolint:gosec // not negative
		}
		return unreadable(damaged, begin+end)
	}
}

func unreadable(damaged bool, at int) error {
	if !damaged {
		return nil
	}
	return fmt.Errorf("the record at byte %d cannot be read", at)
}

// end returns where the chunk at an offset of blocks ends, or 0 if its header is none.
func (f framing) end(blocks []byte, at int) int {
	if at+f.header > len(blocks) {
		return 0
	}
	header := blocks[at:]
	size := f.header + int(binary.LittleEndian.Uint16(header[4:]))
	if kind := header[6]; kind < f.whole || kind > f.whole+3 || at%frameBlock+size > frameBlock {
		return 0
	}
	if f.header == logHeader && binary.LittleEndian.Uint32(header[7:]) != f.log {
		return 0
	}
	return at + size
}

// start returns where a chunk can begin: at an offset, or in the next block if the rest of its block is too short for a header.
func (f framing) start(at int) int {
	if rest := frameBlock - at%frameBlock; rest < f.header {
		return at + rest
	}
	return at
}

// size returns the size of the chunk at an offset of blocks, or 0 if it cannot be read.
func (f framing) size(blocks []byte, at int) int {
	end := f.end(blocks, at)
	if end == 0 || end > len(blocks) {
		return 0
	}
	sum := crc32.Checksum(blocks[at+6:end], crc32.MakeTable(crc32.Castagnoli))
	if binary.LittleEndian.Uint32(blocks[at:]) != (sum>>15|sum<<17)+0xa282ead8 {
		return 0
	}
	return end - at
}

// hasFlippedBit reports whether the chunk at an offset would be readable if one bit were different. A crash changes more than one,
// unless it has lost a sector in which only one bit was set.
func (f framing) hasFlippedBit(blocks []byte, at int) bool {
	for i := at; i < min(at+flippedMax, len(blocks)); i++ {
		sector := blocks[i/frameSector*frameSector:]
		if isZero(sector[:min(frameSector, len(sector))]) {
			continue
		}
		for bit := byte(1); bit != 0; bit <<= 1 {
			blocks[i] ^= bit
			readable := f.size(blocks, at) > 0
			if blocks[i] ^= bit; readable {
				return true
			}
		}
	}
	return false
}

func isZero(data []byte) bool {
	for _, b := range data {
		if b != 0 {
			return false
		}
	}
	return true
}
