package engine

import (
	"math"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// maxCollectionBytes is the maximum size of an item collection: the items of one partition key and their entries in local
// indexes, in a table that has local indexes.
const maxCollectionBytes = 10 << 30

// countCollection counts the growth of the write's item collection and rejects growth beyond the limit. Because other items of
// the collection may be written concurrently, the limit can be exceeded by what these add.
func (w *write) countCollection(txn kv.Txn, grown int64) error {
	if !w.t.HasLocalIndex() {
		return nil
	}
	key := keyenc.Collection(w.t.ID, w.pk)
	counters, err := txn.Counter(key)
	if err != nil {
		return err
	}
	size := grown
	if len(counters) > 0 {
		size += counters[0]
	}
	if grown > 0 && size > maxCollectionBytes && !w.restores {
		return apierr.ItemCollectionTooLarge.With()
	}
	if grown != 0 {
		txn.Add(key, grown)
	}
	w.outcome.collectionBytes = max(size, 0) // a remembered counter may lack what is deleted here
	return nil
}

// collectionMetrics returns the item collection's metrics, or nil if the request does not want them or the table has no local
// index.
func (w *write) collectionMetrics(parameter *string) *api.ItemCollectionMetrics {
	if parameter == nil || *parameter != "SIZE" || !w.t.HasLocalIndex() {
		return nil
	}
	gigabytes := math.Floor(float64(w.outcome.collectionBytes) / (1 << 30))
	return &api.ItemCollectionMetrics{
		ItemCollectionKey:   attr.Item{{Name: w.t.PK.Name, Value: w.pk}},
		SizeEstimateRangeGB: []float64{gigabytes, gigabytes + 1},
	}
}
