package engine

import (
	"context"
	"errors"
	"sync"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// Multi-Region strong consistency: a write is one commit in the stores of all Regions that have a replica, holding the item's key
// in each. So a strongly consistent read in any Region sees it, and a condition is evaluated on the latest item.

// strongWrites are the items of such global tables that are being written, with the Region of the write. AWS rejects a write of
// an item that another Region is writing. Here it could wait, but programs must be able to test that error.
type strongWrites struct {
	mu    sync.Mutex
	items map[string]*strongWrite
}

type strongWrite struct {
	region  string
	writers int
}

// begin registers the items that a Region writes, unless another Region is writing any of them.
func (s *strongWrites) begin(region string, g writeGroup) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range g {
		if x := s.items[w.strongKey()]; w.t.Strong && x != nil && x.region != region {
			return apierr.ReplicatedWriteConflict.With()
		}
	}
	if s.items == nil {
		s.items = map[string]*strongWrite{}
	}
	for _, w := range g {
		if !w.t.Strong {
			continue
		}
		key := w.strongKey()
		if s.items[key] == nil {
			s.items[key] = &strongWrite{region: region}
		}
		s.items[key].writers++
	}
	return nil
}

func (s *strongWrites) end(g writeGroup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range g {
		if !w.t.Strong {
			continue
		}
		key := w.strongKey()
		if s.items[key].writers--; s.items[key].writers == 0 {
			delete(s.items, key)
		}
	}
}

// strongKey identifies the item in all Regions.
func (w *write) strongKey() string { return w.t.Name + "\x00" + string(keyenc.InTable(nil, w.key, 0)) }

// mirror is a write that repeats another one in another replica, in the same commit.
type mirror struct {
	write *write
	at    *member
	ws    *workspace
}

// errMirrorChanged: the definition of another replica is no longer the one that a write was bound to.
var errMirrorChanged = errors.New("engine: the definition of another replica has changed")

// updateStrong is update for groups with writes of replicas with multi-Region strong consistency.
func (e *Engine) updateStrong(ctx context.Context, in kv.Intent, g writeGroup, fn func(txn kv.Txn, ws *workspace) error) error {
	if err := e.regions.strong.begin(e.options.Region, g); err != nil {
		return err
	}
	defer e.regions.strong.end(g)
	for {
		others, err := e.mirrors(g)
		if err != nil {
			return err
		}
		err = e.updateMirrored(ctx, in, g, others, fn)
		for _, w := range g {
			w.mirrors = nil
		}
		if !errors.Is(err, errMirrorChanged) {
			return err
		}
		for _, m := range others {
			if err := m.engine.catalog.Refresh(ctx); err != nil {
				return err
			}
		}
	}
}

// mirrors binds the writes of g to the other replicas.
func (e *Engine) mirrors(g writeGroup) ([]*member, error) {
	members := map[*Engine]*member{}
	var others []*member
	for _, w := range g {
		if !w.t.Strong || w.kind == checkWrite {
			continue
		}
		for _, r := range w.t.Descriptor.Global.Replicas {
			x, err := e.regions.served(r.Region)
			if err != nil {
				return nil, err
			}
			t := x.catalog.Tables()[w.t.Name]
			if t == nil {
				return nil, errTableChanged // w.t has changed, too
			}
			m := members[x]
			if m == nil {
				m = &member{engine: x}
				members[x], others = m, append(others, m)
			}
			twin := &write{kind: deleteWrite, origin: logenc.OriginReplica, t: t, pk: w.pk, sk: w.sk, key: keyenc.Item(nil, t.ID, w.pk, w.sk)}
			m.intent.Write = append(m.intent.Write, twin.key)
			m.intent.Check = append(m.intent.Check, keyenc.TableVersion(t.ID))
			w.mirrors = append(w.mirrors, mirror{write: twin, at: m})
		}
	}
	return others, nil
}

func (e *Engine) updateMirrored(ctx context.Context, in kv.Intent, g writeGroup, others []*member, fn func(txn kv.Txn, ws *workspace) error) error {
	own := &member{engine: e, intent: in}
	ws := e.workspaces.get()
	defer e.workspaces.put(ws)
	mirrorSpace := e.workspaces.get()
	defer e.workspaces.put(mirrorSpace)
	return e.regions.jointly(ctx, append([]*member{own}, others...), func() error {
		for _, w := range g {
			for i := range w.mirrors {
				m := &w.mirrors[i]
				m.ws = mirrorSpace
				if err := checkVersion(m.at.txn, m.write.t); err != nil {
					return errMirrorChanged
				}
			}
		}
		err := fn(own.txn, ws)
		if err == nil {
			err = own.txn.Reserve(0)
		}
		if errors.Is(err, kv.ErrRerun) {
			*ws, *mirrorSpace = workspace{}, workspace{}
			for _, w := range g {
				w.outcome = outcome{}
			}
		}
		return err
	})
}

// mirror repeats the write in the other replicas.
func (w *write) mirror() error {
	for i := range w.mirrors {
		m := &w.mirrors[i]
		m.write.kind, m.write.stored = deleteWrite, nil
		if w.outcome.next != nil {
			m.write.kind, m.write.stored = putWrite, w.outcome.next
		}
		if err := m.write.run(m.at.txn, m.ws); err != nil {
			return err
		}
	}
	return nil
}

// refuseStrong rejects a transaction on replicas with multi-Region strong consistency, as AWS does.
func refuseStrong(tables ...*catalog.Table) error {
	for _, t := range tables {
		if t.Strong {
			return apierr.TransactionOfStrong.With(t.Name)
		}
	}
	return nil
}
