package monotable

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Change is what one write did to one item.
type Change struct {
	// Sequence is the change's place among the changes of its table: larger than those of all changes before it,
	// also after a restart. Changes goes on after it.
	Sequence Position
	Time     time.Time // of the write, by the database's clock, in milliseconds
	Kind     ChangeKind
	TTL      bool // a removal because the item's time to live was over
	Keys     map[string]types.AttributeValue
	Old      map[string]types.AttributeValue // nil for an Insert
	New      map[string]types.AttributeValue // nil for a Remove
}

// ChangeKind says what became of the item. The kinds are named as in DynamoDB Streams.
type ChangeKind string

// The kinds of change. A write that leaves an item as it was is none.
const (
	Insert ChangeKind = "INSERT"
	Modify ChangeKind = "MODIFY"
	Remove ChangeKind = "REMOVE"
)

// Position is a place among the changes of a table: FromBeginning, FromNow, or behind the change of a Sequence.
type Position uint64

// The positions beside those of changes.
const (
	// FromBeginning is before the oldest change that is kept: those of the last 24 hours at least, as far as both images
	// were kept then.
	FromBeginning = Position(engine.ChangesKept)
	// FromNow is behind all writes that were answered before Changes was called.
	FromNow = Position(engine.ChangesNow)
)

// What may end Changes, to be tested for with errors.Is.
var (
	// ErrTrimmed: changes behind the position are no longer kept, or never were.
	ErrTrimmed = engine.ErrChangesTrimmed
	// ErrAhead: no change of this database can have that position yet.
	ErrAhead = engine.ErrChangesAhead
	// ErrTableDeleted: the table was deleted, and all its changes have been seen.
	ErrTableDeleted = engine.ErrTableGone
	// ErrTableNotFound: there was no such table when Changes was called.
	ErrTableNotFound = engine.ErrNoTable
	// ErrClosed: the database was closed.
	ErrClosed = kv.ErrClosed
)

// Changes follows the changes of a table in this process, whether or not the table has a stream: all of them from
// the position on, each once, and those of one item in the order in which they were made. When there are none
// left it waits for more, so it has no end of its own: the loop breaks off, or the last pair has the error that
// ended it, the context's for instance.
//
//	for change, err := range db.Changes(ctx, "orders", monotable.FromNow) {
//		if err != nil {
//			return err
//		}
//		…
//	}
//
// A table of another Region than Options.Region is REGION/TABLE, or the table's ARN.
//
// The position FromNow is that of the call, not of the loop. Whoever keeps the Sequence of the last change it has
// dealt with can go on from there after a restart.
//
// A table keeps its changes, both images of each, while it has a stream with NEW_AND_OLD_IMAGES, while it is followed,
// and for at least 24 hours after the call and after its last loop has ended. Without a stream, the first call of Changes
// is where they begin. A loop that begins later than that, or again, ends with ErrTrimmed if changes after its position
// were not kept meanwhile.
func (db *DB) Changes(ctx context.Context, table string, from Position) iter.Seq2[Change, error] {
	in, name := db.inRegion(table)
	changes := in.Changes(ctx, name, kv.Seq(from))
	return func(yield func(Change, error) bool) {
		for c, err := range changes {
			if err != nil {
				yield(Change{}, fmt.Errorf("monotable: changes of table %q: %w", table, err))
				return
			}
			if !yield(newChange(&c), nil) {
				return
			}
		}
	}
}

func newChange(c *engine.Change) Change {
	out := Change{
		Sequence: Position(c.Seq), Time: c.Time, Kind: Modify, TTL: c.Expired,
		Keys: attributes(c.Key), Old: attributes(c.Old), New: attributes(c.New),
	}
	switch {
	case c.Old == nil:
		out.Kind = Insert
	case c.New == nil:
		out.Kind = Remove
	}
	return out
}

// attributes returns an item in the SDK's form, nil for an absent one.
func attributes(it attr.Item) map[string]types.AttributeValue {
	if it == nil {
		return nil
	}
	out := make(map[string]types.AttributeValue, len(it))
	for _, field := range it {
		out[field.Name] = attribute(field.Value)
	}
	return out
}

func attribute(v attr.Value) types.AttributeValue {
	switch v.Kind() {
	case attr.KindString:
		return &types.AttributeValueMemberS{Value: v.Text()}
	case attr.KindNumber:
		return &types.AttributeValueMemberN{Value: v.Text()}
	case attr.KindBinary:
		return &types.AttributeValueMemberB{Value: []byte(v.Text())}
	case attr.KindBool:
		return &types.AttributeValueMemberBOOL{Value: v.Bool()}
	case attr.KindList:
		list := make([]types.AttributeValue, len(v.Elems()))
		for i, element := range v.Elems() {
			list[i] = attribute(element)
		}
		return &types.AttributeValueMemberL{Value: list}
	case attr.KindMap:
		return &types.AttributeValueMemberM{Value: attributes(v.Item())}
	case attr.KindStringSet:
		return &types.AttributeValueMemberSS{Value: texts(v)}
	case attr.KindNumberSet:
		return &types.AttributeValueMemberNS{Value: texts(v)}
	case attr.KindBinarySet:
		members := make([][]byte, len(v.Elems()))
		for i, member := range v.Elems() {
			members[i] = []byte(member.Text())
		}
		return &types.AttributeValueMemberBS{Value: members}
	default:
		return &types.AttributeValueMemberNULL{Value: true}
	}
}

func texts(set attr.Value) []string {
	members := make([]string, len(set.Elems()))
	for i, member := range set.Elems() {
		members[i] = member.Text()
	}
	return members
}
