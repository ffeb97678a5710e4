// Package kvtest is the test suite for all implementations of package kv.
//
// Run tests the contract on stores that start empty. RunMisuse tests what a store rejects. RunDisk tests what a store on disk
// keeps across restarts and power failures. The names of the subtests say what is tested; tests with random histories print their
// seed.
package kvtest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Run runs the suite. open returns an empty store; the suite closes it.
func Run(t *testing.T, open func(t *testing.T) kv.Store) {
	t.Helper()
	run(t, open)
}

// run runs the suite except some tests.
func run(t *testing.T, open func(t *testing.T) kv.Store, without ...string) {
	t.Helper()
	tests := []struct {
		name string
		run  func(t *testing.T, s kv.Store)
	}{
		{"Get", testGet},
		{"OwnedSlices", testOwnedSlices},
		{"ValuesOfUpdate", testValuesOfUpdate},
		{"AbortWritesNothing", testAbort},
		{"ReadYourWrites", testReadYourWrites},
		{"IterBounds", testIterBounds},
		{"IterOverOwnWrites", testIterOverOwnWrites},
		{"IterAgainstModel", testIterAgainstModel},
		{"RangeReadAgain", testRangeReadAgain},
		{"SnapshotStandsStill", testSnapshotStandsStill},
		{"SnapshotFromManyGoroutines", testSnapshotFromManyGoroutines},
		{"DeleteRange", testDeleteRange},
		{"Limits", testLimits},
		{"Closed", testClosed},
		{"IntentDuplicates", testIntentDuplicates},
		{"WaitEndsWithContext", testWaitEndsWithContext},
		{"TransactionConflict", testTransactionConflict},
		{"ChecksBehindWriter", testChecksBehindWriter},
		{"TransactionWaits", testTransactionWaits},
		{"NoConflictWithoutTransaction", testNoConflictWithoutTransaction},
		{"NoLostUpdate", testNoLostUpdate},
		{"NoDeadlock", testNoDeadlock},
		{"NoWriteSkew", testNoWriteSkew},
		{"Bank", testBank},
		{"Ledger", testLedger},
		{"Counters", testCounters},
		{"CountersFromManyGoroutines", testCountersFromManyGoroutines},
		{"Log", testLog},
		{"LogFromManyGoroutines", testLogFromManyGoroutines},
		{"LogTrim", testLogTrim},
		{"LogTrimmed", testLogTrimmed},
		{"LogTrimmedFromManyGoroutines", testLogTrimmedFromManyGoroutines},
		{"LogReadsAreBounded", testLogReadsAreBounded},
		{"LogThrough", testLogThrough},
		{"LogThroughUnderLoad", testLogThroughUnderLoad},
		{"LogOfSnapshot", testLogOfSnapshot},
		{"LogOfSnapshotUnderLoad", testLogOfSnapshotUnderLoad},
		{"LogSeq", testLogSeq},
		{"LogSeqOfOneKey", testLogSeqOfOneKey},
		{"LogAdvance", testLogAdvance},
		{"Keep", testKeep},
		{"DropKept", testDropKept},
		{"KeepNames", testKeepNames},
		{"KeepEmpty", testKeepEmpty},
		{"KeepCancelled", testKeepCancelled},
		{"KeepUnderLoad", testKeepUnderLoad},
		{"KeepWhileLoading", testKeepWhileLoading},
		{"Load", testLoad},
		{"LoadNothing", testLoadNothing},
		{"LoadFails", testLoadFails},
		{"LoadOverDeleted", testLoadOverDeleted},
		{"LoadAtOnce", testLoadAtOnce},
		{"LoadLimits", testLoadLimits},
		{"Size", testSize},
		{"LogSize", testLogSize},
		{"Compact", testCompact},
		{"Split", testSplit},
	}
	for _, test := range tests {
		if slices.Contains(without, test.name) {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			s := open(t)
			test.run(t, s)
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

func key(format string, args ...any) []byte { return fmt.Appendf(nil, format, args...) }

func keys(names ...string) [][]byte {
	var ks [][]byte
	for _, name := range names {
		ks = append(ks, []byte(name))
	}
	return ks
}

func writing(names ...string) kv.Intent { return kv.Intent{Write: keys(names...)} }

// set writes one value in a separate update.
func set(t *testing.T, s kv.Store, k, v string) {
	t.Helper()
	update(t, s, writing(k), func(txn kv.Txn) error {
		txn.Set([]byte(k), []byte(v))
		return nil
	})
}

// update runs an update that must succeed.
func update(t *testing.T, s kv.Store, in kv.Intent, fn func(kv.Txn) error) {
	t.Helper()
	if err := s.Update(t.Context(), in, fn); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

// expect compares a key's latest value; "" means none.
func expect(t *testing.T, s kv.Store, k, want string) {
	t.Helper()
	got, err := s.Get(t.Context(), []byte(k))
	if err != nil {
		t.Fatalf("Get(%q): %v", k, err)
	}
	if string(got) != want || (got == nil) != (want == "") {
		t.Errorf("Get(%q) = %q, want %q", k, got, want)
	}
}

func snapshot(t *testing.T, s kv.Store) kv.Snapshot {
	t.Helper()
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatalf("Snapshot: %v", err)
	}
	return snap
}

func closeSnapshot(t *testing.T, snap kv.Snapshot) {
	t.Helper()
	if err := snap.Close(); err != nil {
		t.Errorf("closing a snapshot: %v", err)
	}
}

// scan returns "key=value " of a whole range.
func scan(t *testing.T, r kv.Reader, lo, hi []byte, o kv.IterOptions) string {
	t.Helper()
	var b bytes.Buffer
	it := r.Iter(lo, hi, o)
	for it.Next() {
		fmt.Fprintf(&b, "%s=%s ", it.Key(), it.Value())
	}
	if it.Next() {
		t.Error("Next returned true after false")
	}
	if err := it.Err(); err != nil {
		t.Errorf("Iter: %v", err)
	}
	if err := it.Close(); err != nil {
		t.Errorf("closing an iterator: %v", err)
	}
	return b.String()
}

// scanStore scans the latest state.
func scanStore(t *testing.T, s kv.Store) string {
	t.Helper()
	snap := snapshot(t, s)
	defer closeSnapshot(t, snap)
	return scan(t, snap, nil, nil, kv.IterOptions{})
}

// background is a context for goroutines that may outlive a failed test's own.
func background(t *testing.T) context.Context {
	t.Helper()
	return context.WithoutCancel(t.Context())
}
