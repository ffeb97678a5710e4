// Package capacity does DynamoDB's accounting: what a read or write costs in capacity units, and how an
// answer reports it.
//
// A read costs by 4 KB, a write by 1 KB, each begun one in full and at least one. An eventually consistent
// read costs half, a transactional one double; a transactional write costs double on the table but not on
// its indexes.
//
//	GetItem, BatchGetItem   rounded item by item
//	Query, Scan             rounded once, over all that the page evaluated
//	writes, table           the larger of the item before and after
//	writes, index           the larger of the entry before and after; both where the entry moves;
//	                        nothing, and no member in the report, where it stays as it is
//	writes, vector index    the same entries, in bytes, and VectorBytesMin a request at least
//	SearchVectors           the bytes of the vectors that were compared and of the items that are returned
//
// A Meter adds up what one request consumed on one table. The reported units are the sum of the table's
// and the indexes'; the split into read and write units is reported for transactions only.
//
// See "Read and write operations" in AWS's developer guide, and ConsumedCapacity in its API reference.
package capacity

// ReadUnitBytes is what a strongly consistent read reads for one unit.
const ReadUnitBytes = 4096

const writeUnitBytes = 1024

// VectorBytesMin is the least that a request consumes on vector indexes, as a search and as a write.
const VectorBytesMin = 1024

// Consistency is how a read is charged.
type Consistency uint8

// The consistencies.
const (
	Eventual Consistency = iota
	Strong
	Transactional
)

// ConsistencyOf reads the ConsistentRead parameter.
func ConsistencyOf(consistentRead *bool) Consistency {
	if consistentRead != nil && *consistentRead {
		return Strong
	}
	return Eventual
}

// ReadUnits is the cost of reading so many bytes at once; reading a missing item is reading 0 bytes.
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

// WriteUnits is the cost of writing an item or an index entry of that size; writing nothing (a delete of a
// missing item, a failed condition on one) costs as the smallest item.
func WriteUnits(bytes int) float64 {
	return float64(max(1, (bytes+writeUnitBytes-1)/writeUnitBytes))
}
