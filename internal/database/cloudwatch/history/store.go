package history

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Kept is the retention of metrics.
const Kept = 15 * time.Hour

const (
	keptMinutes = int64(Kept / time.Minute)
	// seriesMax and recordMax limit the record of a minute. All records together have at most 225 MiB, before compression.
	seriesMax = 2000
	recordMax = 256 << 10
	// forgetMax is how many old minutes an update removes; after a pause there are more, which later updates remove.
	forgetMax = 1000
)

// measurement is a series with its sample in the record's minute.
type measurement struct {
	Series Series `cbor:"1,keyasint"`
	Sample Sample `cbor:"2,keyasint"`
}

// write merges the measurements of a minute into its record, and removes minutes that are too old.
func write(ctx context.Context, store kv.Store, minute int64, measured map[Series]Sample) error {
	key := keyenc.Metrics(minute)
	old, err := oldKeys(ctx, store, minute-keptMinutes)
	if err != nil || len(old) == 0 && len(measured) == 0 {
		return err
	}
	in := kv.Intent{Write: append(old, key), Frees: true}
	return store.Update(ctx, in, func(txn kv.Txn) error {
		for _, k := range old {
			txn.Delete(k)
		}
		if len(measured) == 0 {
			return nil
		}
		stored, err := txn.Get(key)
		if err != nil {
			return err
		}
		record, err := encode(merged(stored, measured))
		if err == nil {
			txn.Set(key, record)
		}
		return err
	})
}

// oldKeys returns the keys of minutes up to one, or some of them.
func oldKeys(ctx context.Context, store kv.Store, upTo int64) ([][]byte, error) {
	if upTo < 0 {
		return nil, nil
	}
	it, err := store.Eventual().Iter(ctx, keyenc.Metrics(0), keyenc.Metrics(upTo+1), kv.IterOptions{Limit: forgetMax})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var keys [][]byte
	for len(keys) < forgetMax && it.Next() {
		keys = append(keys, slices.Clone(it.Key()))
	}
	return keys, it.Err()
}

// merged adds an existing readable record to the measurements: the database was reopened within the minute.
func merged(stored []byte, measured map[Series]Sample) map[Series]Sample {
	all := maps.Clone(measured)
	points, err := decode(stored)
	if err != nil {
		return all
	}
	for _, p := range points {
		sum := all[p.Series]
		sum.Merge(p.Sample)
		all[p.Series] = sum
	}
	return all
}

// encode encodes a record. What exceeds the limits is left out, starting with latencies, which are the most numerous.
func encode(measured map[Series]Sample) ([]byte, error) {
	series := slices.SortedFunc(maps.Keys(measured), func(a, b Series) int {
		return cmp.Or(cmp.Compare(len(measured[a].Buckets), len(measured[b].Buckets)), a.Compare(b))
	})
	points := make([]measurement, 0, len(series))
	for _, s := range series[:min(len(series), seriesMax)] {
		points = append(points, measurement{s, measured[s]})
	}
	for {
		record, err := encoder.Marshal(points)
		if err != nil || len(record) <= recordMax {
			return record, err
		}
		points = points[:len(points)/2]
	}
}

var encoder = func() cbor.EncMode {
	mode, err := cbor.EncOptions{ShortestFloat: cbor.ShortestFloat16}.EncMode()
	if err != nil {
		panic(err)
	}
	return mode
}()

func decode(record []byte) (points []measurement, err error) {
	if record == nil {
		return nil, nil
	}
	if err := cbor.Unmarshal(record, &points); err != nil {
		return nil, fmt.Errorf("history: a record of metrics cannot be read: %w", err)
	}
	return points, nil
}

// read calls visit with the contents of the records in [from, to).
func read(ctx context.Context, store kv.Store, from, to int64, visit func(minute int64, s Series, m Sample)) error {
	it, err := store.Eventual().Iter(ctx, keyenc.Metrics(from), keyenc.Metrics(to), kv.IterOptions{})
	if err != nil {
		return err
	}
	defer it.Close()
	for it.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		minute, err := keyenc.ParseMetrics(it.Key())
		if err != nil {
			return err
		}
		points, err := decode(it.Value())
		if err != nil {
			return err
		}
		for _, p := range points {
			visit(minute, p.Series, p.Sample)
		}
	}
	return it.Err()
}
