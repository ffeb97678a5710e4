package engine

import (
	"bytes"
	"sync"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine/derive"
)

// workspace is reusable memory in which writes assemble their bytes. A store copies its arguments, so the next write can reuse
// the memory.
type workspace struct {
	key           []byte // of an index or TTL entry
	before, after []byte // projections
	vectors       [2]derive.Entry
	item          []byte // the result of an update
	record        []byte // of the change log
	seen          attr.Item
	part          attr.Item
}

// pooledMax is the largest amount of memory that a pooled value keeps; more is left to the garbage collector.
const pooledMax = 64 << 10

// pooledItem is the largest stored item of which a pooled write keeps the memory. A request has up to a hundred writes.
const pooledItem = 8 << 10

// workspaces pools the workspaces of finished requests.
type workspaces struct{ pool sync.Pool }

func (p *workspaces) get() *workspace {
	if ws, ok := p.pool.Get().(*workspace); ok {
		return ws
	}
	return new(workspace)
}

func (p *workspaces) put(ws *workspace) {
	vectors := cap(ws.vectors[0].Value) + cap(ws.vectors[1].Value)
	if cap(ws.before)+cap(ws.after)+vectors+cap(ws.item)+cap(ws.record) > pooledMax {
		return
	}
	clear(ws.seen[:cap(ws.seen)])
	clear(ws.part[:cap(ws.part)])
	p.pool.Put(ws)
}

// writePool pools the writes of finished requests, with the memory of the items that they have stored. A request returns its writes
// when its output is complete: nothing in the output, in an error, or in the counts refers to a write or its stored item, and the
// store has copied what it keeps.
type writePool struct{ pool sync.Pool }

// scramble makes put overwrite the memory that it keeps, so that in tests a reference to it shows.
var scramble bool

// get returns a zero write, except for the memory of stored.
func (p *writePool) get() *write {
	if w, ok := p.pool.Get().(*write); ok {
		return w
	}
	return new(write)
}

func (p *writePool) put(g ...*write) {
	for _, w := range g {
		stored := w.stored[:0]
		if cap(stored) > pooledItem {
			stored = nil
		}
		if scramble {
			copy(stored[:cap(stored)], bytes.Repeat([]byte("!"), cap(stored)))
		}
		*w = write{stored: stored}
		p.pool.Put(w)
	}
}
