package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/stream"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

const (
	// recordsMax and recordBytesMax limit a GetRecords response; a single larger record is still returned.
	recordsMax     = 1000
	recordBytesMax = 1 << 20

	// scannedRecordsMax limits how many records of the log a call reads, including those of other shards.
	scannedRecordsMax = 10_000
	scannedBytesMax   = 8 << 20
)

// Constant fields of every record.
const (
	eventVersion = "1.1"
	eventSource  = "aws:dynamodb"

	eventInsert = "INSERT"
	eventModify = "MODIFY"
	eventRemove = "REMOVE"
)

// GetRecords reads records from an iterator's position on, in the order of their sequence numbers. It may return none although
// there are more, when a long stretch of the log belongs to other shards.
func (e *Engine) GetRecords(ctx context.Context, in *api.GetRecordsInput) (*api.GetRecordsOutput, error) {
	limit := int64(recordsMax)
	if in.Limit != nil {
		limit = *in.Limit
	}
	if limit > recordsMax {
		return nil, apierr.TooManyRecords.With(recordsMax)
	}
	it, ok := stream.ParseIterator(*in.ShardIterator)
	if !ok {
		return nil, apierr.InvalidShardIterator.With()
	}
	now := e.options.Now()
	if it.Expired(now) {
		return nil, apierr.IteratorExpired.With()
	}
	s, bound, err := e.streamState(ctx, streamID{it.Table, it.Label})
	if err != nil {
		return nil, err
	}
	shard := s.Shard(it.Shard)
	if shard == nil || readsTrimmed(shard, it.Next, s.Horizon) {
		return nil, apierr.RecordTrimmed.With()
	}
	p := newRecordPage(s, shard, e.options.Region, int(limit))
	p.oldest = e.oldestReadable()
	if err := p.read(ctx, e, max(it.Next, shard.Start), bound); err != nil {
		return nil, err
	}
	// Records trimmed during the read may be missing.
	if horizon, err := e.horizon(ctx, s); err != nil || readsTrimmed(shard, it.Next, horizon) {
		if err == nil {
			err = apierr.RecordTrimmed.With()
		}
		return nil, err
	}
	e.countRecords(ctx, p, now)
	out := &api.GetRecordsOutput{Records: p.records}
	if shard.Open() || p.next < shard.End {
		it.Next, it.Issued = p.next, now.UnixMilli()
		out.NextShardIterator = new(it.String())
	}
	return out, nil
}

// readsTrimmed reports whether reading a shard from a number on misses trimmed records. At the end of a closed shard there are none
// to miss, however far the log has been trimmed.
func readsTrimmed(shard *stream.Shard, from, horizon kv.Seq) bool {
	return from <= horizon && (shard.Open() || from < shard.End)
}

// recordPage is a GetRecords response being built.
type recordPage struct {
	stream *stream.Stream
	shard  *stream.Shard
	region string
	limit  int
	oldest int64 // time of the oldest readable record

	records []api.Record
	bytes   int64  // of the records, by SizeBytes
	next    kv.Seq // the shard's records below it have been read
	full    bool   // the record at next does not fit

	atEnd    bool  // the end of the log was reached
	lastTime int64 // of the last record read
}

func newRecordPage(s *stream.Stream, shard *stream.Shard, region string, limit int) *recordPage {
	return &recordPage{stream: s, shard: shard, region: region, limit: limit, records: []api.Record{}}
}

// read walks the log from a number on, below bound.
func (p *recordPage) read(ctx context.Context, e *Engine, from, bound kv.Seq) error {
	end := bound
	if !p.shard.Open() {
		end = p.shard.End
	}
	p.atEnd = true
	if p.next = from; from >= end {
		return nil
	}
	scanned, scannedBytes := 0, 0
	through, err := e.walkLog(ctx, kv.LogID(p.stream.Table), from-1, func(seq kv.Seq, change *logenc.Change) (bool, error) {
		if seq >= end {
			return false, nil
		}
		if scanned == 0 && change.Time < p.oldest {
			return false, apierr.RecordTrimmed.With()
		}
		if err := p.take(seq, change); err != nil || p.full {
			p.next, p.atEnd = seq, false
			return false, err
		}
		p.lastTime = change.Time
		scanned++
		before := scannedBytes
		scannedBytes += len(change.Old) + len(change.New)
		if before <= api.LargeRead && scannedBytes > api.LargeRead {
			if err := api.ReserveMemory(ctx, recordBytesMax); err != nil {
				return false, err
			}
		}
		p.atEnd = scanned < scannedRecordsMax && scannedBytes < scannedBytesMax
		return p.atEnd, nil
	})
	if !p.full {
		p.next = min(through+1, end)
	}
	return err
}

// take adds a record of the shard, or sets full.
func (p *recordPage) take(seq kv.Seq, change *logenc.Change) error {
	hash, err := keyenc.HashOf(change.Key)
	if err != nil || !p.shard.Holds(seq, hash) {
		return err
	}
	if len(p.records) == p.limit {
		p.full = true
		return nil
	}
	body, err := p.body(seq, change)
	if err != nil {
		return err
	}
	if p.bytes += *body.SizeBytes; p.bytes > recordBytesMax && len(p.records) > 0 {
		p.full = true
		return nil
	}
	r := api.Record{
		EventID:      new(stream.EventID(p.stream.Table, p.stream.Label, seq)),
		EventName:    new(eventName(change)),
		EventVersion: new(eventVersion),
		EventSource:  new(eventSource),
		AwsRegion:    &p.region,
		Dynamodb:     body,
	}
	if change.Origin == logenc.OriginTTL {
		r.UserIdentity = &api.Identity{PrincipalId: new("dynamodb.amazonaws.com"), Type: new("Service")}
	}
	p.records = append(p.records, r)
	return nil
}

func eventName(change *logenc.Change) string {
	switch {
	case !change.Existed:
		return eventInsert
	case !change.Exists:
		return eventRemove
	default:
		return eventModify
	}
}

// body returns a change as seen through the stream's view type.
func (p *recordPage) body(seq kv.Seq, change *logenc.Change) (*api.StreamRecord, error) {
	keys, err := p.keysOf(change)
	if err != nil {
		return nil, err
	}
	body := &api.StreamRecord{
		ApproximateCreationDateTime: api.TimestampOf(floorSecond(change.Time)),
		Keys:                        keys,
		SequenceNumber:              new(stream.SequenceNumber(seq)),
		StreamViewType:              new(string(p.stream.View)),
	}
	size := int64(keys.Size())
	if p.stream.View.New() && change.New != nil {
		body.NewImage = change.New
		size += int64(change.New.Size())
	}
	if p.stream.View.Old() && change.Old != nil {
		body.OldImage = change.Old
		size += int64(change.Old.Size())
	}
	body.SizeBytes = &size
	return body, nil
}

// keysOf returns the item's key, which the log record has even without images.
func (p *recordPage) keysOf(change *logenc.Change) (itemenc.Item, error) {
	_, pk, sk, err := keyenc.ParseItem(change.Key)
	if err != nil {
		return nil, err
	}
	keys := make(attr.Item, len(p.stream.Keys))
	for i, k := range p.stream.Keys {
		keys[i] = attr.Field{Name: k.Name, Value: pk}
		if k.Range {
			keys[i].Value = sk
		}
	}
	slices.SortFunc(keys, func(a, b attr.Field) int { return strings.Compare(a.Name, b.Name) })
	return itemenc.Encode(nil, keys), nil
}

// floorSecond rounds milliseconds down to a whole second.
func floorSecond(ms int64) int64 { return ms - (ms%1000+1000)%1000 }
