package access

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// memo caches the questions that were answered with yes whatever the circumstances: no statement that was evaluated asked for a condition
// key of the request, so the answer is the same next time. Principals and tables are immutable: changing a policy replaces them, and
// the new ones are not in the cache. A slot holds one question, and the latest wins. The zero memo is empty.
type memo [1024]atomic.Pointer[question]

// question is whether a principal may carry out an operation on the items of a table or index.
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

// question returns what the request asks if that is a single question: the operation needs its own action on one existing table, or an
// index of it, and nothing else.
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
