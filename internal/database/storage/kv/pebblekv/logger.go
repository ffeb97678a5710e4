package pebblekv

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// pebbleLogger forwards Pebble's messages to slog.
type pebbleLogger struct {
	store *Store
}

// Infof is for Pebble's informational messages.
func (l pebbleLogger) Infof(format string, args ...any) {
	l.store.log.Debug("pebble: " + fmt.Sprintf(format, args...))
}

// Errorf is for errors after which Pebble continues.
func (l pebbleLogger) Errorf(format string, args ...any) {
	l.store.log.Error("pebble: " + fmt.Sprintf(format, args...))
}

// Fatalf must not return: Pebble calls it when it cannot continue. Disk errors do not lead here, see disk; the rest are violated
// invariants of Pebble itself, and continuing would write wrong data.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	l.store.fatal("pebble: " + fmt.Sprintf(format, args...))
}

// firstLine is the text of an error without the stack traces and hints that Pebble's errors add in some formats.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// eventListener logs what an operator should know, and reports the beginning and the end of background work.
func eventListener(log *slog.Logger, stalls *stalls, onWork func(begins bool)) *pebble.EventListener {
	return &pebble.EventListener{
		FlushBegin:      func(pebble.FlushInfo) { onWork(true) },
		FlushEnd:        func(pebble.FlushInfo) { onWork(false) },
		CompactionBegin: func(pebble.CompactionInfo) { onWork(true) },
		CompactionEnd:   func(pebble.CompactionInfo) { onWork(false) },
		BackgroundError: func(err error) {
			if errors.Is(err, errNoRoom) {
				log.Debug("store: a compaction waits for disk space")
				return
			}
			log.Error("store: background work failed", "error", firstLine(err))
		},
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			log.Error("store: data on disk is corrupt", "path", info.Path, "error", firstLine(info.Details))
		},
		WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
			stalls.begin(time.Now())
			log.Warn("store: writes wait for compaction", "reason", info.Reason)
		},
		WriteStallEnd: func() {
			stalls.end(time.Now())
			log.Info("store: writes no longer wait for compaction")
		},
		FormatUpgrade: func(v pebble.FormatMajorVersion) {
			log.Debug("store: format of the files upgraded", "version", uint64(v))
		},
	}
}
