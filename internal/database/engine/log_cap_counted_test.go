package engine_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// countedStore assigns numbers and writes records like format 1.
type countedStore struct {
	kv.Store
	now func() time.Time
}

func (s countedStore) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	return s.Store.Update(ctx, in, func(txn kv.Txn) error { return fn(countedTxn{txn, s.now}) })
}

type countedTxn struct {
	kv.Txn
	now func() time.Time
}

func (t countedTxn) Advance(kv.Seq) {}

func (t countedTxn) AppendLog(log kv.LogID, record []byte) {
	c, err := logenc.Decode(record)
	if err != nil {
		panic(err)
	}
	v1 := binary.BigEndian.AppendUint64([]byte{1, byte(c.Origin)}, uint64(t.now().UnixMilli()))
	for _, part := range [][]byte{c.Key, c.Old, c.New} {
		v1 = append(binary.AppendUvarint(v1, uint64(len(part))), part...)
	}
	t.Txn.AppendLog(log, v1)
}

// TestLogCapOfFormat1: from a log of format 1 the limit removes only the oldest records, and the restorable period starts after
// them.
func TestLogCapOfFormat1(t *testing.T) {
	var c clock
	start := noon
	c.set(start)
	store := memkv.New()
	old := openOn(t, countedStore{store, c.now}, engine.Options{Now: c.now, TTLInterval: -1, StreamShardRotation: -1})
	in := musicTable()
	in.StreamSpecification = streamedTable("NEW_AND_OLD_IMAGES").StreamSpecification
	createTable(t, old, in) // format 1 kept both images always
	if err := turnRecoveryOn(t.Context(), old, "Music"); err != nil {
		t.Fatal(err)
	}
	var middle time.Time
	for i := range 400 {
		c.set(c.now().Add(time.Second))
		music(t, old, fmt.Sprint(i), strings.Repeat("x", 6000))
		if i == 100 {
			middle = c.now()
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	c.set(c.now().Add(time.Minute))
	e := openOn(t, store, engine.Options{Now: c.now, TTLInterval: -1, StreamShardRotation: -1, LogMaxBytes: 1 << 20})
	defer e.Close()
	if err := e.CapLogs(t.Context()); err != nil {
		t.Fatal(err)
	}
	trimmed, err := store.LogTrimmed(t.Context(), 1)
	use, failed := e.LogUse(t.Context())
	if err != nil || failed != nil || trimmed == 0 || use.Bytes > 1<<20 || use.Bytes < 1<<19 {
		t.Errorf("trimmed up to %d, %v; the log takes %d bytes, %v", trimmed, err, use.Bytes, failed)
	}
	if err := restoreTo(t.Context(), e, "Music", middle, "Restored"); codeOf(err) != apierr.InvalidRestoreTimeException {
		t.Errorf("a time whose later changes are trimmed: %v", err)
	}
	described, err := e.DescribeContinuousBackups(t.Context(), &api.DescribeContinuousBackupsInput{TableName: new("Music")})
	if err != nil {
		t.Fatal(err)
	}
	earliest := time.Unix(int64(*described.ContinuousBackupsDescription.PointInTimeRecoveryDescription.EarliestRestorableDateTime), 0)
	if err := restoreTo(t.Context(), e, "Music", earliest, "Restored"); err != nil {
		t.Fatal(err)
	}
	e.Settle()
	count, scan := 0, &api.ScanInput{TableName: new("Restored"), Select: new("COUNT")}
	for {
		out, err := e.Scan(t.Context(), scan)
		if err != nil {
			t.Fatal(err)
		}
		count += int(*out.Count)
		if scan.ExclusiveStartKey = out.LastEvaluatedKey; scan.ExclusiveStartKey == nil {
			break
		}
	}
	if want := int(earliest.Sub(start) / time.Second); count != want {
		t.Errorf("restored to when there were %d items: it has %d", want, count)
	}
}
