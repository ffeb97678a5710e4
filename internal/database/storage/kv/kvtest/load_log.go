//nolint:thelper // these are the tests, not helpers of tests: a failure is to name the line that found it
package kvtest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// LogStore is a store whose logs can be copied.
type LogStore interface {
	kv.Store
	kv.Logs
}

// RunLogs tests copying change logs between stores. open returns an empty store; the suite closes it.
func RunLogs(t *testing.T, open func(t *testing.T) LogStore) {
	t.Helper()
	for name, run := range map[string]func(t *testing.T, s LogStore){
		"LoadLog": testLoadLog, "LoadLogReplaces": testLoadLogReplaces, "LoadLogFails": testLoadLogFails, "ExtendLog": testExtendLog,
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			run(t, s)
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// loadLog loads records of a size with the numbers from, from+step and so on.
func loadLog(t *testing.T, s LogStore, log kv.LogID, trimmed, from, step kv.Seq, n, size int) {
	t.Helper()
	err := s.LoadLog(t.Context(), log, trimmed, func(put func(kv.Record) error) error {
		for i := range kv.Seq(n) { //nolint:gosec // it is not negative
			if err := put(kv.Record{Seq: from + i*step, Data: bytes.Repeat([]byte{byte(i)}, size)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("LoadLog: %v", err)
	}
}

func listLogs(t *testing.T, s LogStore, want ...kv.LogID) {
	t.Helper()
	got, err := s.Logs(t.Context())
	if err != nil {
		t.Fatalf("Logs: %v", err)
	}
	if diff := cmp.Diff(want, got, cmp.Transformer("empty", func(l []kv.LogID) []kv.LogID { return append([]kv.LogID{}, l...) })); diff != "" {
		t.Errorf("logs (-want +got):\n%s", diff)
	}
}

// testLoadLog: loaded records keep their numbers, and records appended after an Advance follow them.
func testLoadLog(t *testing.T, s LogStore) {
	const first, step, n = 1_700_000_000_000<<18 + 5, 3, 50
	listLogs(t, s)
	loadLog(t, s, 7, first-2, first, step, n, 40<<10) // several megabytes
	loadLog(t, s, 1<<32-1, 0, 9, 1, 1, 0)
	loadLog(t, s, 8, 12, 0, 1, 0, 0)
	listLogs(t, s, 7, 8, 1<<32-1)
	const last = first + step*(n-1)
	update(t, s, kv.Intent{}, func(txn kv.Txn) error {
		txn.Advance(last + 1)
		txn.Set([]byte("whole"), nil)
		return nil
	})
	update(t, s, kv.Intent{}, func(txn kv.Txn) error {
		txn.AppendLog(7, []byte("next"))
		return nil
	})
	var got []kv.Record
	for after := kv.Seq(0); ; {
		records, through, err := s.ReadLog(t.Context(), 7, after, 20)
		if err != nil {
			t.Fatal(err)
		}
		if len(records) == 0 {
			break
		}
		got, after = append(got, records...), through
	}
	if len(got) != n+1 {
		t.Fatalf("%d records, want %d", len(got), n+1)
	}
	for i, r := range got[:n] {
		if want := kv.Seq(first + step*i); r.Seq != want || len(r.Data) != 40<<10 || r.Data[0] != byte(i) { //nolint:gosec // it is not negative
			t.Fatalf("record %d is %d, %d bytes, want %d", i, r.Seq, len(r.Data), want)
		}
	}
	if next := got[n]; string(next.Data) != "next" || next.Seq <= last {
		t.Errorf("the next record has the number %d and is %q", next.Seq, next.Data)
	}
	for log, want := range map[kv.LogID]kv.Seq{7: first - 2, 8: 12, 1<<32 - 1: 0} {
		if got, err := s.LogTrimmed(t.Context(), log); err != nil || got != want {
			t.Errorf("log %d is trimmed up to %d, %v, want %d", log, got, err, want)
		}
	}
}

// testLoadLogReplaces: earlier contents of a log are removed; an empty log does not exist.
func testLoadLogReplaces(t *testing.T, s LogStore) {
	loadLog(t, s, 3, 4, 5, 1, 10, 1)
	loadLog(t, s, 4, 0, 5, 1, 1, 1)
	loadLog(t, s, 3, 0, 8, 2, 2, 1)
	loadLog(t, s, 4, 0, 0, 1, 0, 0)
	listLogs(t, s, 3)
	snap := snapshot(t, s)
	defer closeSnapshot(t, snap)
	records, err := snap.ReadLog(3, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]kv.Record{{Seq: 8, Data: []byte{0}}, {Seq: 10, Data: []byte{1}}}, records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if got, err := s.LogTrimmed(t.Context(), 3); err != nil || got != 0 {
		t.Errorf("trimmed up to %d, %v", got, err)
	}
}

// testExtendLog: new records follow existing ones, of which trimmed ones are removed.
func testExtendLog(t *testing.T, s LogStore) {
	extend := func(trimmed kv.Seq, numbers ...kv.Seq) error {
		return s.ExtendLog(t.Context(), 3, trimmed, func(put func(kv.Record) error) error {
			for _, seq := range numbers {
				if err := put(kv.Record{Seq: seq, Data: []byte{byte(seq)}}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	loadLog(t, s, 4, 0, 5, 1, 1, 1)
	for _, step := range []struct {
		trimmed kv.Seq
		numbers []kv.Seq
		want    []kv.Seq
	}{
		{0, []kv.Seq{5, 6, 9}, []kv.Seq{5, 6, 9}},
		{0, nil, []kv.Seq{5, 6, 9}},
		{6, []kv.Seq{10}, []kv.Seq{9, 10}},
		{8, []kv.Seq{12}, []kv.Seq{9, 10, 12}},
		{20, []kv.Seq{21}, []kv.Seq{21}},
	} {
		if err := extend(step.trimmed, step.numbers...); err != nil {
			t.Fatal(err)
		}
		snap := snapshot(t, s)
		records, err := snap.ReadLog(3, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		closeSnapshot(t, snap)
		var got []kv.Seq
		for _, r := range records {
			got = append(got, r.Seq)
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("trimmed %d (-want +got):\n%s", step.trimmed, diff)
		}
		if got, err := s.LogTrimmed(t.Context(), 3); err != nil || got != step.trimmed {
			t.Errorf("trimmed up to %d, %v, want %d", got, err, step.trimmed)
		}
	}
	for _, number := range []kv.Seq{20, 21} {
		if err := extend(20, number); err == nil {
			t.Errorf("%d is added at or below existing numbers", number)
		}
	}
	listLogs(t, s, 3, 4)
}

func testLoadLogFails(t *testing.T, s LogStore) {
	failure := errors.New("fill failed")
	err := s.LoadLog(t.Context(), 3, 0, func(func(kv.Record) error) error { return fmt.Errorf("wrapped: %w", failure) })
	if !errors.Is(err, failure) {
		t.Errorf("LoadLog returns %v, want what fill returned", err)
	}
	for name, numbers := range map[string][]kv.Seq{"twice": {8, 8}, "back": {8, 7}, "trimmed": {5}} {
		err := s.LoadLog(t.Context(), 3, 5, func(put func(kv.Record) error) error {
			for _, seq := range numbers {
				_ = put(kv.Record{Seq: seq})
			}
			return nil
		})
		if err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
}
