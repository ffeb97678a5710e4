// Package capacity implements DynamoDB's accounting: how many capacity units a read or write costs, and how a response reports
// them.
//
// A read costs one unit per 4 KB, a write one per 1 KB, rounded up and at least one. An eventually consistent read costs half, a
// transactional one double; a transactional write costs double on the table but not on its indexes.
//
//	GetItem, BatchGetItem   rounded for each item
//	Query, Scan             rounded once, over all that the page evaluated
//	writes, table           the larger of the item before and after
//	writes, index           the larger of the entry before and after; both if the entry moves;
//	                        nothing, and no member in the report, if it is unchanged
//	writes, vector index    the same entries, in bytes, at least VectorBytesMin for each request
//	SearchVectors           the bytes of the compared vectors and of the returned items
//
// A Meter adds up the consumption of one request on one table. The reported units are the sum of the table's and the indexes';
// only transactions report read and write units separately.
//
// See "Read and write operations" in AWS's developer guide, and ConsumedCapacity in its API reference.
package capacity

// ReadUnitBytes is how many bytes a strongly consistent read reads for one unit.
const ReadUnitBytes = 4096

const writeUnitBytes = 1024

// VectorBytesMin is the minimum consumption of a request on vector indexes, both for searches and for writes.
const VectorBytesMin = 1024

// Consistency determines the price of a read.
type Consistency uint8

// The consistencies.
const (
	Eventual Consistency = iota
	Strong
	Transactional
)

// ConsistencyOf evaluates the ConsistentRead parameter.
func ConsistencyOf(consistentRead *bool) Consistency {
	if consistentRead != nil && *consistentRead {
		return Strong
	}
	return Eventual
}

// ReadUnits returns the cost of reading a number of bytes at once. A missing item has 0 bytes.
func ReadUnits(bytes int, c Consistency) float64 {
	blocks := max(1, (bytes+ReadUnitBytes-1)/ReadUnitBytes)
	switch c {
	case Transactional:
		return float64(2 * blocks)
	case Strong:
		return float64(blocks)
	default:
		return float64(blocks) / 2
	}
}

// WriteUnits returns the cost of writing an item or an index entry of a size. Writing nothing (a delete of a missing item, a
// failed condition on one) costs as much as the smallest item.
func WriteUnits(bytes int) float64 {
	return float64(max(1, (bytes+writeUnitBytes-1)/writeUnitBytes))
}
