package engine

import (
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/insights"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// maxItemBytes is the maximum size of an item by DynamoDB's accounting.
const maxItemBytes = 400 << 10

type writeKind uint8

const (
	putWrite writeKind = iota
	updateWrite
	deleteWrite
	checkWrite // only checks its condition
)

// write is the write of one item by a request or by one part of a larger request. Every operation that writes items converts its
// request to writes, and so does the expiry of items.
//
// It is processed in three steps. A prepare function fills the first group of fields from the request alone, and rejects what is
// invalid judging by that. bind binds it to a table. run executes it within a transaction of the store, possibly several times,
// and leaves the result of the last run in outcome.
type write struct {
	kind      writeKind
	table     string // a name or an ARN, as in the request
	item      attr.Item
	stored    itemenc.Item // the item of a put as it will be stored
	update    *eval.Update // nil changes nothing, but creates the item if missing
	condition *eval.Condition
	// statementBytes is the size of an UpdateExpression if it is limited, else 0.
	statementBytes int
	// expired, used instead of condition, makes a delete happen only if the item expires at that second.
	expired *int64
	origin  logenc.Origin
	// inserts makes a put fail if the item exists.
	inserts bool
	// restores marks a write that fills a table from another: it is not logged, and limits do not apply.
	restores bool
	// arrived is the version of a write from another replica, which is executed unless the item has a newer one.
	arrived *itemVersion
	// mirrors repeat the write in the other replicas of a table with multi-Region strong consistency.
	mirrors []mirror
	// showOld returns the old item if the condition fails.
	showOld bool
	// cancels is an error of the request that cancels a transaction, whereas others reject it.
	cancels error

	// rule checks the item that results from the write; nil if any item is allowed.
	rule ItemRule

	t   *catalog.Table
	key []byte // of the item in the store
	pk  attr.Value
	sk  attr.Value

	counts *observe.Table

	outcome outcome
	paid    payment
	// indexRoom is memory for outcome.indexWrites, held for the keys of an intent, group for a group of only this write.
	indexRoom [4]indexWrite
	held      [2][]byte
	group     [1]*write
}

// alone returns the group of only this write.
func (w *write) alone() writeGroup {
	w.group[0] = w
	return w.group[:]
}

// outcome is the result of a run of a write. The items are bytes of the store or of the workspace: valid within the transaction,
// and until the next write uses the workspace.
type outcome struct {
	old, next   itemenc.Item // nil if missing; equal if unchanged
	oldPart     attr.Item    // for an update: the attributes of old that it reads
	nextPart    attr.Item    // and their new values
	oldBytes    int
	nextBytes   int
	indexWrites []indexWrite
	// collectionBytes is the size of the item collection, in a table with local indexes.
	collectionBytes int64
	// version is the version that the write assigned to a replica's item.
	version uint64
	logged  bool // the change is in the change log
}

// indexWrite is the cost of maintaining one index, in write units, or in bytes for a vector index.
type indexWrite struct {
	index *catalog.Index
	units float64
	// leftUnits are the units for removing the entry at leftHash, if the entry moves.
	leftUnits      float64
	hash, leftHash uint16       // of the entries' partition keys
	key            insights.Key // of the entry, if the index has insights
}

// bind binds the write to the table t. Its errors are those that need the table's schema.
func (w *write) bind(t *catalog.Table) error {
	var err error
	if w.kind == putWrite {
		if w.pk, w.sk, err = keyOfItem(t, w.item); err != nil {
			return err
		}
		if err := indexKeyFault(t, w.item); err != nil {
			return err
		}
	} else if w.pk, w.sk, err = keyOf(t, w.item); err != nil {
		return err
	}
	if err := w.checkPaths(t); err != nil {
		return err
	}
	w.t = t
	w.key = keyenc.Item(nil, t.ID, w.pk, w.sk)
	return nil
}

// checkPaths checks the expressions against the key attributes of the table and its indexes.
func (w *write) checkPaths(t *catalog.Table) error {
	if w.update != nil {
		if err := targetsNoKey(t, w.update); err != nil {
			return err
		}
		if err := assignedKindFault(t, w.update); err != nil {
			return err
		}
		if err := nestedKeyFault(t, w.update.NestedAttributes()); err != nil {
			return &refusalError{err}
		}
	}
	if err := nestedKeyFault(t, w.condition.NestedAttributes()); err != nil {
		return &refusalError{err}
	}
	return nil
}

func targetsNoKey(t *catalog.Table, u *eval.Update) error {
	for _, name := range u.Targets() {
		if t.HasKey(name) {
			return apierr.UpdateOfKey.With(name)
		}
	}
	return nil
}

// conditionError is the error of a write whose condition is false.
type conditionError struct {
	old itemenc.Item // if the write shows it: a copy
}

func (*conditionError) Error() string { return string(apierr.ConditionFailed) }

// details returns the members of the error other than its message, or nil.
func (f *conditionError) details() any {
	if f.old == nil {
		return nil
	}
	return api.ConditionalCheckFailedDetails{Item: f.old}
}
