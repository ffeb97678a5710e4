package engine_test

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// TestTTLGauges: expired items are a backlog until they are deleted, and counted when they are.
func TestTTLGauges(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	counts := observe.New()
	e := newEngine(t, engine.Options{Now: func() time.Time { return now }, TTLInterval: -1, Observe: counts})
	if _, err := e.CreateTable(t.Context(), musicTable("a")); err != nil {
		t.Fatal(err)
	}
	_, err := e.UpdateTimeToLive(t.Context(), &api.UpdateTimeToLiveInput{
		TableName:               new("Music"),
		TimeToLiveSpecification: &api.TimeToLiveSpecification{Enabled: new(true), AttributeName: new("exp")},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.Settle()
	for key, after := range map[string]int64{"a": -60, "b": -10, "c": 10} {
		expires := attr.Number(strconv.FormatInt(now.Unix()+after, 10))
		if err := putMusic(t.Context(), e, field("pk", key), attr.Field{Name: "exp", Value: expires}); err != nil {
			t.Fatal(err)
		}
	}
	gauges := func() engine.TableGauges {
		t.Helper()
		g, err := e.Gauges(t.Context())
		if err != nil || len(g.Tables) != 1 {
			t.Fatalf("%+v, %v", g, err)
		}
		for kind, n := range g.Jobs {
			if n != 0 {
				t.Errorf("%d jobs of kind %q", n, kind)
			}
		}
		return g.Tables[0]
	}
	g := gauges()
	if g.Items.Rows != 3 || !g.Expires || g.Expired != 2 || g.ExpiredFor != time.Minute {
		t.Errorf("before the sweep: %+v", g)
	}
	if n, err := e.ExpireNow(t.Context()); n != 2 || err != nil {
		t.Fatalf("%d expired, %v", n, err)
	}
	g = gauges()
	g.ChangeLog = 0
	want := engine.TableGauges{Name: "Music", Items: engine.IndexStats{Rows: 1, Bytes: g.Items.Bytes}, Indexes: []engine.IndexStats{{Name: "a"}}, Expires: true}
	if diff := cmp.Diff(want, g); diff != "" {
		t.Errorf("after the sweep: %s", diff)
	}
	if n := counts.Table("Music").Expired.Load(); n != 2 {
		t.Errorf("%d items are counted as expired", n)
	}
}

// TestGaugesOfTrimmedLogs: trimmed records count neither for a table's log nor for the total, even if they are still on disk.
func TestGaugesOfTrimmedLogs(t *testing.T) {
	var c clock
	c.set(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	fs := vfs.NewMem()
	var store *pebblekv.Store
	open := func() *engine.Engine {
		t.Helper()
		var err error
		store, err = pebblekv.Open("/data", pebblekv.Options{FS: fs, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return openOn(t, store, engine.Options{Now: c.now, TTLInterval: -1, StreamShardRotation: -1, LogMaxBytes: 512 << 10, Logger: slog.New(slog.DiscardHandler)})
	}
	e := open()
	createTable(t, e, streamedTable("NEW_AND_OLD_IMAGES"))
	random := rand.New(rand.NewPCG(1, 2)) // does not compress
	for i := range 400 {
		c.set(c.now().Add(time.Second))
		value := make([]byte, 10<<10)
		for j := range value {
			value[j] = 'a' + byte(random.IntN(26))
		}
		music(t, e, strconv.Itoa(i), string(value))
	}
	if err := errors.Join(e.Close(), store.Close()); err != nil {
		t.Fatal(err)
	}
	e = open() // with all records in tables on disk, whose size is constant meanwhile
	if err := e.CapLogs(t.Context()); err != nil {
		t.Fatal(err)
	}
	g, err := e.Gauges(t.Context())
	if err != nil || len(g.Tables) != 1 {
		t.Fatalf("%+v, %v", g, err)
	}
	if all, table := g.Logs.Bytes, g.Tables[0].ChangeLog; table != all || all == 0 || all > g.Logs.Max {
		t.Errorf("the only log takes %d bytes, all logs %d of %d", table, all, g.Logs.Max)
	}
	if err := errors.Join(e.Close(), store.Close()); err != nil {
		t.Error(err)
	}
}
