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

// maxItemBytes is the largest size of an item by DynamoDB's accounting.
const maxItemBytes = 400 << 10

type writeKind uint8

const (
	putWrite writeKind = iota
	updateWrite
	deleteWrite
	checkWrite // only asks its condition
)

// write is what a request, or one part of a larger request, wants of one item. Every operation that writes
// items makes its request into writes, and so does the expiry of items.
//
// It is made in three steps. A prepare function fills the first part from the request alone, refusing all
// that the request alone shows wrong. bind sets it on a table. run carries it out within a transaction of
// the store, any number of times, and leaves in outcome what the last time did.
type write struct {
	kind      writeKind
	table     string // as the request names it: a name or an ARN
	item      attr.Item
	stored    itemenc.Item // a put's item as it will be stored
	update    *eval.Update // nil changes nothing but makes the item exist
	condition *eval.Condition
	// statementBytes is the size of an UpdateExpression where it is limited, else 0.
	statementBytes int
	// expired, in place of condition, makes a delete happen only while the item expires at that second.
	expired *int64
	origin  logenc.Origin
	// inserts makes a put fail where there is an item already.
	inserts bool
	// restores makes the write no change of its table, which is only becoming what another one was: nothing is
	// logged, no ceiling holds.
	restores bool
	// arrived is the version with which the write comes from another replica; it is carried out unless the item has a newer one.
	arrived *itemVersion
	// mirrors repeat the write in the other replicas of a table of multi-Region strong consistency.
	mirrors []mirror
	// showOld asks for the old item with the failure of the condition.
	showOld bool
	// cancels is an error of the request that cancels a transaction, where others refuse it.
	cancels error

	// rule is what the item must follow that the write leaves; nil where any item may be.
	rule ItemRule

	t   *catalog.Table
	key []byte // of the item in the store
	pk  attr.Value
	sk  attr.Value

	counts *observe.Table

	outcome outcome
	paid    payment
	// indexRoom is memory for outcome.indexWrites, held for the keys of an intent, group for a group of this write alone.
	indexRoom [4]indexWrite
	held      [2][]byte
	group     [1]*write
}

// alone is the group of this write.
func (w *write) alone() writeGroup {
	w.group[0] = w
	return w.group[:]
}

// outcome is what a run of a write did. The items are bytes of the store or of the workspace: good within the
// transaction, and until the next write uses the workspace.
type outcome struct {
	old, next   itemenc.Item // nil where absent; equal where nothing changed
	oldPart     attr.Item    // of an update: the attributes of old that it reads
	nextPart    attr.Item    // and what they became
	oldBytes    int
	nextBytes   int
	indexWrites []indexWrite
	// collectionBytes is the size of the item collection, of a table with local indexes.
	collectionBytes int64
	// version is the one that the write gave the item of a replica.
	version uint64
	logged  bool // the change is in the change log
}

// indexWrite is the cost of keeping one index, in write units, or of a vector index in bytes.
type indexWrite struct {
	index *catalog.Index
	units float64
	// leftUnits are those of the units that are for the entry that a moved one leaves, at leftHash.
	leftUnits      float64
	hash, leftHash uint16       // of the entries' partition keys
	key            insights.Key // of the entry, where its insights count it
}

// bind sets the write on the table t. Its errors are those that need the table's schema.
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

// checkPaths holds the expressions against the key attributes of table and indexes.
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
	old itemenc.Item // where the write shows it: a copy
}

func (*conditionError) Error() string { return string(apierr.ConditionFailed) }

// details are the members of the error beside its message; nil where there are none.
func (f *conditionError) details() any {
	if f.old == nil {
		return nil
	}
	return api.ConditionalCheckFailedDetails{Item: f.old}
}
