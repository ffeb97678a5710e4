package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/stream"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

func streamedTable(view string) *api.CreateTableInput {
	in := musicTable()
	in.StreamSpecification = &api.StreamSpecification{StreamEnabled: new(true), StreamViewType: &view}
	return in
}

// TestStreamWhileSharded lets eight writers increment twenty items while shards are split and rotated and two consumers read
// them, each shard after its parent. Every consumer must see each count of each item once, in order.
func TestStreamWhileSharded(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openOn(t, kv.Checked(s.open(t)()), engine.Options{TTLInterval: -1, StreamShards: 3})
			defer e.Close()
			createTable(t, e, streamedTable("NEW_IMAGE"))
			const writers, each, consumers = 8, 60, 2
			written, reshard := make(chan struct{}), make(chan struct{}, writers*each)
			var all sync.WaitGroup
			all.Go(func() {
				defer close(written)
				defer close(reshard)
				together(writers, func(worker int) {
					random := rand.New(rand.NewPCG(seed, uint64(worker)))
					for range each {
						countUp(t, e, "item"+strconv.Itoa(random.IntN(20)))
						if random.IntN(25) == 0 {
							reshard <- struct{}{}
						}
					}
				})
			})
			all.Go(func() {
				splits := 3
				for range reshard {
					if err := e.Reshard(t.Context(), 1+min(splits, 1)); err != nil {
						t.Error(err)
					}
					splits = max(splits-1, 0)
				}
			})
			for range consumers {
				all.Go(func() {
					c := newConsumer(t, e)
					for last := false; !last; {
						last = closed(written)
						c.read()
					}
					c.check(writers * each)
				})
			}
			all.Wait()
		})
	}
}

func countUp(t *testing.T, e *engine.Engine, pk string) {
	t.Helper()
	_, err := e.UpdateItem(t.Context(), &api.UpdateItemInput{
		TableName: new("Music"), Key: attr.Item{field("pk", pk)}, UpdateExpression: new("ADD n :one"),
		ExpressionAttributeValues: attr.Item{{Name: ":one", Value: attr.Number("1")}},
	})
	if err != nil {
		t.Error(err)
	}
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// interrupted is a store with a hook before its next log read.
type interrupted struct {
	kv.Store
	before func()
}

func (s *interrupted) ReadLog(ctx context.Context, log kv.LogID, after kv.Seq, limit int) ([]kv.Record, kv.Seq, error) {
	if before := s.before; before != nil {
		s.before = nil
		before()
	}
	return s.Store.ReadLog(ctx, log, after, limit)
}

// TestReshardWhileReading closes a shard, and writes to its child, while the shard is being read: the parent's reader, which does
// not know yet, must not see the child's records.
func TestReshardWhileReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the periodic tasks stand still
		store := &interrupted{Store: memkv.New()}
		e := openOn(t, store, engine.Options{TTLInterval: -1})
		defer e.Close()
		createTable(t, e, streamedTable("NEW_IMAGE"))
		c := newConsumer(t, e)
		for _, change := range []func() error{
			func() error { return e.Reshard(t.Context(), 1) },
			func() error {
				_, err := e.UpdateTable(t.Context(), &api.UpdateTableInput{
					TableName: new("Music"), StreamSpecification: &api.StreamSpecification{StreamEnabled: new(false)},
				})
				return err
			},
		} {
			c.read() // the following is read from existing iterators
			countUp(t, e, "a")
			store.before = func() {
				if err := change(); err != nil {
					t.Error(err)
				}
				countUp(t, e, "a")
			}
			c.read()
		}
		c.read()
		if len(c.events) != 3 { // the fourth change was made when the stream was disabled
			t.Errorf("%d records were delivered, want 3", len(c.events))
		}
		for shard, it := range c.iterators {
			if it != nil {
				t.Errorf("%s has more to read", shard)
			}
		}
	})
}

// TestShardsRotateAndSplit: a shard is replaced after an hour, and split when it receives more than five records a second.
func TestShardsRotateAndSplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, engine.Options{TTLInterval: -1, StreamShardRotation: time.Hour, StreamShardLoad: 5})
		createTable(t, e, streamedTable("KEYS_ONLY"))
		c := newConsumer(t, e)
		advance(59 * time.Minute)
		if n := len(c.shards()); n != 1 {
			t.Errorf("%d shards after 59 minutes", n)
		}
		advance(2 * time.Minute)
		if n := len(c.shards()); n != 2 {
			t.Errorf("%d shards after 61 minutes", n)
		}
		for range 40 { // 4 a second, then 6 a second
			countUp(t, e, "a")
			advance(250 * time.Millisecond)
		}
		advance(10 * time.Second)
		if n := len(c.shards()); n != 2 {
			t.Errorf("%d shards under a load that one can take", n)
		}
		for range 120 {
			countUp(t, e, "a")
			countUp(t, e, "b")
			countUp(t, e, "c")
			advance(500 * time.Millisecond)
		}
		if n := len(c.shards()); n <= 3 {
			t.Errorf("%d shards under a load that exceeds one shard", n)
		}
		for _, x := range c.shards()[1:] {
			if x.ParentShardId == nil {
				t.Errorf("%s has no parent", *x.ShardId)
			}
		}
		// A day later only the generations of the last day are left.
		advance(30 * time.Hour)
		open := 0
		for _, x := range c.shards() {
			if x.SequenceNumberRange.EndingSequenceNumber == nil {
				open++
			}
		}
		if n := len(c.shards()); n > open*26 {
			t.Errorf("%d shards, %d of them open, after a day of rotation by the hour", n, open)
		}
	})
}

// TestRecordLimits: a response has at most 1000 records and 1 MB, except for a single record.
func TestRecordLimits(t *testing.T) {
	e := newEngine(t, engine.Options{TTLInterval: -1})
	createTable(t, e, streamedTable("NEW_AND_OLD_IMAGES"))
	for i := range 1100 {
		if err := putMusic(t.Context(), e, field("pk", fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	for range 8 {
		for _, v := range []string{"a", "b"} {
			if err := putMusic(t.Context(), e, field("pk", "large"), field("v", strings.Repeat(v, 399_000))); err != nil {
				t.Fatal(err)
			}
		}
	}
	out, err := e.ListStreams(t.Context(), &api.ListStreamsInput{})
	if err != nil {
		t.Fatal(err)
	}
	shards := newConsumer(t, e).shards()
	it, err := e.GetShardIterator(t.Context(), &api.GetShardIteratorInput{
		StreamArn: out.Streams[0].StreamArn, ShardId: shards[0].ShardId, ShardIteratorType: new("TRIM_HORIZON"),
	})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for next := it.ShardIterator; ; {
		page, err := e.GetRecords(t.Context(), &api.GetRecordsInput{ShardIterator: next})
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, r := range page.Records {
			size += int(*r.Dynamodb.SizeBytes)
		}
		if len(page.Records) > 1000 || size > 1<<20 && len(page.Records) > 1 {
			t.Errorf("a page of %d records and %d bytes", len(page.Records), size)
		}
		if len(page.Records) == 0 {
			break
		}
		total += len(page.Records)
		next = page.NextShardIterator
	}
	if total != 1116 {
		t.Errorf("%d records", total)
	}
}

// measured is a store that records how many log records were read, and the maximum bytes at once.
type measured struct {
	kv.Store
	records, bytes int
}

func (s *measured) ReadLog(ctx context.Context, log kv.LogID, after kv.Seq, limit int) ([]kv.Record, kv.Seq, error) {
	records, through, err := s.Store.ReadLog(ctx, log, after, limit)
	bytes := 0
	for i := range records {
		bytes += len(records[i].Data)
	}
	s.records, s.bytes = s.records+len(records), max(s.bytes, bytes)
	return records, through, err
}

// TestLargeRecordsAfterSmallOnes: small first records do not imply small next ones.
func TestLargeRecordsAfterSmallOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the periodic tasks stand still
		store := &measured{Store: memkv.New()}
		e := openOn(t, store, engine.Options{TTLInterval: -1})
		defer e.Close()
		createTable(t, e, streamedTable("NEW_IMAGE"))
		for i := range 620 {
			padding := ""
			if i >= 20 {
				padding = strings.Repeat("x", 100_000)
			}
			if err := putMusic(t.Context(), e, field("pk", fmt.Sprint(i)), field("x", padding)); err != nil {
				t.Fatal(err)
			}
		}
		c := newConsumer(t, e)
		it, err := e.GetShardIterator(t.Context(), &api.GetShardIteratorInput{
			StreamArn: c.arn, ShardId: c.shards()[0].ShardId, ShardIteratorType: new("TRIM_HORIZON"),
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := e.GetRecords(t.Context(), &api.GetRecordsInput{ShardIterator: it.ShardIterator})
		if err != nil || len(out.Records) < 20 || store.bytes > 1<<20 {
			t.Errorf("%d records were delivered, %v; %d bytes were read at once", len(out.Records), err, store.bytes)
		}
	})
}

// TestGetRecordsReservesMemoryEarly: GetRecords has read little when it reserves memory for more.
func TestGetRecordsReservesMemoryEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the periodic tasks stand still
		store := &measured{Store: memkv.New()}
		e := openOn(t, store, engine.Options{TTLInterval: -1})
		defer e.Close()
		createTable(t, e, streamedTable("NEW_AND_OLD_IMAGES"))
		for i := range 20 {
			music(t, e, "1", fmt.Sprint(i)+strings.Repeat("x", 390_000))
		}
		c := newConsumer(t, e)
		it, err := e.GetShardIterator(t.Context(), &api.GetShardIteratorInput{
			StreamArn: c.arn, ShardId: c.shards()[0].ShardId, ShardIteratorType: new("TRIM_HORIZON"),
		})
		if err != nil {
			t.Fatal(err)
		}
		refused := errors.New("no room")
		ctx := api.WithRoom(t.Context(), func(int64, bool) error { return refused })
		_, err = e.GetRecords(ctx, &api.GetRecordsInput{ShardIterator: it.ShardIterator})
		if !errors.Is(err, refused) || store.records > 1 {
			t.Errorf("%d records were read, %v", store.records, err)
		}
	})
}

// TestTrimmedRecords: if a store trims by itself for lack of space, readers get the error for trimmed data.
func TestTrimmedRecords(t *testing.T) {
	store := memkv.New()
	e := openOn(t, store, engine.Options{TTLInterval: -1})
	defer e.Close()
	createTable(t, e, streamedTable("KEYS_ONLY"))
	c := newConsumer(t, e)
	c.read()
	it := c.iterators[*c.shards()[0].ShardId]
	for i := range 3 {
		if err := putMusic(t.Context(), e, field("pk", fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	records, _, err := store.ReadLog(t.Context(), 1, 0, 3)
	if err != nil || len(records) != 3 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	second := records[1].Seq
	if err := store.TrimLog(t.Context(), 1, second); err != nil {
		t.Fatal(err)
	}
	_, err = e.GetRecords(t.Context(), &api.GetRecordsInput{ShardIterator: it})
	if codeOf(err) != apierr.TrimmedDataAccessException {
		t.Errorf("an iterator before trimmed records: %v", err)
	}
	for kind, want := range map[string]apierr.Code{"AT_SEQUENCE_NUMBER": apierr.TrimmedDataAccessException, "TRIM_HORIZON": ""} {
		in := &api.GetShardIteratorInput{StreamArn: c.arn, ShardId: c.shards()[0].ShardId, ShardIteratorType: &kind}
		if kind == "AT_SEQUENCE_NUMBER" {
			in.SequenceNumber = new(stream.SequenceNumber(second))
		}
		_, err := e.GetShardIterator(t.Context(), in)
		if codeOf(err) != want {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestTrimmedShard: a closed shard whose records have all been trimmed is read to its end, like an empty one, so that a reader gets
// on to its child.
func TestTrimmedShard(t *testing.T) {
	store := memkv.New()
	e := openOn(t, store, engine.Options{TTLInterval: -1})
	defer e.Close()
	createTable(t, e, streamedTable("NEW_IMAGE"))
	countUp(t, e, "a")
	if err := e.Reshard(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	countUp(t, e, "b")
	countUp(t, e, "c")
	records, _, err := store.ReadLog(t.Context(), 1, 0, 3)
	if err != nil || len(records) != 3 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	if err := store.TrimLog(t.Context(), 1, records[1].Seq); err != nil {
		t.Fatal(err)
	}
	c := newConsumer(t, e)
	c.check(1)
	for _, kind := range []string{"LATEST", "AT_TIMESTAMP"} {
		it, err := e.GetShardIterator(t.Context(), &api.GetShardIteratorInput{
			StreamArn: c.arn, ShardId: c.shards()[0].ShardId, ShardIteratorType: &kind, Timestamp: new(api.Timestamp(0)),
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := e.GetRecords(t.Context(), &api.GetRecordsInput{ShardIterator: it.ShardIterator})
		if err != nil || len(out.Records) != 0 || out.NextShardIterator != nil {
			t.Errorf("%s: %+v, %v", kind, out, err)
		}
	}
}

// TestStreamStatus follows a stream with Options.TableDelay.
func TestStreamStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, engine.Options{TTLInterval: -1, TableDelay: 10 * time.Second})
		createTable(t, e, streamedTable("KEYS_ONLY"))
		c := newConsumer(t, e)
		check := func(want string) {
			t.Helper()
			out, err := e.DescribeStream(t.Context(), &api.DescribeStreamInput{StreamArn: c.arn})
			if err != nil || *out.StreamDescription.StreamStatus != want {
				t.Errorf("status %v, %v; want %s", out, err, want)
			}
		}
		check("ENABLING")
		advance(11 * time.Second)
		check("ENABLED")
		if _, err := e.DeleteTable(t.Context(), &api.DeleteTableInput{TableName: new("Music")}); err != nil {
			t.Fatal(err)
		}
		check("DISABLING")
		advance(11 * time.Second)
		check("DISABLED")
	})
}

// TestAdoptedStream opens a store from before streams had records: its stream starts with the first change since it was enabled.
func TestAdoptedStream(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
			o := engine.Options{TTLInterval: -1, Now: func() time.Time { return now }}
			open := s.open(t)
			store := open()
			e := openOn(t, store, o)
			createTable(t, e, musicTable())
			countUp(t, e, "before")
			now = now.Add(time.Minute)
			_, err := e.UpdateTable(t.Context(), &api.UpdateTableInput{
				TableName: new("Music"), StreamSpecification: streamedTable("NEW_IMAGE").StreamSpecification,
			})
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				countUp(t, e, "since")
			}
			lo, hi := keyenc.Streams()
			if err := store.DeleteRange(t.Context(), lo, hi); err != nil {
				t.Fatal(err)
			}
			if err := e.Close(); err != nil { // the store stays open
				t.Fatal(err)
			}
			e = openOn(t, store, o)
			c := newConsumer(t, e)
			c.check(5)
			countUp(t, e, "since")
			c.check(6)
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRecoveryKeepsTheLog: the log of a table with point-in-time recovery is kept for the recovery period, and can be read from
// its stream for a day.
func TestRecoveryKeepsTheLog(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	store := memkv.New()
	e := openOn(t, store, engine.Options{TTLInterval: -1, Now: func() time.Time { return now }})
	defer e.Close()
	createTable(t, e, streamedTable("NEW_IMAGE"))
	_, err := e.UpdateContinuousBackups(t.Context(), &api.UpdateContinuousBackupsInput{
		TableName: new("Music"), PointInTimeRecoverySpecification: &api.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: new(true), RecoveryPeriodInDays: new(int64(2)),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for day, want := range []struct{ logged, streamed int }{{2, 2}, {4, 2}, {4, 2}, {4, 2}} {
		countUp(t, e, "a")
		countUp(t, e, "b")
		if err := e.TrimLogs(t.Context()); err != nil {
			t.Fatal(err)
		}
		logged, _, err := store.ReadLog(t.Context(), 1, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		c := newConsumer(t, e)
		c.counts["a"], c.counts["b"] = day, day
		c.read()
		if len(logged) != want.logged || len(c.events) != want.streamed {
			t.Errorf("day %d: %d records in the log, %d in the stream, want %v", day, len(logged), len(c.events), want)
		}
		now = now.Add(24*time.Hour + 5*time.Minute)
	}
}

// TestTrimOfNewStream: a new stream of a table with a long log is trimmed without reading the earlier log.
func TestTrimOfNewStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the periodic tasks stand still
		now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
		store := &measured{Store: memkv.New()}
		e := openOn(t, store, engine.Options{TTLInterval: -1, Now: func() time.Time { return now }})
		defer e.Close()
		createTable(t, e, musicTable())
		if err := turnRecoveryOn(t.Context(), e, "Music"); err != nil {
			t.Fatal(err)
		}
		for range 500 {
			countUp(t, e, "a")
		}
		now = now.Add(10 * 24 * time.Hour)
		send(t, e, "update-table", `{"TableName":"Music","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}}`)
		if err := e.TrimLogs(t.Context()); err != nil {
			t.Fatal(err)
		}
		if store.records > 20 {
			t.Errorf("%d records were read", store.records)
		}
	})
}
