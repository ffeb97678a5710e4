package access

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// memo caches questions that were allowed independently of the circumstances: no evaluated statement used a condition key of the
// request, so the answer is the same next time. Principals and tables are immutable: changing a policy replaces them, and the new
// ones are not in the cache. A slot holds the latest question. The zero memo is empty.
type memo [1024]atomic.Pointer[question]

// question is whether a principal may execute an operation on the items of a table or index.
type question struct {
	who              *policy.Principal
	table            *catalog.Table
	operation, index string
}

var seed = maphash.MakeSeed()

func (m *memo) slot(q question) *atomic.Pointer[question] {
	return &m[maphash.Comparable(seed, q)%uint64(len(m))]
}

func (m *memo) has(q question) bool {
	kept := m.slot(q).Load()
	return kept != nil && *kept == q
}

func (m *memo) keep(q question) { m.slot(q).Store(&q) }

// question returns the request as a single question, if it is one: the operation needs only its own action on one existing table
// or an index of it.
func (c *call) question(who *policy.Principal) (q question, single bool) {
	var table, index *string
	switch in := c.in.(type) {
	case *api.GetItemInput:
		table = in.TableName
	case *api.PutItemInput:
		table = in.TableName
	case *api.UpdateItemInput:
		table = in.TableName
	case *api.DeleteItemInput:
		table = in.TableName
	case *api.QueryInput:
		table, index = in.TableName, in.IndexName
	case *api.ScanInput:
		table, index = in.TableName, in.IndexName
	default:
		return q, false
	}
	q = question{who: who, table: c.database.Tables()[*table], operation: c.operation}
	if index != nil {
		q.index = *index
	}
	return q, q.table != nil
}
