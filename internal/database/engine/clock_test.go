package engine_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/stream"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// machine is a database on a disk, and the clock of its machine.
type machine struct {
	t      *testing.T
	fs     *vfs.MemFS
	clock  clock
	logged bytes.Buffer
	engine *engine.Engine
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, fs: vfs.NewCrashableMem()}
	m.clock.set(noon)
	m.start()
	t.Cleanup(func() {
		if err := m.engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func (m *machine) start() {
	m.t.Helper()
	store, err := pebblekv.Open("/data", pebblekv.Options{FS: m.fs, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		m.t.Fatal(err)
	}
	m.engine, err = engine.Open(m.t.Context(), store, engine.Options{
		Now: m.clock.now, TTLInterval: -1, StreamShardRotation: -1, Logger: slog.New(slog.NewTextHandler(&m.logged, nil)),
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// restart closes the database and opens it again.
func (m *machine) restart() {
	m.t.Helper()
	if err := m.engine.Close(); err != nil {
		m.t.Fatal(err)
	}
	m.start()
}

// crash cuts the power and opens the database again.
func (m *machine) crash() {
	m.t.Helper()
	left := m.fs.CrashClone(vfs.CrashCloneCfg{})
	if err := m.engine.Close(); err != nil {
		m.t.Fatal(err)
	}
	m.fs = left
	m.start()
}

func (m *machine) jump(by time.Duration) { m.clock.set(m.clock.now().Add(by)) }

// count adds 1 to the counter of an item, in a transaction with a token.
func (m *machine) count(token string) {
	m.t.Helper()
	send(m.t, m.engine, "transact-write-items", `{"ClientRequestToken":"`+token+`","TransactItems":[{"Update":{"TableName":"Music",
	 "Key":{"pk":{"S":"`+token+`"}},"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}}]}`)
}

func (m *machine) wantCount(token string, n int) {
	m.t.Helper()
	want := fmt.Sprintf(`{"Item":{"n":{"N":"%d"},"pk":{"S":"%s"}}}`, n, token)
	if got := send(m.t, m.engine, "get-item", `{"TableName":"Music","Key":{"pk":{"S":"`+token+`"}}}`); got != want {
		m.t.Errorf("after %d requests with one token: %s, want %s", n, got, want)
	}
}

// TestTokensAndTheClock: a request that is retried within ten minutes of the database's time is executed once, however the
// machine's clock jumps, across restarts and power failures.
func TestTokensAndTheClock(t *testing.T) {
	jump := func(by time.Duration) func(*machine) { return func(m *machine) { m.jump(by) } }
	use := func(m *machine) { m.count("other") } // the database sees the time
	for _, c := range []struct {
		name      string
		meanwhile []func(*machine)
		runs      int
	}{
		{"at once", nil, 1},
		{"restart", []func(*machine){(*machine).restart}, 1},
		{"power cut", []func(*machine){(*machine).crash}, 1},
		{"just in time", []func(*machine){jump(10*time.Minute - time.Millisecond)}, 1},
		{"too late", []func(*machine){jump(10 * time.Minute)}, 2},
		{"set back", []func(*machine){jump(-time.Hour)}, 1},
		{"set back, restart", []func(*machine){jump(-time.Hour), (*machine).restart}, 1},
		{"set back by a year, power cut", []func(*machine){jump(-365 * 24 * time.Hour), (*machine).crash}, 1},
		{"set back and again, power cuts", []func(*machine){jump(-time.Hour), (*machine).crash, use, jump(-time.Hour), (*machine).crash, use}, 1},
		{"set back and forth", []func(*machine){jump(-time.Hour), (*machine).crash, jump(time.Hour + 8*time.Minute)}, 1},
		{"forth and back", []func(*machine){jump(time.Hour), use, jump(-time.Hour), (*machine).restart}, 2},
		{"forth and back, unseen", []func(*machine){jump(time.Hour), jump(-time.Hour), (*machine).restart}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t)
			createTable(t, m.engine, musicTable())
			m.count("token")
			for _, step := range c.meanwhile {
				step(m)
			}
			m.count("token")
			m.wantCount("token", c.runs)
			m.crash()
			m.count("token") // and what has just been carried out is remembered again
			m.wantCount("token", c.runs)
		})
	}
}

// TestRecordsAndTheClock: the times of changes never go back, and reading a stream from a time on is consistent with them.
func TestRecordsAndTheClock(t *testing.T) {
	m := newMachine(t)
	createTable(t, m.engine, streamedTable("NEW_IMAGE"))
	var last time.Time
	for i, step := range []func(*machine){
		func(m *machine) { m.jump(time.Minute) },
		func(m *machine) { m.jump(-time.Hour) },
		(*machine).restart,
		func(m *machine) { m.jump(-24 * time.Hour) },
		(*machine).crash,
		func(m *machine) { m.jump(26 * time.Hour) },
		(*machine).crash,
		func(m *machine) { m.jump(-time.Minute) },
	} {
		step(m)
		music(t, m.engine, fmt.Sprint(i), "x")
	}
	c := newConsumer(t, m.engine)
	shard := c.shards()[0].ShardId
	from := func(at time.Time) []api.Record {
		t.Helper()
		got, err := m.engine.GetShardIterator(t.Context(), &api.GetShardIteratorInput{
			StreamArn: c.arn, ShardId: shard, ShardIteratorType: new("AT_TIMESTAMP"), Timestamp: new(api.Timestamp(float64(at.UnixMilli()) / 1000)),
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.engine.GetRecords(t.Context(), &api.GetRecordsInput{ShardIterator: got.ShardIterator})
		if err != nil {
			t.Fatal(err)
		}
		return out.Records
	}
	all := from(noon)
	if len(all) != 8 {
		t.Fatalf("%d records", len(all))
	}
	for i := range all {
		seq, ok := stream.ParseSequenceNumber(*all[i].Dynamodb.SequenceNumber)
		at := time.UnixMilli(seq.Millis())
		if !ok || at.Before(last) || at.Before(noon) || at.After(noon.Add(2*time.Hour)) {
			t.Errorf("record %d has the time %v, the one before %v", i, at.UTC(), last.UTC())
		}
		if rest := from(at); !at.Equal(last) && len(rest) != len(all)-i {
			t.Errorf("from %v on there are %d records, want %d", at, len(rest), len(all)-i)
		}
		last = at
	}
}

// TestLatestIteratorAndTheClock: an iterator at the end of a stream returns all later changes, even if the database was idle
// before, restarts, and the machine's clock is set back.
func TestLatestIteratorAndTheClock(t *testing.T) {
	m := newMachine(t)
	createTable(t, m.engine, streamedTable("NEW_IMAGE"))
	music(t, m.engine, "a", "1")
	m.jump(2 * time.Hour)
	c := newConsumer(t, m.engine)
	iterator, err := m.engine.GetShardIterator(t.Context(), &api.GetShardIteratorInput{
		StreamArn: c.arn, ShardId: c.shards()[0].ShardId, ShardIteratorType: new("LATEST"),
	})
	if err != nil {
		t.Fatal(err)
	}
	m.jump(-time.Hour)
	m.restart()
	music(t, m.engine, "a", "2")
	m.jump(time.Hour + time.Second)
	music(t, m.engine, "a", "3")
	page, err := m.engine.GetRecords(t.Context(), &api.GetRecordsInput{ShardIterator: iterator.ShardIterator})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Records) != 2 {
		t.Errorf("of two changes after the iterator it returns %d", len(page.Records))
	}
}

// TestExpiryAndTheClock: an item expires by the database's time, even if the machine's clock is set back.
func TestExpiryAndTheClock(t *testing.T) {
	m := newMachine(t)
	createTable(t, m.engine, musicTable())
	send(t, m.engine, "update-time-to-live", `{"TableName":"Music","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"exp"}}`)
	m.engine.Settle()
	put := func(pk string, after time.Duration) {
		send(t, m.engine, "put-item", fmt.Sprintf(`{"TableName":"Music","Item":{"pk":{"S":"%s"},"exp":{"N":"%d"}}}`, pk, noon.Add(after).Unix()))
	}
	expire := func(want int) {
		t.Helper()
		if n, err := m.engine.ExpireNow(t.Context()); n != want || err != nil {
			t.Errorf("%d items expired, %v; want %d", n, err, want)
		}
	}
	put("before", time.Minute)
	put("later", time.Hour)
	expire(0)
	m.jump(2 * time.Minute)
	expire(1)
	put("again", time.Minute)
	m.jump(-24 * time.Hour)
	m.crash()
	expire(1)
	put("again", time.Minute)
	expire(1)
	m.jump(25*time.Hour - time.Minute)
	expire(1)
}

// TestClockBehind: a machine clock that is far behind at the start is logged.
func TestClockBehind(t *testing.T) {
	m := newMachine(t)
	createTable(t, m.engine, musicTable())
	m.restart()
	m.crash()
	if m.logged.Len() != 0 {
		t.Errorf("the log says %s", &m.logged)
	}
	m.jump(-time.Hour)
	m.restart()
	if got := m.logged.String(); strings.Count(got, "clock is behind") != 1 || !strings.Contains(got, "behind=1h0m0s") {
		t.Errorf("the log says %s", got)
	}
}

// TestLatestAndTheClock: a table is restored exactly to the millisecond before the call, even while the clock stands still.
func TestLatestAndTheClock(t *testing.T) {
	var c clock
	c.set(noon)
	e := openOn(t, memkv.New(), engine.Options{Now: c.now, TTLInterval: -1})
	defer e.Close()
	createTable(t, e, musicTable())
	if err := turnRecoveryOn(t.Context(), e, "Music"); err != nil {
		t.Fatal(err)
	}
	music(t, e, "a", "1")
	c.set(noon.Add(2 * time.Millisecond))
	music(t, e, "a", "2")
	c.set(noon)
	music(t, e, "a", "3")
	send(t, e, "restore-table-to-point-in-time", `{"SourceTableName":"Music","TargetTableName":"Before","UseLatestRestorableTime":true}`)
	c.set(noon.Add(3 * time.Millisecond))
	send(t, e, "restore-table-to-point-in-time", `{"SourceTableName":"Music","TargetTableName":"After","UseLatestRestorableTime":true}`)
	e.Settle()
	for table, v := range map[string]string{"Before": "1", "After": "3"} {
		if got, want := send(t, e, "scan", `{"TableName":"`+table+`"}`), `{"Items":[{"pk":{"S":"a"},"v":{"S":"`+v+`"}}],"Count":1,"ScannedCount":1}`; got != want {
			t.Errorf("%s holds %s, want %s", table, got, want)
		}
	}
}

// TestRecoveryAndTheClock: recovery starts after all earlier changes, even if the log's numbers are ahead of the clock, as after
// more changes in a millisecond than it has numbers. Those changes may have no old images.
func TestRecoveryAndTheClock(t *testing.T) {
	var c clock
	c.set(noon)
	store := memkv.New()
	e := openOn(t, store, engine.Options{Now: c.now, TTLInterval: -1, StreamShardRotation: -1})
	defer e.Close()
	createTable(t, e, streamedTable("KEYS_ONLY"))
	music(t, e, "a", "1")
	err := store.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error {
		txn.Advance(kv.SeqAt(noon.Add(3 * time.Second).UnixMilli()))
		txn.LogSeq()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	music(t, e, "a", "2") // it replaces what its record does not have
	c.set(noon.Add(time.Second))
	if err := turnRecoveryOn(t.Context(), e, "Music"); err != nil {
		t.Fatal(err)
	}
	c.set(noon.Add(5 * time.Second))
	music(t, e, "a", "3")
	c.set(noon.Add(10 * time.Second))
	if err := restoreTo(t.Context(), e, "Music", noon.Add(2*time.Second), "Early"); codeOf(err) != apierr.InvalidRestoreTimeException {
		t.Errorf("a time before the last change without an old image: %v", err)
	}
	if err := restoreTo(t.Context(), e, "Music", noon.Add(4*time.Second), "Restored"); err != nil {
		t.Fatal(err)
	}
	e.Settle()
	if got, want := send(t, e, "scan", `{"TableName":"Restored"}`), `{"Items":[{"pk":{"S":"a"},"v":{"S":"2"}}],"Count":1,"ScannedCount":1}`; got != want {
		t.Errorf("the table restored holds %s, want %s", got, want)
	}
}
