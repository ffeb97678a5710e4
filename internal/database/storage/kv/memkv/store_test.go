package memkv_test

import (
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/kvtest"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

func TestContract(t *testing.T) {
	kvtest.Run(t, func(*testing.T) kv.Store { return memkv.New() })
}

func TestMisuse(t *testing.T) {
	kvtest.RunMisuse(t, func(*testing.T) kv.Store { return memkv.New() })
}

// TestLogBound: logs do not grow for ever. The oldest records go, whichever log they are in, and the numbers of
// those that stay do not change.
func TestLogBound(t *testing.T) {
	s := memkv.New()
	data := make([]byte, 1<<20)
	for i := range 120 {
		err := s.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error {
			txn.AppendLog(kv.LogID(i%3), data)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	for log := range kv.LogID(3) {
		var records []kv.Record
		for after := kv.Seq(0); after < 120; { // the last number of all
			read, through, err := s.ReadLog(t.Context(), log, after, 120)
			if err != nil {
				t.Fatal(err)
			}
			records, after = append(records, read...), through
		}
		kept += len(records)
		for i, r := range records {
			if want := kv.Seq(120 - int(2-log) - 3*(len(records)-1-i)); r.Seq != want {
				t.Errorf("log %d: record %d of %d has number %d, want %d", log, i, len(records), r.Seq, want)
			}
		}
	}
	if kept < 50 || kept > 64 {
		t.Errorf("of 120 records of 1 MiB %d are kept", kept)
	}
}

func TestContractChecked(t *testing.T) {
	kvtest.Run(t, func(*testing.T) kv.Store { return kv.Checked(memkv.New()) })
}
