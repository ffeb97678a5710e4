package engine

import (
	"errors"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/derive"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// errTableChanged means that a table's definition is no longer the one that a write was bound to.
var errTableChanged = errors.New("engine: table definition has changed")

// run reads the item, decides, and writes everything that belongs to the change: the item, the index entries that differ, the TTL
// entry, the counters and the change-log record. A write that changes nothing writes nothing. It is the only code that writes
// items.
func (w *write) run(txn kv.Txn, ws *workspace) error {
	data, err := txn.Get(w.key)
	if err != nil {
		return err
	}
	old := itemenc.Item(data)
	if old != nil && len(old) == 0 {
		old = nil
	}
	expected := w.expectedBytes(old)
	if err := w.reserve(txn, len(old)+expected); err != nil {
		return err
	}
	w.outcome = outcome{old: old, oldBytes: sizeOf(old), indexWrites: w.indexRoom[:0]}
	if late, err := w.late(txn); err != nil || late {
		w.outcome.next = old
		return err
	}
	if err := w.checkCondition(ws, old); err != nil {
		return err
	}
	next, err := w.decide(ws, old)
	if err != nil {
		return err
	}
	if w.rule != nil {
		if err := w.follows(next); err != nil {
			return err
		}
	}
	if next, err = w.marked(txn, next); err != nil {
		return err
	}
	if len(next) > expected {
		if err := w.reserve(txn, len(next)-expected); err != nil {
			return err
		}
	}
	o := &w.outcome
	o.nextBytes = sizeOf(next)
	same, err := old.Equal(next)
	if err != nil {
		return err
	}
	if same {
		o.next = old
		if w.arrived != nil {
			w.keepVersion(txn)
		}
		return w.countCollection(txn, 0)
	}
	o.next = next
	return w.store(txn, ws)
}

// expectedBytes estimates the size of the new item: an update rarely makes a large item much larger.
func (w *write) expectedBytes(old itemenc.Item) int {
	switch w.kind {
	case putWrite:
		return len(w.stored)
	case updateWrite:
		return len(old)
	default:
		return 0
	}
}

// reserve reserves memory for everything derived from an item of this size, old or new: the item itself, its copies in the
// change-log record and in the batch, the batch's growth, and the entries of each ALL index.
func (w *write) reserve(txn kv.Txn, bytes int) error {
	copies := 4
	for _, x := range w.t.Indexes {
		if x.All && x.Maintained {
			copies++
		}
	}
	return txn.Reserve(int64(copies) * int64(bytes))
}

func (w *write) checkCondition(ws *workspace, old itemenc.Item) error {
	holds := true
	var err error
	switch {
	case w.inserts && old != nil:
		return apierr.DuplicateItem.With()
	case w.expired != nil:
		seconds, ok, err := derive.Expiry(w.t, old)
		if err != nil {
			return err
		}
		holds = ok && seconds == *w.expired
	case w.condition != nil:
		if holds, err = w.evalCondition(ws, old); err != nil {
			return err
		}
	}
	if holds {
		return nil
	}
	failed := &conditionError{}
	if w.showOld {
		failed.old = slices.Clone(old)
	}
	return failed
}

func (w *write) evalCondition(ws *workspace, old itemenc.Item) (bool, error) {
	var seen attr.Item
	if old != nil {
		var err error
		if ws.seen, err = old.Borrow(ws.seen, w.condition.Attributes()); err != nil {
			return false, err
		}
		seen = ws.seen
		if seen == nil { // the item exists even if it has none of the condition's attributes
			seen = attr.Item{}
		}
	}
	holds, err := w.condition.Eval(seen)
	if err != nil {
		return false, apierr.Validation(err.Error())
	}
	return holds, nil
}

// decide returns the new item, or nil to delete it.
func (w *write) decide(ws *workspace, old itemenc.Item) (itemenc.Item, error) {
	switch w.kind {
	case putWrite:
		return w.stored, nil
	case updateWrite:
		return w.applyUpdate(ws, old)
	case deleteWrite:
		return nil, nil
	default:
		return old, nil
	}
}

// store writes the change described by outcome.
func (w *write) store(txn kv.Txn, ws *workspace) error {
	o := &w.outcome
	if o.next == nil {
		txn.Delete(w.key)
	} else {
		txn.Set(w.key, o.next)
	}
	addStatistics(txn, w.t, 0, presence(o.next)-presence(o.old), int64(o.nextBytes-o.oldBytes))
	local := int64(o.nextBytes - o.oldBytes)
	for _, x := range w.t.Indexes {
		if !x.Maintained {
			continue
		}
		grown, err := w.maintain(txn, ws, x)
		if err != nil {
			return err
		}
		if x.Kind == catalog.Local {
			local += grown
		}
	}
	if err := w.maintainTTL(txn, ws); err != nil {
		return err
	}
	if err := w.countCollection(txn, local); err != nil {
		return err
	}
	w.keepVersion(txn)
	if !w.restores {
		w.logChange(txn, ws)
	}
	return w.mirror()
}

// logChange appends the images that the table requires to the change log.
func (w *write) logChange(txn kv.Txn, ws *workspace) {
	o, keeps := &w.outcome, &w.t.Descriptor.Log
	if keeps.Keys == 0 {
		return
	}
	change := logenc.Change{Origin: w.origin, Key: w.key, Existed: o.old != nil, Exists: o.next != nil}
	if keeps.Old != 0 {
		change.Old = o.old
	}
	if keeps.New != 0 {
		change.New = o.next
	}
	if w.t.Replica != "" {
		change.Version = w.outcome.version
	}
	o.logged = true
	ws.record = logenc.Append(ws.record[:0], change)
	txn.AppendLog(kv.LogID(w.t.ID), ws.record)
}

func (w *write) maintainTTL(txn kv.Txn, ws *workspace) error {
	if w.t.TTLAttribute == "" {
		return nil
	}
	before, had, err := derive.Expiry(w.t, w.outcome.old)
	if err != nil {
		return err
	}
	after, has, err := derive.Expiry(w.t, w.outcome.next)
	if err != nil {
		return err
	}
	if had == has && before == after {
		return nil
	}
	if had {
		ws.key = keyenc.TTL(ws.key[:0], w.t.ID, before, w.pk, w.sk)
		txn.Delete(ws.key)
	}
	if has {
		ws.key = keyenc.TTL(ws.key[:0], w.t.ID, after, w.pk, w.sk)
		txn.Set(ws.key, nil)
	}
	return nil
}

func addStatistics(txn kv.Txn, t *catalog.Table, x keyenc.IndexID, items, bytes int64) {
	if items != 0 || bytes != 0 {
		txn.Add(keyenc.Statistics(t.ID, x), items, bytes)
	}
}

func presence(it itemenc.Item) int64 {
	if it == nil {
		return 0
	}
	return 1
}

func sizeOf(it itemenc.Item) int {
	if it == nil {
		return 0
	}
	return it.Size()
}

// checkVersion makes sure, in the transaction, that the table is still the one that the writes were bound to.
func checkVersion(txn kv.Reader, t *catalog.Table) error {
	v, err := t.StoredVersion(txn)
	if err != nil {
		return err
	}
	if v != t.Version {
		return errTableChanged
	}
	return nil
}
