package engine

import (
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

// workspaces pools the workspaces of finished requests.
type workspaces struct{ pool sync.Pool }

func (p *workspaces) get() *workspace {
	if ws, ok := p.pool.Get().(*workspace); ok {
		return ws
	}
	return new(workspace)
}

func (p *workspaces) put(ws *workspace) {
	const keep = 64 << 10 // larger buffers are left to the garbage collector
	vectors := cap(ws.vectors[0].Value) + cap(ws.vectors[1].Value)
	if cap(ws.before)+cap(ws.after)+vectors+cap(ws.item)+cap(ws.record) > keep {
		return
	}
	clear(ws.seen[:cap(ws.seen)])
	clear(ws.part[:cap(ws.part)])
	p.pool.Put(ws)
}
